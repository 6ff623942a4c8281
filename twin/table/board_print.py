"""The board's surface as a picture: paint where the field model says, with grain, wear, dirt and damage.

Straight paint is laid by exact area coverage, so the half-way level of every edge lies on the edge. Letters, numbers
and emblems come from masks of `twin.table.lettering`. All is a function of the field and the `BoardAppearance`.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel
from downfield.twin.table.appearance import BoardAppearance, Color, Decal, Wear
from downfield.twin.table.lettering import arrow_mask, disc_mask, number_mask, place_mask, rim_mask, text_mask

_NUMBER_YD = 5.6  # numbers are squeezed to this width along the field, to stay clear of their neighbors
_SIDEWAYS = 3.0  # most width of a number read from the end zones, in its heights
_RIM = 0.07  # width of a number's outline, in its heights
_PATTERN = 0.25  # an end zone's pattern is lighter than the rest by this factor
_ARROWS_FROM_YD = 3.0  # numbers nearer to midfield than this carry no arrow, since neither goal line is nearer

_TRACK_STEPS = 6
_FIXED = 4  # fractional bits of drawn corners


@dataclass(frozen=True, slots=True)
class BoardPrint:
    """The printed surface."""

    # shape (rows, columns, 3), uint8, blue green red; rows run toward smaller y, as the camera sees the board
    image: NDArray[np.uint8]
    origin_mm: tuple[float, float]  # board point of the picture's upper left corner (outer edge): low x, high y
    px_per_mm: float  # resolution, the same both ways

    def to_print_px(self, board_mm: Array) -> Array:
        """Convert board points, shape (..., 2), to print pixels; pixel centers have integer coordinates."""
        from_corner_mm = np.asarray(board_mm, dtype=np.float64) - self.origin_mm
        return from_corner_mm * (self.px_per_mm, -self.px_per_mm) - 0.5


def paint(field: FieldModel, appearance: BoardAppearance, px_per_mm: float) -> BoardPrint:
    """Paint a board. `px_per_mm`: resolution of the print."""
    canvas = _Canvas(field, px_per_mm)
    rng = np.random.default_rng([appearance.seed, 0xB0A2D])
    surface = _grounds(canvas, field, appearance)
    worn = 1 - appearance.wear * _blotches(rng, canvas.shape, scale_px=25 * px_per_mm)
    lines = np.zeros(canvas.shape, dtype=np.float32)
    for line in field.lines():
        canvas.add_box(lines, line.x_mm, line.y_mm)
    numbers, is_over = _numbers(canvas, field, appearance), appearance.numerals.is_over_lines
    for mask, color in [*_signs(canvas, field, appearance), *([] if is_over else numbers)]:
        _lay(surface, mask * worn, color)
    _lay(surface, np.minimum(lines, 1) * worn, appearance.line)
    for mask, color in numbers if is_over else ():
        _lay(surface, mask * worn, color)
    for decal in appearance.decals:
        _lay_decal(canvas, surface, decal)
    surface *= _grain(rng, canvas.shape, appearance.texture, px_per_mm)[:, :, None]
    image = np.ascontiguousarray(np.clip(surface[:, :, ::-1] * 255 + 0.5, 0, 255).astype(np.uint8))
    image = soiled(image, appearance.dirt, px_per_mm, rng)
    return BoardPrint(np.ascontiguousarray(image), canvas.origin_mm, px_per_mm)


class _Canvas:
    """The print's raster, with conversion from board millimeters to rows and columns."""

    def __init__(self, field: FieldModel, px_per_mm: float) -> None:
        left, low, right, high = field.board_mm
        self.origin_mm = (left, high)
        self.px_per_mm = px_per_mm
        self.shape = (int(np.ceil((high - low) * px_per_mm)), int(np.ceil((right - left) * px_per_mm)))

    def columns(self, x_mm: tuple[float, float]) -> tuple[slice, Plane]:
        """Return the columns that an interval of x touches, and the covered share of each."""
        left, right = ((x - self.origin_mm[0]) * self.px_per_mm for x in x_mm)
        return _coverage(left, right, self.shape[1])

    def rows(self, y_mm: tuple[float, float]) -> tuple[slice, Plane]:
        """Return the rows that an interval of y touches, and the covered share of each."""
        bottom, top = ((self.origin_mm[1] - y) * self.px_per_mm for y in y_mm)
        return _coverage(top, bottom, self.shape[0])

    def add_box(self, plane: Plane, x_mm: tuple[float, float], y_mm: tuple[float, float]) -> None:
        """Add a rectangle's exact coverage to a plane."""
        (rows, down), (columns, across) = self.rows(y_mm), self.columns(x_mm)
        plane[rows, columns] += down[:, None] * across

    def fill_box(self, surface: Plane, x_mm: tuple[float, float], y_mm: tuple[float, float], color: Color) -> None:
        """Lay a rectangle of one color over the surface."""
        (rows, down), (columns, across) = self.rows(y_mm), self.columns(x_mm)
        part = surface[rows, columns]
        part += (down[:, None] * across)[:, :, None] * (np.array(color, dtype=np.float32) - part)


