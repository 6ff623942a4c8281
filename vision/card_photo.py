"""Reads a photo of two play cards over one another: the three results in each of its five windows.

A window has three results in black, red and blue, each with the dot to its left. Ink is distinguished from paper by its
difference from the paper's color, and the three results by their ink, wherever they stand. A result is a number, with a
minus before or a letter behind it, or the word inc. A dot is a filled square.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np

from downfield.core.arrays import Array, Image, Plane
from downfield.vision.strip.glyphs import (
    OTHER,
    InkPart,
    bundled_digits,
    cut_out,
    merge_columns,
    normalize_glyph,
    span_of,
    split_touching,
)

SURE: Final = 0.9  # Least confidence of a result that is reported
WINDOWS: Final = 5  # The windows of two cards over one another (NFLS-089)
ROWS: Final = 96  # Rows of a window's picture


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """What five windows of a card are like in a photo; lengths of the picture's longer side are 1."""

    max_side_px: int = 1600  # The longer side of the photo is reduced to this size
    min_height: float = 0.012  # Least height of a window
    aspect: tuple[float, float] = (1.8, 12.0)  # Length of a window by its height
    # Largest relative difference of two of the five in length or height, which perspective adds to
    max_size_difference: float = 0.25
    # Largest distance of a window's middle from the line through all, as a share of its height
    max_offset: float = 0.25
    max_spacing_difference: float = 0.35  # Largest relative difference of two distances of neighbors
    edge: float = 0.06  # Share of a window's height left out along its edges


_LIMITS: Final = WindowLimits()
_LEVELS: Final = (40, 70, 100, 130, 160, 190, 220)


@dataclass(frozen=True, slots=True)
class _Box:
    corners: Array
    center: Array
    size: tuple[float, float]


def find_windows(photo: Image) -> tuple[Plane, ...]:
    """Return the pictures of the five windows as they lie in the photo, from the upper left.

    Args:
        photo: uint8 blue green red, shape (rows, columns, 3).

    Returns:
        Float32 pictures, shape (ROWS, columns, 3); empty when there are no five windows.
    """
    scale = min(_LIMITS.max_side_px / max(photo.shape[:2]), 1.0)
    image = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else photo
    boxes = _boxes(np.asarray(image, dtype=np.uint8))
    best = min(_groups(boxes), key=lambda found: found[0], default=None)
    if best is None:
        return ()
    return tuple(_rectified(np.asarray(image, dtype=np.uint8), corners) for corners in _in_order(best[1]))


def _boxes(image: Image) -> list[_Box]:
    longest = max(image.shape[:2])
    gray = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (3, 3), 0)
    found: list[_Box] = []
    for level in _LEVELS:
        for way in (cv2.THRESH_BINARY, cv2.THRESH_BINARY_INV):
            _, mask = cv2.threshold(gray, level, 255, way)
            contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
            for contour in contours:
                box = _box(np.asarray(contour), longest)
                if box is not None and not any(_is_same(box, other) for other in found):
                    found.append(box)
    return found


def _box(contour: Array, longest: int) -> _Box | None:
    """Return the long rectangle that a contour is; None if it is none."""
    outline = cv2.approxPolyDP(contour, 0.03 * cv2.arcLength(contour, closed=True), closed=True)
    if len(outline) != 4 or not cv2.isContourConvex(outline):
        return None
    corners = _ordered(np.asarray(outline, dtype=np.float64).reshape(4, 2))
    long = (np.linalg.norm(corners[1] - corners[0]) + np.linalg.norm(corners[2] - corners[3])) / 2
    high = (np.linalg.norm(corners[3] - corners[0]) + np.linalg.norm(corners[2] - corners[1])) / 2
    low, most = _LIMITS.aspect
    if high < _LIMITS.min_height * longest or not low <= long / high <= most:
        return None
    return _Box(corners, corners.mean(axis=0), (float(long), float(high)))


