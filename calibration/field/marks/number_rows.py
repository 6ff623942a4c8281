"""Finds the rows of yard numbers in a picture: where ink stands beside the lines that carry them and not the others."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import levels_at
from downfield.calibration.field.marks.repeated_digit import repeated_digit_sides
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel


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


_LIMITS: Final = NumberRowLimits()

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
    bare = [x for x in field.yard_lines_yd() if min(abs(x - at) for at in numbered) > 2 * max(_LIMITS.digits_yd)]
    y_yd = np.arange(_LIMITS.sideline_distance_yd, field.width_yd - _LIMITS.sideline_distance_yd, _LIMITS.step_yd)
    ink = _ink(plane, camera, field, numbered, y_yd, paint)
    if bare:
        ink = ink - _ink(plane, camera, field, bare, y_yd, paint)
    both = cv2.GaussianBlur(np.ascontiguousarray((ink + ink[::-1]) / 2)[:, None], (1, 0), 1.0, sigmaY=1.0)[:, 0]
    near = both[: len(both) // 2]
    closed = cv2.morphologyEx((near > _LIMITS.min_ink_share).astype(np.uint8)[:, None], cv2.MORPH_CLOSE, _GAP)[:, 0]
    runs = np.flatnonzero(np.diff(np.pad(closed, 1))).reshape(-1, 2)
    shortest, tallest = (round(height / _LIMITS.step_yd) for height in _LIMITS.heights_yd)
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
    center = first_yd + (low + high - 1) / 2 * _LIMITS.step_yd
    return dataclasses.replace(
        field,
        number_rows_y_yd=(round(center, 3), round(field.width_yd - center, 3)),
        number_height_yd=round((high - low) * _LIMITS.step_yd, 3),
    )


def _ink(plane: Plane, camera: Camera, field: FieldModel, lines_yd: list[float], y_yd: Array, paint: float) -> Array:
    """Return the share of ink beside yard lines, the mean of all, at places across the field, shape (n,)."""
    beside = np.array([side * off for off in _LIMITS.digits_yd for side in (-1, 1)])
    x = np.array(lines_yd)[:, None] + beside
    points = np.stack(np.broadcast_arrays(x[None], y_yd[:, None, None]), axis=-1) * field.mm_per_yd
    seen = levels_at(plane, camera.to_pixels(points).reshape(len(y_yd), -1, 2))
    levels = np.sign(paint) * seen.reshape(points.shape[:-1])
    # The ground may change shade at the line, so each side is relative to its own ground.
    shares = []
    for side in (levels[..., 0::2], levels[..., 1::2]):
        ground = np.percentile(side, 25, axis=(0, 2), keepdims=True)
        shares.append((side - ground > _LIMITS.min_ink_contrast * abs(paint)).mean(axis=2))
    share: Array = np.mean(np.concatenate(shares, axis=1), axis=1)
    return share
