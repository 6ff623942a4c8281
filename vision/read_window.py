"""Reads one result window: three results in black, red and blue, each with the dot to its left.

Ink is distinguished from paper by its difference from the paper's color, and the three results by their ink, wherever
they stand. A result is a number, with a minus before or a letter behind it, or the word inc. A dot is a filled square.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np

from downfield.core.arrays import Array, Plane
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


_LIMITS: Final = ReadingLimits()


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
    if contrast < _LIMITS.min_contrast:
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
    inked = (ink > _LIMITS.ink).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(inked, connectivity=8)
    white = np.asarray(np.quantile(window.reshape(-1, 3), 0.8, axis=0), dtype=np.float32)
    parts = []
    for label, (left, top, wide, high, area) in enumerate(stats.tolist()):
        at_edge = left <= 1 or top <= 1 or left + wide >= columns - 1 or top + high >= rows - 1
        if not label or area < _LIMITS.min_area * rows * rows or at_edge:
            continue
        inside = (labels == label) & (ink >= np.quantile(ink[labels == label], 0.5))
        color = _color(window[inside], white)
        parts.append(_Part(left, top, left + wide, top + high, label, area, color))
    return np.asarray(labels), parts


def _color(pixels: Plane, white: Plane) -> InkColor:
    blue, green, red = np.median(pixels, axis=0) / np.maximum(white, 1.0)
    if red - max(blue, green) > _LIMITS.color:
        return "red"
    return "blue" if blue - red > _LIMITS.color else "black"


def _is_dot(part: _Part, rows: int, parts: list[_Part]) -> bool:
    """Return whether a part is a filled square that is not the dot over an i."""
    low, most = _LIMITS.dot
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
    return small and square and not over and part.area >= _LIMITS.min_dot_fill * part.wide * part.high


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
    tall = [sign for sign in signs if _height(sign) >= _LIMITS.min_digit_height * rows]
    if not tall:
        return "", 0.0
    full = max(_height(sign) for sign in tall)
    has_point = [len(sign) > 1 and _height(sign) > 0.6 * full for sign in signs]
    if len(signs) == 3 and has_point[0] and all(_height(sign) < 0.9 * _height(signs[0]) for sign in signs[1:]):
        return "inc", 0.95
    minus = signs[0][0].wide >= _LIMITS.min_minus_aspect * signs[0][0].high and _height(signs[0]) < 0.4 * full
    digits = signs[1:] if minus else signs
    ending = "i" if has_point[-1] and len(digits) > 1 else ""
    digits = digits[:-1] if ending else digits
    if not digits or any(_height(sign) < 0.75 * full for sign in digits):
        return "", 0.0
    cut = [part for sign in digits for part in split_touching(cut_out(sign, ink, labels))]
    chances = bundled_digits().probabilities([normalize_glyph(part) for part in cut])
    if not ending and len(cut) > 1 and chances[-1, OTHER] >= _LIMITS.min_no_digit and _is_f(cut[-1]):
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
    upper, lower = (int((part > _LIMITS.ink).any(axis=0).sum()) for part in (sign[:fifth], sign[-fifth:]))
    return upper >= _LIMITS.min_f_ratio * max(lower, 1)


def _height(sign: list[_Part]) -> int:
    _, top, _, bottom = span_of(sign)
    return bottom - top