def _ordered(corners: Array) -> Array:
    """Return four corners from the upper left clockwise, the first side one of the two long ones."""
    by_angle = np.argsort(np.arctan2(*(corners - corners.mean(axis=0)).T[::-1]))
    around = corners[by_angle]
    if np.linalg.norm(around[1] - around[0]) < np.linalg.norm(around[2] - around[1]):
        around = np.roll(around, -1, axis=0)
    upright = around[0, 0] + around[0, 1] <= around[2, 0] + around[2, 1]
    return np.asarray(around if upright else np.roll(around, -2, axis=0))


def _is_same(a: _Box, b: _Box) -> bool:
    return float(np.linalg.norm(a.center - b.center)) < 0.3 * b.size[1] and abs(a.size[1] / b.size[1] - 1) < 0.3


def _groups(boxes: list[_Box]) -> Iterator[tuple[float, tuple[_Box, ...]]]:
    """Yield every five boxes that may be a card's windows, with how far they are from a perfect row."""
    for first, last in itertools.permutations(boxes, 2):
        step = (last.center - first.center) / (WINDOWS - 1)
        if step[0] + step[1] <= 0 or not _is_alike(first, last):
            continue
        row = [first]
        for place in range(1, WINDOWS - 1):
            wanted = first.center + place * step
            near = min(boxes, key=lambda box: float(np.linalg.norm(box.center - wanted)))
            row.append(near)
        row.append(last)
        off = [float(np.linalg.norm(box.center - first.center - k * step)) for k, box in enumerate(row)]
        length = float(np.linalg.norm(step))
        if len({id(box) for box in row}) == WINDOWS and length > 0.9 * first.size[1]:
            apart = [float(np.linalg.norm(b.center - a.center)) for a, b in itertools.pairwise(row)]
            across = [_across(box.center - first.center, step) for box in row]
            even = max(apart) / min(apart) - 1 <= _LIMITS.max_spacing_difference
            straight = max(across) <= _LIMITS.max_offset * first.size[1]
            if even and straight and all(_is_alike(a, b) for a, b in itertools.pairwise(row)):
                yield sum(off) / length, tuple(row)


def _in_order(row: tuple[_Box, ...]) -> list[Array]:
    """Return the windows' corners, all the same way up, in the order in which the text of one leads to the next."""
    first = row[0].corners
    along = first[1] - first[0]
    corners = [
        box.corners if (box.corners[1] - box.corners[0]) @ along > 0 else box.corners[[2, 3, 0, 1]] for box in row
    ]
    onward = row[-1].center - row[0].center
    down = first[3] - first[0]
    beside, under = (float(onward @ way / np.linalg.norm(way)) for way in (along, down))
    reading = beside if abs(beside) > abs(under) else under
    return corners if reading > 0 else corners[::-1]


def _across(offset: Array, along: Array) -> float:
    return float(abs(offset[0] * along[1] - offset[1] * along[0]) / np.linalg.norm(along))


def _is_alike(a: _Box, b: _Box) -> bool:
    return all(abs(x / y - 1) <= _LIMITS.max_size_difference for x, y in zip(a.size, b.size, strict=True))


def _rectified(image: Image, corners: Array) -> Plane:
    long, high = (float(np.linalg.norm(corners[end] - corners[0])) for end in (1, 3))
    columns = round(ROWS * long / high)
    edge = _LIMITS.edge * ROWS
    around = np.array([(-edge, -edge), (columns + edge, -edge), (columns + edge, ROWS + edge), (-edge, ROWS + edge)])
    place = cv2.getPerspectiveTransform(corners.astype(np.float32), around.astype(np.float32))
    return np.asarray(cv2.warpPerspective(image, place, (columns, ROWS), flags=cv2.INTER_LINEAR), dtype=np.float32)


