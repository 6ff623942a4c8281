"""Paints the drawings of a call onto a picture, with words below it, for files that are sent to others.

Pages draw in the browser. Words stand in a band under the picture and names beside the figures with a line to each, so
that nothing that matters is covered.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np

from downfield.capture.footage import CallMarks, FootageFrame, when_text
from downfield.core.arrays import Array, Image
from downfield.game.published.game_topics import CallView, Standing
from downfield.officiating.belief import percent_text
from downfield.review.pictures.drawings import DrawnFigure, DrawnGap, DrawnLine, FrameDrawing, LineOnBoard
from downfield.review.pictures.projection import Place, Point

DrawingKind = Literal["footprints", "gap", "faces", "spot", "lines", "trails", "names"]
DRAWING_KINDS: Final[tuple[DrawingKind, ...]] = ("footprints", "gap", "faces", "spot", "lines", "trails", "names")

Color = tuple[int, int, int]  # Blue, green, red

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
    "call": (250, 215, 40),
}
_BAND: Final = 18  # gray of the band below
_SHIFT: Final = 4  # fractional bits of the coordinates that OpenCV draws at
_FONT_PX: Final = 22  # of text in a picture 1080 pixels high
_LEAST_FONT_PX: Final = 8  # smaller letters can't be read
_LINE_CHARACTERS: Final = 150  # of the longest usual line of a caption
_WEIGHT: Final = 500  # of the letters; measured without it they have the width of another weight, painted or not before
_CHARACTER_WIDTH: Final = 0.52  # of a usual letter, as a share of the font's size
_AROUND: Final = 1.6  # a close-up is so much larger than what it is of
_LEAST_SHARE: Final = 0.2  # of the picture: less would not show where on the board it is
_LEADER: Final = 3.2  # of a base's half diagonal: a name stands this far from its middle


@dataclass(frozen=True, slots=True)
class PaintedCall:
    """What is painted on one picture."""

    drawing: FrameDrawing
    lines: tuple[DrawnLine, ...] = ()  # of the play and the call
    spot: Place | None = None  # where the ball is spotted; None for nowhere
    trails_px: tuple[Array, ...] = ()  # the way of each figure concerned up to this picture, shape (n, 2) each
    caption: tuple[str, ...] = ()  # lines of text below the picture


def paint(image: Image, call: PaintedCall, kinds: Collection[DrawingKind], scale: float = 1.0) -> Image:
    """Return a copy of a picture with drawings of some kinds on it, and the caption in a band below.

    The band is as high for every picture of one width with as many lines of caption, so that clips keep their size. A
    line too long for the width goes on in the rows that narrow pictures keep for it; one too long for those is smaller.

    Args:
        image: the picture, uint8 BGR, shape (height, width, 3).
        call: what is painted, in pixels of the camera's picture.
        scale: of the picture to the camera's.
    """
    height, width = image.shape[:2]
    size = max(12, round(_FONT_PX * width / 1920))
    rows = max(1, math.ceil(_LINE_CHARACTERS * size * _CHARACTER_WIDTH / width))
    band = _band_height(height, rows * len(call.caption), size)
    framed = np.empty((height + band, width, 3), np.uint8)
    framed[:height], framed[height:] = image, _BAND
    out, unit = framed[:height], max(1, round(height / 1080))
    if "lines" in kinds:
        for line in call.lines:
            _path(out, _scaled(line.px, scale), _LINES[line.kind], 2 * unit if line.kind == "call" else unit)
    if "trails" in kinds:
        for trail in call.trails_px:
            _path(out, _scaled(trail, scale), _FIRST, unit)
    seen = [figure for figure in call.drawing.figures if figure.px]
    corners = _scaled([point for figure in seen for point in figure.px], scale).reshape(-1, 4, 2)
    outlines = list(zip(seen, corners, strict=True))
    if "footprints" in kinds:
        _paint_footprints(out, outlines, unit)
    if call.drawing.gap is not None:
        _paint_gap(out, call.drawing.gap, kinds, unit, scale)
    if "spot" in kinds and call.spot is not None and call.spot.px is not None:
        x, y = _scaled([call.spot.px], scale)[0].tolist()
        cv2.drawMarker(out, (round(x), round(y)), _SPOT, cv2.MARKER_TILTED_CROSS, 18 * unit, unit, cv2.LINE_AA)
    if "names" in kinds:
        _paint_names(out, [one for one in outlines if one[0].part != "other"], unit, size)
    for number, text in enumerate(call.caption):
        fitting, parts = _fitted(text, width - 2 * size, rows, size)
        for row, part in enumerate(parts, start=1):
            _text(framed, part, (size, height + round(1.5 * size) * (number * rows + row)), _TEXT, fitting)
    return framed


def close_up(image: Image, call: PaintedCall) -> Image:
    """Return the part of a picture around the figures concerned, or the spot; all of it where neither is known."""
    height, width = image.shape[:2]
    concerned = [point for figure in call.drawing.figures if figure.part != "other" for point in figure.px]
    spot = [] if call.spot is None or call.spot.px is None else [call.spot.px]
    points = np.array(concerned or spot)
    if not len(points):
        return image
    low, high = points.min(axis=0), points.max(axis=0)
    share = max(_LEAST_SHARE, *((high - low) * _AROUND / (width, height)).tolist())
    if share >= 1:
        return image
    size = np.array([round(width * share), round(height * share)])
    left, top = np.clip(np.round((low + high) / 2 - size / 2), 0, (width, height) - size).astype(int).tolist()
    return image[top : top + size[1], left : left + size[0]]


def spoken_name(text: str) -> str:
    """Return a text with roster ids as people say them."""
    return text.replace("dark-", "dark ").replace("light-", "light ")


def _color(figure: DrawnFigure) -> Color:
    return {"first": _FIRST, "second": _SECOND, "other": _OTHER}[figure.part]


def _scaled(points_px: Sequence[Point] | Array, scale: float) -> Array:
    """Return points of the camera's picture in a picture of another scale; a pixel's center has integer coordinates."""
    points: Array = (np.asarray(points_px, dtype=np.float64).reshape(-1, 2) + 0.5) * scale - 0.5
    return points


def _paint_footprints(out: Image, outlines: Sequence[tuple[DrawnFigure, Array]], unit: int) -> None:
    """Paint the outlines of bases, each with a line from its middle to its front; all of one color at once."""
    for color in (_OTHER, _FIRST, _SECOND):
        corners = np.array([one for figure, one in outlines if _color(figure) == color])
        if len(corners):
            front, rear = corners[:, 0] + corners[:, 1], corners[:, 2] + corners[:, 3]
            ahead = np.stack([(front + rear) / 4, front / 2], axis=1)
            cv2.polylines(out, list(_fixed(corners)), True, color, unit, cv2.LINE_AA, _SHIFT)
            cv2.polylines(out, list(_fixed(ahead)), False, color, unit, cv2.LINE_AA, _SHIFT)


def _paint_gap(out: Image, gap: DrawnGap, kinds: Collection[DrawingKind], unit: int, scale: float) -> None:
    """Paint the nearest points of two bases, and a ring around them: a decisive gap is seldom as wide as a pixel."""
    if "faces" in kinds:
        for face in gap.faces:
            if face is not None:
                _path(out, _scaled([place.px for place in face if place.px is not None], scale), _GAP, 2 * unit)
    ends = [place.px for place in gap.ends if place.px is not None]
    if "gap" in kinds and len(ends) == 2:
        points = _scaled(ends, scale)
        _path(out, points, _GAP, unit)
        radius = max(16.0 * unit, float(np.linalg.norm(points[0] - points[1])))
        center = _fixed(points.mean(axis=0)).tolist()
        cv2.circle(out, center, round(radius * (1 << _SHIFT)), _GAP, unit, cv2.LINE_AA, _SHIFT)


def _paint_names(out: Image, outlines: Sequence[tuple[DrawnFigure, Array]], unit: int, size: int) -> None:
    """Paint the names of the figures concerned on the sides away from one another, with a line to each."""
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
        _path(out, np.array([start, end]), _color(figure), unit)
        text = spoken_name(figure.id)
        x, _, width, height = cv2.getTextSize((0, 0), text, (0, 0), _font(), size, _WEIGHT)
        left = end[0] if side[0] > 0.3 else end[0] - width if side[0] < -0.3 else end[0] - width / 2
        base = end[1] + (height / 2 if abs(side[0]) > 0.3 else height + 4 if side[1] > 0 else -4)
        left = float(np.clip(left, 2, out.shape[1] - width - 2)) - x
        base = float(np.clip(base, height + 2, out.shape[0] - 4))
        _text(out, text, (round(left), round(base)), _color(figure), size)


def _band_height(height: int, lines: int, size: int) -> int:
    """Return the height of a band for lines of text that leaves the whole picture's height even, as video needs."""
    band = round(1.5 * size) * lines + round(0.75 * size) if lines else 0
    return band + (height + band) % 2 if lines else 0