def _coverage(low: float, high: float, count: int) -> tuple[slice, Plane]:
    low, high = max(low, 0.0), min(high, float(count))
    first, last = int(np.floor(low)), max(int(np.ceil(high)), int(np.floor(low)))
    cells = np.arange(first, last)
    share = np.minimum(high, cells + 1) - np.maximum(low, cells)
    return slice(first, last), np.clip(share, 0, 1).astype(np.float32)


def _lay(surface: Plane, mask: Plane, color: Color) -> None:
    for channel in range(3):
        plane = surface[:, :, channel]
        plane += mask * (np.float32(color[channel]) - plane)


def _grounds(canvas: _Canvas, field: FieldModel, appearance: BoardAppearance) -> Plane:
    """Return the ground without lines: out of bounds, stripes of grass and the end zones."""
    surface = np.empty((*canvas.shape, 3), dtype=np.float32)
    surface[:] = appearance.border
    zone, width, length = field.end_zone_mm, field.width_mm, field.length_mm
    stripe_mm = appearance.stripe_yd * field.mm_per_yd_x
    count = int(np.ceil((length + 2 * zone) / stripe_mm))
    for i in range(count):
        start = -zone + i * stripe_mm
        color = appearance.grass[i % len(appearance.grass)]
        canvas.fill_box(surface, (start, min(start + stripe_mm, length + zone)), (0.0, width), color)
    if zone:
        canvas.fill_box(surface, (-zone, 0.0), (0.0, width), appearance.end_zones[0])
        canvas.fill_box(surface, (length, length + zone), (0.0, width), appearance.end_zones[1])
    if zone and appearance.end_pattern != "plain":
        _fill_pattern(canvas, surface, field, appearance)
    return surface


def _fill_pattern(canvas: _Canvas, surface: Plane, field: FieldModel, appearance: BoardAppearance) -> None:
    """Draw lighter diagonals or checks in the end zones, as wide as a third of their depth."""
    step_mm = field.end_zone_mm / 3
    rows, columns = canvas.shape
    y = canvas.origin_mm[1] - (np.arange(rows, dtype=np.float32) + 0.5)[:, None] / canvas.px_per_mm
    for x_mm in ((-field.end_zone_mm, 0.0), (field.length_mm, field.length_mm + field.end_zone_mm)):
        (inside, down), (across, share) = canvas.rows((0.0, field.width_mm)), canvas.columns(x_mm)
        x = canvas.origin_mm[0] + (np.arange(columns, dtype=np.float32)[across] + 0.5)[None] / canvas.px_per_mm
        if appearance.end_pattern == "diagonal":
            wave = np.sin((x + y[inside]) * np.float32(np.pi / step_mm))
        else:
            wave = np.sin(x * np.float32(np.pi / step_mm)) * np.sin(y[inside] * np.float32(np.pi / step_mm))
        lighter = np.clip(0.5 + wave * 4, 0, 1) * (down[:, None] * share) * np.float32(_PATTERN)
        part = surface[inside, across]
        part += lighter[:, :, None] * (1 - part)


def _put(canvas: _Canvas, plane: Plane, mask: Plane, x_mm: float, y_mm: float) -> None:
    scale = canvas.px_per_mm
    place_mask(plane, mask, ((x_mm - canvas.origin_mm[0]) * scale, (canvas.origin_mm[1] - y_mm) * scale))


