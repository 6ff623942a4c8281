"""Draws the evidence of a call on one frame: its figures, their gap, the line, the spot, and the margin in words."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.field import FieldModel
from downfield.core.footprint import signed_gap
from downfield.core.scene import Figure
from downfield.game.footage import CallMarks, FootageFrame
from downfield.game.published.game_topics import CallView
from downfield.officiating.belief import percent_text
from downfield.rig.live.annotation import SHIFT, Annotator, Color, draw_outline, draw_path, fixed_point

_FIRST: Final[Color] = (60, 220, 255)  # the carrier or offender, in the color of the carrier in the live picture
_OTHER: Final[Color] = (90, 90, 255)
_GAP: Final[Color] = (255, 255, 255)
_LINE: Final[Color] = (40, 215, 250)
_SPOT: Final[Color] = (120, 255, 120)
_TEXT: Final[Color] = (250, 250, 250)
_GOAL_LINE_CALLS: Final = frozenset({"touchdown", "safety", "touchback"})
_NAME_DISTANCE: Final = 1.4  # of a base's half diagonal, from its center, so that a name covers no base
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX

BoardLine = tuple[tuple[float, float], tuple[float, float]]
"""Two points, mm on the board."""


def draw_call(image: Image, annotator: Annotator | None, marks: CallMarks, frame: FootageFrame) -> Image:
    """Return a copy of a picture with the evidence of a call drawn on it.

    Args:
        image: the picture.
        annotator: draws for the camera; without a calibration it is None, and only text is drawn.
        marks: the evidence to draw.
        frame: the frame of the picture.

    """
    out = image.copy()
    thickness = max(1, round(image.shape[0] / 1080))
    figures = marks.figures
    if annotator is not None:
        for line in _lines(annotator.field, marks):
            annotator.draw_board_line(out, *line, _LINE, thickness)
        _draw_spot(out, annotator, marks.call, thickness)
        corners = annotator.corners_px(figures)
        center = corners.mean(axis=(0, 1)) if figures else np.zeros(2)
        for number, (figure, outline) in enumerate(zip(figures, corners, strict=True)):
            _draw_figure(out, _spoken(figure.id), outline, center, _OTHER if number else _FIRST, thickness)
        if len(figures) > 1:
            _draw_gap(out, annotator, figures[0], figures[1], thickness)
    _draw_caption(out, [*_call_text(marks.call), _time_text(marks, frame)], thickness)
    return out


def _lines(field: FieldModel, marks: CallMarks) -> list[BoardLine]:
    """Return the lines on the board that a call refers to."""
    call = marks.call
    if call.kind == "line_of_scrimmage" and marks.los_yd is not None:
        return [_line_across(field, marks.los_yd)]
    if call.spot_yd is None:
        return []
    x_yd, y_yd = call.spot_yd
    if call.kind in _GOAL_LINE_CALLS:
        return [_line_across(field, 0.0 if x_yd < field.length_yd / 2 else field.length_yd)]
    if call.kind == "out_of_bounds":
        y_mm = 0.0 if y_yd < field.width_yd / 2 else field.width_mm
        return [((-field.end_zone_mm, y_mm), (field.length_mm + field.end_zone_mm, y_mm))]
    return [_line_across(field, x_yd)]


def _line_across(field: FieldModel, x_yd: float) -> BoardLine:
    x_mm = x_yd * field.mm_per_yd_x
    return (x_mm, 0.0), (x_mm, field.width_mm)


def _draw_spot(out: Image, annotator: Annotator, call: CallView, thickness: int) -> None:
    """Draw a cross where the ball is spotted."""
    if call.spot_yd is None:
        return
    point = annotator.points_px(annotator.field.to_mm(np.array([call.spot_yd])), 0.0)[0]
    if np.isfinite(point).all():
        marker = cv2.MARKER_TILTED_CROSS
        cv2.drawMarker(out, _pixel(point), _SPOT, marker, 14 * thickness, thickness, cv2.LINE_AA)


def _draw_figure(out: Image, name: str, corners: Array, center: Array, color: Color, thickness: int) -> None:
    """Draw a base with a line to the middle of its front, and its name on the side away from the other figures."""
    if not np.isfinite(corners).all():
        return
    draw_outline(out, corners, color, thickness)
    middle = corners.mean(axis=0)
    draw_path(out, np.array([middle, corners[:2].mean(axis=0)]), color, thickness)
    away = middle - center
    side = np.array([0.0, -1.0]) if np.linalg.norm(away) < 1 else away / np.linalg.norm(away)
    size = 0.5 * thickness
    (width, height), _ = cv2.getTextSize(name, _FONT, size, thickness)
    reach = _NAME_DISTANCE * float(np.linalg.norm(corners[0] - middle)) + abs(side[0]) * width / 2
    _draw_text(out, name, _pixel(middle + side * reach + (-width / 2, height / 2)), color, size, thickness)


def _draw_gap(out: Image, annotator: Annotator, a: Figure, b: Figure, thickness: int) -> None:
    """Draw the nearest points of two bases, and a ring around them: a decisive gap is seldom as wide as a pixel."""
    gap = signed_gap(a.footprint, b.footprint)
    ends = [(gap.point_a_mm, annotator.height_mm(a)), (gap.point_b_mm, annotator.height_mm(b))]
    points = np.concatenate([annotator.points_px(np.array([point]), height_mm) for point, height_mm in ends])
    if np.isfinite(points).all():
        draw_path(out, points, _GAP, thickness)
        radius = max(12.0 * thickness, float(np.linalg.norm(points[0] - points[1])))
        ring = round(radius * (1 << SHIFT))
        cv2.circle(out, fixed_point(points.mean(axis=0)), ring, _GAP, thickness, cv2.LINE_AA, SHIFT)


def _call_text(call: CallView) -> list[str]:
    sure = "" if call.words or call.probability == 1 else f"sure to {percent_text(call.probability)}"
    return [line for line in (_spoken(call.text), call.words, sure) if line]


def _time_text(marks: CallMarks, frame: FootageFrame) -> str:
    after_ms = (frame.t_ns - marks.call.t_ns) / 1e6
    side = "after" if after_ms > 0 else "before"
    gap = marks.gap_text if marks.scene is not None else "the scene of this frame was not kept"
    return f"frame {frame.frame}, {abs(after_ms):.1f} ms {side} the call" + (f": {gap}" if gap else "")


def _spoken(text: str) -> str:
    """Return a text with roster ids as people say them."""
    return text.replace("dark-", "dark ").replace("light-", "light ")


def _draw_caption(out: Image, lines: list[str], thickness: int) -> None:
    """Draw lines of text along the upper edge, on a darkened background."""
    height = 26 * thickness
    band = out[: height * len(lines) + 8 * thickness]
    band[:] = band // 4
    for number, line in enumerate(lines, start=1):
        _draw_text(out, line, (12 * thickness, height * number), _TEXT, 0.7 * thickness, thickness)


def _draw_text(out: Image, text: str, origin: tuple[int, int], color: Color, size: float, thickness: int) -> None:
    """Draw text with a shadow, so that it is readable on white paint."""
    shadow = (origin[0] + thickness, origin[1] + thickness)
    for position, ink in ((shadow, (0, 0, 0)), (origin, color)):
        cv2.putText(out, text, position, _FONT, size, ink, thickness, cv2.LINE_AA)


def _pixel(point: Array) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
