"""Jacobians of the projection: by the point and by every parameter of the camera, and their inverse on the board.

The parameters, in this order everywhere (fits, covariances, files): `PARAMETERS`. The lens comes first, the rotation is
the Rodrigues vector, and the bow's sizes come last and count only if the camera has a bow. Where a place is depends
also on how long the print is across, if that was measured with the camera, and, over the board, on how large the
print is: `PLACE_PARAMETERS`.
"""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
from numpy.typing import ArrayLike

from downfield.calibration.camera import SHAPES, Camera
from downfield.core.arrays import Array

PARAMETERS = (
    *("focal_x_px", "focal_y_px", "center_x_px", "center_y_px", "k1", "k2", "p1", "p2", "k3"),
    *("rotation_x", "rotation_y", "rotation_z", "translation_x_mm", "translation_y_mm", "translation_z_mm"),
    *(f"bow_{shape}_mm" for shape in SHAPES),
)
PLACE_PARAMETERS = (*PARAMETERS, "print_stretch", "print_scale")
"""The camera's, the log ratio by which the print is longer across than it is taken to be, and that by which all of it
is larger."""
LENS, POSE, BOW = slice(0, 9), slice(9, 15), slice(15, 19)
DISTORTION, ROTATION, TRANSLATION = slice(4, 9), slice(9, 12), slice(12, 15)
STRETCH, SCALE = 19, 20
_ALL = slice(None)


def camera_parameters(camera: Camera) -> Array:
    """Return a camera's parameters in the order of `PARAMETERS`, shape (19,)."""
    lens = camera.lens
    bow = np.zeros(len(SHAPES)) if camera.bow is None else camera.bow.sizes_mm
    return np.array([*lens.focal_px, *lens.center_px, *lens.distortion, *camera.rotation, *camera.translation_mm, *bow])


def with_parameters(camera: Camera, values: ArrayLike) -> Camera:
    """Return the camera with other parameters, shape (19,). Without a bow it stays without one."""
    fx, fy, x, y, k1, k2, p1, p2, k3, rx, ry, rz, tx, ty, tz, *bent = np.asarray(values, dtype=np.float64).tolist()
    lens = dataclasses.replace(camera.lens, focal_px=(fx, fy), center_px=(x, y), distortion=(k1, k2, p1, p2, k3))
    bow = camera.bow
    if bow is not None:
        bow = dataclasses.replace(bow, **dict(zip((f"{shape}_mm" for shape in SHAPES), bent, strict=True)))
    return dataclasses.replace(camera, lens=lens, rotation=(rx, ry, rz), translation_mm=(tx, ty, tz), bow=bow)


