"""Paints the drawings of a call onto a picture, for files that leave the house; pages draw in the browser.

Words stand in a band under the picture and names beside the figures with a line to each, so that nothing that matters
is covered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.review.drawings import DrawnFigure, DrawnGap, DrawnLine, FrameDrawing, LineOnBoard, Place, Point

DrawingKind = Literal["footprints", "gap", "faces", "spot", "lines", "trails", "names"]
DRAWING_KINDS: Final[tuple[DrawingKind, ...]] = ("footprints", "gap", "faces", "spot", "lines", "trails", "names")

Color = tuple[int, int, int]
"""Blue, green, red."""

_FIRST: Final[Color] = (60, 220, 255)  # the carrier or offender, in the color of the carrier in the live picture
_SECOND: Final[Color] = (120, 120, 255)
_OTHER: Final[Color] = (170, 170, 170)
_GAP: Final[Color] = (255, 255, 255)
_SPOT: Final[Color] = (120, 255, 120)
_TEXT: Final[Color] = (250, 250, 250)
_LINES: Final[dict[LineOnBoard, Color]] = {
    "scrimmage": (230, 120, 40),  # the colors of television broadcasts
    "to_gain": (40, 215, 250),
    "goal": (255, 255, 255),
    "call": (40, 215, 250),
}
_SHIFT: Final = 4  # fractional bits of the coordinates that OpenCV draws at
_FONT_PX: Final = 22  # of text in a picture 1080 pixels high
_LEADER: Final = 3.2  # of a base's half diagonal: a name stands this far from its middle


@dataclass(frozen=True, slots=True)
class PaintedCall:
    """What is painted on one picture.

    Attributes:
        drawing: what was measured on it.
        lines: of the play and the call.
        spot: where the ball is spotted; None for nowhere.
        trails_px: the way of each figure concerned up to this picture, shape (n, 2) each.
        caption: lines of text below the picture.

    """

    drawing: FrameDrawing
    lines: tuple[DrawnLine, ...] = ()
    spot: Place | None = None
    trails_px: tuple[Array, ...] = ()
    caption: tuple[str, ...] = ()


def paint(image: Image, call: PaintedCall, kinds: Collection[DrawingKind]) -> Image:
    """Return a copy of a picture with drawings of some kinds on it, and the caption in a band below.

    The band is as high for every picture with as many lines of caption, so that clips keep their size.
    """
    out = image.copy()
    unit = max(1, round(image.shape[0] / 1080))
    if "lines" in kinds:
        for line in call.lines:
            _path(out, line.px, _LINES[line.kind], 2 * unit if line.kind == "call" else unit)
    if "trails" in kinds:
        for trail in call.trails_px:
            _path(out, trail, _FIRST, unit)
    if "footprints" in kinds:
        for figure in call.drawing.figures:
            _paint_figure(out, figure, unit)
    gap = call.drawing.gap
    if gap is not None:
        _paint_gap(out, gap, kinds, unit)
    if "spot" in kinds and call.spot is not None and call.spot.px is not None:
        x, y = (round(value) for value in call.spot.px)
        cv2.drawMarker(out, (x, y), _SPOT, cv2.MARKER_TILTED_CROSS, 18 * unit, unit, cv2.LINE_AA)
    if "names" in kinds:
        _paint_names(out, call.drawing.figures, unit)
    return _with_caption(out, call.caption)


def spoken_name(text: str) -> str:
    """Return a text with roster ids as people say them."""
    return text.replace("dark-", "dark ").replace("light-", "light ")


def _color(figure: DrawnFigure) -> Color:
    return {"first": _FIRST, "second": _SECOND, "other": _OTHER}[figure.part]


def _corners_px(figure: DrawnFigure) -> Array | None:
    return np.array(figure.px) if figure.px else None


def _paint_figure(out: Image, figure: DrawnFigure, unit: int) -> None:
    corners = _corners_px(figure)
    if corners is not None:
        _path(out, [*corners, corners[0]], _color(figure), unit)
        _path(out, [corners.mean(axis=0), corners[:2].mean(axis=0)], _color(figure), unit)


def _paint_gap(out: Image, gap: DrawnGap, kinds: Collection[DrawingKind], unit: int) -> None:
    """Paint the nearest points of two bases, and a ring around them: a decisive gap is seldom as wide as a pixel."""
    if "faces" in kinds:
        for face in gap.faces:
            if face is not None:
                _path(out, [place.px for place in face], _GAP, 2 * unit)
    ends = [place.px for place in gap.ends]
    if "gap" in kinds and ends[0] is not None and ends[1] is not None:
        points = np.array(ends)
        _path(out, points, _GAP, unit)
        radius = max(16.0 * unit, float(np.linalg.norm(points[0] - points[1])))
        center = _fixed(points.mean(axis=0))
        cv2.circle(out, center, round(radius * (1 << _SHIFT)), _GAP, unit, cv2.LINE_AA, _SHIFT)


def _paint_names(out: Image, figures: Sequence[DrawnFigure], unit: int) -> None:
    """Paint the names of the figures concerned on the sides away from one another, with a line to each."""
    concerned = [(figure, _corners_px(figure)) for figure in figures if figure.part != "other"]
    outlines = [(figure, corners) for figure, corners in concerned if corners is not None]
    if not outlines:
        return
    center = np.mean([corners.mean(axis=0) for _, corners in outlines], axis=0)
    for figure, corners in outlines:
        middle = corners.mean(axis=0)
        away = middle - center
        length = float(np.linalg.norm(away))
        side = np.array([0.0, -1.0]) if length < 1 else away / length
        half = float(np.linalg.norm(corners[0] - middle))
        start, end = middle + side * half * 1.2, middle + side * half * _LEADER
        _path(out, [start, end], _color(figure), unit)
        text, size = spoken_name(figure.id), _FONT_PX * unit
        (x, _, width, height) = cv2.getTextSize((0, 0), text, (0, 0), _font(), size)
        left = end[0] if side[0] > 0.3 else end[0] - width if side[0] < -0.3 else end[0] - width / 2
        base = end[1] + (height / 2 if abs(side[0]) > 0.3 else height + 4 if side[1] > 0 else -4)
        left = float(np.clip(left, 2, out.shape[1] - width - 2)) - x
        base = float(np.clip(base, height + 2, out.shape[0] - 4))
        _text(out, text, (round(left), round(base)), _color(figure), size)


def _with_caption(out: Image, lines: Sequence[str]) -> Image:
    """Return a picture with lines of text in a band below it; its edges stay even, as video needs."""
    if not lines:
        return out
    size = max(14, round(_FONT_PX * out.shape[1] / 1920))
    step = round(size * 1.5)
    height = step * len(lines) + step // 2
    band = np.full((height + (out.shape[0] + height) % 2, out.shape[1], 3), 18, np.uint8)
    for number, line in enumerate(lines, start=1):
        _text(band, line, (size, step * number), _TEXT, size)
    return np.concatenate([out, band])


def _font() -> cv2.FontFace:
    return cv2.FontFace("sans")


def _text(out: Image, text: str, origin: tuple[int, int], color: Color, size: int) -> None:
    """Paint text with a shadow, so that it is readable on white paint."""
    shadow = (origin[0] + max(1, size // 16), origin[1] + max(1, size // 16))
    for position, ink in ((shadow, (0, 0, 0)), (origin, color)):
        cv2.putText(out, text, position, ink, _font(), size, 500)


def _path(out: Image, points: Array | Sequence[Array | Point | None], color: Color, thickness: int) -> None:
    """Paint a path; nothing if part of it is out of the camera's view."""
    if len(points) < 2 or any(point is None for point in points):
        return
    fixed = np.round(np.array(points, dtype=np.float64) * (1 << _SHIFT)).astype(np.int32)
    cv2.polylines(out, [fixed.reshape(-1, 1, 2)], False, color, thickness, cv2.LINE_AA, _SHIFT)


def _fixed(point_px: Array) -> tuple[int, int]:
    x, y = np.round(point_px * (1 << _SHIFT)).astype(int)
    return int(x), int(y)
