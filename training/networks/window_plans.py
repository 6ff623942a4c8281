"""Windows of traced views to learn from: crops for the detector, patches for the refiner, with what is true in them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.models.refiner import PATCH_PX, to_patch
from downfield.training.crop_places import INPUT_WIDTH_PX, draw_cut, moved, with_room
from downfield.training.networks.development import sensor_row
from downfield.training.networks.traced_tables import TracedTable, TracedView, draw_sensors
from downfield.training.objects import BALL_KIND, BALL_POINT, FALLEN_KIND, Objects
from downfield.training.patch_places import place_patches

FOOT_PX: Final = 1.5
"""Side of the square of a frame from which a pixel of a patch gathers light: a pixel's own, cut bilinearly."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """Windows of one table, all of one size.

    Attributes:
        table: with its scenes and views.
        views: number of the view of each window, shape (n,).
        inverses: affine matrices from a window's pixels to its frame's, shape (n, 2, 3).
        feet_px: see `downfield.twin.tracing.tracer.Windows`.
        sensors: rows of `development.FIELDS` for each webcam and window, float32 (k, n, columns).
        truth: arrays of the samples in their order, without pictures; see `samples`.

    """

    table: TracedTable
    views: NDArray[np.int64]
    inverses: Array
    feet_px: Array
    sensors: NDArray[np.float32]
    truth: tuple[NDArray[np.float32], ...]


def plan_crops(table: TracedTable, per_view: int, rng: np.random.Generator) -> WindowPlan:
    """Return crops at the detector's scale; truth: kinds, points, boxes, shown, in rows of as many objects."""
    inverses, views, found = [], [], []
    for number, view in enumerate(table.views):
        scale = INPUT_WIDTH_PX / view.camera.lens.size_px[0]
        objects = with_room(_scaled(view.objects, scale))
        height = round(scale * view.camera.lens.size_px[1])
        for _ in range(per_view):
            matrix, mirrored = draw_cut(objects, (INPUT_WIDTH_PX, height), rng)
            inside, kept = moved(objects, matrix, mirrored=mirrored)
            found.append((inside, view.shown[kept]))
            inverses.append(_inverse(matrix @ _scaling(scale)))
            views.append(number)
    stacked = np.array(inverses)
    feet = np.linalg.norm(stacked[:, :, 0], axis=1)
    return _planned(table, np.array(views), stacked, feet, _padded(found), rng)


def plan_patches(table: TracedTable, rng: np.random.Generator, *, webcams: int = 1) -> WindowPlan:
    """Return patches at guessed figures and empty places; truth: points, flags, flip, fallen, figure, ball."""
    matrices, views, truths = [], [], []
    for number, view in enumerate(table.views):
        places = place_patches(view.objects, view.camera.lens.size_px, rng, lures=view.lures_px)
        if not len(places.transforms):
            continue
        matrices.append(places.transforms)
        views.append(np.full(len(places.transforms), number))
        truths.append((*_patch_truth(places.transforms, places.points, places.kinds), _balls(view, places.transforms)))
    inverses = np.array([_inverse(matrix) for matrix in np.concatenate(matrices)])
    truth = tuple(np.concatenate(parts).astype(np.float32) for parts in zip(*truths, strict=True))
    feet = np.full(len(inverses), FOOT_PX)
    return _planned(table, np.concatenate(views), inverses, feet, truth, rng, webcams)


def _planned(
    table: TracedTable,
    views: NDArray[np.int64],
    inverses: Array,
    feet_px: Array,
    truth: tuple[NDArray[np.float32], ...],
    rng: np.random.Generator,
    webcams: int = 1,
) -> WindowPlan:
    """Return a plan whose windows are seen by so many cameras of their own each."""
    cameras = [table.views[number].camera for number in views.tolist()]
    rows = [
        np.stack(
            [
                sensor_row(sensor, camera.lens.size_px, float(rng.uniform(0, 2 * np.pi)))
                for sensor, camera in zip(draw_sensors(rng, cameras), cameras, strict=True)
            ]
        )
        for _ in range(webcams)
    ]
    return WindowPlan(table, views, inverses, feet_px, np.stack(rows), truth)


