"""Tells where the field of play begins and ends by its one-yard marks: hash marks, and ticks along the sidelines.

Which line is a goal line shows badly where the end zone is checkered, or lettered, or of the goal line's own color. But
between two yard lines of the field of play there are four marks a yard apart, in the same rows everywhere, and in the
end zones there are none. So the steps of the ladder of yard lines that have marks are the field of play, and how many
there are tells its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel


def top_view(plane: Plane, camera: Camera, field: FieldModel, x_yd: Array, y_yd: Array) -> Plane:
    """Return gray levels over places along and across the field, shape (len(y), len(x)).

    The camera is evaluated once a yard and interpolated between: over so short a way a lens bends by 0.01 px.

    Args:
        x_yd: places along the field, shape (n,), rising.
        y_yd: places across it, shape (m,), rising.
    """
    x_nodes, x_weights = _interpolation(x_yd)
    y_nodes, y_weights = _interpolation(y_yd)
    points = np.stack(np.broadcast_arrays(x_nodes[None], y_nodes[:, None]), axis=-1) * field.mm_per_yd
    px = np.clip(np.nan_to_num(camera.to_pixels(points.reshape(-1, 2)), nan=-30000), -30000, 30000)
    grid = px.reshape(*points.shape)
    at = [(y_weights @ grid[..., axis] @ x_weights.T).astype(np.float32) for axis in (0, 1)]
    return np.asarray(
        cv2.remap(plane, at[0], at[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float32
    )


def _interpolation(places: Array) -> tuple[Array, Array]:
    """Return whole yards about places, shape (k,), and their weights at each place, shape (n, k)."""
    nodes = np.arange(np.floor(places.min()), np.floor(places.max()) + 2)
    weights: Array = np.maximum(1 - np.abs(places[:, None] - nodes), 0)
    return nodes, weights


@dataclass(frozen=True, slots=True)
class YardMarkLimits:
    """Where marks are searched for, and what counts as some."""

    beyond_steps: int = 5  # steps beyond either goal line that are sampled: it may be mistaken by as many
    samples_per_yd: int = 12  # samples of a yard along the field
    row_spacing_yd: float = 0.1  # distance between rows of samples across the field
    sideline_distance_yd: float = 0.2  # distance of the samples from the sidelines' paint
    max_offset_samples: int = 4  # largest distance of a mark from its yard while the camera is rough, in samples
    central: float = 0.6  # share of the steps, about the middle, that show in which rows the marks are
    min_row_contrast: float = 0.2  # contrast of a row of marks above the ground's, as a share of the yard lines'
    min_rows: int = 3  # rows of samples that are needed: a mark is longer than a third of a yard
    min_contrast: float = 0.5  # contrast from which a step has marks, as a share of the typical step's
    max_absent_contrast: float = 0.25  # contrast below which a step has no marks, as a share of the typical step's
    min_bare_steps: int = 2  # steps without marks that must follow those with some
    clear_log_odds: float = 5.0  # log odds of goal lines between which alone there are marks, or against such
    unclear_log_odds: float = 1.0  # log odds against goal lines by marks that end elsewhere at one end
    max_covered_share: float = 0.25  # share of the steps between those with marks that may have none


_LIMITS: Final = YardMarkLimits()


def marked_steps(plane: Plane, camera: Camera, field: FieldModel, paint: float) -> tuple[int, int] | None:
    """Return the steps of yard lines that have one-yard marks: the first, and the one after the last.

    Steps count from the left goal line as the field and the camera have it, so (0, 20) confirms a field of 100 yards;
    None when there are no marks, or when it is not clear where they end.

    Args:
        camera: good to a few pixels on the paint of the yard lines.
        field: the field; its goal lines may be mistaken for other yard lines.
    """
    every = round(field.yard_line_every_yd)
    if every < 2:
        return None
    contrast = _contrast(plane, camera, field, every) * np.sign(paint) / abs(paint)
    count = contrast.shape[1] - 2 * _LIMITS.beyond_steps
    rim = _LIMITS.beyond_steps + round(count * (1 - _LIMITS.central) / 2)
    rows = np.median(contrast[:, rim:-rim].max(axis=2), axis=1)
    marked = rows - np.median(rows) > _LIMITS.min_row_contrast
    if marked.sum() < _LIMITS.min_rows:
        return None
    # All rows of a step are displaced alike where the camera is not exact yet.
    by_step = contrast[marked].mean(axis=0)
    by_step = (by_step - np.median(contrast[~marked].max(axis=2))).max(axis=1)
    by_step /= np.median(by_step[rim:-rim])
    return _run(by_step)


def marks_log_odds(marked: tuple[int, int] | None, field: FieldModel) -> float:
    """Return how much likelier the steps that have one-yard marks are if the field's goal lines are right, natural log.

    Marks between just the goal lines speak for them. As many steps that are bare at either end, or a run of the right
    length elsewhere, speak against them. Figures cover marks at one end or the other, and checkered end zones look like
    marks beyond the goal lines, which says little.

    Args:
        marked: the steps of yard lines that have marks, from `marked_steps`.
    """
    if marked is None:
        return 0.0
    first, beyond = marked[0], marked[1] - round(field.length_yd / field.yard_line_every_yd)
    if first == beyond == 0:
        return _LIMITS.clear_log_odds
    elsewhere = first == beyond or (first > 0 and first == -beyond)
    return -_LIMITS.clear_log_odds if elsewhere else -_LIMITS.unclear_log_odds


def _contrast(plane: Plane, camera: Camera, field: FieldModel, every: int) -> Array:
    """Return how the marks of a step stand out in their median, gray levels, shape (rows, steps, displacements)."""
    steps = round(field.length_yd / field.yard_line_every_yd)
    low, high = -_LIMITS.beyond_steps * every, (steps + _LIMITS.beyond_steps) * every
    per_yd, off = _LIMITS.samples_per_yd, _LIMITS.max_offset_samples
    x_yd = np.arange(low * per_yd, high * per_yd) / per_yd
    y_yd = np.arange(
        _LIMITS.sideline_distance_yd, field.width_yd - _LIMITS.sideline_distance_yd, _LIMITS.row_spacing_yd
    )
    seen = top_view(plane, camera, field, x_yd, y_yd).reshape(len(y_yd), -1, every * per_yd)
    half = per_yd // 2
    parts = []
    for shift in range(-off, off + 1):
        at = np.arange(1, every) * per_yd + shift
        parts.append(np.median(seen[..., at] - (seen[..., at - half] + seen[..., at + half]) / 2, axis=-1))
    return np.stack(parts, axis=-1)


def _run(by_step: Array) -> tuple[int, int] | None:
    """Return the run of steps with marks, counted from the goal line; None when it is not clear where it ends."""
    present = np.flatnonzero(by_step > _LIMITS.min_contrast)
    if not len(present):
        return None
    first, last = int(present[0]), int(present[-1])
    inside = by_step[first : last + 1]
    next_to = np.concatenate(
        [by_step[max(first - _LIMITS.min_bare_steps, 0) : first], by_step[last + 1 :][: _LIMITS.min_bare_steps]]
    )
    # Hands and figures cover marks, but paint of an end zone seldom looks like four of them in every row.
    if (inside < _LIMITS.min_contrast).mean() > _LIMITS.max_covered_share or (
        next_to > _LIMITS.max_absent_contrast
    ).any():
        return None
    return first - _LIMITS.beyond_steps, last + 1 - _LIMITS.beyond_steps