def project(camera: Camera, points_mm: ArrayLike, select: slice = _ALL) -> tuple[Array, Array, Array]:
    """Project points and differentiate.

    Args:
        points_mm: board frame, shape (n, 3), z over the printed surface.
        select: the k points whose Jacobians by the parameters are wanted.

    Returns:
        Pixels (n, 2); their Jacobians by the point, px/mm, (n, 2, 3); by `PARAMETERS`, (k, 2, 19).
    """
    points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 3)
    n = len(points)
    x, y, z = points.T.copy()  # coordinates and derivatives lie in rows of n, which is several times as fast
    slopes, shapes = np.zeros((n, 2)), np.zeros((n, len(SHAPES)))
    if camera.bow is not None:
        slopes, shapes = camera.bow.slopes(points[:, :2]), camera.bow.shapes(points[:, :2])
        z += shapes @ camera.bow.sizes_mm
    rotation, by_rodrigues = (np.asarray(out, dtype=np.float64) for out in cv2.Rodrigues(np.array(camera.rotation)))
    solid = np.stack([x, y, z])
    seen = rotation @ solid + np.array(camera.translation_mm)[:, None]
    inverse = 1 / np.where(seen[2] > 1e-6, seen[2], np.nan)
    ideal = np.stack([seen[0] * inverse, seen[1] * inverse], axis=1)
    distorted, by_ideal = camera.lens.distort_with_jacobians(ideal)
    focal = np.array(camera.lens.focal_px)
    by_seen = np.empty((2, 3, n))
    by_seen[:, :2] = by_ideal.transpose(1, 2, 0) * inverse
    by_seen[:, 2] = -(by_seen[:, 0] * ideal[:, 0] + by_seen[:, 1] * ideal[:, 1])
    by_seen *= focal[:, None, None]
    by_solid = np.stack([rotation.T @ by_seen[0], rotation.T @ by_seen[1]])

    chosen = by_seen[:, :, select]
    by_parameters = np.zeros((2, len(PARAMETERS), chosen.shape[2]))
    by_parameters[0, 0], by_parameters[1, 1] = distorted[select].T
    by_parameters[0, 2] = by_parameters[1, 3] = 1.0
    by_parameters[:, DISTORTION] = focal[:, None, None] * _by_distortion(camera.lens.projected(ideal[select]))
    # Rodrigues's derivatives are [axis, row, column] of the rotation matrix.
    turned = (by_rodrigues.reshape(9, 3) @ solid[:, select]).reshape(3, 3, -1)
    by_parameters[:, ROTATION] = (chosen[:, None] * turned).sum(axis=2)
    by_parameters[:, TRANSLATION] = chosen
    by_parameters[:, BOW] = by_solid[:, 2:, select] * shapes[select].T
    by_solid[:, :2] += by_solid[:, 2:] * slopes.T  # what moves along a bow is lifted by it
    px = distorted * focal + camera.lens.center_px
    return px, by_solid.transpose(2, 0, 1), by_parameters.transpose(2, 0, 1)


def locate(
    camera: Camera, px: ArrayLike, height_mm: ArrayLike = 0.0, select: slice = _ALL
) -> tuple[Array, Array, Array, Array]:
    """Locate pixels on the board at a height and differentiate, by the inverse function theorem on `project`.

    Args:
        px: shape (n, 2).
        height_mm: scalar or shape (n,).
        select: the k pixels whose Jacobians by the parameters are wanted.

    Returns:
        Board mm (n, 2); their Jacobians by the pixel, mm/px, (n, 2, 2); by the height, (n, 2); by `PLACE_PARAMETERS`,
        (k, 2, 21). The last two are of places in yards, in millimeters of the print as it is taken to be: over a larger
        print than that, a height is lower.
    """
    pixels = np.asarray(px, dtype=np.float64).reshape(-1, 2)
    heights = np.broadcast_to(np.asarray(height_mm, dtype=np.float64), (len(pixels),))
    board = camera.to_board(pixels, heights)
    _, by_point, by_parameters = project(camera, np.column_stack([board, heights]), select)
    (a, b), (c, d) = by_point[:, :, :2].transpose(1, 2, 0)
    area = a * d - b * c  # NaN where a pixel sees no board, and then so is everything
    by_pixel = np.empty((len(pixels), 2, 2))
    by_pixel[:, 0, 0], by_pixel[:, 0, 1] = d / area, -b / area
    by_pixel[:, 1, 0], by_pixel[:, 1, 1] = -c / area, a / area
    by_height = -(by_pixel @ by_point[:, :, 2:])[:, :, 0]
    by_place_parameters = np.zeros((len(by_parameters), 2, len(PLACE_PARAMETERS)))
    by_place_parameters[:, :, : len(PARAMETERS)] = -by_pixel[select] @ by_parameters
    by_place_parameters[:, 1, STRETCH] = -board[select, 1]
    by_place_parameters[:, :, SCALE] = -by_height[select] * heights[select, None]
    return board, by_pixel, by_height, by_place_parameters


def _by_distortion(ideal: Array) -> Array:
    """Return the derivatives of distorted normalized points, shape (n, 2), by k1, k2, p1, p2, k3, shape (2, 5, n)."""
    x, y = ideal.T.copy()
    xx, yy, twice = x * x, y * y, 2 * x * y
    r2 = xx + yy
    r4 = r2 * r2
    r6 = r4 * r2
    rows = [x * r2, x * r4, twice, r2 + 2 * xx, x * r6, y * r2, y * r4, r2 + 2 * yy, twice, y * r6]
    return np.stack(rows).reshape(2, 5, -1)
