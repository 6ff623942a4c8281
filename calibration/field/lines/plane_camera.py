"""Finds the camera that sees points of the board where they are seen: a homography, its focal length, and the lens.

With square pixels a homography of known proportions tells the focal length and the tilt. Where the print's proportions
are open, they are found with them.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera
from downfield.calibration.field.lines.line_pencils import DivisionModel
from downfield.calibration.lens.prior import LENS_PRIOR_LIMITS, LensPrior
from downfield.calibration.stretch import OpenStretch
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class PlaneCameraLimits:
    """Thresholds of finding a camera from a homography."""

    max_aspect_error: float = 0.05  # largest deviation of the pixels from squares, log ratio
    aspect_sigma: float = 0.008  # standard deviation of the pixels' proportions before the lens is fitted
    typical_focal: float = 0.78  # likeliest focal length, as a share of the picture's width
    focal_spread: float = 0.35  # relative standard deviation of the focal length
    start_sigma_px: float = 1.0  # standard deviation of the matched points in the first fit
    start_steps: int = 12  # number of steps of the first fit
    max_strain: float = 1.2  # a lens that is as unlike ordinary ones may be a fisheye
    max_barrel: float = 0.15  # one that draws the picture's corner inward by such a share of its distance may be, too
    # focal lengths at which a fisheye's pose is sought, as shares of the picture's width
    fisheye_focals: tuple[float, ...] = (0.42, 0.48, 0.55, 0.63)


_LIMITS: Final = PlaneCameraLimits()
_FOCALS: Final = np.geomspace(0.4, 2.5, 40)  # of the picture's width


def camera_and_proportions(
    board_mm: Array, straight_px: Array, distortion: DivisionModel, field: FieldModel, spread: float | None
) -> tuple[Camera, FieldModel] | None:
    """Return the camera, and the field with the proportions that the picture shows.

    None when fewer than four points are independent, or when no camera above the board with square pixels fits them.

    Args:
        board_mm: board points by the field as described, shape (n, 2).
        straight_px: where they are in the undistorted picture, same shape.
        field: the field as described; its yard across is changed.
        spread: standard deviation of its proportions, log ratio; None where they are as described.
    """
    plane = np.asarray(cv2.findHomography(board_mm, straight_px)[0], dtype=np.float64)
    if plane.shape != (3, 3):
        return None
    focal, aspect = _focal_and_aspect(plane, distortion, _LIMITS.aspect_sigma if spread is None else spread)
    if spread is not None:
        plane = plane @ np.diag([1.0, math.exp(-aspect), 1.0])
        field = dataclasses.replace(field, mm_per_yd_y=field.mm_per_yd_y * math.exp(aspect))
    elif abs(aspect) > _LIMITS.max_aspect_error:
        return None
    start = _camera_of_plane(plane, focal, distortion)
    return None if start is None else (_with_lens(start, plane, distortion, field), field)


def fit_either_lens(
    start: Camera, observations: Observations, field: FieldModel, prior: LensPrior | None, stretch: OpenStretch | None
) -> CameraFit:
    """Return the fit of an ordinary lens, or of a fisheye where that explains the paint better.

    Args:
        start: where to begin, with a bow.
        prior: the lens, when it was measured beforehand: then no other is tried.
    """
    fit = fit_camera(start, observations, prior=prior, stretch=stretch, fine=True)
    if prior is not None or start.lens.projection == "equidistant":
        return fit
    if fit.strain < _LIMITS.max_strain and _barrel(fit.camera.lens) < _LIMITS.max_barrel:
        return fit
    fisheye = _as_fisheye(fit.camera, field)
    if fisheye is None:
        return fit
    fisheye = dataclasses.replace(fisheye, bow=start.bow)
    other = fit_camera(fisheye, observations, stretch=stretch, fine=True, spread_of=fit)
    return fit if fit.cost < other.cost - math.log(LENS_PRIOR_LIMITS.fisheye[0]) else other


def _barrel(lens: Lens) -> float:
    """Return how far a lens draws the picture's corner inward, as a share of its distance; 1 where none reaches it."""
    corner = np.zeros((1, 2))
    straight, seen = lens.undistort(corner), (corner - lens.center_px) / lens.focal_px
    return float(np.nan_to_num(1 - np.linalg.norm(seen) / np.linalg.norm(straight), nan=1.0))


