"""Masks of words, numbers and arrows: the paint on a field besides straight lines."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from downfield.core.arrays import Plane
from downfield.twin.table.appearance import Numerals

USUAL = Numerals()
FONTS = 8  # number of styles of lettering

WORDS = (
    "COUGARS", "RAIDERS", "EAGLES", "HAWKS", "TITANS", "PIRATES", "BEARS", "STALLIONS", "WOLVES", "COMETS",
    "ROCKETS", "MINERS", "SAINTS", "KNIGHTS", "VIKINGS", "HOME", "VISITORS", "BULLDOGS", "ROYALS", "ARGONAUTS",
)  # fmt: skip
"""Words that boards show, in the order in which they are dealt out among the splits."""

_WEIGHTS = (400, 550, 700, 900)
_EM_PX = 96  # glyphs are drawn once at this size and then fitted


def text_mask(text: str, fit_px: tuple[float, float], font: int) -> Plane:
    """Return a word as a coverage mask, 0..1, as large as fits into width and height, px."""
    glyphs = _glyphs(text, font % FONTS)
    scale = min(fit_px[0] / glyphs.shape[1], fit_px[1] / glyphs.shape[0])
    return _fit(glyphs, glyphs.shape[1] * scale, glyphs.shape[0] * scale)


def number_mask(text: str, fit_px: tuple[float, float], font: int, numerals: Numerals = USUAL) -> Plane:
    """Return a yard number as a coverage mask: its digits set apart, so that the yard line can run between them.

    It has the requested height, and is squeezed where it would be too wide.
    """
    # The font's zero has a stroke through it, unlike a field's; its letter O is plain.
    digits = [_glyphs("O" if digit == "0" else digit, font % FONTS) for digit in text]
    gap_px = round(numerals.gap * _EM_PX)
    tall = max(digit.shape[0] for digit in digits)
    parts: list[Plane] = []
    for digit in digits:
        if numerals.bar:
            digit = _barred(digit, numerals)
        above = (tall - digit.shape[0]) // 2
        parts.append(np.pad(digit, ((above, tall - digit.shape[0] - above), (0, 0))))
        parts.append(np.zeros((tall, gap_px), dtype=np.float32))
    room = max(round(numerals.weight * tall), 0)
    joined = _slanted(_thickened(np.pad(np.hstack(parts[:-1]), room), numerals.weight * tall), numerals.slant)
    tall += 2 * room
    return _fit(joined, min(joined.shape[1] * numerals.stretch * fit_px[1] / tall, fit_px[0]), fit_px[1])


def rim_mask(mask: Plane, width_px: float) -> Plane:
    """Return the coverage of a mask together with an outline of this width around it, larger than it on all sides."""
    return _thickened(np.pad(mask, max(int(np.ceil(width_px)), 1)), width_px)


def _thickened(mask: Plane, by_px: float) -> Plane:
    """Return a mask with strokes thicker on each side, thinner for a negative width."""
    reach = round(abs(by_px))
    if not reach:
        return mask
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    return np.asarray((cv2.dilate if by_px > 0 else cv2.erode)(mask, kernel), dtype=np.float32)


def _barred(digit: Plane, numerals: Numerals) -> Plane:
    rows, columns = digit.shape
    way = np.array([np.cos(np.radians(numerals.bar_deg)), -np.sin(np.radians(numerals.bar_deg))])
    reach = 0.32 * min(columns / max(abs(way[0]), 1e-6), rows / max(abs(way[1]), 1e-6))
    ends = np.rint([np.array([columns, rows]) / 2 + side * reach * way for side in (-1, 1)]).astype(int).tolist()
    out, wide = digit.copy(), max(round(abs(numerals.bar) * rows), 1)
    return np.asarray(cv2.line(out, ends[0], ends[1], (float(numerals.bar > 0),), wide, cv2.LINE_8), dtype=np.float32)


def _slanted(mask: Plane, slant: float) -> Plane:
    if not slant:
        return mask
    rows, columns = mask.shape
    shift = abs(slant) * rows
    shear = np.array([[1, -slant, slant * rows if slant > 0 else 0.0], [0, 1, 0]])
    return np.asarray(cv2.warpAffine(mask, shear, (columns + int(np.ceil(shift)), rows)), dtype=np.float32)


def arrow_mask(size_px: float, toward: int) -> Plane:
    """Return a slim triangle pointing along +x (1) or -x (-1), as a coverage mask."""
    across, along = max(int(np.ceil(0.8 * size_px)), 1) + 2, max(int(np.ceil(size_px)), 1) + 2
    mask = np.zeros((across, along), dtype=np.uint8)
    middle = (across - 1) / 2
    corners = np.array([[1, middle - 0.3 * size_px], [1 + size_px, middle], [1, middle + 0.3 * size_px]])
    cv2.fillConvexPoly(mask, np.rint(corners * 16).astype(np.int32), (255,), cv2.LINE_AA, 4)
    plane: Plane = mask.astype(np.float32) / np.float32(255)
    return plane if toward > 0 else np.ascontiguousarray(plane[:, ::-1])


def disc_mask(radius_px: float, *, hollow: float = 0.0) -> Plane:
    """Return a disc as a coverage mask, or a ring when a share of its radius is left hollow."""
    side = int(np.ceil(2 * radius_px)) + 5
    mask = np.zeros((side, side), dtype=np.uint8)
    middle = (side - 1) * 8
    cv2.circle(mask, (middle, middle), int(radius_px * 16), (255,), -1, cv2.LINE_AA, 4)
    if hollow:
        cv2.circle(mask, (middle, middle), int(hollow * radius_px * 16), (0,), -1, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / np.float32(255)


def place_mask(plane: Plane, mask: Plane, center_px: tuple[float, float]) -> None:
    """Add a mask to a plane, its center at a point (in pixel edges, 0 = outer edge), to a fraction of a pixel."""
    rows, columns = mask.shape
    left, top = center_px[0] - columns / 2, center_px[1] - rows / 2
    x, y = int(np.floor(left)), int(np.floor(top))
    shift = np.array([[1, 0, left - x], [0, 1, top - y]])
    moved = cv2.warpAffine(mask, shift, (columns + 1, rows + 1), flags=cv2.INTER_LINEAR)
    x_low, y_low = max(x, 0), max(y, 0)
    x_high, y_high = min(x + columns + 1, plane.shape[1]), min(y + rows + 1, plane.shape[0])
    if x_low < x_high and y_low < y_high:
        part = plane[y_low:y_high, x_low:x_high]
        np.minimum(part + moved[y_low - y : y_high - y, x_low - x : x_high - x], 1, out=part)


@lru_cache(maxsize=256)
def _glyphs(text: str, font: int) -> Plane:
    """Return a line of text drawn large and cut to its ink."""
    face = cv2.FontFace("italic" if font % 2 else "sans")
    canvas = np.zeros((2 * _EM_PX, _EM_PX * (len(text) + 1)), dtype=np.uint8)
    cv2.putText(canvas, text, (_EM_PX // 2, int(1.5 * _EM_PX)), (255,), face, _EM_PX, _WEIGHTS[font // 2])
    rows, columns = np.flatnonzero(canvas.any(axis=1)), np.flatnonzero(canvas.any(axis=0))
    ink = canvas[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return ink.astype(np.float32) / np.float32(255)


def _fit(mask: Plane, width_px: float, height_px: float) -> Plane:
    size = (max(round(width_px), 1), max(round(height_px), 1))
    shrinks = size[0] < mask.shape[1]
    return np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR))
