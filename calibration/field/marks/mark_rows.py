"""Finds the rows of a field's marks in a picture: hash marks, and yard numbers.

Hash marks are where ink stands at whole yards between the yard lines; numbers where it stands beside the lines that
carry them and not the others.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import levels_at, smoothed
from downfield.calibration.field.marks.repeated_digit import repeated_digit_sides
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


_HASHES: Final = HashRowLimits()


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
    y_yd = np.arange(_HASHES.sideline_distance_yd, field.width_yd - _HASHES.sideline_distance_yd, _HASHES.step_yd)
    offsets = (0.0, -_HASHES.ground_yd, _HASHES.ground_yd)
    at, low, high = (_levels(plane, camera, field, yards + off, y_yd) for off in offsets)
    contrast = np.median(np.sign(paint) * (at - (low + high) / 2), axis=1) / abs(paint)
    runs = np.flatnonzero(np.diff(np.pad((contrast > _HASHES.min_contrast).astype(np.int8), 1))).reshape(-1, 2)
    shortest, longest = (length / _HASHES.step_yd for length in _HASHES.lengths_yd)
    rows = [
        (float(y_yd[0]) + (start + stop - 1) / 2 * _HASHES.step_yd, (stop - start) * _HASHES.step_yd)
        for start, stop in runs.tolist()
        if shortest <= stop - start <= longest
    ]
    paired = [
        (center, length)
        for center, length in rows
        if any(abs(field.width_yd - center - other) < _HASHES.max_asymmetry_yd for other, _ in rows)
    ]
    if not rows and _is_bare(plane, camera, field, paint):
        return dataclasses.replace(field, hash_rows_y_yd=(), sideline_marks=False)
    if not 2 <= len(paired) <= _HASHES.max_rows:
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
    phases = np.arange(0.0, step, _HASHES.ground_yd / near)
    y_yd = np.arange(_HASHES.sideline_distance_yd, field.width_yd - _HASHES.sideline_distance_yd, _HASHES.lengths_yd[0])
    for row_yd in field.number_rows_y_yd:
        y_yd = y_yd[np.abs(y_yd - row_yd) > field.number_height_yd / 2 + _HASHES.max_asymmetry_yd]
    if not len(y_yd):
        return False
    levels = _levels(plane, camera, field, (starts[:, None] + phases).ravel(), y_yd)
    levels = levels.reshape(len(y_yd), len(starts), len(phases))
    beside = (levels[..., : -2 * near] + levels[..., 2 * near :]) / 2
    signed = (np.sign(paint) * (levels[..., near:-near] - beside))[..., 1:-1]  # clear of the yard lines
    contrast = np.median(signed, axis=1) / abs(paint)
    return float(contrast.max()) < _HASHES.min_contrast


def _levels(plane: Plane, camera: Camera, field: FieldModel, x_yd: Array, y_yd: Array) -> Array:
    """Return gray levels over places across and along the field, shape (len(y), len(x))."""
    points = np.stack(np.broadcast_arrays(x_yd[None], y_yd[:, None]), axis=-1) * field.mm_per_yd
    return levels_at(plane, np.nan_to_num(camera.to_pixels(points)))


@dataclass(frozen=True, slots=True)
class NumberRowLimits:
    """Where ink is searched for, and what makes a row of it."""

    # distances from a yard line at which its digits are
    digits_yd: tuple[float, ...] = tuple(0.35 + 0.1 * i for i in range(18))
    step_yd: float = 0.1  # spacing of the samples across the field
    sideline_distance_yd: float = 2.5  # least distance of numbers from the sidelines
    min_ink_contrast: float = 0.5  # least contrast of ink, as a share of the yard lines' contrast
    min_ink_share: float = 0.07  # share of a row that is ink, more than beside lines without numbers
    heights_yd: tuple[float, float] = (1.0, 6.0)  # least and largest height of numbers


_NUMBERS: Final = NumberRowLimits()
_GAP: Final = np.ones((9, 1), np.uint8)  # less than a yard between the strokes of one row


def with_number_rows(plane: Plane, camera: Camera, field: FieldModel, paint: float) -> FieldModel | None:
    """Return the field with its numbers where they are printed; None when no rows of them are seen.

    Args:
        camera: good to about a pixel on the paint.
        field: the field; its rows of numbers and their height are replaced.
    """
    numbered = sorted({number.x_yd for number in field.numbers()})
    if len(numbered) < 2:
        return None
    bare = [x for x in field.yard_lines_yd() if min(abs(x - at) for at in numbered) > 2 * max(_NUMBERS.digits_yd)]
    y_yd = np.arange(_NUMBERS.sideline_distance_yd, field.width_yd - _NUMBERS.sideline_distance_yd, _NUMBERS.step_yd)
    ink = _ink(plane, camera, field, numbered, y_yd, paint)
    if bare:
        ink = ink - _ink(plane, camera, field, bare, y_yd, paint)
    near = smoothed((ink + ink[::-1]) / 2, 1.0)[: len(ink) // 2]
    closed = cv2.morphologyEx((near > _NUMBERS.min_ink_share).astype(np.uint8)[:, None], cv2.MORPH_CLOSE, _GAP)[:, 0]
    runs = np.flatnonzero(np.diff(np.pad(closed, 1))).reshape(-1, 2)
    shortest, tallest = (round(height / _NUMBERS.step_yd) for height in _NUMBERS.heights_yd)
    # A logo at midfield reaches the middle of the field, which numbers do not.
    fitting = [(low, high) for low, high in runs.tolist() if shortest <= high - low <= tallest and high < len(near)]
    if not fitting:
        return None
    # A row of other marks may have as much ink, but no digit that stands at one side of every line.
    fitting.sort(key=lambda run: -float(near[slice(*run)].sum()))
    rows = [_with_row(field, float(y_yd[0]), low, high) for low, high in fitting]
    return next((row for row in rows if abs(sum(repeated_digit_sides(plane, camera, row))) == 2), rows[0])


def _with_row(field: FieldModel, first_yd: float, low: int, high: int) -> FieldModel:
    """Return the field with its numbers from one step across the field to another, and as far from the other side."""
    center = first_yd + (low + high - 1) / 2 * _NUMBERS.step_yd
    return dataclasses.replace(
        field,
        number_rows_y_yd=(round(center, 3), round(field.width_yd - center, 3)),
        number_height_yd=round((high - low) * _NUMBERS.step_yd, 3),
    )


def _ink(plane: Plane, camera: Camera, field: FieldModel, lines_yd: list[float], y_yd: Array, paint: float) -> Array:
    """Return the share of ink beside yard lines, the mean of all, at places across the field, shape (n,)."""
    beside = np.array([side * off for off in _NUMBERS.digits_yd for side in (-1, 1)])
    x = np.array(lines_yd)[:, None] + beside
    points = np.stack(np.broadcast_arrays(x[None], y_yd[:, None, None]), axis=-1) * field.mm_per_yd
    seen = levels_at(plane, camera.to_pixels(points).reshape(len(y_yd), -1, 2))
    levels = np.sign(paint) * seen.reshape(points.shape[:-1])
    # The ground may change shade at the line, so each side is relative to its own ground.
    shares = []
    for side in (levels[..., 0::2], levels[..., 1::2]):
        ground = np.percentile(side, 25, axis=(0, 2), keepdims=True)
        shares.append((side - ground > _NUMBERS.min_ink_contrast * abs(paint)).mean(axis=2))
    share: Array = np.mean(np.concatenate(shares, axis=1), axis=1)
    return share
