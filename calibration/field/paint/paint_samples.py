"""Samples along every painted line of a field, and at places that must be bare, in board millimeters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import PaintedLine

_OVERRUN_YD: Final = 0.8  # samples of an overrun lie this far beyond a sideline
_KEEP_OFF_YD: Final = 0.6  # samples keep this far from where another line crosses or a mark begins


@dataclass(frozen=True, slots=True)
class PaintSamples:
    """Places where paint is searched for."""

    points_mm: Array  # center of the paint, shape (n, 2)
    # unit vectors across the paint, from the playing side outward (yard lines, hash marks: toward larger x), (n, 2)
    across_mm: Array
    width_mm: Array  # width of the paint, shape (n,)
    line: NDArray[np.intp]  # which line of `FieldModel.lines` each belongs to, shape (n,)
    is_free: NDArray[np.bool_]  # whether there is bare ground on both sides of the line; else anything may border it
    # whether the line may be of another color than the field's other paint, as a border often is: a boundary whose
    # width the field describes
    own_color: NDArray[np.bool_]

    def __getitem__(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> PaintSamples:
        """Return some of the samples."""
        return PaintSamples(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))


@lru_cache(maxsize=64)
def sample_long_lines(field: FieldModel, *, every_yd: float = 1.0) -> PaintSamples:
    """Sample sidelines, goal lines, end lines and yard lines.

    Args:
        every_yd: spacing, in yards along or across; samples lie half-way between the one-yard marks.
    """
    return _sample(field, [(i, line) for i, line in enumerate(field.lines()) if line.kind != "hash"], every_yd)


def sample_overrun(field: FieldModel) -> PaintSamples:
    """Sample just beyond the sidelines, where the yard lines would go on if the sidelines were elsewhere."""
    yard_lines = [(i, line) for i, line in enumerate(field.lines()) if line.kind == "yard_line"]
    beyond = field.line_mm + _OVERRUN_YD * field.mm_per_yd_y
    points = [(sum(line.x_mm) / 2, y) for _, line in yard_lines for y in (-beyond, field.width_mm + beyond)]
    index = np.repeat([i for i, _ in yard_lines], 2)
    n = len(points)
    return PaintSamples(
        np.array(points), np.tile([1.0, 0.0], (n, 1)), np.full(n, field.line_mm), index,
        np.ones(n, dtype=bool), np.zeros(n, dtype=bool),
    )  # fmt: skip


def sample_beyond_goal_lines(field: FieldModel) -> PaintSamples:
    """Sample where a yard line would be one step beyond each goal line; empty when the end line may be there."""
    step = field.yard_line_every_yd
    clear = field.end_zone_yd == 0 or abs(field.end_zone_yd - step) * field.mm_per_yd_x > 4 * field.line_mm
    lines = [(i, line) for i, line in enumerate(field.lines()) if line.kind == "yard_line"] if clear else []
    samples = _sample(field, [line for line in lines if line[1].x_mm[0] < 1.5 * step * field.mm_per_yd_x], 1.0)
    back = np.array([2 * step * field.mm_per_yd_x, 0.0])
    low = samples.points_mm - back
    high = np.column_stack([field.length_mm - low[:, 0], low[:, 1]])
    twice = np.tile(np.arange(len(low)), 2)
    return dataclasses.replace(samples[twice], points_mm=np.concatenate([low, high]))


@lru_cache(maxsize=64)
def sample_inside_sidelines(field: FieldModel, off_mm: float) -> PaintSamples:
    """Sample along the sidelines but inside them, where the ground is bare."""
    samples = sample_long_lines(field, every_yd=2.0)
    kinds = np.array([line.kind for line in field.lines()])[samples.line]
    sides = samples[kinds == "sideline"]
    return dataclasses.replace(sides, points_mm=sides.points_mm - off_mm * sides.across_mm)


@lru_cache(maxsize=64)
def sample_hash_marks(field: FieldModel, *, shift_yd: float = 0.0) -> PaintSamples:
    """Sample the middle of every hash mark, or shifted bare places; empty when none is printed."""
    found = [(i, line) for i, line in enumerate(field.lines()) if line.kind == "hash"]
    centers = np.array([[sum(line.x_mm) / 2, sum(line.y_mm) / 2] for _, line in found]).reshape(-1, 2)
    n = len(found)
    return PaintSamples(
        centers + np.array([shift_yd * field.mm_per_yd_x, 0.0]),
        np.tile([1.0, 0.0], (n, 1)),
        np.array([line.x_mm[1] - line.x_mm[0] for _, line in found]),
        np.array([i for i, _ in found], dtype=np.intp),
        np.ones(n, dtype=bool),
        np.zeros(n, dtype=bool),
    )


def _sample(field: FieldModel, lines: list[tuple[int, PaintedLine]], every_yd: float) -> PaintSamples:
    points, across, widths, index, free, own = [], [], [], [], [], []
    colored = {kind for kind in ("sideline", "end_line") if getattr(field, kind).width_mm is not None}
    middle = np.array([field.length_mm, field.width_mm]) / 2
    for i, line in lines:
        axis = 1 if line.is_across else 0  # the axis the line runs along
        low, high = (line.x_mm, line.y_mm)[axis]
        thick = (line.x_mm, line.y_mm)[1 - axis]
        along = _places(field, axis, low, high, every_yd)
        point = np.empty((len(along), 2))
        point[:, axis], point[:, 1 - axis] = along, sum(thick) / 2
        direction = np.zeros(2)
        outward = line.kind != "yard_line" and sum(thick) / 2 < middle[1 - axis]
        direction[1 - axis] = -1.0 if outward else 1.0
        points.append(point)
        across.append(np.tile(direction, (len(along), 1)))
        widths.append(np.full(len(along), thick[1] - thick[0]))
        index.append(np.full(len(along), i))
        free.append(np.full(len(along), line.kind == "yard_line"))
        own.append(np.full(len(along), line.kind in colored))
    if not lines:
        none = np.empty(0, bool)
        return PaintSamples(np.empty((0, 2)), np.empty((0, 2)), np.empty(0), np.empty(0, np.intp), none, none)
    return PaintSamples(*(np.concatenate(part) for part in (points, across, widths, index, free, own)))


def _places(field: FieldModel, axis: int, low: float, high: float, every_yd: float) -> Array:
    """Return places along a line, mm, clear of the one-yard marks and of the lines that cross it."""
    scale = field.mm_per_yd[axis]
    count = int(np.floor((high - low) / scale / every_yd))
    yards = np.floor(low / scale) + 0.5 + every_yd * np.arange(count + 2)
    rows = field.hash_rows_y_yd if axis == 1 else ()
    clear = np.ones(len(yards), dtype=bool)
    for row in rows:
        clear &= np.abs(yards - row) > _KEEP_OFF_YD + field.hash_length_yd / 2
    places = yards * scale
    rim = _KEEP_OFF_YD * scale
    inside: Array = places[clear & (places > low + rim) & (places < high - rim)]
    return inside
