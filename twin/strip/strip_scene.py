"""A strip in one state as an `Appearance`, which every renderer draws: printed decals, and the slide over them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from downfield.core.strip import DialWindow
from downfield.twin.appearance import Appearance, Decal, Solid
from downfield.twin.strip.strip_look import StripLook, no_figures
from downfield.twin.strip.strip_state import StripState

PLATE_MM = 0.8
"""Thickness of the clear plate; the line lies under its top, the ball on it."""
_BEYOND_MM = 4.0
"""The slide reaches this far over either sideline."""
_LABELS = {"home": "HOME", "away": "VISITOR", "down": "DOWN", "quarter": "QTR", "minutes": "MIN", "seconds": "SEC"}
_LABEL_MM, _OVER_WINDOW_MM = 4.0, 2.0


def appearance_of(look: StripLook, state: StripState) -> Appearance:
    """Return the appearance of a strip in one state."""
    board = dataclasses.replace(look.board, decals=(*_labels(look), *_windows(look, state)))
    return Appearance(
        seed=look.seed,
        field=look.strip.field,
        board=board,
        figures=(),
        ball=no_figures(),
        lamps=look.lamps,
        ambient=look.ambient,
        table=look.table,
        clutter=slide_solids(look, state),
        skin=look.skin,
        sleeve=look.sleeve,
        camera=look.camera,
        sensor=look.sensor,
    )


def slide_solids(look: StripLook, state: StripState) -> tuple[Solid, ...]:
    """Return the slide: its clear plate, its line and its ball, lowest first."""
    field, shape = look.strip.field, look.strip.slide
    x, half_y = state.slide_yd * field.mm_per_yd_x, field.width_mm / 2 + _BEYOND_MM
    middle, top = field.width_mm / 2, shape.height_mm
    plate = Solid(
        "box",
        (shape.width_mm / 2, half_y, PLATE_MM / 2),
        (x, middle, top - PLATE_MM / 2 - 0.2),
        color=(0.93, 0.95, 0.96),
        opacity=look.plate,
        part="other",
    )
    line = Solid("box", (shape.line_mm / 2, half_y, 0.05), (x, middle, top - 0.05), color=look.red, part="other")
    length, width = shape.ball_mm
    ball = Solid(
        "ellipsoid", (length / 2, width / 2, 0.8), (x, _ball_y_mm(look, state.ball), top), color=look.ball, part="other"
    )
    return (plate, line, ball)


def _ball_y_mm(look: StripLook, ball: float) -> float:
    thirds, scale = look.strip.slide.thirds_y_yd, look.strip.field.mm_per_yd_y
    low = min(max(math.floor(ball), 0), len(thirds) - 2)
    return (thirds[low] + (thirds[low + 1] - thirds[low]) * (ball - low)) * scale


def _labels(look: StripLook) -> Iterator[Decal]:
    """Yield the words over the windows, one for each count."""
    for counts in look.strip.counts:
        dials = look.strip.dials_of(counts)
        x_mm = (min(dial.x_mm[0] for dial in dials) - 2.0, max(dial.x_mm[1] for dial in dials) + 2.0)
        y_low = max(dial.y_mm[1] for dial in dials) + _OVER_WINDOW_MM
        yield Decal(
            x_mm, (y_low, y_low + _LABEL_MM), text=_LABELS[counts], ink=look.label, height=0.8, font=look.board.font
        )


def _windows(look: StripLook, state: StripState) -> Iterator[Decal]:
    for dial, turn in zip(look.strip.dials, state.dials, strict=True):
        yield Decal(dial.x_mm, dial.y_mm, look.face, ink=look.label, edge_mm=0.8)
        yield from _faces(look, dial, turn)


def _faces(look: StripLook, dial: DialWindow, turn: float) -> Iterator[Decal]:
    """Yield the faces of a dial that its window shows: as it turns, the next one follows from below."""
    first = math.floor(turn + 0.5) - 1
    for face in range(first, first + 3):
        shift = turn - face
        if abs(shift) < (1 + look.face_height) / 2:
            text = dial.faces[face % len(dial.faces)]
            yield Decal(
                dial.x_mm,
                dial.y_mm,
                text=text,
                ink=look.ink,
                height=look.face_height,
                shift=shift,
                font=look.face_font,
            )
