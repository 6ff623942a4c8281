"""Draws boards of `unknown_makers.py` as rasters, for `unknown_prints.py`.

Every straight mark is laid down by how much of each cell it covers, so that edges are exact; lettering is a font's. No
code is shared with the twin's prints or with those of `prints.py`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np
from unknown_makers import BLACK, BLUE, GAMES, MAKERS, RED, WHITE, YELLOW, Color, Maker, Split

from downfield.core.arrays import Array, Image, Plane
from downfield.core.field.model import FieldModel

_INCH: Final = 25.4
_BLOCKS: Final = {
    "0": "01110 11011 11011 11011 11011 11011 01110",
    "1": "00110 01110 00110 00110 00110 00110 01111",
    "2": "11110 11011 00011 00110 01100 11000 11111",
    "3": "11110 00011 00011 01110 00011 00011 11110",
    "4": "00110 01110 11010 11010 11111 00010 00010",
    "5": "11111 11000 11110 00011 00011 11011 01110",
    "C": "01111 11000 11000 11000 11000 11000 01111",
}
"""Stencilled characters, five cells wide and seven high, top row first."""
_NAMES: Final = (
    "EAGLES",
    "RAIDERS",
    "HOME",
    "VISITORS",
    "GREY CUP",
    "TIGERS",
    "STEEL CITY",
    "NORTH",
    "CHIEFS",
    "ROCKETS",
)


@dataclass(frozen=True, slots=True)
class Board:
    """A printed board, with its own millimeters: x from the left goal, y from the lower sideline.

    Attributes:
        raster: red green blue, the first row at the highest y.
        per_mm: cells of the raster a millimeter.
        low_mm: the lower left corner of the raster.
        size_mm: overall, along and across.
    """

    maker: int
    game: str
    length_yd: float
    width_yd: float
    zone_yd: float
    yard_mm: tuple[float, float]
    size_mm: tuple[float, float]
    low_mm: tuple[float, float]
    line_mm: float
    goal_mm: float
    number_in_yd: float
    number_tall_yd: float
    look: Maker
    per_mm: float
    raster: Image = field(repr=False)

    def described(self, rng: np.random.Generator) -> FieldModel:
        """Return the file of somebody who measured this board with a tape and wrote down what is printed."""
        along = self.length_yd * self.yard_mm[0] + rng.normal(0, 1.2) + self.goal_mm * rng.uniform(-0.4, 0.4)
        across = self.width_yd * self.yard_mm[1] + rng.normal(0, 1.2)
        look, width = self.look, self.width_yd
        rows = tuple(y + rng.normal(0, 0.25) for near in look.hash_yd for y in (near, width - near))
        number_in = self.number_in_yd + rng.normal(0, 0.3)
        return FieldModel(
            "mine", "My board", self.length_yd, width, self.zone_yd, along / self.length_yd, across / width,
            self.line_mm * rng.uniform(0.75, 1.3),
            yard_line_every_yd=look.every_yd,
            hash_rows_y_yd=tuple(sorted(rows)),
            hash_every_yd=1.0 if look.hash_yd or look.ticks != "none" else 0.0,
            sideline_marks=look.ticks != "none",
            number_every_yd=0.0 if look.numbers == "none" else 10.0,
            number_rows_y_yd=(number_in, width - number_in),
            number_height_yd=self.number_tall_yd * rng.uniform(0.85, 1.15),
            margin_mm=(-self.low_mm[0] - self.zone_yd * self.yard_mm[0], -self.low_mm[1]),
            measured=True,
        )  # fmt: skip


def draw_board(rng: np.random.Generator, split: Split, per_mm_of: float) -> Board:
    """Draw a board of a maker of a split; its raster has `per_mm_of` cells over its length."""
    number = int(rng.integers(len(MAKERS[split])))
    look = MAKERS[split][number]
    length, width, zone = GAMES[look.game]
    inches = look.sizes_in[int(rng.integers(len(look.sizes_in)))]
    size = (inches[0] * _INCH * rng.uniform(0.985, 1.015), inches[1] * _INCH * rng.uniform(0.985, 1.015))
    rims = rng.uniform(*look.rim_in, 2) * _INCH
    band_yd = 0.0 if look.bands == "none" else rng.uniform(*look.band_yd)
    yards = (length + 2 * zone + 2 * band_yd, width + 2 * band_yd)
    yard = ((size[0] - 2 * rims[0]) / yards[0], (size[1] - 2 * rims[1]) / yards[1])
    low = (-(zone + band_yd) * yard[0] - rims[0], -band_yd * yard[1] - rims[1])
    line = rng.uniform(*look.line_mm)
    small = width / (160 / 3) if look.game == "canada" else 1.0
    board = Board(
        number, look.game, length, width, zone, yard, size, low, line, line * rng.uniform(*look.goal_times),
        rng.uniform(*look.number_in_yd), rng.uniform(*look.number_tall_yd) * small, look, per_mm_of / size[0],
        np.zeros((1, 1, 3), dtype=np.uint8),
    )  # fmt: skip
    return _Printer(rng, board, band_yd).printed()


def _pick(rng: np.random.Generator, options: Sequence[Color]) -> Color:
    return options[int(rng.integers(len(options)))]


class _Printer:
    """Lays a board's marks down, the lowest first."""

    def __init__(self, rng: np.random.Generator, board: Board, band_yd: float) -> None:
        self.rng, self.board, self.look = rng, board, board.look
        self.cells = np.empty(
            (math.ceil(board.size_mm[1] * board.per_mm), math.ceil(board.size_mm[0] * board.per_mm), 3), dtype=np.uint8
        )
        shade = rng.uniform(0.85, 1.15)
        red, green, blue = (min(255, int(part * shade)) for part in _pick(rng, self.look.turfs))
        self.turf: Color = (red, green, blue)
        self.paint = _pick(rng, self.look.paints)
        self.band = (band_yd * board.yard_mm[0], band_yd * board.yard_mm[1])
        self.length, self.width = board.length_yd * board.yard_mm[0], board.width_yd * board.yard_mm[1]
        self.zone = board.zone_yd * board.yard_mm[0]
        self.zone_style = self.look.zones[int(rng.integers(len(self.look.zones)))]

    def printed(self) -> Board:
        """Return the board with everything on it."""
        board, rng = self.board, self.rng
        self.cells[:] = _pick(rng, self.look.rim_colors)
        if self.look.pennants:
            self._pennants()
        self._ground()
        self._zones()
        self._logo()
        self._lines()
        self._hashes()
        if self.look.numbers != "none":
            self._numbers()
        self._wear()
        return dataclasses.replace(board, raster=self.cells)

    def box(self, x0: float, y0: float, x1: float, y1: float, color: Color) -> None:
        """Cover a rectangle of the board, cells at its edges in part."""
        per, (low_x, low_y) = self.board.per_mm, self.board.low_mm
        high_y = low_y + self.board.size_mm[1]
        rows, down = _covered((high_y - y1) * per, (high_y - y0) * per, self.cells.shape[0])
        columns, along = _covered((x0 - low_x) * per, (x1 - low_x) * per, self.cells.shape[1])
        whole = np.s_[rows.start + 1 : rows.stop - 1, columns.start + 1 : columns.stop - 1]
        share, part = down[:, None] * along, self.cells[rows, columns]
        below, right = max(1, len(down) - 1), max(1, len(along) - 1)
        for edge in (np.s_[:1], np.s_[below:], np.s_[1:below, :1], np.s_[1:below, right:]):
            under = part[edge]
            part[edge] = np.rint(under + (np.array(color) - under) * share[edge][:, :, None])
        self.cells[whole] = color

    def shape(self, points_mm: Array, color: Color) -> None:
        """Fill a polygon, shape (n, 2)."""
        px = (points_mm - self.board.low_mm) * self.board.per_mm
        px[:, 1] = self.board.size_mm[1] * self.board.per_mm - px[:, 1]
        cv2.fillPoly(self.cells, [np.rint((px - 0.5) * 16).astype(np.int32)], color, cv2.LINE_AA, 4)

    def text(self, words: str, middle: tuple[float, float], size: tuple[float, float], color: Color, *, font: str,
             turn: int = 0) -> None:  # fmt: skip
        """Letter words into a box of a size, mm, turned by quarters to the left."""
        mask = _lettering(words, font)
        wide, tall = (max(2, round(part * self.board.per_mm)) for part in size)
        mask = np.rot90(cv2.resize(mask, (wide, tall), interpolation=cv2.INTER_AREA), turn)
        x = round((middle[0] - self.board.low_mm[0]) * self.board.per_mm - mask.shape[1] / 2)
        y = round((self.board.low_mm[1] + self.board.size_mm[1] - middle[1]) * self.board.per_mm - mask.shape[0] / 2)
        if x < 0 or y < 0 or y + mask.shape[0] > self.cells.shape[0] or x + mask.shape[1] > self.cells.shape[1]:
            return
        part = self.cells[y : y + mask.shape[0], x : x + mask.shape[1]]
        part[:] = np.rint(part + (np.array(color) - part) * (mask[:, :, None] / 255.0)).astype(np.uint8)

    def _pennants(self) -> None:
        (low_x, low_y), (long, wide) = self.board.low_mm, self.board.size_mm
        tall = 0.75 * (-low_y - self.band[1])
        for x in np.arange(low_x + 0.05 * long, low_x + 0.95 * long, 0.06 * long):
            color = _pick(self.rng, (RED, YELLOW, BLUE, WHITE))
            for y, up in ((low_y + 0.1 * tall, 1), (low_y + wide - 0.1 * tall, -1)):
                self.shape(np.array([(x, y), (x + 0.04 * long, y), (x + 0.02 * long, y + up * tall)]), color)

    def _ground(self) -> None:
        x0, x1, edge = -self.zone, self.length + self.zone, self.band
        color = _pick(self.rng, self.look.band_colors or (self.paint,))
        if self.look.bands in {"around", "one side"}:
            top = edge[1] if self.look.bands == "around" else 0.0
            self.box(x0 - edge[0], -edge[1], x1 + edge[0], self.width + top, color)
        elif self.look.bands == "sides":
            self.box(x0, -edge[1], x1, self.width + edge[1], color)
        self.box(x0, 0, x1, self.width, self.turf)
        if self.look.grain == "stripes":
            step, darker = self.rng.choice([5, 10]) * self.board.yard_mm[0], tuple(int(0.86 * c) for c in self.turf)
            for i in range(0, math.ceil(self.length / step), 2):
                self.box(i * step, 0, min((i + 1) * step, self.length), self.width, darker)  # type: ignore[arg-type]
        if self.look.coach_line:
            for x in np.arange(0, self.length, 2 * self.board.yard_mm[0]):
                for y in (-edge[1] - 3.0, self.width + edge[1] + 1.5):
                    self.box(x, y, x + self.board.yard_mm[0], y + 1.5, YELLOW)

    def _zones(self) -> None:
        if self.zone_style == "turf":
            return
        names = self.rng.permutation(np.array(_NAMES))[:2]
        for x0, name, turn in ((-self.zone, str(names[0]), 1), (self.length, str(names[1]), 3)):
            color = _pick(self.rng, self.look.zone_colors)
            self.box(x0, 0, x0 + self.zone, self.width, color)
            if self.zone_style == "name":
                size = (0.8 * self.width, 0.55 * self.zone)
                self.text(name, (x0 + self.zone / 2, self.width / 2), size, self.paint, font="sans", turn=turn)
            elif self.zone_style == "checks":
                across, cell = 16, self.width / 16
                for i, j in np.ndindex(4, across):
                    if (i + j) % 2:
                        left = x0 + i * self.zone / 4
                        self.box(left, j * cell, left + self.zone / 4, (j + 1) * cell, self.paint)
            elif self.zone_style == "stripes":
                for i in range(1, 8, 2):
                    self.box(x0, i * self.width / 8, x0 + self.zone, (i + 0.4) * self.width / 8, self.paint)
            elif self.zone_style == "diagonal":
                for y in np.arange(0, self.width - self.zone, self.zone):
                    rise = np.array([(0, y), (self.zone, y + 0.6 * self.zone), (self.zone, y + 0.9 * self.zone)])
                    self.shape(np.array([x0, 0.0]) + np.vstack([rise, [(0, y + 0.3 * self.zone)]]), self.paint)

    def _logo(self) -> None:
        kind = self.look.logo[int(self.rng.integers(len(self.look.logo)))]
        if not kind:
            return
        reach = self.rng.uniform(4, 9) * np.array(self.board.yard_mm) * min(1.0, self.board.width_yd / 50)
        middle, color = np.array([self.length, self.width]) / 2, _pick(self.rng, (RED, BLUE, YELLOW, BLACK))
        turns = np.linspace(0, 2 * math.pi, 48, endpoint=False)
        if kind in {"ball", "letters"}:
            squeeze = (1.5, 0.8) if kind == "ball" else (1.0, 1.0)
            self.shape(middle + reach * squeeze * np.column_stack([np.cos(turns), np.sin(turns)]), color)
        elif kind == "shield":
            outline = [(-0.8, 1), (0, 0.85), (0.8, 1), (0.85, 0), (0.5, -0.7), (0, -1.1), (-0.5, -0.7), (-0.85, 0)]
            self.shape(middle + reach * np.array(outline), color)
        else:  # a star of five points, a leaf of eleven
            count = 5 if kind == "star" else 11
            long = np.tile([1.0, 0.42 if kind == "star" else 0.6], count)[:, None]
            angles = math.pi / 2 + np.arange(2 * count) * math.pi / count
            self.shape(middle + reach * long * np.column_stack([np.cos(angles), np.sin(angles)]), color)
        if kind in {"letters", "shield"}:
            x, y = middle.tolist()
            self.text(str(self.rng.choice(["KC", "NFL", "74", "AFL"])), (x, y), (reach[0], 0.7 * reach[1]), self.paint,
                      font="serif")  # fmt: skip

    def _lines(self) -> None:
        look, rng, yard = self.look, self.rng, self.board.yard_mm
        inset = look.inset_yd * yard[1]
        for k in range(1, round(self.board.length_yd / look.every_yd)):
            x = (k * look.every_yd + rng.normal(0, look.off_yd)) * yard[0]
            thin = look.thin_fives if k * look.every_yd % 10 else 1.0
            half = self.board.line_mm * thin * (1 + rng.normal(0, look.uneven)) / 2
            self.box(x - half, inset, x + half, self.width - inset, self.paint)
        goal, zero = self.board.goal_mm, float(rng.choice(look.goal_zero))
        color = _pick(rng, look.goal_colors or (self.paint,))
        for x, outward in ((0.0, -1), (self.length, 1)):
            at = x + outward * zero * goal
            self.box(at - goal / 2, 0, at + goal / 2, self.width, color)
        if look.bands in {"none", "sides"}:
            thin = self.board.line_mm
            for x in (-self.zone - thin, self.length + self.zone):
                self.box(x, 0, x + thin, self.width, self.paint)
        if look.bands in {"none", "one side"}:
            self.box(-self.zone, self.width, self.length + self.zone, self.width + self.board.line_mm, self.paint)
        if look.bands == "none":
            self.box(-self.zone, -self.board.line_mm, self.length + self.zone, 0, self.paint)
        if look.conversion:
            for x in (2 * yard[0], self.length - 2 * yard[0]):
                half, middle = 0.4 * self.board.line_mm, self.width / 2
                self.box(x - half, middle - yard[1], x + half, middle + yard[1], self.paint)

    def _hashes(self) -> None:
        look, yard, width = self.look, self.board.yard_mm, self.board.width_yd
        long, half = self.rng.uniform(*look.hash_long_yd), 0.4 * self.board.line_mm
        rows = [y for near in look.hash_yd for y in (near, width - near)]
        if look.ticks != "none":
            off = {"inside": long / 2, "apart": long / 2 + 0.6, "outside": -long / 2 - self.band[1] / yard[1]}[
                look.ticks
            ]
            rows += [off, width - off]
        for yards in range(1, round(self.board.length_yd)):
            if yards % look.every_yd == 0:
                continue
            for y in rows:
                x = (yards + self.rng.normal(0, look.off_yd)) * yard[0]
                self.box(x - half, (y - long / 2) * yard[1], x + half, (y + long / 2) * yard[1], self.paint)

    def _numbers(self) -> None:
        look, yard, board = self.look, self.board.yard_mm, self.board
        font = str(self.rng.choice(look.font))
        tall, inward = board.number_tall_yd * yard[1], board.number_in_yd * yard[1]
        digit = min(0.62 * tall, 1.9 * yard[0])
        gap = board.line_mm / 2 + 0.15 * digit
        # Canadian boards count to 50 from either goal and have a C in the middle: two fifties.
        for at in range(10, round(board.length_yd), 5 if look.game == "canada" else 10):
            count = min(at, round(board.length_yd) - at)
            if count % 10 and count != board.length_yd / 2:
                continue
            words = "C" if count > 50 else str(count)
            for y, turn in ((inward, 0), (self.width - inward, 2 if look.numbers == "facing" else 0)):
                x = at * yard[0]
                if look.circled:
                    turns = np.linspace(0, 2 * math.pi, 40, endpoint=False)
                    ring = np.column_stack([np.cos(turns), np.sin(turns)]) * max(0.75 * tall, digit + gap + 2)
                    self.shape(np.array([x, y]) + ring, WHITE)
                ink = BLACK if look.circled else self.paint
                for i, letter in enumerate(words):
                    offset = 0.0 if len(words) == 1 else (2 * i - 1) * (gap + digit / 2) * (1 if turn == 0 else -1)
                    self.text(letter, (x + offset, y), (digit, tall), ink, font=font, turn=turn)
                if look.arrows and count * 2 != board.length_yd:
                    toward = -1 if at < board.length_yd / 2 else 1
                    tip = x + toward * (gap + digit + 0.5 * tall)
                    back = tip - toward * 0.3 * tall
                    self.shape(np.array([(tip, y), (back, y + 0.15 * tall), (back, y - 0.15 * tall)]), self.paint)

    def _wear(self) -> None:
        """Grain, stains, worn paint and scratches, and rounded corners."""
        rng, (rows, columns) = self.rng, self.cells.shape[:2]
        worn = rng.uniform(*self.look.wear)
        coarse = cv2.resize(rng.random((23, 47)).astype(np.float32), (columns, rows), interpolation=cv2.INTER_CUBIC)
        small = rng.normal(0, 1, (rows // 2 + 1, columns // 2 + 1)).astype(np.float32)
        fine: Plane = np.asarray(cv2.resize(small, (columns, rows)), dtype=np.float32)
        depth = {"plain": 1.0, "stripes": 2.0, "grass": 9.0, "speckle": 14.0}[self.look.grain]
        share = (np.clip(coarse - 0.6, 0, 0.5) * worn)[:, :, None]
        mixed = self.cells * (1 - share) + np.array(self.turf, dtype=np.float32) * share + (depth * fine)[:, :, None]
        self.cells = np.clip(mixed + (10 * worn * (coarse - 0.5))[:, :, None], 0, 255).astype(np.uint8)
        for _ in range(int(30 * worn)):
            begin = rng.uniform(0, (columns, rows))
            end = begin + rng.normal(0, 0.05 * columns, 2)
            color = tuple(int(v) for v in np.array(self.turf) * rng.uniform(0.7, 1.25))
            points = [tuple(int(v) for v in point) for point in (begin, end)]
            cv2.line(self.cells, points[0], points[1], color, 1, cv2.LINE_AA)


def _covered(low: float, high: float, count: int) -> tuple[slice, Array]:
    """Return the cells that a stretch touches, and what share of each it covers."""
    first = min(max(0, math.floor(low)), count - 1)
    last = max(first + 1, min(count, math.ceil(high)))
    cells = np.arange(first, last)
    return slice(first, last), np.clip(np.minimum(high, cells + 1) - np.maximum(low, cells), 0, 1)


def _lettering(words: str, font: str) -> Image:
    """Return words as a mask that they fill to its edges, 0 to 255."""
    if font == "block" and all(letter in _BLOCKS for letter in words):
        rows = [[int(bit) for bit in row] for row in _BLOCKS[words].split()]
        return np.asarray(np.kron(rows, np.full((24, 24), 255)), dtype=np.uint8)
    face, weight = {"sans": ("sans", 700), "italic": ("italic", 600), "serif": ("uni", 400), "block": ("sans", 900)}[
        font
    ]
    sheet = np.zeros((260, 200 + 150 * len(words), 3), dtype=np.uint8)
    cv2.putText(sheet, words, (60, 190), (255, 255, 255), cv2.FontFace(face), 140, weight)
    mask = sheet[:, :, 0]
    ys, xs = np.nonzero(mask > 40)
    return np.ascontiguousarray(mask[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1])
