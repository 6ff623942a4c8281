"""Sightings of a field's long lines in one or several frames of a camera that stands still but for shake."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.field.marks import Marks, long_marks
from downfield.calibration.field.profiles import Profiles, measure
from downfield.calibration.solve import Sightings
from downfield.core.arrays import Array, Plane
from downfield.core.field import FieldModel

_SIGMA_FLOOR_PX = 0.04  # texture, wear and compression move an edge by this much beyond the profile's own noise
_CLUSTER_YD = 10.0  # sightings of one line within so many yards are disturbed together
_OUTLIER = 4.0


def sight_paint(planes: Sequence[Plane], camera: Camera, field: FieldModel, search_px: float) -> Sightings:
    """Where the long lines are seen, brought to the first frame.

    Args:
        planes: gray pictures of the same size; the camera may have shaken by a few pixels between them.
        camera: predicts where the lines are in the first.
        field: the printed field.
        search_px: how far off the prediction may be.

    """
    marks = long_marks(field)
    cluster = _clusters(marks, field)
    bound = np.where(marks.is_free, -1, marks.line)
    points = np.column_stack([marks.points_mm, np.zeros(len(marks.line))])
    parts = []
    first: Profiles | None = None
    for plane in planes:
        seen = measure(plane, camera, marks, search_px, by_inner_edge=True)
        offset, found = seen.offset_px, seen.found
        if first is not None:
            offset = offset - _shake(seen, first)
        first = first or seen
        sigma = np.hypot(seen.sigma_px, _SIGMA_FLOOR_PX) * np.sqrt(len(planes))
        px = seen.px + offset[:, None] * seen.normals
        parts.append(Sightings(points, px, seen.normals, sigma, cluster, bound)[found])
    return parts[0] if len(parts) == 1 else _stacked(parts)


def _clusters(marks: Marks, field: FieldModel) -> NDArray[np.intp]:
    """Stretches of lines, numbered."""
    along = np.abs(marks.across_mm[:, ::-1])
    stretch = np.floor((marks.points_mm / field.mm_per_yd * along).sum(axis=1) / _CLUSTER_YD)
    _, cluster = np.unique(np.stack([marks.line, stretch]), axis=1, return_inverse=True)
    return np.asarray(cluster).reshape(-1)


def _shake(seen: Profiles, first: Profiles) -> Array:
    """By how much a frame's lines are displaced along their normals from the first's: a similarity of the picture."""
    both = seen.found & first.found
    moved = (seen.offset_px - first.offset_px)[both]
    shapes = _similarity(seen.px, seen.normals)
    keep = np.ones(len(moved), dtype=bool)
    answer = np.zeros(4)
    for _ in range(4):
        answer[:] = np.linalg.lstsq(shapes[both][keep], moved[keep], rcond=None)[0]
        off = np.abs(moved - shapes[both] @ answer)
        keep = off < _OUTLIER * max(float(np.median(off)) * 1.48, 0.02)
    shake: Array = shapes @ answer
    return shake


def _similarity(px: Array, normals: Array) -> Array:
    """Displacement along normals by a shift in x, in y, a turn and a zoom about the middle, shape (n, 4)."""
    off = (px - px.mean(axis=0)) / 1000
    turned = off[:, ::-1] * (-1.0, 1.0)
    return np.column_stack([normals, (turned * normals).sum(axis=1), (off * normals).sum(axis=1)])


def _stacked(parts: list[Sightings]) -> Sightings:
    """Sightings of all frames; the same stretch of line is one cluster in all of them."""
    return Sightings(
        np.concatenate([part.points_mm for part in parts]),
        np.concatenate([part.px for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.sigma_px for part in parts]),
        np.concatenate([part.cluster for part in parts]),
        np.concatenate([part.bound for part in parts]),
    )