InkColor = Literal["black", "red", "blue"]
INK_COLORS: Final[tuple[InkColor, ...]] = ("black", "red", "blue")


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Thresholds of reading a window; lengths are shares of its height."""

    ink: float = 0.4  # Share of the full contrast from which a pixel is ink
    min_contrast: float = 40.0  # Least contrast between paper and the strongest ink, gray levels
    min_area: float = 0.0016  # Area below which ink is a speck
    min_digit_height: float = 0.3  # Least height of a digit
    dot: tuple[float, float] = (0.08, 0.34)  # Least and largest side of a dot
    min_dot_fill: float = 0.72  # Share of its box that a dot fills
    color: float = 0.16  # Difference of red and blue, as a share of the paper's brightness, from which ink is colored
    min_minus_aspect: float = 1.5  # Least ratio of a minus's length to its height
    min_no_digit: float = 0.6  # Probability of no digit from which the last sign may be the letter F
    # Least ratio of the widths of an F's upper fifth and its lower one: an i with its dot run in is as wide at both
    min_f_ratio: float = 1.4


_READING: Final = ReadingLimits()


@dataclass(frozen=True, slots=True)
class CardText:
    """One result."""

    shown: str = ""  # as on the card: ``"-2"``, ``"13i"``, ``"10F"`` or ``"inc"``; empty when it can't be read
    dot: InkColor | None = None  # color of the dot to its left; None without one
    confidence: float = 0.0  # that both are right, 0..1


@dataclass(frozen=True, slots=True)
class _Part(InkPart):
    area: int
    color: InkColor


def read_window(window: Plane) -> dict[InkColor, CardText]:
    """Return the result of each ink in a window's picture, shape (rows, columns, 3), 0..255, upright."""
    ink, contrast = _ink(window)
    if contrast < _READING.min_contrast:
        return {color: CardText() for color in INK_COLORS}
    labels, parts = _parts(window, ink)
    rows = window.shape[0]
    dots = [part for part in parts if _is_dot(part, rows, parts)]
    text = [part for part in parts if part not in dots]
    out = {}
    for color in INK_COLORS:
        mine = [part for part in text if part.color == color]
        shown, confidence = _shown(mine, ink, labels, rows)
        dot = _dot_of(mine, dots, text)
        out[color] = CardText(shown, dot, confidence if shown else 0.0)
    return out


