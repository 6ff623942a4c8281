"""Solves large pictures at a smaller size: four times the pixels take three times as long and tell nothing more.

What is left open by a printed field is left open by the lens, not by noise of the pixels, and a line of paint is wide
enough at 1920 px. The solution is stated in pixels of the large picture, whose pixel centers are at whole numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.jacobians import PLACE_PARAMETERS
from downfield.calibration.lens.prior import LensFromDistance, LensPrior, MeasuredLens, TypicalLens
from downfield.core.arrays import Array, Image


@dataclass(frozen=True, slots=True)
class ShrinkLimits:
    """Which pictures are shrunk."""

    max_width_px: int = 2400  # wider pictures are shrunk
    shrunk_width_px: int = 1920  # width of a shrunk picture


_LIMITS: Final = ShrinkLimits()


@dataclass(frozen=True, slots=True)
class ShrunkPictures:
    """Smaller copies of pictures."""

    images: tuple[Image, ...]
    size_px: tuple[int, int]  # width and height of the large pictures
    factor: Array  # of large to small pixels, along x and y, shape (2,)

    @staticmethod
    def of(images: Sequence[Image]) -> ShrunkPictures | None:
        """Return smaller copies of pictures of one camera; None where they are small enough."""
        height, width = images[0].shape[:2]
        if width <= _LIMITS.max_width_px:
            return None
        small = (_LIMITS.shrunk_width_px, round(height * _LIMITS.shrunk_width_px / width))
        copies = tuple(
            np.asarray(cv2.resize(image, small, interpolation=cv2.INTER_AREA), dtype=np.uint8) for image in images
        )
        return ShrunkPictures(copies, (width, height), np.array([width, height]) / small)

    def prior(self, prior: LensPrior | None) -> LensPrior | None:
        """Return what is known of the lens, in pixels of the copies."""
        if isinstance(prior, MeasuredLens):
            units = self._units()[: len(prior.mean)]
            mean = prior.mean / units
            mean[2:4] = (prior.mean[2:4] + 0.5) / self.factor - 0.5
            return MeasuredLens(mean, prior.root * units)
        return self._typical(prior) if isinstance(prior, TypicalLens) else prior

    def distance(self, estimate: LensFromDistance | None) -> LensFromDistance | None:
        """Return how to estimate the lens of a camera that took a copy."""
        return estimate and (lambda camera: self._typical(estimate(self.camera(camera))))

    def _typical(self, prior: TypicalLens | None) -> TypicalLens | None:
        height, width = self.images[0].shape[:2]
        return prior and dataclasses.replace(prior, size_px=(width, height))

    def camera(self, camera: Camera) -> Camera:
        """Return a camera that took a copy as the one that took the large picture."""
        lens = camera.lens
        fx, fy = (np.array(lens.focal_px) * self.factor).tolist()
        x, y = ((np.array(lens.center_px) + 0.5) * self.factor - 0.5).tolist()
        large = dataclasses.replace(lens, size_px=self.size_px, focal_px=(fx, fy), center_px=(x, y))
        return dataclasses.replace(camera, lens=large)

    def solved(self, solve: Callable[[], FieldSolution], label: Callable[[FieldSolution], str]) -> FieldSolution:
        """Return the solution for the large pictures, of a function that solves the copies.

        Args:
            solve: returns it for the copies.
            label: returns what tells a reading from others by its pixels.

        Raises:
            AmbiguousField: the copies can be read in several ways; carries them for the large pictures.
        """
        try:
            return self._large(solve())
        except AmbiguousField as ways:
            readings = []
            for reading in ways.readings:
                large = self._large(reading.solution)
                text = label(large) if reading.label == label(reading.solution) else reading.label
                readings.append(FieldReading(text, large, reading.mirrored))
            reason = "" if str(ways) == str(AmbiguousField(ways.readings)) else str(ways)
            raise AmbiguousField(readings, reason) from None

    def _units(self) -> Array:
        """Return how many of the camera's parameters' units there are in the large picture for one in the copies."""
        units = np.ones(len(PLACE_PARAMETERS))
        units[:2] = units[2:4] = self.factor
        return units

    def _large(self, solution: FieldSolution) -> FieldSolution:
        fit, seen = solution.fit, solution.observations
        units, mean = self._units()[: len(fit.covariance)], float(self.factor.mean())
        return dataclasses.replace(
            solution,
            fit=dataclasses.replace(
                fit,
                camera=self.camera(fit.camera),
                covariance=fit.covariance * units[:, None] * units,
                residual_px=fit.residual_px * mean,
                rows_px=fit.rows_px * mean,
                lines_px=fit.lines_px * mean,
            ),
            observations=dataclasses.replace(
                seen, px=(seen.px + 0.5) * self.factor - 0.5, sigma_px=seen.sigma_px * mean
            ),
            prior=self._large_prior(solution.prior),
        )

    def _large_prior(self, prior: LensPrior | None) -> LensPrior | None:
        if isinstance(prior, MeasuredLens):
            units = self._units()[: len(prior.mean)]
            mean = prior.mean * units
            mean[2:4] = (prior.mean[2:4] + 0.5) * self.factor - 0.5
            return MeasuredLens(mean, prior.root / units)
        return dataclasses.replace(prior, size_px=self.size_px) if isinstance(prior, TypicalLens) else prior
