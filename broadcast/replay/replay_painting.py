"""Paints a replay: the two bases, the gap between them as it closes, and at the end the verdict, stamped.

What is said stands at the edges of the picture; the middle, where it is decided, stays free of words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.broadcast.replay.framing import ReplayShot
from downfield.core.arrays import Array, Image
from downfield.game.published.game_topics import CallView
from downfield.officiating.belief import percent_text, share_above_zero
from downfield.review.pictures.drawings import DrawnFigure, DrawnGap, DrawnLine, FigurePart, FrameDrawing
from downfield.review.pictures.painting import spoken_name
from downfield.review.pictures.projection import BoardRegion, Place

Color = tuple[int, int, int]  # Blue, green, red

_PARTS: Final[dict[FigurePart, Color]] = {"first": (60, 220, 255), "second": (140, 140, 255), "other": (0, 0, 0)}
_LINES: Final[dict[str, Color]] = {"scrimmage": (230, 120, 40), "to_gain": (40, 215, 250), "call": (250, 215, 40)}
_LINE_NAMES: Final = {"scrimmage": "line of scrimmage", "to_gain": "line to gain"}
_INK: Final[Color] = (250, 247, 244)
_PLATE: Final[Color] = (28, 21, 16)  # the overlays' plates
_CALL: Final[Color] = (66, 197, 244)
_CLOSE: Final[Color] = (67, 159, 255)
_MUTED: Final[Color] = (195, 182, 169)
_SHIFT: Final = 4  # fractional bits of the coordinates that OpenCV draws at
_EDGE_PX: Final = 44  # words keep this distance from the edges
_PLATE_SHARE: Final = 0.86  # how much of the picture a plate hides
_EVEN_ODDS: Final = 0.5
_STAMP_GROWTH: Final = 0.9  # a stamp falls from so much more than its size


@dataclass(frozen=True, slots=True)
class ReplayPicture:
    """What is painted on one picture of a replay."""

    call: CallView
    shot: ReplayShot  # when and how it is shown
    region: BoardRegion | None = None  # what of the board it shows; None for the camera's picture as it is
    drawing: FrameDrawing | None = None  # what was measured on it; None where nothing is kept
    lines: tuple[DrawnLine, ...] = ()  # of the play and the call
    spot: Place | None = None  # where the ball is spotted; None for nowhere


def paint_replay(out: Image, picture: ReplayPicture) -> None:
    """Paint on a picture of a replay, uint8 BGR, in place."""
    if picture.region is not None:
        _paint_board(out, picture, picture.region)
    speed = "freeze" if picture.shot.speed == 0 else f"{picture.shot.speed:g} x"
    _plate(out, (_EDGE_PX, _EDGE_PX), (("REPLAY", _CALL, 30), (speed, _MUTED, 24)))
    if picture.shot.stamp > 0:
        _paint_stamp(out, picture.call, picture.shot.stamp)


def stamp_text(call: CallView) -> tuple[str, str]:
    """Return the verdict of a call as it is stamped: a headline, and what it rests on, which may be empty."""
    kind = call.kind.replace("_", " ").upper()
    measured = call.summary or call.words or call.measured
    if call.ruling is not None and call.ruling.replaced:
        return "CALL OVERTURNED", f"now: {spoken_name(call.text)}"
    if call.standing in {"overturned", "struck"}:
        return f"{kind}: {call.standing.upper()}", "by the operator"
    if call.verdict == "too_close" and call.standing == "open":
        of_a_place = call.kind == "touchdown" or (call.unit == "yd" and call.measure in {"line", "short"})
        headline = "MEASUREMENT" if of_a_place else "TOO CLOSE TO CALL"
        return headline, call.summary or f"{percent_text(call.probability)} {kind.lower()}"
    if call.verdict == "proposed" and call.standing == "open":
        return f"{kind}?", "the operator decides"
    sure = f"{percent_text(call.probability)} sure" if call.probability < 1 and not call.words else ""
    return kind, ", ".join(part for part in (measured, sure) if part)


def is_shown_touching(gap: DrawnGap) -> bool:
    """Return whether two bases are shown as touching: once that is likelier than not, as in the words of a call."""
    share = share_above_zero(-gap.gap_mm, gap.sigma_mm) if gap.touching is None else gap.touching
    return share > _EVEN_ODDS


def _paint_board(out: Image, picture: ReplayPicture, region: BoardRegion) -> None:
    for line in picture.lines:
        if line.kind in _LINES:
            points = _pixels(region, line.above)
            _path(out, points, _LINES[line.kind], 3)
            _name_line(out, points, _LINE_NAMES.get(line.kind, ""), _LINES[line.kind])
    drawing = picture.drawing
    if drawing is not None:
        for figure in drawing.figures:
            if figure.part != "other" and figure.above:
                corners = _pixels(region, figure.above)
                _path(out, np.concatenate([corners, corners[:1]]), _PARTS[figure.part], 3)
        if drawing.gap is not None:
            concerned = [one.above for one in drawing.figures if one.part != "other" and one.above][:2]
            kept_clear = [_pixels(region, corners) for corners in concerned]
            _paint_gap(out, drawing.gap, region, np.concatenate(kept_clear) if kept_clear else np.empty((0, 2)))
        _paint_names(out, [one for one in drawing.figures if one.part != "other" and one.above][:2], region)
    if picture.spot is not None and picture.spot.above is not None and picture.shot.stamp > 0:
        x, y = _pixels(region, [picture.spot.above])[0].tolist()
        cv2.drawMarker(out, (round(x), round(y)), _CALL, cv2.MARKER_TILTED_CROSS, 26, 3, cv2.LINE_AA)


def _name_line(out: Image, points: Array, name: str, color: Color) -> None:
    """Paint a line's name at its upper end, below the plates, where that is in the picture."""
    inside = points[(points[:, 0] > 0) & (points[:, 0] < out.shape[1]) & (points[:, 1] > 0)]
    if name and len(inside):
        x, y = inside[inside[:, 1].argmin()].tolist()
        _label(out, name, (x, max(y, 3 * _EDGE_PX)), color, 20)


