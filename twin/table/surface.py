"""The board's surface: a bowed board lies lower in its middle, together with the figures on it."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from downfield.calibration.camera import Camera, flat_bow
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.twin.table.snapshot import FigurePose, Snapshot, Vector


def surface_mm(field: FieldModel, bow_mm: float, points_mm: ArrayLike) -> Array:
    """Return the height of the surface over the plane through the board's edges, mm.

    Args:
        field: the printed field, for the board's extent.
        bow_mm: depth of the middle below the edges.
        points_mm: shape (..., 2).

    Returns:
        Heights, shape (...): -bow_mm in the middle, 0 at the edges and beyond them.

    """
    x_low, y_low, x_high, y_high = field.board_mm
    points = np.asarray(points_mm, dtype=np.float64)
    center = np.array([x_low + x_high, y_low + y_high]) / 2
    half = np.array([x_high - x_low, y_high - y_low]) / 2
    off = np.clip((points - center) / half, -1, 1) ** 2
    heights: Array = -bow_mm * (1 - off[..., 0]) * (1 - off[..., 1])
    return heights


def settle(snapshot: Snapshot, field: FieldModel, bow_mm: float) -> Snapshot:
    """Return the snapshot with figures and ball lowered onto a bowed surface."""
    if not bow_mm:
        return snapshot

    def lowered(at: Vector) -> Vector:
        return (at[0], at[1], at[2] + float(surface_mm(field, bow_mm, at[:2])))

    figures: tuple[FigurePose, ...] = tuple(
        dataclasses.replace(pose, position_mm=lowered(pose.position_mm)) for pose in snapshot.figures
    )
    ball = snapshot.ball and dataclasses.replace(snapshot.ball, position_mm=lowered(snapshot.ball.position_mm))
    return dataclasses.replace(snapshot, figures=figures, ball=ball)


def as_calibrated(camera: Camera, field: FieldModel, bow_mm: float) -> Camera:
    """Return the camera as a calibration of the bowed board describes it: heights count from the surface.

    Args:
        camera: in whose board frame z = 0 is the plane through the board's edges.
        field: the printed field.
        bow_mm: depth of the middle below the edges.

    """
    if not bow_mm:
        return camera
    # The surface is a product of two parabolas: in the bow's own shapes it is these four ninths, and a step down.
    part = 4 / 9 * bow_mm
    bow = dataclasses.replace(flat_bow(field), along_mm=part, across_mm=part, both_mm=-part)
    x, y, z = (float(v) for v in np.array(camera.translation_mm) - part * camera.board_to_camera[:, 2])
    return dataclasses.replace(camera, translation_mm=(x, y, z), bow=bow)