def _ink(window: Plane) -> tuple[Plane, float]:
    """Return the ink, 0..1, and its contrast with the paper, whose brightness may change over the window."""
    rows = window.shape[0]
    reach = 2 * (rows // 3) + 1
    paper = cv2.morphologyEx(window, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
    paper = cv2.GaussianBlur(paper, (0, 0), rows / 6)
    depth = np.clip(paper - window, 0, None).max(axis=2)
    full = float(np.quantile(depth, 0.97))
    return np.clip(depth / max(full, 1.0), 0, 1).astype(np.float32), full


def _parts(window: Plane, ink: Plane) -> tuple[Array, list[_Part]]:
    rows, columns = ink.shape
    inked = (ink > _READING.ink).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(inked, connectivity=8)
    white = np.asarray(np.quantile(window.reshape(-1, 3), 0.8, axis=0), dtype=np.float32)
    parts = []
    for label, (left, top, wide, high, area) in enumerate(stats.tolist()):
        at_edge = left <= 1 or top <= 1 or left + wide >= columns - 1 or top + high >= rows - 1
        if not label or area < _READING.min_area * rows * rows or at_edge:
            continue
        inside = (labels == label) & (ink >= np.quantile(ink[labels == label], 0.5))
        color = _color(window[inside], white)
        parts.append(_Part(left, top, left + wide, top + high, label, area, color))
    return np.asarray(labels), parts


def _color(pixels: Plane, white: Plane) -> InkColor:
    blue, green, red = np.median(pixels, axis=0) / np.maximum(white, 1.0)
    if red - max(blue, green) > _READING.color:
        return "red"
    return "blue" if blue - red > _READING.color else "black"


def _is_dot(part: _Part, rows: int, parts: list[_Part]) -> bool:
    """Return whether a part is a filled square that is not the dot over an i."""
    low, most = _READING.dot
    small = low * rows <= min(part.wide, part.high) and max(part.wide, part.high) <= most * rows
    square = max(part.wide, part.high) <= 1.4 * min(part.wide, part.high)
    over = any(
        other is not part
        and other.top >= part.bottom - 1
        and other.left < part.right
        and part.left < other.right
        and other.high > 1.2 * part.high
        for other in parts
    )
    return small and square and not over and part.area >= _READING.min_dot_fill * part.wide * part.high


def _dot_of(text: list[_Part], dots: list[_Part], all_text: list[_Part]) -> InkColor | None:
    """Return the color of the dot just left of a text."""
    if not text:
        return None
    left, top, _, bottom = span_of(text)
    ends = [part.right for part in all_text if part not in text and part.right <= left and part.bottom > top]
    after = max((end for end in ends), default=-1)
    beside = [
        dot for dot in dots if after <= dot.left and dot.right <= left + 1 and top - 3 <= dot.bottom <= bottom + 3
    ]
    return max(beside, key=lambda dot: dot.right).color if beside else None


def _shown(parts: list[_Part], ink: Plane, labels: Array, rows: int) -> tuple[str, float]:
    signs = merge_columns(parts)
    tall = [sign for sign in signs if _height(sign) >= _READING.min_digit_height * rows]
    if not tall:
        return "", 0.0
    full = max(_height(sign) for sign in tall)
    has_point = [len(sign) > 1 and _height(sign) > 0.6 * full for sign in signs]
    if len(signs) == 3 and has_point[0] and all(_height(sign) < 0.9 * _height(signs[0]) for sign in signs[1:]):
        return "inc", 0.95
    minus = signs[0][0].wide >= _READING.min_minus_aspect * signs[0][0].high and _height(signs[0]) < 0.4 * full
    digits = signs[1:] if minus else signs
    ending = "i" if has_point[-1] and len(digits) > 1 else ""
    digits = digits[:-1] if ending else digits
    if not digits or any(_height(sign) < 0.75 * full for sign in digits):
        return "", 0.0
    cut = [part for sign in digits for part in split_touching(cut_out(sign, ink, labels))]
    chances = bundled_digits().probabilities([normalize_glyph(part) for part in cut])
    if not ending and len(cut) > 1 and chances[-1, OTHER] >= _READING.min_no_digit and _is_f(cut[-1]):
        ending, chances, last = "F", chances[:-1], float(chances[-1, OTHER])
    else:
        last = 1.0
    if len(chances) > 2:
        return "", 0.0
    best = chances.argmax(axis=1)
    if (best == OTHER).any():
        return "", 0.0
    return f"{'-' * minus}{''.join(str(digit) for digit in best)}{ending}", float(chances.max(axis=1).prod()) * last


def _is_f(sign: Plane) -> bool:
    fifth = max(len(sign) // 5, 1)
    upper, lower = (int((part > _READING.ink).any(axis=0).sum()) for part in (sign[:fifth], sign[-fifth:]))
    return upper >= _READING.min_f_ratio * max(lower, 1)


def _height(sign: list[_Part]) -> int:
    _, top, _, bottom = span_of(sign)
    return bottom - top


@dataclass(frozen=True, slots=True)
class CardReading:
    """What a photo shows."""

    # the results by their ink, from the window for the lowest rolls on; empty when no windows were found
    windows: tuple[dict[InkColor, CardText], ...] = ()
    problem: str = ""  # why nothing is read, for people; empty otherwise

    @property
    def unsure(self) -> int:
        """Number of results that are not read surely."""
        return sum(text.confidence < SURE for window in self.windows for text in window.values())


def read_card(photo: Image) -> CardReading:
    """Return the results in a photo, uint8 blue green red, taken either way up."""
    pictures = find_windows(photo)
    if not pictures:
        text = f"no {WINDOWS} result windows of one size are seen in a row: fill the photo with the cards, from above"
        return CardReading(problem=text)
    upright = tuple(read_window(picture) for picture in pictures)
    over = tuple(read_window(np.ascontiguousarray(picture[::-1, ::-1])) for picture in reversed(pictures))
    best = max((upright, over), key=lambda way: sum(text.confidence for window in way for text in window.values()))
    return CardReading(best)
