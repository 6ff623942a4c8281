"""What a call rests on, drawn on one picture: those concerned, their gap, the line, the spot; the margin in words."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.field import FieldModel
from downfield.core.footprint import signed_gap
from downfield.core.scene import Figure
from downfield.game.footage import CallMarks, FootageFrame
from downfield.game.published.game_topics import CallView
from downfield.rig.live.annotation import SHIFT, Annotator, Color, Points, fixed, outline, path

_FIRST: Final[Color] = (60, 220, 255)  # blue green red: the carrier or offender, as the live picture has him
_OTHER: Final[Color] = (90, 90, 255)
_GAP: Final[Color] = (255, 255, 255)
_LINE: Final[Color] = (40, 215, 250)
_SPOT: Final[Color] = (120, 255, 120)
_INK: Final[Color] = (250, 250, 250)
_GOALS: Final = frozenset({"touchdown", "safety", "touchback"})
_NAMES_APART: Final = 1.4  # of a base's half diagonal, from its middle, so that a name covers no base
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX

Line = tuple[tuple[float, float], tuple[float, float]]


def draw_call(image: Image, annotator: Annotator | None, marks: CallMarks, still: FootageFrame) -> Image:
    """A copy of a picture with a call's measurement drawn on it.

    Args:
        image: the picture.
        annotator: for its camera; None without a calibration, and then there are words alone.
        marks: what to draw.
        still: which picture it is.

    """
    out = image.copy()
    thick = max(1, round(image.shape[0] / 1080))
    figures = marks.figures
    if annotator is not None:
        for line in _lines(annotator.field, marks):
            annotator.board_line(out, *line, _LINE, thick)
        _draw_spot(out, annotator, marks.call, thick)
        corners = annotator.corners_px(figures)
        among = corners.mean(axis=(0, 1)) if figures else np.zeros(2)
        for number, (figure, around) in enumerate(zip(figures, corners, strict=True)):
            _draw_figure(out, _said(figure.id), around, among, _OTHER if number else _FIRST, thick)
        if len(figures) > 1:
            _draw_gap(out, annotator, figures[0], figures[1], thick)
    _caption(out, [*_words(marks.call), _when(marks, still)], thick)
    return out


def _lines(field: FieldModel, marks: CallMarks) -> list[Line]:
    """The lines a call is about: where each begins and ends, mm on the board."""
    call = marks.call
    if call.kind == "line_of_scrimmage" and marks.los_yd is not None:
        return [_across(field, marks.los_yd)]
    if call.spot_yd is None:
        return []
    x_yd, y_yd = call.spot_yd
    if call.kind in _GOALS:
        return [_across(field, 0.0 if x_yd < field.length_yd / 2 else field.length_yd)]
    if call.kind == "out_of_bounds":
        y_mm = 0.0 if y_yd < field.width_yd / 2 else field.width_mm
        return [((-field.end_zone_mm, y_mm), (field.length_mm + field.end_zone_mm, y_mm))]
    return [_across(field, x_yd)]


def _across(field: FieldModel, x_yd: float) -> Line:
    x_mm = x_yd * field.mm_per_yd_x
    return (x_mm, 0.0), (x_mm, field.width_mm)


def _draw_spot(out: Image, annotator: Annotator, call: CallView, thick: int) -> None:
    """A cross where the ball is spotted: the foremost point, by the rulebook, at the instant of the call."""
    if call.spot_yd is None:
        return
    at = annotator.points_px(annotator.field.to_mm(np.array([call.spot_yd])), 0.0)[0]
    if np.isfinite(at).all():
        cv2.drawMarker(out, _whole(at), _SPOT, cv2.MARKER_TILTED_CROSS, 14 * thick, thick, cv2.LINE_AA)


def _draw_figure(out: Image, name: str, corners: Points, among: Points, color: Color, thick: int) -> None:
    """A base with the middle of its front, and its name on the side away from the others."""
    if not np.isfinite(corners).all():
        return
    outline(out, corners, color, thick)
    middle = corners.mean(axis=0)
    path(out, np.array([middle, corners[:2].mean(axis=0)]), color, thick)
    away = middle - among
    side = np.array([0.0, -1.0]) if np.linalg.norm(away) < 1 else away / np.linalg.norm(away)
    size = 0.5 * thick
    (wide, high), _ = cv2.getTextSize(name, _FONT, size, thick)
    reach = _NAMES_APART * float(np.linalg.norm(corners[0] - middle)) + abs(side[0]) * wide / 2
    _write(out, name, _whole(middle + side * reach + (-wide / 2, high / 2)), color, size, thick)


def _draw_gap(out: Image, annotator: Annotator, a: Figure, b: Figure, thick: int) -> None:
    """The nearest points of two bases, and a ring around them: what decides is seldom as wide as a pixel."""
    gap = signed_gap(a.footprint, b.footprint)
    ends = [(gap.point_a_mm, annotator.height_mm(a)), (gap.point_b_mm, annotator.height_mm(b))]
    points = np.concatenate([annotator.points_px(np.array([point]), height_mm) for point, height_mm in ends])
    if np.isfinite(points).all():
        path(out, points, _GAP, thick)
        around = max(12.0 * thick, float(np.linalg.norm(points[0] - points[1])))
        cv2.circle(out, fixed(points.mean(axis=0)), round(around * (1 << SHIFT)), _GAP, thick, cv2.LINE_AA, SHIFT)


def _words(call: CallView) -> list[str]:
    sure = "" if call.probability == 1 else f"{call.probability:.1%} sure"
    facts = ", ".join(part for part in (call.measured and f"measured {call.measured}", sure) if part)
    return [_said(call.text), *([facts] if facts else [])]


def _when(marks: CallMarks, still: FootageFrame) -> str:
    since_ms = (still.t_ns - marks.call.t_ns) / 1e6
    side = "after" if since_ms > 0 else "before"
    seen = marks.gap_text if marks.scene is not None else "what was seen on it is not kept"
    return f"frame {still.frame}, {abs(since_ms):.1f} ms {side} the instant called" + (f": {seen}" if seen else "")


def _said(text: str) -> str:
    """Roster ids as they are said."""
    return text.replace("dark-", "dark ").replace("light-", "light ")


def _caption(out: Image, lines: list[str], thick: int) -> None:
    """Words along the upper edge, on a darkened ground."""
    high = 26 * thick
    band = out[: high * len(lines) + 8 * thick]
    band[:] = band // 4
    for number, line in enumerate(lines, start=1):
        _write(out, line, (12 * thick, high * number), _INK, 0.7 * thick, thick)


def _write(out: Image, text: str, at: tuple[int, int], color: Color, size: float, thick: int) -> None:
    """Words with a shadow, to be read on white paint too."""
    shadow = (at[0] + thick, at[1] + thick)
    for where, ink in ((shadow, (0, 0, 0)), (at, color)):
        cv2.putText(out, text, where, _FONT, size, ink, thick, cv2.LINE_AA)


def _whole(point: Points) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
