"""Numbers in a window: its ink, cut into digits of one size. A number that is not wholly there is no number.

The ground's color is that of the window's sides; ink is what differs from it, dark or light. A dial between two faces
shows a number off the middle, cut by the window's upper or lower edge, or parts of two.

Digits are told by a network with one hidden layer, taught by `training.strip_digits` on drawn digits alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final, TypeVar

import cv2
import numpy as np

from downfield.core.arrays import Array, Plane

GLYPH_SHAPE: Final = (20, 14)  # Rows and columns of a digit's picture


@dataclass(frozen=True, slots=True)
class GlyphLimits:
    """Thresholds of finding digits; lengths are shares of the window's height."""

    min_contrast: float = 26.0  # Gray levels between ink and ground
    ink_level: float = 0.45  # Share of the full contrast from which a pixel counts as ink
    min_height: float = 0.3  # Least height of a digit
    rim: float = 0.09  # What touches the window's edge and is no thicker than this is its rim
    max_offset: float = 0.085  # A number further from the window's middle is between two faces
    min_edge_distance: float = 0.02  # A number this near to the upper or lower edge is cut by it
    max_aspect: float = 1.15  # Largest width of a digit, as a share of its height: wider is two digits that touch
    # Largest difference of the ground's brightness across the window, as a share of the contrast: more is glare
    max_unevenness: float = 0.3


_LIMITS: Final = GlyphLimits()


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The digits found in a window."""

    # from left to right, each float32 of `GLYPH_SHAPE`, 0 ground to 1 ink; empty when there is no number
    digits: tuple[Plane, ...]
    reason: str = ""  # why there is none; empty when there is one
    evenness: float = 1.0  # 1 for an even ground, down to 0 under a strong highlight
    height: float = 0.0  # of the number, as a share of the window's
    off_middle: float = 0.0  # how far the number's middle is right of the window's, as a share of the window's height


@dataclass(frozen=True, slots=True)
class InkPart:
    """Ink that hangs together, with the box around it, px."""

    left: int
    top: int
    right: int
    bottom: int
    label: int  # of its pixels

    @property
    def wide(self) -> int:
        """Its width."""
        return self.right - self.left

    @property
    def high(self) -> int:
        """Its height."""
        return self.bottom - self.top


def find_glyphs(window: Plane) -> Glyphs:
    """Return the digits in a rectified window, shape (rows, columns, 3), 0..255, a little wider than its opening."""
    ink, contrast, evenness = ink_of(window)
    if contrast < _LIMITS.min_contrast:
        return Glyphs((), "no contrast")
    return glyphs_of(ink, evenness)


def glyphs_of(ink: Plane, evenness: float = 1.0) -> Glyphs:
    """Return the digits in the ink of a window, shape (rows, columns), 0..1."""
    rows, columns = ink.shape
    binary = (ink > _LIMITS.ink_level).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(binary, connectivity=8)
    parts = []
    for label, (left, top, wide, high, area) in enumerate(stats.tolist()):
        part = InkPart(left, top, left + wide, top + high, label)
        if label and area >= 0.004 * rows * columns and not _is_rim(part, rows, columns):
            parts.append(part)
    if not parts:
        return Glyphs((), "no number")
    columns_of = merge_columns(parts)
    problem = _misplaced(columns_of, rows)
    if problem:
        return Glyphs((), problem, evenness)
    digits: list[Plane] = []
    for group in columns_of:
        digits += [normalize_glyph(part) for part in split_touching(cut_out(group, ink, np.asarray(labels)))]
    left, top, right, bottom = span_of([part for group in columns_of for part in group])
    return Glyphs(tuple(digits), "", evenness, (bottom - top) / rows, ((left + right) / 2 - columns / 2) / rows)


def ink_of(window: Plane) -> tuple[Plane, float, float]:
    """Return the ink of a window, 0..1, its contrast in gray levels, and how even the ground is, 0..1."""
    rows, columns = window.shape[:2]
    side = max(columns // 8, 2)
    ground = np.concatenate([window[:, side // 2 : side].reshape(-1, 3), window[:, -side : -side // 2].reshape(-1, 3)])
    base = np.median(ground, axis=0)
    off = window - base
    strength = np.abs(off).max(axis=2)
    strong = off[strength >= np.quantile(strength[rows // 8 : -rows // 8], 0.9)]
    way = np.median(strong, axis=0) if len(strong) else np.ones(3)
    length = float(np.linalg.norm(way))
    if length < 1e-3:
        return np.zeros((rows, columns), np.float32), 0.0, 1.0
    along = off @ (way / length)
    full = float(np.quantile(along[rows // 8 : -rows // 8, columns // 10 : -columns // 10], 0.97))
    ink = np.clip(along / max(full, 1.0), 0, 1).astype(np.float32)
    bare = window.mean(axis=2)[(ink < 0.25)]
    spread = float(np.quantile(bare, 0.97) - np.quantile(bare, 0.03)) if len(bare) > 20 else 0.0
    contrast = full / np.sqrt(3)
    evenness = float(np.clip(1 - max(spread / max(contrast, 1.0) - _LIMITS.max_unevenness, 0) / 0.5, 0, 1))
    return ink, contrast, evenness


def _is_rim(part: InkPart, rows: int, columns: int) -> bool:
    thin = _LIMITS.rim * rows
    at_side = part.left <= 1 or part.right >= columns - 1
    at_end = part.top <= 1 or part.bottom >= rows - 1
    whole = part.wide > 0.8 * columns or part.high > 0.9 * rows
    return (at_side and part.wide <= thin) or (at_end and part.high <= thin) or (at_side and at_end and whole)


_Part = TypeVar("_Part", bound=InkPart)


def merge_columns(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return parts that lie over one another, such as the two of an i, as columns, from left to right."""
    groups: list[list[_Part]] = []
    for part in sorted(parts, key=lambda part: part.left):
        if groups:
            left, _, right, _ = span_of(groups[-1])
            if min(right, part.right) - part.left > 0.4 * min(right - left, part.wide):
                groups[-1].append(part)
                continue
        groups.append([part])
    return groups


