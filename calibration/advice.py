"""Says how exact base tops are by a calibration alone, and which measurement would make them exact enough."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.jacobians import LENS, POSE, camera_parameters, with_parameters
from downfield.calibration.lens.prior import LENS_PRIOR_LIMITS
from downfield.calibration.quality import base_top_sigma_mm
from downfield.core.arrays import Array


@dataclass(frozen=True, slots=True)
class AdviceLimits:
    """When a measurement is advised."""

    wanted_yd: float = 0.05
    """Two standard deviations of base tops that are exact enough where no certificate says otherwise."""
    step: float = 1e-5
    """Relative step of a parameter for the numerical derivative of the camera's height."""


ADVICE_LIMITS: Final = AdviceLimits()


def base_top_error_yd(calibration: Calibration) -> float:
    """Return two standard deviations of base tops over the field, along or across, yards; the median; 0 if unknown."""
    if not calibration.covariance:
        return 0.0
    field = calibration.field
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5))
    sigma = base_top_sigma_mm(calibration, np.stack([x.ravel(), y.ravel()], axis=1)) / field.mm_per_yd
    return 2 * float(np.median(sigma.max(axis=1)))


def advise(calibration: Calibration, wanted_yd: float = ADVICE_LIMITS.wanted_yd) -> str:
    """Return in one sentence which measurement would make base tops exact enough; empty if they are.

    Args:
        wanted_yd: two standard deviations that are exact enough, such as a table's certified error.
    """
    now_yd = base_top_error_yd(calibration)
    if now_yd <= wanted_yd:
        return ""
    known = f"Base tops are known to {now_yd:.2f} yd"
    by_tape_yd = base_top_error_yd(_with_known_height(calibration))
    if by_tape_yd <= max(wanted_yd, now_yd / 2):
        return (
            f"{known}; measure the height of the lens over the board with a tape, which brings that to about"
            f" {by_tape_yd:.2f} yd."
        )
    by_lens_yd = base_top_error_yd(_with_known_lens(calibration))
    if by_lens_yd <= max(wanted_yd, now_yd / 2):
        return (
            f"{known}; measure the lens with 'downfield calibrate lens', which brings that to about {by_lens_yd:.2f}"
            " yd."
        )
    return (
        f"{known}, and no height or lens would help: bring the camera nearer or light the board evenly, and try again."
    )


def _with_known_height(calibration: Calibration) -> Calibration:
    """Return it as if the camera's height had been measured by tape."""
    camera = calibration.camera
    values = camera_parameters(camera)
    slope = np.zeros(len(calibration.covariance))
    for i in range(POSE.start, POSE.stop):
        step = ADVICE_LIMITS.step * max(1.0, abs(float(values[i])))
        moved = values.copy()
        moved[i] += step
        slope[i] = (with_parameters(camera, moved).position_mm[2] - camera.position_mm[2]) / step
    return _conditioned(calibration, slope[None], np.array([[LENS_PRIOR_LIMITS.tape_mm**2]]))


def _with_known_lens(calibration: Calibration) -> Calibration:
    """Return it as if the lens had been measured with the sheet."""
    slopes = np.eye(len(calibration.covariance))[LENS]
    return _conditioned(calibration, slopes, np.diag(np.square(LENS_PRIOR_LIMITS.measured_floor)))


def _conditioned(calibration: Calibration, slopes: Array, noise: Array) -> Calibration:
    """Return it with the covariance that is left after a measurement of parameters, slopes (m, p), noise (m, m)."""
    covariance = np.array(calibration.covariance)
    carried = covariance @ slopes.T
    left = covariance - carried @ np.linalg.pinv(slopes @ carried + noise, hermitian=True) @ carried.T
    return dataclasses.replace(calibration, covariance=tuple(tuple(row) for row in left.tolist()))