def _paint_gap(out: Image, gap: DrawnGap, region: BoardRegion, corners: Array) -> None:
    """Paint the gap of two bases with its length beside both, in the color of a call once they touch.

    Args:
        corners: of both bases, shape (8, 2), px: no words may cover them; none where a place was measured.
    """
    ends = [place.above for place in gap.ends if place.above is not None]
    if len(ends) < 2:
        return
    points = _pixels(region, ends)
    touching = is_shown_touching(gap)
    color = _CALL if touching else _INK
    for face in gap.faces:
        if face is not None:
            _path(out, _pixels(region, [place.above for place in face if place.above is not None]), color, 4)
    _path(out, points, color, 3)
    middle = points.mean(axis=0)
    cv2.circle(out, _fixed(middle), 22 << _SHIFT, color, 2, cv2.LINE_AA, _SHIFT)
    across = points[1] - points[0]
    # Beside the gap, at right angles to it: where the two bases are not.
    side = np.array([-across[1], across[0]]) / max(1e-6, float(np.linalg.norm(across)))
    side = side if side[1] < 0 or (side[1] == 0 and side[0] > 0) else -side
    text = "touch" if touching else f"{gap.gap_mm:.1f} mm" if len(corners) else gap.label
    beside = float(((corners - middle) @ side).max(initial=0.0))
    x, y = (middle + side * (beside + 44)).tolist()
    _label(out, text, (x, y), color, 34)


def _paint_names(out: Image, figures: Sequence[DrawnFigure], region: BoardRegion) -> None:
    """Paint the names of the figures concerned on the sides away from one another."""
    outlines = [_pixels(region, figure.above) for figure in figures]
    if not outlines:
        return
    center = np.mean([corners.mean(axis=0) for corners in outlines], axis=0)
    for figure, corners in zip(figures, outlines, strict=True):
        middle = corners.mean(axis=0)
        away = middle - center
        length = float(np.linalg.norm(away))
        direction = np.array([0.0, 1.0]) if length < 1 else away / length
        half = float(np.linalg.norm(corners - middle, axis=1).max())
        x, y = (middle + direction * (half + 46)).tolist()
        _label(out, spoken_name(figure.id), (x, y), _PARTS[figure.part], 26)


