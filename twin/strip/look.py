"""The look of a strip, drawn from a seed: print, scoreboard, windows, slide, light and camera; and it in one state.

As for tables, the splits share no seed and no setting (`twin.randomization.deck`). In a state it is an `Appearance`,
which every renderer draws: printed decals, and the slide over them.

A state is where the slide, the ball and every dial are at one instant, settled or between two faces.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from downfield.calibration.camera import Camera
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.strip import THIRDS, Count, DialWindow, StripSet, Third
from downfield.twin.randomization import colors
from downfield.twin.randomization.boards import draw_board
from downfield.twin.randomization.cameras import draw_camera, draw_lamps, draw_sensor, skin_and_sleeve
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.table.appearance import (
    Appearance,
    BoardAppearance,
    Color,
    Decal,
    FigureAppearance,
    Lamp,
    Sensor,
    Solid,
)
from downfield.twin.table.lettering import FONTS

_REDS = tuple(colors.rgb(code) for code in (0xC41E24, 0xB82028, 0xD02A20, 0xC02430, 0xD8322A))
_PANELS = (*colors.STRONG, *colors.DARKS)
_FACES = colors.LIGHTS
_INKS = (*colors.DARKS[:10], *colors.STRONG[:5])

PLATE_MM = 0.8  # thickness of the clear plate; the line lies under its top, the ball on it
_BEYOND_MM = 4.0  # the slide reaches this far over either sideline
_LABELS = {"home": "HOME", "away": "VISITOR", "down": "DOWN", "quarter": "QTR", "minutes": "MIN", "seconds": "SEC"}
_LABEL_MM, _OVER_WINDOW_MM = 4.0, 2.0


SETTLED_TURN = 0.06  # a dial turned by less than this share of a step from a face counts as set to it
SETTLED_THIRD = 0.12  # a ball nearer than this share of the way between two thirds counts as in one of them


@dataclass(frozen=True, slots=True)
class StripState:
    """One state of a strip."""

    # the line's position, field yards along x; not a whole number while it is being moved, and a little off one when it
    # was set by hand
    slide_yd: float
    ball: float  # the ball's place, 0 in the left third, 1 in the middle one, 2 in the right one; may be between them
    dials: tuple[float, ...]  # turn of each window's dial, in faces from the first; fractions between two faces

    def faces(self, strip: StripSet) -> tuple[str | None, ...]:
        """Return the face in each window; None for a dial between two faces."""
        return tuple(
            dial.faces[round(turn) % len(dial.faces)] if abs(turn - round(turn)) <= SETTLED_TURN else None
            for dial, turn in zip(strip.dials, self.dials, strict=True)
        )

    @property
    def third(self) -> Third | None:
        """The third the ball is in; None between two."""
        near = round(self.ball)
        return THIRDS[near] if abs(self.ball - near) <= SETTLED_THIRD else None


def set_to(strip: StripSet, slide_yd: float, third: Third, numbers: dict[Count, int]) -> StripState:
    """Return the strip set to numbers, other dials to their first face. Raises InputError: no such face."""
    turns = [0.0] * len(strip.dials)
    for counts, number in numbers.items():
        left = number
        for dial in strip.dials_of(counts):
            tens = any(other.place == 10 for other in strip.dials_of(counts))
            digit = left // 10 % 10 if dial.place == 10 else left % 10 if tens else left
            values = [int(face) for face in dial.faces]
            if digit not in values:
                raise InputError(f"the {counts} dial of {strip.name} has no face for {number}")
            turns[strip.dials.index(dial)] = float(values.index(digit))
    return StripState(slide_yd, float(THIRDS.index(third)), tuple(turns))


def turned(state: StripState, index: int, turn: float) -> StripState:
    """Return the state with one dial turned elsewhere."""
    return replace(state, dials=tuple(turn if i == index else old for i, old in enumerate(state.dials)))


@dataclass(frozen=True, slots=True)
class StripLook:
    """Everything about a strip's pictures that does not change in a game."""

    seed: int
    strip: StripSet  # the set; its field is the printed one, a little off its nominal size
    board: BoardAppearance  # the print without the scoreboard
    panel: Color  # color of the scoreboard around the field
    label: Color  # color of the words on it
    face: Color  # face, ink: colors of the dials and their numbers
    ink: Color
    face_font: int  # style of the numbers, see `twin.table.lettering`
    face_height: float  # their height as a share of the window's
    red: Color  # color of the slide's line, a red
    ball: Color
    plate: float  # opacity of the clear slide, 0..1
    shine: float  # strength of the lamps' mirror images in clear plastic, 0..1
    # lamps, ambient, table, skin, sleeve, camera, sensor: as in `twin.table.appearance.Appearance`
    lamps: tuple[Lamp, ...]
    ambient: float
    table: Color
    skin: Color
    sleeve: Color
    camera: Camera
    sensor: Sensor


def draw_look(
    strip: StripSet, seed: int, *, split: Split = "train", size: tuple[int, int] = (1920, 1080), fps: float = 30.0
) -> StripLook:
    """Return the look of a strip."""
    deck = Deck(split, seed, 40)
    field = _vary_field(deck, strip.field)
    board = draw_board(Deck(split, seed, 41), field, seed)
    board = dataclasses.replace(board, wear=0.3 * board.wear, gloss=0.4 * board.gloss, rail_mm=(0.0, 0.0))
    light = deck.chance(0.7)
    face, ink = deck.choice(_FACES), deck.choice(_INKS)
    lamps = draw_lamps(Deck(split, seed, 42), field)
    skin, sleeve = skin_and_sleeve(Deck(split, seed, 43))
    panel = deck.choice(_PANELS)
    return StripLook(
        seed=seed,
        strip=dataclasses.replace(strip, field=field),
        board=dataclasses.replace(board, border=panel),
        panel=panel,
        label=deck.choice(colors.PAINTS),
        face=face if light else ink,
        ink=ink if light else face,
        face_font=deck.choice(range(FONTS)),
        face_height=deck.uniform(0.52, 0.78),
        red=deck.choice(_REDS),
        ball=deck.choice(colors.PAINTS),
        plate=deck.uniform(0.04, 0.16),
        shine=deck.uniform(0.15, 1.0) if deck.chance(0.6) else 0.0,
        lamps=lamps,
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=Deck(split, seed, 44).choice(colors.TABLES),
        skin=skin,
        sleeve=sleeve,
        camera=draw_camera(Deck(split, seed, 45), field, board, size),
        sensor=draw_sensor(Deck(split, seed, 46), fps, size),
    )


def no_figures() -> FigureAppearance:
    """Return the ball of an appearance that shows none: the strip's own ball is part of its slide."""
    return FigureAppearance((Solid("ellipsoid", (0.1, 0.1, 0.1), (0.0, 0.0, 0.0), part="ball"),))


def _vary_field(deck: Deck, field: FieldModel) -> FieldModel:
    """Return the print with its scales and paint varied; the windows stay where they are."""
    return dataclasses.replace(
        field,
        mm_per_yd_x=field.mm_per_yd_x * deck.uniform(0.99, 1.01),
        mm_per_yd_y=field.mm_per_yd_y * deck.uniform(0.99, 1.01),
        line_mm=field.line_mm * deck.uniform(0.8, 1.5),
        hash_every_yd=0.0 if deck.chance(0.15) else field.hash_every_yd,
        sideline_marks=deck.chance(0.7),
        number_height_yd=field.number_height_yd * deck.uniform(0.8, 1.2),
    )


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
                dial.x_mm, dial.y_mm, text=text, ink=look.ink, height=look.face_height, shift=shift, font=look.face_font
            )
