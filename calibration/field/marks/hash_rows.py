"""Finds the rows of hash marks in a picture: where ink stands at whole yards between the yard lines."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import levels_at
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class HashRowLimits:
    """Where marks are searched for, and what makes a row of them."""

    ground_yd: float = 0.35  # distance beside a mark at which the bare ground is sampled
    step_yd: float = 0.05  # spacing of the samples across the field
    sideline_distance_yd: float = 3.0  # least distance of a hash mark from a sideline; nearer marks are ticks
    min_contrast: float = 0.25  # median contrast of a row of marks at least, as a share of the yard lines' contrast
    lengths_yd: tuple[float, float] = (0.2, 2.0)  # least and largest length of marks
    max_rows: int = 6  # largest number of rows of marks of a field
    max_asymmetry_yd: float = 0.8  # largest distance of a row from its mirror image in the other half


_LIMITS: Final = HashRowLimits()


def with_hash_rows(plane: Plane, camera: Camera, field: FieldModel, paint: float) -> FieldModel | None:
    """Return the field with its rows of hash marks where they are printed; None where that can't be decided.

    Rows are taken that the field has in both halves alike. Without any, the field has none if nothing else is printed
    there in every step from one yard line to the next: in a wrong reading the marks are beside the yards.

    Args:
        camera: good to about a pixel on the paint.
        field: the field; its rows of marks and their length are replaced.
    """
    yards = np.arange(1, round(field.length_yd))
    yards = yards[yards % field.yard_line_every_yd != 0]
    y_yd = np.arange(_LIMITS.sideline_distance_yd, field.width_yd - _LIMITS.sideline_distance_yd, _LIMITS.step_yd)
    at, low, high = (
        _levels(plane, camera, field, yards + off, y_yd) for off in (0.0, -_LIMITS.ground_yd, _LIMITS.ground_yd)
    )
    contrast = np.median(np.sign(paint) * (at - (low + high) / 2), axis=1) / abs(paint)
    runs = np.flatnonzero(np.diff(np.pad((contrast > _LIMITS.min_contrast).astype(np.int8), 1))).reshape(-1, 2)
    shortest, longest = (length / _LIMITS.step_yd for length in _LIMITS.lengths_yd)
    rows = [
        (float(y_yd[0]) + (start + stop - 1) / 2 * _LIMITS.step_yd, (stop - start) * _LIMITS.step_yd)
        for start, stop in runs.tolist()
        if shortest <= stop - start <= longest
    ]
    paired = [
        (center, length)
        for center, length in rows
        if any(abs(field.width_yd - center - other) < _LIMITS.max_asymmetry_yd for other, _ in rows)
    ]
    if not rows and _is_bare(plane, camera, field, paint):
        return dataclasses.replace(field, hash_rows_y_yd=(), sideline_marks=False)
    if not 2 <= len(paired) <= _LIMITS.max_rows:
        return None
    return dataclasses.replace(
        field,
        hash_rows_y_yd=tuple(round(center, 3) for center, _ in paired),
        hash_length_yd=round(float(np.median([length for _, length in paired])), 3),
    )


def _is_bare(plane: Plane, camera: Camera, field: FieldModel, paint: float) -> bool:
    """Return whether nothing is printed alike in every step between yard lines, clear of sidelines and numbers."""
    step, near = field.yard_line_every_yd, 4  # places from a mark to the bare ground beside it
    starts = np.arange(round(field.length_yd / step)) * step
    phases = np.arange(0.0, step, _LIMITS.ground_yd / near)
    y_yd = np.arange(_LIMITS.sideline_distance_yd, field.width_yd - _LIMITS.sideline_distance_yd, _LIMITS.lengths_yd[0])
    for row_yd in field.number_rows_y_yd:
        y_yd = y_yd[np.abs(y_yd - row_yd) > field.number_height_yd / 2 + _LIMITS.max_asymmetry_yd]
    if not len(y_yd):
        return False
    levels = _levels(plane, camera, field, (starts[:, None] + phases).ravel(), y_yd)
    levels = levels.reshape(len(y_yd), len(starts), len(phases))
    beside = (levels[..., : -2 * near] + levels[..., 2 * near :]) / 2
    signed = (np.sign(paint) * (levels[..., near:-near] - beside))[..., 1:-1]  # clear of the yard lines
    contrast = np.median(signed, axis=1) / abs(paint)
    return float(contrast.max()) < _LIMITS.min_contrast


def _levels(plane: Plane, camera: Camera, field: FieldModel, x_yd: Array, y_yd: Array) -> Array:
    """Return gray levels over places across and along the field, shape (len(y), len(x))."""
    points = np.stack(np.broadcast_arrays(x_yd[None], y_yd[:, None]), axis=-1) * field.mm_per_yd
    return levels_at(plane, np.nan_to_num(camera.to_pixels(points)))