def _paint_stamp(out: Image, call: CallView, down: float) -> None:
    """Paint the verdict at the lower edge, as it comes down."""
    headline, detail = stamp_text(call)
    tone = _CLOSE if headline.startswith(("TOO CLOSE", "MEASUREMENT")) else _CALL
    grown = 1 + _STAMP_GROWTH * (1 - down)
    height, width = out.shape[:2]
    size = _fitting(headline, round(84 * grown), width - 4 * _EDGE_PX)
    small = _fitting(detail, round(32 * grown), width - 4 * _EDGE_PX)
    lines = [(headline, tone, size), *([(detail, _INK, small)] if detail else [])]
    high = sum(round(1.35 * one[2]) for one in lines) + 2 * 16
    wide = max(_width(text, px) for text, _, px in lines) + 2 * 34
    left, top = (width - wide) // 2, height - _EDGE_PX - high + round((grown - 1) * 40)
    _shade(out, (left, top, wide, high), _PLATE_SHARE * down)
    cv2.rectangle(out, (left, top), (left + wide, top + high), tone, 4, cv2.LINE_AA)
    base = top + 16
    for text, color, px in lines:
        base += round(1.15 * px)
        _text(out, text, ((width - _width(text, px)) // 2, base), color, px, 800 if px == size else 500)
        base += round(0.2 * px)


def _plate(out: Image, corner: tuple[int, int], words: Sequence[tuple[str, Color, int]]) -> None:
    left, top = corner
    wide = sum(_width(text, px) + 18 for text, _, px in words) + 18
    high = max(px for _, _, px in words) + 26
    _shade(out, (left, top, wide, high), _PLATE_SHARE)
    x = left + 18
    for text, color, px in words:
        _text(out, text, (x, top + high - 16), color, px, 700)
        x += _width(text, px) + 18


def _label(out: Image, text: str, middle: tuple[float, float], color: Color, size: int) -> None:
    """Paint text around a point on a small plate, within the picture."""
    height, width = out.shape[:2]
    wide, high = _width(text, size) + 20, size + 16
    left = int(np.clip(middle[0] - wide / 2, 4, max(4, width - wide - 4)))
    top = int(np.clip(middle[1] - high / 2, 4, max(4, height - high - 4)))
    _shade(out, (left, top, wide, high), 0.7)
    _text(out, text, (left + 10, top + high - 13), color, size, 600)


def _shade(out: Image, box: tuple[int, int, int, int], share: float) -> None:
    """Darken a box of a picture: left, top, width, height."""
    left, top, wide, high = box
    part = out[max(0, top) : max(0, top + high), max(0, left) : max(0, left + wide)]
    if part.size:
        cv2.addWeighted(part, 1 - share, np.full_like(part, _PLATE), share, 0, part)


def _fitting(text: str, size: int, width_px: int) -> int:
    """Return the size of a text, or a smaller one in which it fits a width."""
    found = _width(text, size)
    return size if found <= width_px else max(12, size * width_px // found)


def _width(text: str, size: int) -> int:
    return cv2.getTextSize((0, 0), text, (0, 0), cv2.FontFace("sans"), size, 700)[2] if text else 0


def _text(out: Image, text: str, origin: tuple[int, int], color: Color, size: int, weight: int) -> None:
    cv2.putText(out, text, origin, color, cv2.FontFace("sans"), size, weight)


def _pixels(region: BoardRegion, points_mm: Sequence[tuple[float, float]]) -> Array:
    return region.pixels(np.asarray(points_mm, dtype=np.float64).reshape(-1, 2))


def _path(out: Image, points: Array, color: Color, thickness: int) -> None:
    if len(points) > 1:
        fixed = np.round(points * (1 << _SHIFT)).astype(np.int32)
        cv2.polylines(out, [fixed.reshape(-1, 1, 2)], False, color, thickness, cv2.LINE_AA, _SHIFT)


def _fixed(point: Array) -> tuple[int, int]:
    x, y = np.round(point * (1 << _SHIFT)).astype(int)
    return int(x), int(y)
