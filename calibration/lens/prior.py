"""Prior knowledge of a lens before a fit: what cameras over tables are like, or a measurement with its covariance.

Cameras differ by kind. A common webcam, Logitech's C920, is sold with a diagonal view of 78 degrees, 70 across, and
lenses that owners of webcams published have 48 to 92 (`benchmarks/webcam_lenses.py`). A phone's main camera, 24 to 28
mm on a 36 mm frame, has 65 to 74 in photographs and less in videos, which are cropped; its others are longer or wider.
Action cameras are fisheyes, whose distance from the middle grows with the angle (114 degrees across by R. Cunniff's
measurement of a GoPro Hero3, 2012), unless they straighten their pictures, which leaves some 90. How far the principal
point lies from the middle, how lenses bend and how square pixels are is taken from the published lenses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array
from downfield.core.errors import InputError


@dataclass(frozen=True, slots=True)
class LensPriorLimits:
    """What lenses of webcams are like."""

    # Kinds of cameras: their share, their focal length as a share of the picture's width, and its relative standard
    # deviation. Webcams and phones, 50 to 80 degrees across; long lenses, 25 to 55; straightened action cameras and the
    # widest of phones, 75 to 110.
    kinds: tuple[tuple[float, float, float], ...] = ((0.78, 0.76, 0.2), (0.12, 1.3, 0.3), (0.1, 0.48, 0.18))
    fisheye: tuple[float, float, float] = (0.05, 0.53, 0.2)  # the same of fisheyes, 90 to 140 degrees across
    typical_focal: float = 0.78  # focal length of usual webcams as a share of the picture's width: 65 degrees
    focal_spread: float = 0.25  # relative standard deviation of the focal length: views of 50 to 80 degrees
    # standard deviation of the relative difference of the two focal lengths: 0.0 to 0.22 % in calibrations that owners
    # of webcams published
    pixel_spread: float = 0.0016
    center_spread: float = 0.012  # standard deviation of the principal point, as a share of the picture's width
    # standard deviations of the displacement of the picture's corner by k1, k2, k3, as shares of its radius, as lenses
    # have them whose owners published them (0.06, 0.08 and 0.07 rms); a first term up to 0.3 in wide ones
    corner_spread: tuple[float, float, float] = (0.15, 0.08, 0.06)
    # standard deviation of the displacement by p1 and by p2: 0.003 and 0.004 rms in those published lenses
    tangential_spread: float = 0.003
    # least standard deviations of a measured lens, in the order of `PARAMETERS`: lenses drift
    measured_floor: tuple[float, ...] = (0.3, 0.3, 0.3, 0.3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-4)
    heights_mm: tuple[float, float] = (200.0, 5000.0)  # least and largest height of a camera over a board
    tape_mm: float = 12.0  # standard deviation of a height by tape: the center of projection is inside the camera


LENS_PRIOR_LIMITS: Final = LensPriorLimits()
_POWERS: Final = np.array([2.0, 4.0, 1.0, 1.0, 6.0])  # of the radius, by which k1, k2, p1, p2, k3 move a point


class LensPrior(Protocol):
    """Knowledge of a lens as residuals of unit variance, for a least-squares fit.

    A lens is its share of `jacobians.PARAMETERS`: fx, fy, cx, cy, k1, k2, p1, p2, k3.
    """

    def residual(self, lens: Array) -> Array:
        """Return how far a lens, shape (9,), is from what is known, in standard deviations, shape (m,)."""

    def jacobian(self, lens: Array) -> Array:
        """Return the residuals' derivatives by the lens, shape (m, 9)."""


def strain(prior: LensPrior, lens: Array) -> float:
    """Return how unlike what is known a lens is, root mean square of standard deviations."""
    return float(np.sqrt(np.mean(prior.residual(lens) ** 2)))