def _as_fisheye(camera: Camera, field: FieldModel) -> Camera | None:
    """Return the fisheye that sees the field most as a camera does; None when none sees it."""
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5))
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    observations = Observations.of_points(points, camera.to_pixels(points), _LIMITS.start_sigma_px)
    (width, height), found = camera.lens.size_px, []
    for share in _LIMITS.fisheye_focals:
        focal = share * width
        lens = Lens((width, height), (focal, focal), ((width - 1) / 2, (height - 1) / 2), projection="equidistant")
        seen = lens.undistort(observations.px[::2])
        if not np.isfinite(seen).all():
            continue
        done, turn, shift = cv2.solvePnP(points, seen, np.eye(3), None, flags=cv2.SOLVEPNP_IPPE)
        if done:
            rx, ry, rz = np.asarray(turn, dtype=np.float64).ravel().tolist()
            tx, ty, tz = np.asarray(shift, dtype=np.float64).ravel().tolist()
            found.append(
                fit_camera(Camera(lens, (rx, ry, rz), (tx, ty, tz)), observations, max_steps=_LIMITS.start_steps)
            )
    return min(found, key=lambda fit: fit.cost).camera if found else None


def _focal_and_aspect(plane: Array, distortion: DivisionModel, sigma: float) -> tuple[float, float]:
    """Return the focal length of a homography, px, and the log ratio of its scales across and along."""
    width, _ = distortion.size_px
    costs = []
    for focal in _FOCALS * width:
        x, y, _ = (plane / plane[2, 2] / np.array([[focal], [focal], [1.0]])).T
        lengths = np.linalg.norm(x), np.linalg.norm(y)
        skew, aspect = float(x @ y / (lengths[0] * lengths[1])), float(np.log(lengths[1] / lengths[0]))
        prior = np.log(focal / width / _LIMITS.typical_focal) / _LIMITS.focal_spread
        costs.append(((skew / 0.004) ** 2 + (aspect / sigma) ** 2 + prior**2, float(focal), aspect))
    _, focal, aspect = min(costs)
    return focal, aspect


def _camera_of_plane(plane: Array, focal: float, distortion: DivisionModel) -> Camera | None:
    """Return the camera of a board-to-picture homography; None when it would be below the board."""
    x, y, shift = (plane / plane[2, 2] / np.array([[focal], [focal], [1.0]])).T
    scale = 2 / (np.linalg.norm(x) + np.linalg.norm(y))
    left, _, right = np.linalg.svd(np.stack([x * scale, y * scale, np.cross(x, y) * scale**2], axis=1))
    rotation = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    # The camera is above the board, whose z points back at it, so the homography must mirror the orientation.
    if rotation[2, 2] > -0.5:
        return None
    rx, ry, rz = (float(value) for value in cv2.Rodrigues(rotation)[0].ravel())
    tx, ty, tz = (float(value) for value in shift * scale)
    k1 = distortion.amount * focal**2 / float((distortion.center_px**2).sum())
    cx, cy = (float(value) for value in distortion.center_px)
    lens = Lens(distortion.size_px, (focal, focal), (cx, cy), (k1, 0.0, 0.0, 0.0, 0.0))
    return Camera(lens, (rx, ry, rz), (tx, ty, tz))


def _with_lens(start: Camera, plane: Array, distortion: DivisionModel, field: FieldModel) -> Camera:
    """Return the camera whose full lens reproduces the one-term distortion over the field."""
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 7), np.linspace(0, field.width_mm, 4))
    board = np.stack([x.ravel(), y.ravel(), np.ones(x.size)], axis=1)
    straight = board @ plane.T
    seen = distortion.distort(straight[:, :2] / straight[:, 2:])
    return fit_camera(
        start, Observations.of_points(board[:, :2], seen, _LIMITS.start_sigma_px), max_steps=_LIMITS.start_steps
    ).camera
