"""What is known of a lens before a fit: nothing but what webcams are like, or a measurement with its covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array
from downfield.core.errors import InputError

TYPICAL_FOCAL = 0.78
"""Focal length of the commonest webcams as a share of the picture's width: a view of 65 degrees."""

FOCAL_SPREAD = 0.25
"""Relative: views of 50 to 80 degrees."""

_PIXEL_SPREAD = 0.0012  # relative difference of the two focal lengths
_CENTER_SPREAD = 0.012  # of the picture's width
_CORNER_SPREAD = (0.15, 0.08, 0.02)  # displacement of the picture's corner by k1, k2, k3, as a share of its radius
_TANGENTIAL_SPREAD = 0.0012  # the same for p1, p2
_MEASURED_FLOOR = (0.3, 0.3, 0.3, 0.3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-4)  # lenses breathe: none is known better than this
_HEIGHTS_MM = (200.0, 5000.0)
_TAPE_MM = 12.0  # a lens's center of projection lies some way inside the camera
_POWERS = np.array([2.0, 4.0, 1.0, 1.0, 6.0])  # of the radius, by which k1, k2, p1, p2, k3 move a point


class LensPrior(Protocol):
    """Knowledge of a lens as residuals of unit variance, for a least-squares fit.

    A lens is its share of `jacobians.PARAMETERS`: fx, fy, cx, cy, k1, k2, p1, p2, k3.
    """

    def residual(self, lens: Array) -> Array:
        """How far a lens, shape (9,), is from what is known, in standard deviations, shape (m,)."""
        ...

    def jacobian(self, lens: Array) -> Array:
        """The residuals' derivatives by the lens, shape (m, 9)."""
        ...


@dataclass(frozen=True, slots=True)
class TypicalLens:
    """Any webcam's lens.

    Distortion is judged by how far it moves the picture's corner, which does not depend on the focal length; judged by
    its coefficients, a short lens would always look the more likely.

    Attributes:
        size_px: picture width and height.
        focal: the likeliest focal length, as a share of the width.
        focal_spread: its relative standard deviation.

    """

    size_px: tuple[int, int]
    focal: float = TYPICAL_FOCAL
    focal_spread: float = FOCAL_SPREAD

    def focal_seen(self, focal: float, spread: float) -> TypicalLens:
        """The same with a focal length, as a share of the width, seen by other means with a relative spread."""
        weights = np.array([self.focal_spread, spread]) ** -2.0
        both = float(np.exp(np.average(np.log([self.focal, focal]), weights=weights)))
        return TypicalLens(self.size_px, both, float(weights.sum() ** -0.5))

    def residual(self, lens: Array) -> Array:
        """How unlike a webcam's a lens is, shape (9,)."""
        width, height = self.size_px
        fx, fy, cx, cy = lens[:4]
        focal = (fx + fy) / 2
        middle = np.array([cx - (width - 1) / 2, cy - (height - 1) / 2]) / (_CENTER_SPREAD * width)
        habits = [math.log(focal / (self.focal * width)) / self.focal_spread, (fx - fy) / focal / _PIXEL_SPREAD]
        return np.array([*habits, *middle, *(lens[4:] * self._distortion_scale(focal))])

    def jacobian(self, lens: Array) -> Array:
        """The residuals' derivatives, shape (9, 9)."""
        width = self.size_px[0]
        fx, fy = lens[:2]
        focal = (fx + fy) / 2
        scale = self._distortion_scale(focal)
        out = np.zeros((9, 9))
        out[0, :2] = 0.5 / focal / self.focal_spread
        out[1, :2] = np.array([fy, -fx]) / focal**2 / _PIXEL_SPREAD
        out[2, 2] = out[3, 3] = 1 / (_CENTER_SPREAD * width)
        out[4:, 4:] = np.diag(scale)
        out[4:, :2] = (-_POWERS / focal * scale * lens[4:])[:, None] * 0.5
        return out

    def _distortion_scale(self, focal: float) -> Array:
        corner = math.hypot(*self.size_px) / 2 / focal
        k1, k2, k3 = _CORNER_SPREAD
        scale: Array = corner**_POWERS / np.array([k1, k2, _TANGENTIAL_SPREAD, _TANGENTIAL_SPREAD, k3])
        return scale


def lens_at_distance(camera: Camera, ratio: float, spread: float) -> TypicalLens:
    """A webcam's lens when its camera is at another distance than a solution has it.

    Args:
        camera: the solution; on the paint, focal length and distance are wrong in step or not at all.
        ratio: of the true distance to the solution's.
        spread: relative standard deviation of that.

    """
    share = float(np.mean(camera.lens.focal_px)) / camera.lens.size_px[0]
    return TypicalLens(camera.lens.size_px).focal_seen(share * ratio, spread)


def lens_at_height(camera: Camera, height_mm: float) -> TypicalLens:
    """A webcam's lens when the camera's height over the board was measured, as a tape does, to some 10 mm.

    Raises:
        InputError: the height is none at which a camera sees a board.

    """
    low, high = _HEIGHTS_MM
    if not low <= height_mm <= high:
        raise InputError(f"the camera's height over the board can't be {height_mm:g} mm: it is {low:g} to {high:g} mm")
    return lens_at_distance(camera, height_mm / float(camera.position_mm[2]), _TAPE_MM / height_mm)


@dataclass(frozen=True, slots=True)
class MeasuredLens:
    """A lens measured beforehand.

    Attributes:
        mean: its parameters, shape (9,).
        root: a square root of the information on them, shape (9, 9).

    """

    mean: Array
    root: Array

    @staticmethod
    def of(lens: Lens, covariance: Array) -> MeasuredLens:
        """A lens and the covariance of its parameters, shape (9, 9)."""
        mean = np.array([*lens.focal_px, *lens.center_px, *lens.distortion])
        return MeasuredLens(mean, np.linalg.inv(np.linalg.cholesky(covariance + np.diag(np.square(_MEASURED_FLOOR)))))

    def residual(self, lens: Array) -> Array:
        """How far a lens is from the measured one, shape (9,)."""
        off: Array = self.root @ (lens - self.mean)
        return off

    def jacobian(self, lens: Array) -> Array:  # noqa: ARG002 - the seam's signature; a linear residual needs no point
        """The square root of the information, shape (9, 9)."""
        return self.root