def _fitted(text: str, width: int, rows: int, size: int) -> tuple[int, list[str]]:
    """Return the size at which a text fits into rows of a width, at most that given, and its rows."""
    while True:
        parts = _wrapped(text, width, size)
        if size == _LEAST_FONT_PX or (len(parts) <= rows and all(_width(part, size) <= width for part in parts)):
            return size, parts[:rows]
        size -= 1


def _wrapped(text: str, width: int, size: int) -> list[str]:
    """Return a text in rows of whole words, each as long as a width allows."""
    if _width(text, size) <= width:
        return [text]
    parts: list[str] = []
    for word in text.split():
        longer = f"{parts[-1]} {word}" if parts else word
        if parts and _width(longer, size) <= width:
            parts[-1] = longer
        else:
            parts.append(word)
    return parts


def _width(text: str, size: int) -> int:
    return int(cv2.getTextSize((0, 0), text, (0, 0), _font(), size, _WEIGHT)[2])


def _font() -> cv2.FontFace:
    return cv2.FontFace("sans")


def _text(out: Image, text: str, origin: tuple[int, int], color: Color, size: int) -> None:
    """Paint text with a shadow, so that it is readable on white paint."""
    shadow = (origin[0] + max(1, size // 16), origin[1] + max(1, size // 16))
    for position, ink in ((shadow, (0, 0, 0)), (origin, color)):
        cv2.putText(out, text, position, ink, _font(), size, _WEIGHT)


def _path(out: Image, points: Array, color: Color, thickness: int) -> None:
    """Paint a path."""
    if len(points) > 1:
        cv2.polylines(out, [_fixed(points)], False, color, thickness, cv2.LINE_AA, _SHIFT)


def _fixed(points_px: Array) -> Array:
    """Return points in the fixed-point numbers that OpenCV draws at."""
    return np.round(points_px * (1 << _SHIFT)).astype(np.int32)


_STANDINGS: Final[dict[Standing, str]] = {
    "open": "open: nobody has decided",
    "confirmed": "confirmed",
    "overturned": "overturned",
    "struck": "struck",
    "manual": "made by hand",
    "noted": "only noted",
    "stands": "",
}


def standing_words(call: CallView) -> str:
    """Return how a call stands and by whom, such as ``"overturned by Ann (a miss)"``; empty where it just stands."""
    standing, ruling = _STANDINGS[call.standing], call.ruling
    if ruling is None:
        return standing
    standing = "called instead of one overturned" if ruling.replaced else standing or ruling.decision
    return f"{standing} by {ruling.by}" + (f" ({ruling.note})" if ruling.note else "")


def call_caption(call: CallView, marks: CallMarks, still: FootageFrame) -> tuple[str, ...]:
    """Return the words below a picture of a call."""
    sure = "" if call.words or call.probability == 1 else f"sure to {percent_text(call.probability)}"
    told = ", ".join(spoken_name(part) for part in (call.words, sure, standing_words(call)) if part)
    gap = marks.bare_gap_text if marks.scene is not None else "no measurement of this frame is kept"
    when = f"Frame {still.frame}, {when_text(still.t_ns - call.t_ns)} the call"
    return (spoken_name(call.text) + (f": {told}" if told else ""), f"{when}{f'; {gap}' if gap else ''}")


def play_caption(play: int, marks: CallMarks, still: FootageFrame) -> tuple[str, ...]:
    """Return the words below a picture of a play, as many lines as a call has; near a call they are the call's."""
    if marks.call is not None:
        first, *others = call_caption(marks.call, marks, still)
        return (f"Play {play}: {first}", *others)
    if marks.snap is None:
        return (f"Play {play}", f"Frame {still.frame}")
    snap = marks.snap
    about = snap.situation if snap.kind == "scrimmage" else snap.kind.replace("_", " ")
    carrier = "" if snap.carrier is None else f", {spoken_name(snap.carrier)} has the ball"
    return (f"Play {play}: {about}{carrier}", f"Frame {still.frame}, {when_text(still.t_ns - snap.t_ns)} the snap")
