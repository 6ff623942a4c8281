"""A solved field, and the error that carries several when the picture leaves open which of them is right."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from downfield.calibration.calibration import Calibration, Method
from downfield.calibration.camera_fit import CameraFit, Observations
from downfield.calibration.field.marks.mirroring import UNMIRROR
from downfield.calibration.field.verification import FieldEvidence
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.quality import to_calibration
from downfield.calibration.stretch import DescribedProportions, OpenStretch, open_stretch, stretched_field
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class FieldSolution:
    """A camera over a printed field, with the evidence for it.

    Attributes:
        fit: the camera, its covariance and residuals.
        observations: what it was fitted to.
        evidence: measurements that it was not fitted to.
        prior: what was known of the lens beforehand; any webcam's when None.
        proportions: of the print as it was described, where it is measured with the camera; None where it is exact.
    """

    field: FieldModel
    fit: CameraFit
    observations: Observations
    evidence: FieldEvidence
    prior: LensPrior | None = None
    proportions: DescribedProportions | None = None

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

    def calibration(self, method: Method = "field", made_from: Sequence[str] = (), made_at: str = "") -> Calibration:
        """Return the calibration, with its residuals and covariance; made now when `made_at` is empty."""
        return to_calibration(
            self.field, self.fit, self.observations, method=method, made_from=made_from, made_at=made_at
        )


@dataclass(frozen=True, slots=True)
class FieldReading:
    """One way to read a picture of a field.

    Attributes:
        label: what tells it from the others, for people.
        solution: the camera it gives; its `calibration` can be drawn over the picture.
        mirrored: whether the picture is a mirrored one in this reading: then it shows no camera.
    """

    label: str
    solution: FieldSolution
    mirrored: bool = False

    def accepted(self) -> FieldSolution:
        """Return the solution for somebody who chose this reading.

        Raises:
            CalibrationError: the picture is mirrored in it; says what to switch off.
        """
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
            or f"the picture can be read in {len(self.readings)} ways: {ways}. Choose the one that lies on the print."
        )
