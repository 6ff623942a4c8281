"""Says how exact base tops are by a calibration alone, and which measurement would make them exact enough."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.jacobians import LENS, SCALE, STRETCH
from downfield.calibration.lens.prior import LENS_PRIOR_LIMITS
from downfield.calibration.quality import base_top_sigma_mm, height_slope
from downfield.core.arrays import Array


@dataclass(frozen=True, slots=True)
class AdviceLimits:
    """When a measurement is advised."""

    wanted_yd: float = 0.05  # two standard deviations of base tops that are exact enough without a certificate
    helps: float = 0.7  # a measurement that leaves more of the error than this is not worth making
    as_good: float = 1.3  # a measurement that leaves this many times the least error is as good
    tape_share: float = 0.003  # relative standard deviation of a length of a print by tape: 1.5 mm of half a meter


ADVICE_LIMITS: Final = AdviceLimits()

Measurement = Literal["goal_to_goal", "side_to_side", "camera_height", "lens"]
"""Something to measure: a length of the print by tape, the height of the lens over the board, or the lens's own bending
by a printed sheet."""

_WORDS: Final[dict[Measurement, str]] = {  # the least effort first
    "goal_to_goal": "the length from goal line to goal line",
    "side_to_side": "the length from sideline to sideline",
    "camera_height": "the height of the lens over the board",
    "lens": "the lens measured with the printed sheet",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """The measurement that would help most."""

    measure: Measurement | None  # what to measure; None where nothing would help
    then_yd: float  # two standard deviations of base tops with it
    text: str  # one sentence for people


def base_top_error_yd(calibration: Calibration) -> float:
    """Return two standard deviations of base tops over the field, along or across, yards; the median; 0 if unknown."""
    if not calibration.covariance:
        return 0.0
    field = calibration.field
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5))
    sigma = base_top_sigma_mm(calibration, np.stack([x.ravel(), y.ravel()], axis=1)) / field.mm_per_yd
    return 2 * float(np.median(sigma.max(axis=1)))


def best_measurement(calibration: Calibration, wanted_yd: float = ADVICE_LIMITS.wanted_yd) -> Advice | None:
    """Return the measurement that would make base tops most exact; None where they are exact enough.

    Args:
        wanted_yd: two standard deviations that are exact enough, such as a table's certified error.
    """
    now_yd = base_top_error_yd(calibration)
    if now_yd <= wanted_yd and calibration.lengths_known:
        return None
    then = {name: base_top_error_yd(known) for name, known in _measured(calibration).items()}
    # A tape is at hand, the sheet for a lens has to be printed first. Of what helps about as much, the least work.
    tape: dict[Measurement, float] = {name: left for name, left in then.items() if name != "lens"}
    use = tape if min(tape.values()) <= max(wanted_yd, now_yd / 2) else then
    enough = max(wanted_yd, ADVICE_LIMITS.as_good * min(use.values()))
    best = min((name for name in use if use[name] <= enough), key=[*_WORDS].index)
    known = f"base tops are known to {{}} yd instead of {now_yd:.2g}"
    if not calibration.lengths_known and now_yd <= wanted_yd:
        best = "goal_to_goal"
        return Advice(best, then[best], f"With {_WORDS[best]}, lengths in mm are known too.")
    if then[best] > max(wanted_yd, now_yd * ADVICE_LIMITS.helps):
        text = f"Base tops are known to {now_yd:.2g} yd, and no measurement would help"
        return Advice(None, now_yd, f"{text}: bring the camera nearer or light the board evenly; try again.")
    return Advice(best, then[best], f"With {_WORDS[best]}, {known.format(format(then[best], '.2g'))}.")


def describe_certainty(calibration: Calibration) -> str:
    """Return in plain words how well base tops are known, and whether lengths in millimeters are."""
    tops = f"Yards on the print are read from it. Base tops are known to {base_top_error_yd(calibration):.2g} yd."
    return tops if calibration.lengths_known else f"{tops} Lengths in mm are not known: calls that need them wait."


def advise(calibration: Calibration, wanted_yd: float = ADVICE_LIMITS.wanted_yd) -> str:
    """Return in one sentence which measurement would help most; empty if base tops are exact enough."""
    advice = best_measurement(calibration, wanted_yd)
    return advice.text if advice else ""


def _measured(calibration: Calibration) -> dict[Measurement, Calibration]:
    """Return it as if each measurement had been made, of those that would tell something new."""
    size = len(calibration.covariance)
    known: dict[Measurement, Calibration] = {}
    if size > SCALE and not calibration.lengths_known:
        known["goal_to_goal"] = _conditioned(calibration, {SCALE: 1.0}, ADVICE_LIMITS.tape_share)
        known["side_to_side"] = _conditioned(calibration, {SCALE: 1.0, STRETCH: 1.0}, ADVICE_LIMITS.tape_share)
    elif size > STRETCH and calibration.covariance[STRETCH][STRETCH] > (2 * ADVICE_LIMITS.tape_share) ** 2:
        known["side_to_side"] = _conditioned(calibration, {STRETCH: 1.0}, ADVICE_LIMITS.tape_share)
    height = height_slope(calibration.camera, size) / float(calibration.camera.position_mm[2])
    slopes = {i: float(by) for i, by in enumerate(height) if by}
    tape = LENS_PRIOR_LIMITS.tape_mm / float(calibration.camera.position_mm[2])
    known["camera_height"] = _conditioned(calibration, slopes | ({SCALE: 1.0} if size > SCALE else {}), tape)
    known["lens"] = _left(calibration, np.eye(size)[LENS], np.diag(np.square(LENS_PRIOR_LIMITS.measured_floor)))
    return known


def _conditioned(calibration: Calibration, slope: dict[int, float], sigma: float) -> Calibration:
    """Return it with the covariance that is left after a measurement of a sum of parameters, with an error."""
    slopes = np.zeros((1, len(calibration.covariance)))
    for i, by in slope.items():
        slopes[0, i] = by
    return _left(calibration, slopes, np.array([[sigma**2]]))


def _left(calibration: Calibration, slopes: Array, noise: Array) -> Calibration:
    """Return it with the covariance that is left after a measurement of parameters, slopes (m, p), noise (m, m)."""
    covariance = np.array(calibration.covariance)
    carried = covariance @ slopes.T
    left = covariance - carried @ np.linalg.pinv(slopes @ carried + noise, hermitian=True) @ carried.T
    return dataclasses.replace(calibration, covariance=tuple(tuple(row) for row in left.tolist()))
