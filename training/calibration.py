"""Fits what a network's errors and its certainty of fronts are worth, on validation pictures, never on test pictures.

Corner errors are scaled so that 68 % are within one standard deviation. Certainty of fronts is scaled by its logit (Guo
et al., On Calibration of Modern Neural Networks, 2017): a front given as 90 % sure is then right nine times in ten, on
tables like those of the validation pictures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize_scalar

from downfield.core.arrays import Array, Bools
from downfield.core.errors import InputError
from downfield.models.card import read_card, write_card
from downfield.models.loading import open_detector
from downfield.models.runtime import logit, sigmoid
from downfield.training.figures import fronts, sigma_ratio
from downfield.training.scoring import pictures_of, score_frame


@dataclass(frozen=True, slots=True)
class CalibrationLimits:
    """What a fit needs, and where it ends."""

    min_fronts: int = 100
    """Upright figures below which neither errors nor fronts are fitted."""
    log_odds_range: tuple[float, float] = (-3.0, 1.0)
    """Range of the natural logarithm of the factor of fronts."""
    stiffness: float = 1.0
    """How strongly the factor is held to 1 where few fronts tell otherwise: as much as about one front."""


LIMITS: Final = CalibrationLimits()


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """What was fitted, and what it changes.

    Attributes:
        pictures, figures: that it rests on.
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

    Args:
        folder: of the network.
        sets: data sets whose validation pictures are used.
        progress: told how many pictures have been measured.

    Raises:
        InputError: a set has no validation pictures, they show too few figures, or the network has no refiner.

    """
    card = read_card(folder)
    if card.second_look is None:
        raise InputError(f"{folder}: this network has no refiner, whose errors and fronts could be calibrated.")
    detector = open_detector(folder)
    frames = []
    for each in sets:
        for sample, image in pictures_of(each, "val"):
            frames.append(score_frame(sample, detector.detect(image)))
            progress(len(frames))
    certainty, right = fronts(frames)
    if len(right) < LIMITS.min_fronts:
        raise InputError(
            f"The validation pictures show {len(right)} upright figures that were found;"
            f" {LIMITS.min_fronts} are needed."
        )
    logits = logit(certainty) / card.front_odds
    odds = round(fit_front_odds(logits, right), 3)
    scale = round(card.second_look.sigma_scale * sigma_ratio(frames), 3)
    second_look = dataclasses.replace(card.second_look, sigma_scale=scale)
    write_card(folder, dataclasses.replace(card, second_look=second_look, front_odds=odds))
    return CalibrationReport(
        len(frames),
        len(right),
        (card.second_look.sigma_scale, scale),
        (card.front_odds, odds),
        (float(certainty.mean()), float(sigmoid(odds * logits).mean())),
        float(right.mean()),
    )


def fit_front_odds(logits: Array, right: Bools) -> float:
    """Return the factor by which logits of fronts become log-odds of being right.

    Args:
        logits: at least 0, shape (n,).
        right: whether each front was right, shape (n,).

    """
    signs = np.where(right, 1.0, -1.0)

    def unlikely(log_factor: float) -> float:
        return float(np.logaddexp(0.0, -signs * np.exp(log_factor) * logits).sum() + LIMITS.stiffness * log_factor**2)

    return float(np.exp(minimize_scalar(unlikely, bounds=LIMITS.log_odds_range, method="bounded").x))