def cut_out(group: Sequence[InkPart], ink: Plane, labels: Array) -> Plane:
    """Return the ink of parts alone, cut to the box around them; labels of the pixels in the shape of the ink."""
    mask = cv2.dilate(np.isin(labels, [part.label for part in group]).astype(np.uint8), np.ones((3, 3), np.uint8))
    left, top, right, bottom = span_of(group)
    return np.asarray((ink * mask)[top:bottom, left:right], dtype=np.float32)


def span_of(group: Sequence[InkPart]) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom end of parts."""
    return (
        min(part.left for part in group),
        min(part.top for part in group),
        max(part.right for part in group),
        max(part.bottom for part in group),
    )


def _misplaced(groups: list[list[InkPart]], rows: int) -> str:
    """Return why the columns are no number on a settled dial; empty if they may be."""
    spans = [span_of(group) for group in groups]
    top, bottom = min(span[1] for span in spans), max(span[3] for span in spans)
    if top <= _LIMITS.min_edge_distance * rows or bottom >= (1 - _LIMITS.min_edge_distance) * rows:
        return "the dial is between two numbers"
    heights = [span[3] - span[1] for span in spans]
    if min(heights) < _LIMITS.min_height * rows or min(heights) < 0.7 * max(heights):
        return "part of a number"
    if abs((top + bottom) / 2 - rows / 2) > _LIMITS.max_offset * rows:
        return "the dial is between two numbers"
    return ""


def split_touching(ink: Plane) -> list[Plane]:
    """Return the ink of the one digit in a column, or of each of two that touch, unsized."""
    high, wide = ink.shape
    if wide <= _LIMITS.max_aspect * high:
        return [ink]
    at = wide // 3 + int(ink[:, wide // 3 : wide - wide // 3].sum(axis=0).argmin())
    return [ink[:, :at], ink[:, at:]]


def normalize_glyph(ink: Plane) -> Plane:
    """Return a digit's ink at `GLYPH_SHAPE`: of full height, in the middle, squeezed only when it is too wide."""
    rows, columns = GLYPH_SHAPE
    inked = np.argwhere(ink > _LIMITS.ink_level)
    if not len(inked):
        return np.zeros(GLYPH_SHAPE, np.float32)
    (top, left), (bottom, right) = inked.min(axis=0), inked.max(axis=0) + 1
    part = ink[top:bottom, left:right]
    wide = int(np.clip(round(part.shape[1] * rows / part.shape[0]), 2, columns))
    shrinks = part.shape[0] > rows
    sized = cv2.resize(part, (wide, rows), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    out = np.zeros(GLYPH_SHAPE, np.float32)
    start = (columns - wide) // 2
    out[:, start : start + wide] = sized
    return out


CLASSES: Final = 11  # The ten digits, and everything else: parts of digits, letters, spots
OTHER: Final = 10
_TEMPERATURE: Final = 0.75  # Divides the log-odds, which smoothed labels keep small


class DigitNetwork:
    """A classifier of glyphs.

    Args:
        hidden: weights and biases of the hidden layer, shape (inputs + 1, units).
        output: of the output layer, shape (units + 1, CLASSES).
    """

    def __init__(self, hidden: Array, output: Array) -> None:
        self._hidden, self._output = hidden.astype(np.float64), output.astype(np.float64)

    def probabilities(self, glyphs: Sequence[Plane]) -> Array:
        """Return the probability of each class for each glyph, shape (n, CLASSES)."""
        inputs = np.stack([glyph.ravel() for glyph in glyphs]).astype(np.float64) - 0.3
        units = np.maximum(inputs @ self._hidden[:-1] + self._hidden[-1], 0.0)
        odds = (units @ self._output[:-1] + self._output[-1]) / _TEMPERATURE
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@cache
def bundled_digits() -> DigitNetwork:
    """Return the bundled classifier."""
    data = (files("downfield.vision.strip") / "digits.npz").read_bytes()
    with np.load(BytesIO(data)) as arrays:
        return DigitNetwork(arrays["hidden"], arrays["output"])