def _scaled(objects: Objects, scale: float) -> Objects:
    """Return objects in the pixels of a picture scaled about its outer corner."""
    points = objects.points.copy()
    points[..., :2] = (points[..., :2] + 0.5) * scale - 0.5
    return dataclasses.replace(objects, boxes=(objects.boxes + 0.5) * scale - 0.5, points=points)


def _scaling(scale: float) -> Array:
    """Return the same as a matrix on homogeneous pixels, shape (3, 3)."""
    shift = 0.5 * scale - 0.5
    return np.array([[scale, 0, shift], [0, scale, shift], [0, 0, 1.0]])


def _inverse(matrix: Array) -> Array:
    """Return the inverse of an affine matrix, shape (2, 3)."""
    back = np.linalg.inv(matrix[:, :2])
    return np.column_stack([back, -back @ matrix[:, 2]])


def _padded(found: list[tuple[Objects, Array]]) -> tuple[NDArray[np.float32], ...]:
    """Return kinds (-1 for none), points, boxes and visible shares of several crops as arrays."""
    most = max((len(objects.kinds) for objects, _ in found), default=0)
    kinds, points = np.full((len(found), most), -1.0), np.zeros((len(found), most, 5, 3))
    boxes, shown = np.zeros((len(found), most, 4)), np.zeros((len(found), most))
    for row, (objects, share) in enumerate(found):
        count = len(objects.kinds)
        kinds[row, :count], points[row, :count] = objects.kinds, objects.points
        boxes[row, :count], shown[row, :count] = objects.boxes, share
    return tuple(part.astype(np.float32) for part in (kinds, points, boxes, shown))


def _patch_truth(transforms: Array, points: Array, kinds: Array) -> tuple[NDArray[Any], ...]:
    """Return points in the patch's order, flags, flip, fallen and figure; figures come first, then empty places."""
    total, count = len(transforms), len(points)
    placed, flags = np.zeros((total, 5, 2)), np.zeros((total, 5))
    flip, fallen = np.zeros(total), np.zeros(total)
    if count:
        placed[:count], flags[:count] = to_patch(points[..., :2], transforms[:count]), points[..., 2]
        ahead = placed[:count, :2].mean(axis=1) - placed[:count, 2:4].mean(axis=1)
        flip[:count], fallen[:count] = ahead[:, 0] < 0, kinds == FALLEN_KIND
        order = np.where(flip[:count, None] > 0, (2, 3, 0, 1, 4), (0, 1, 2, 3, 4))
        placed[:count] = np.take_along_axis(placed[:count], order[..., None], axis=1)
        flags[:count] = np.take_along_axis(flags[:count], order, axis=1)
    inside = ((placed > -0.5) & (placed < PATCH_PX - 0.5)).all(axis=2)
    return placed, np.where(inside, flags, 0), flip, fallen, np.arange(total) < count


def _balls(view: TracedView, transforms: Array) -> Array:
    """Return the ball that shows most in each patch: x, y and its visible share, 0 for none, shape (n, 3)."""
    chosen = (view.objects.kinds == BALL_KIND) & (view.objects.points[:, BALL_POINT, 2] > 0)
    out = np.zeros((len(transforms), 3))
    if not chosen.any() or not len(transforms):
        return out
    middles = view.objects.points[chosen, BALL_POINT, :2]
    placed = to_patch(np.broadcast_to(middles, (len(transforms), *middles.shape)), transforms)
    inside = ((placed > -0.5) & (placed < PATCH_PX - 0.5)).all(axis=2)
    share = np.where(inside, view.shown[chosen], 0.0)
    best, rows = share.argmax(axis=1), np.arange(len(transforms))
    out[:, 2] = share[rows, best]
    out[:, :2] = np.where(out[:, 2:] > 0, placed[rows, best], 0.0)
    return out