@dataclass(frozen=True, slots=True)
class TypicalLens:
    """Any webcam's lens.

    Distortion is measured by how far it moves the picture's corner, which does not depend on the focal length; measured
    by its coefficients, a short lens would always look more likely.
    """

    size_px: tuple[int, int]
    focal: float = LENS_PRIOR_LIMITS.typical_focal  # the likeliest focal length, as a share of the width
    focal_spread: float = LENS_PRIOR_LIMITS.focal_spread  # its relative standard deviation
    # the logarithm of a focal length that was estimated beside that, and its standard deviation
    measured: tuple[float, float] | None = None
    kinds: tuple[tuple[float, float, float], ...] = LENS_PRIOR_LIMITS.kinds  # of cameras, as in `LensPriorLimits`

    @staticmethod
    def of(lens: Lens) -> TypicalLens:
        """Return what is known of any lens of the same projection."""
        if lens.projection == "perspective":
            return TypicalLens(lens.size_px)
        _, focal, spread = LENS_PRIOR_LIMITS.fisheye
        return TypicalLens(lens.size_px, focal, spread, kinds=(LENS_PRIOR_LIMITS.fisheye,))

    def combined_with(self, focal: float, spread: float) -> TypicalLens:
        """Combine it with another estimate of the focal length, as a share of the width, with a relative spread."""
        weights = np.array([self.focal_spread, spread]) ** -2.0
        both = float(np.exp(np.average(np.log([self.focal, focal]), weights=weights)))
        measured = (math.log(focal), spread)
        return replace(self, focal=both, focal_spread=float(weights.sum() ** -0.5), measured=measured)

    def focal_cost(self, focal: float) -> float:
        """Return minus the log density of a focal length, as a share of the width, among all kinds of cameras."""
        log = math.log(focal)
        density = sum(
            share / spread * math.exp(-0.5 * ((log - math.log(usual)) / spread) ** 2)
            for share, usual, spread in self.kinds
        )
        cost = -math.log(max(density, 1e-300))
        if self.measured is not None:
            cost += 0.5 * ((log - self.measured[0]) / self.measured[1]) ** 2
        return cost

    def residual(self, lens: Array) -> Array:
        """Return how unlike a webcam's a lens is, shape (9,)."""
        width, height = self.size_px
        fx, fy, cx, cy = lens[:4]
        focal = (fx + fy) / 2
        middle = np.array([cx - (width - 1) / 2, cy - (height - 1) / 2]) / (LENS_PRIOR_LIMITS.center_spread * width)
        focal_terms = [
            math.log(focal / (self.focal * width)) / self.focal_spread,
            (fx - fy) / focal / LENS_PRIOR_LIMITS.pixel_spread,
        ]
        return np.array([*focal_terms, *middle, *(lens[4:] * self._distortion_scale(focal))])

    def jacobian(self, lens: Array) -> Array:
        """Return the residuals' derivatives, shape (9, 9)."""
        width = self.size_px[0]
        fx, fy = lens[:2]
        focal = (fx + fy) / 2
        scale = self._distortion_scale(focal)
        out = np.zeros((9, 9))
        out[0, :2] = 0.5 / focal / self.focal_spread
        out[1, :2] = np.array([fy, -fx]) / focal**2 / LENS_PRIOR_LIMITS.pixel_spread
        out[2, 2] = out[3, 3] = 1 / (LENS_PRIOR_LIMITS.center_spread * width)
        out[4:, 4:] = np.diag(scale)
        out[4:, :2] = (-_POWERS / focal * scale * lens[4:])[:, None] * 0.5
        return out

    def _distortion_scale(self, focal: float) -> Array:
        corner = math.hypot(*self.size_px) / 2 / focal
        k1, k2, k3 = LENS_PRIOR_LIMITS.corner_spread
        tangential = LENS_PRIOR_LIMITS.tangential_spread
        scale: Array = corner**_POWERS / np.array([k1, k2, tangential, tangential, k3])
        return scale


LensFromDistance = Callable[[Camera], TypicalLens | None]
"""Estimates the lens from the camera's distance, given a solution that is good on the paint but whose focal length and
distance may be wrong by one factor; None when nothing is known of the distance."""


def lens_at_distance(camera: Camera, ratio: float, spread: float) -> TypicalLens:
    """Return the lens prior when the camera is at another distance than in a solution.

    Args:
        camera: the solution; it is good on the paint, so its focal length and distance are wrong by one factor.
        ratio: of the true distance to the solution's.
        spread: relative standard deviation of that.
    """
    share = float(np.mean(camera.lens.focal_px)) / camera.lens.size_px[0]
    return TypicalLens.of(camera.lens).combined_with(share * ratio, spread)


def lens_at_height(camera: Camera, height_mm: float) -> TypicalLens:
    """Return the lens prior when the camera's height over the board was measured by tape, to some 10 mm.

    Raises:
        InputError: no camera sees a board from this height.
    """
    low, high = LENS_PRIOR_LIMITS.heights_mm
    if not low <= height_mm <= high:
        raise InputError(f"the camera's height over the board can't be {height_mm:g} mm. Give {low:g} to {high:g} mm.")
    return lens_at_distance(camera, height_mm / float(camera.position_mm[2]), LENS_PRIOR_LIMITS.tape_mm / height_mm)


@dataclass(frozen=True, slots=True)
class MeasuredLens:
    """A lens measured beforehand."""

    mean: Array  # its parameters, shape (9,)
    root: Array  # a square root of the information on them, shape (9, 9)

    @staticmethod
    def of(lens: Lens, covariance: Array) -> MeasuredLens:
        """Return the prior of a lens and the covariance of its parameters, shape (9, 9)."""
        mean = np.array([*lens.focal_px, *lens.center_px, *lens.distortion])
        whole = covariance + np.diag(np.square(LENS_PRIOR_LIMITS.measured_floor))
        return MeasuredLens(mean, np.linalg.inv(np.linalg.cholesky(whole)))

    def residual(self, lens: Array) -> Array:
        """Return how far a lens is from the measured one, shape (9,)."""
        return self.root @ (lens - self.mean)

    def jacobian(self, lens: Array) -> Array:  # noqa: ARG002 - the protocol's signature; a linear residual needs no point
        """Return the square root of the information, shape (9, 9)."""
        return self.root
