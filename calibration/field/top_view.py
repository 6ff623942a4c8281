"""Samples a picture as the board is seen from above, on a grid of field yards."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel


def top_view(plane: Plane, camera: Camera, field: FieldModel, x_yd: Array, y_yd: Array) -> Plane:
    """Return gray levels over places along and across the field, shape (len(y), len(x)).

    The camera is evaluated once a yard and interpolated between: over so short a way a lens bends by 0.01 px.

    Args:
        plane: gray picture, shape (height, width).
        camera: its calibration.
        field: the printed field.
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