def _signs(canvas: _Canvas, field: FieldModel, appearance: BoardAppearance) -> list[tuple[Plane, Color]]:
    """Return masks of the emblem and the end zones' words, each with its color."""
    scale = canvas.px_per_mm
    letters = np.zeros(canvas.shape, dtype=np.float32)
    emblem = np.zeros(canvas.shape, dtype=np.float32)
    middle = (field.length_mm / 2, field.width_mm / 2)
    if appearance.midfield:
        radius_px = appearance.midfield * field.mm_per_yd_x * scale
        _put(canvas, emblem, disc_mask(radius_px), *middle)
        _put(canvas, letters, disc_mask(radius_px, hollow=0.9), *middle)
        if appearance.emblem_text:
            mask = text_mask(appearance.emblem_text, (1.2 * radius_px, 0.9 * radius_px), appearance.font)
            _put(canvas, letters, mask, *middle)
    zone = field.end_zone_mm
    for word, x_mm, turns in zip(appearance.lettering, (-zone / 2, field.length_mm + zone / 2), (1, 3), strict=True):
        if word and zone:
            mask = text_mask(word, (0.8 * field.width_mm * scale, 0.6 * zone * scale), appearance.font)
            _put(canvas, letters, np.ascontiguousarray(np.rot90(mask, turns)), x_mm, middle[1])
    return [(emblem, appearance.emblem), (letters, appearance.line)]


def _numbers(canvas: _Canvas, field: FieldModel, appearance: BoardAppearance) -> list[tuple[Plane, Color]]:
    """Return masks of the numbers' outlines, if they have any, and of the numbers with their arrows."""
    scale, style = canvas.px_per_mm, appearance.numerals
    numbers, rims = np.zeros(canvas.shape, dtype=np.float32), np.zeros(canvas.shape, dtype=np.float32)
    along_px = _NUMBER_YD * field.mm_per_yd_x * scale
    for number in field.numbers():
        height_mm = number.height_yd * field.mm_per_yd_y
        x_mm, y_mm = number.x_yd * field.mm_per_yd_x, number.y_yd * field.mm_per_yd_y
        off_middle = number.x_yd - field.length_yd / 2
        fit_px = (along_px, height_mm * scale)
        if style.is_sideways:
            fit_px = (_SIDEWAYS * height_mm * scale, min(height_mm * scale, along_px))
        mask = number_mask(number.text, fit_px, appearance.font, style)
        turns = (1 if off_middle < 0 else 3) if style.is_sideways else (0 if number.up == 1 else 2)
        turned = np.ascontiguousarray(np.rot90(mask, turns))
        if style.rim is not None:
            _put(canvas, rims, rim_mask(turned, _RIM * height_mm * scale), x_mm, y_mm)
        _put(canvas, numbers, turned, x_mm, y_mm)
        if appearance.arrows and field.number_style == "to_goal" and abs(off_middle) > _ARROWS_FROM_YD:
            toward = int(np.sign(off_middle))
            arrow = arrow_mask(0.3 * height_mm * scale, toward)
            _put(canvas, numbers, arrow, x_mm + toward * (turned.shape[1] / scale / 2 + 0.3 * height_mm), y_mm)
    inked = (numbers, style.ink or appearance.line)
    return [inked] if style.rim is None else [(rims, style.rim), inked]


def _lay_decal(canvas: _Canvas, surface: Plane, decal: Decal) -> None:
    """Print a rectangle with its text, which is cut off at the rectangle's edges."""
    (x_low, x_high), (y_low, y_high), edge = decal.x_mm, decal.y_mm, decal.edge_mm
    if edge:
        canvas.fill_box(surface, (x_low - edge, x_high + edge), (y_low - edge, y_high + edge), decal.ink)
    if decal.color is not None:
        canvas.fill_box(surface, decal.x_mm, decal.y_mm, decal.color)
    if not decal.text:
        return
    # The font's zero has a stroke through it; its letter O is plain.
    text, scale = decal.text.replace("0", "O"), canvas.px_per_mm
    high = decal.height * (y_high - y_low) * scale
    mask = text_mask(text, (0.92 * (x_high - x_low) * scale, high), decal.font)
    middle = (y_low + y_high) / 2 + decal.shift * (y_high - y_low)
    inked = np.zeros(canvas.shape, dtype=np.float32)
    at_px = (((x_low + x_high) / 2 - canvas.origin_mm[0]) * scale, (canvas.origin_mm[1] - middle) * scale)
    place_mask(inked, mask, at_px)
    (rows, down), (columns, across) = canvas.rows(decal.y_mm), canvas.columns(decal.x_mm)
    inked[rows, columns] *= down[:, None] * across
    part = surface[rows, columns]
    part += inked[rows, columns, None] * (np.array(decal.ink, dtype=np.float32) - part)


