"""Calibrates a network's errors and certainty of fronts on validation pictures, never on test pictures.

Corner errors are scaled so that 68 % are within one standard deviation. Certainty of fronts is scaled by its logit (Guo
et al., On Calibration of Modern Neural Networks, 2017): a front given as 90 % sure is then right nine times in ten, on
tables like those of the validation pictures. Of several data sets the one whose fronts are hardest decides: a real
table is at least as strange, and a front that is too unsure is settled by motion, but one too sure is a wrong call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize_scalar

from downfield.core.arrays import Array, Bools
from downfield.core.errors import InputError
from downfield.models.card import NetworkCard, NetworkFiles, read_card, write_card
from downfield.models.loading import open_detector
from downfield.models.runtime import logit, sigmoid
from downfield.training.evaluation.measures import fronts, sigma_ratio
from downfield.training.evaluation.scoring import FrameScore, pictures_of, score_frame


@dataclass(frozen=True, slots=True)
class CalibrationLimits:
    """Limits of the fits."""

    min_fronts: int = 100
    """Upright figures below which neither errors nor fronts are fitted."""
    log_odds_range: tuple[float, float] = (-3.0, 1.0)
    """Range of the natural logarithm of the factor of fronts."""
    stiffness: float = 1.0
    """How strongly the factor is held to 1: as much as about one front."""


CALIBRATION_LIMITS: Final = CalibrationLimits()


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """The fitted values, and those before.

    Attributes:
        pictures, figures: numbers of pictures and upright figures measured.
        sigma_scale: factor of corner errors, before and now.
        front_odds: factor of the fronts' logits, before and now.
        front_certainty: mean certainty of fronts, 0..1, before and now.
        fronts_right: share of fronts that are right.
    """

    pictures: int
    figures: int
    sigma_scale: tuple[float, float]
    front_odds: tuple[float, float]
    front_certainty: tuple[float, float]
    fronts_right: float


def calibrate_network(
    folder: Path, sets: Iterable[Path], progress: Callable[[int], None] = lambda _: None
) -> CalibrationReport:
    """Fit a network's corner errors and fronts on validation pictures, and write them into its card.

    Raises:
        InputError: a set has no validation pictures, they show too few figures, or the network has no refiner.
    """
    before = read_card(folder)
    if before.second_look is None:
        raise InputError(f"{folder}: this network has no refiner, whose errors and fronts could be calibrated.")
    try:
        return _calibrated(folder, before, before.second_look, list(sets), progress)
    except BaseException:  # a card is calibrated as a whole, or stays as it was
        write_card(folder, before)
        raise


def _calibrated(
    folder: Path, before: NetworkCard, refiner: NetworkFiles, sets: Sequence[Path], progress: Callable[[int], None]
) -> CalibrationReport:
    detector = open_detector(folder)
    frames: list[FrameScore] = []
    odds_of_sets: list[float] = []
    for each in sets:
        of_set = []
        for sample, image in pictures_of(each, "val"):
            of_set.append(score_frame(sample, detector.detect(image)))
            progress(len(frames) + len(of_set))
        frames += of_set
        certainty, right = fronts(of_set)
        odds_of_sets.append(fit_front_odds(logit(certainty) / before.front_odds, right))
    certainty, right = fronts(frames)
    _check_enough(len(right))
    logits = logit(certainty) / before.front_odds
    odds = round(min(odds_of_sets), 3)
    scale = round(refiner.sigma_scale * sigma_ratio(frames), 3)
    second_look = dataclasses.replace(refiner, sigma_scale=scale)
    now = dataclasses.replace(before, second_look=second_look, front_odds=odds)
    write_card(folder, now)
    return CalibrationReport(
        len(frames),
        len(right),
        (refiner.sigma_scale, scale),
        (before.front_odds, odds),
        (float(certainty.mean()), float(sigmoid(odds * logits).mean())),
        float(right.mean()),
    )


def _check_enough(figures: int) -> None:
    if figures < CALIBRATION_LIMITS.min_fronts:
        raise InputError(
            f"The validation pictures show {figures} upright figures that were found;"
            f" {CALIBRATION_LIMITS.min_fronts} are needed."
        )


def fit_front_odds(logits: Array, right: Bools) -> float:
    """Return the factor by which logits of fronts become log-odds of being right.

    Args:
        logits: at least 0, shape (n,).
        right: whether each front was right, shape (n,).
    """
    signs = np.where(right, 1.0, -1.0)

    def unlikely(log_factor: float) -> float:
        return float(
            np.logaddexp(0.0, -signs * np.exp(log_factor) * logits).sum() + CALIBRATION_LIMITS.stiffness * log_factor**2
        )

    return float(np.exp(minimize_scalar(unlikely, bounds=CALIBRATION_LIMITS.log_odds_range, method="bounded").x))
