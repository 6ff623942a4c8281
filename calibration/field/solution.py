"""A solved field, and the error that carries several when the picture leaves open which of them is right."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downfield.calibration.calibration import Calibration, Method
from downfield.calibration.camera_fit import CameraFit, Observations
from downfield.calibration.field.marks.mirroring import UNMIRROR
from downfield.calibration.field.verification import FieldEvidence
from downfield.calibration.jacobians import BOW, TRANSLATION
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.quality import to_calibration
from downfield.calibration.stretch import (
    EXACT_SCALE,
    DescribedProportions,
    OpenStretch,
    ScaleError,
    open_stretch,
    stretched_field,
)
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class FieldSolution:
    """A camera over a printed field, with the evidence for it."""

    field: FieldModel
    fit: CameraFit  # the camera, its covariance and residuals
    observations: Observations  # what it was fitted to
    evidence: FieldEvidence  # measurements that it was not fitted to
    prior: LensPrior | None = None  # what was known of the lens beforehand; any webcam's when None
    # of the print as it was described, where it is measured with the camera; None where it is exact
    proportions: DescribedProportions | None = None
    scale: ScaleError = EXACT_SCALE  # how well the print's size in millimeters is known
    probability: float = 1.0  # of this reading of the picture, among all
    rivals: tuple[FieldReading, ...] = ()  # the other readings, the likelier first

    @property
    def stretch(self) -> OpenStretch | None:
        """How far the field may still be stretched; None where its proportions are exact."""
        return open_stretch(self.proportions, self.field)

    def with_fit(self, fit: CameraFit, observations: Observations) -> FieldSolution:
        """Return the solution with another fit to observations, the field and they as long as it found the print."""
        return dataclasses.replace(
            self,
            field=stretched_field(self.field, fit.stretch),
            fit=dataclasses.replace(fit, stretch=0.0),
            observations=dataclasses.replace(
                observations, points_mm=observations.points_mm * (1.0, math.exp(fit.stretch), 1.0)
            ),
        )

    def scaled(self, factor: float) -> FieldSolution:
        """Return the same picture of a board that is larger by a factor. Raises FieldError: no board is so large."""
        camera = self.fit.camera
        tx, ty, tz = (float(value) * factor for value in camera.translation_mm)
        bow = camera.bow and dataclasses.replace(
            camera.bow,
            x_mm=_times(camera.bow.x_mm, factor),
            y_mm=_times(camera.bow.y_mm, factor),
            along_mm=camera.bow.along_mm * factor,
            twist_mm=camera.bow.twist_mm * factor,
            across_mm=camera.bow.across_mm * factor,
            both_mm=camera.bow.both_mm * factor,
        )
        # Lens, rotation and stretch stay; translation and bow are lengths.
        units = np.ones(len(self.fit.covariance))
        units[TRANSLATION] = units[BOW] = factor
        fit = dataclasses.replace(
            self.fit,
            camera=dataclasses.replace(camera, translation_mm=(tx, ty, tz), bow=bow),
            covariance=self.fit.covariance * units[:, None] * units,
        )
        observations = dataclasses.replace(self.observations, points_mm=self.observations.points_mm * factor)
        return dataclasses.replace(self, field=scaled_field(self.field, factor), fit=fit, observations=observations)

    def calibration(self, method: Method = "field", made_from: Sequence[str] = (), made_at: str = "") -> Calibration:
        """Return the calibration, with its residuals and covariance; made now when `made_at` is empty."""
        return to_calibration(
            self.field,
            self.fit,
            self.observations,
            method=method,
            made_from=made_from,
            made_at=made_at,
            scale=self.scale,
        )


def scaled_field(field: FieldModel, factor: float) -> FieldModel:
    """Return a field that is larger by a factor, with its paint. Raises FieldError: no board is so large."""
    styles = {
        kind: dataclasses.replace(style, width_mm=style.width_mm and style.width_mm * factor)
        for kind in ("sideline", "goal_line", "end_line", "yard_line", "hash_mark")
        for style in [getattr(field, kind)]
    }
    return dataclasses.replace(
        field,
        mm_per_yd_x=field.mm_per_yd_x * factor,
        mm_per_yd_y=field.mm_per_yd_y * factor,
        line_mm=field.line_mm * factor,
        margin_mm=_times(field.margin_mm, factor),
        **styles,
    )


def _times(pair: tuple[float, float], factor: float) -> tuple[float, float]:
    return pair[0] * factor, pair[1] * factor


@dataclass(frozen=True, slots=True)
class FieldReading:
    """One way to read a picture of a field."""

    label: str  # what tells it from the others, for people
    solution: FieldSolution  # the camera it gives; its `calibration` can be drawn over the picture
    mirrored: bool = False  # whether the picture is a mirrored one in this reading: then it shows no camera

    @property
    def probability(self) -> float:
        """The probability of this reading, among all of the picture."""
        return self.solution.probability

    def accepted(self) -> FieldSolution:
        """Return the solution once chosen. Raises CalibrationError: mirrored in it; says what to switch off."""
        if self.mirrored:
            raise CalibrationError(f"the picture is mirrored: {UNMIRROR}")
        return self.solution


class AmbiguousField(CalibrationError):  # noqa: N818 - it carries an answer that somebody completes
    """A picture can be read in several ways that differ by more than the error of a calibration.

    Args:
        readings: the ways, the likeliest first; somebody who sees the table has to choose one.
        reason: why it is not clear, and what to do where no person can choose; made of the readings when empty.
    """

    def __init__(self, readings: Sequence[FieldReading], reason: str = "") -> None:
        self.readings = tuple(readings)
        ways = "; or ".join(reading.label for reading in self.readings)
        super().__init__(
            reason
            or f"the picture can be read in {len(self.readings)} ways: {ways}. Choose the one that lies on the print.",
            "choose_reading",
        )