def _blotches(rng: np.random.Generator, shape: tuple[int, int], scale_px: float) -> Plane:
    """Return smooth random patches in 0..1 with finely crumbled rims."""
    coarse = _noise(rng, shape, scale_px)
    fine = _noise(rng, shape, max(scale_px / 15, 1.5))
    return np.clip(0.5 + 0.6 * coarse + 0.5 * fine, 0, 1)


def _noise(rng: np.random.Generator, shape: tuple[int, int], scale_px: float) -> Plane:
    """Return smooth noise of unit variance with features about scale_px wide."""
    small = (max(int(shape[0] / scale_px), 2) + 2, max(int(shape[1] / scale_px), 2) + 2)
    seeds = rng.standard_normal(small, dtype=np.float32)
    return np.asarray(cv2.resize(seeds, shape[::-1], interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _grain(rng: np.random.Generator, shape: tuple[int, int], texture: float, px_per_mm: float) -> Plane:
    fine = _noise(rng, shape, max(0.6 * px_per_mm, 1.0))
    broad = _noise(rng, shape, 60 * px_per_mm)
    return (1 + texture * (0.12 * fine + 0.06 * broad)).astype(np.float32)


def soiled(image: NDArray[np.uint8], wear: Wear, px_per_mm: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a print with its dirt and damage, uint8 blue green red.

    Args:
        rng: random generator, which draws places, shapes and colors.
    """
    if wear.soil > 0:
        image = _stained(image, wear, px_per_mm, rng)
    color = tuple(255 * channel for channel in wear.scratch[::-1])
    for _ in range(wear.scratches):
        _scratch(image, color, px_per_mm, rng)
    for _ in range(wear.marks):
        _mark(image, px_per_mm, rng)
    return image


def _stained(image: NDArray[np.uint8], wear: Wear, px_per_mm: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return the picture times smooth noise a little off gray."""
    rows, columns = image.shape[:2]
    small = [max(int(side / px_per_mm / wear.soil_mm), 3) for side in (rows, columns)]
    noise = rng.standard_normal((*small, 1), dtype=np.float32)
    tint = rng.normal(0, 0.3, 3).astype(np.float32)
    levels = np.clip((1 + wear.soil * noise * (1 + tint)) * 128, 0, 255).astype(np.uint8)
    fine = cv2.resize(levels, (columns, rows), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.multiply(image, fine, scale=1 / 128), dtype=np.uint8)


def _scratch(image: NDArray[np.uint8], color: tuple[float, ...], px_per_mm: float, rng: np.random.Generator) -> None:
    start = rng.uniform(0, 1, 2) * image.shape[1::-1]
    turn = rng.uniform(0, 2 * np.pi) + np.linspace(0, rng.normal(0, 0.4), _TRACK_STEPS)
    steps = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(1, 14) * px_per_mm
    line = np.rint((start + np.cumsum(steps, axis=0)) * (1 << _FIXED)).astype(np.int32)
    wide = max(1, round(rng.uniform(0.2, 0.7) * px_per_mm))
    cv2.polylines(image, [line], False, color, wide, cv2.LINE_AA, _FIXED)


def _mark(image: NDArray[np.uint8], px_per_mm: float, rng: np.random.Generator) -> None:
    """Draw a disc or a piece of tape of about a base's size or less."""
    x, y = (rng.uniform(0, 1, 2) * image.shape[1::-1]).tolist()
    color = tuple(rng.integers(0, 256, 3).tolist())
    if rng.random() < 0.5:
        radius = max(2, round(rng.uniform(2, 14) * px_per_mm))
        cv2.circle(image, (int(x), int(y)), radius, color, -1, cv2.LINE_AA)
        return
    wide, tall = (rng.uniform(4, 34, 2) * px_per_mm).tolist()
    corners = cv2.boxPoints(((x, y), (wide, tall), rng.uniform(0, 180)))
    cv2.fillConvexPoly(image, np.rint(corners).astype(np.int32), color, cv2.LINE_AA)
