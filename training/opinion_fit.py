"""Fits how much each of two detectors and two refiners counts, on validation pictures of several kinds.

Every data set counts the same, whichever network learned from pictures like its own. Weights are those of logistic
regressions, held to equal ones as far as few figures tell otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import minimize

from downfield.core.arrays import Array, Bools, Indices
from downfield.models.card import NetworkCard, OpinionWeights
from downfield.models.refiner import FALLEN, FIGURE, TURN
from downfield.models.runtime import sigmoid
from downfield.training.opinion_evidence import OpinionEvidence


@dataclass(frozen=True, slots=True)
class OpinionFitLimits:
    """What holds the fits, and what they choose from."""

    stiffness: float = 2.0
    """How strongly weights are held to where they start: as much as about so many candidates of all."""
    least_weight: float = 0.05
    """Least weight of a refiner's opinion about fronts and falls."""


_LIMITS: Final = OpinionFitLimits()

FIGURE_SCORE: Final = 0.65
"""Score from which a figure counts: scores are probabilities, and one that is none, which may touch others, is about
twice as bad as one missed."""


def fit_opinions(card: NetworkCard, evidence: OpinionEvidence) -> NetworkCard:
    """Return a card with weights and thresholds of fronts, falls and figures that fit the evidence.

    Certainty of fronts and the factor of corner errors are left as they follow from the fit alone.
    """
    front, turn_logit, front_odds, disputed = _fit_fronts(evidence)
    fallen, fallen_logit = _fit_falls(evidence)
    figure, detectors = _fit_figures(evidence)
    weights = OpinionWeights(front, fallen, figure, detectors, disputed)
    return dataclasses.replace(
        card,
        opinions=weights,
        turn_logit=turn_logit,
        fallen_logit=fallen_logit,
        front_odds=front_odds,
        figure_threshold=FIGURE_SCORE,
    )


def fit_logits(
    features: Array, right: Bools, groups: Indices, start: Sequence[float], offset: Array | float = 0.0
) -> Array:
    """Return the weights of features whose sum is the log-odds of being right, shape (k,).

    Args:
        features: shape (n, k).
        right: shape (n,).
        groups: number of each row's data set, shape (n,); every set counts the same.
        start: weights to which they are held, length k.
        offset: added to the log-odds, shape (n,) or one number.

    """
    signs = np.where(right, 1.0, -1.0)
    names, which = np.unique(groups, return_inverse=True)
    counts = np.bincount(which, minlength=len(names))
    per_row = len(groups) / len(names) / counts[which] if len(groups) else np.zeros(0)
    begin = np.array(start, dtype=np.float64)

    def unlikely(weights: Array) -> tuple[float, Array]:
        log_odds = signs * (features @ weights + offset)
        off = weights - begin
        slope = -features.T @ (per_row * signs * sigmoid(-log_odds)) + 2 * _LIMITS.stiffness * off
        return float((per_row * np.logaddexp(0, -log_odds)).sum() + _LIMITS.stiffness * off @ off), slope

    fitted: Array = minimize(unlikely, begin, jac=True, method="L-BFGS-B").x
    return fitted


def _fit_fronts(evidence: OpinionEvidence) -> tuple[tuple[float, float], float, float, float]:
    """Return the refiners' weights, the logit that turns a figure, log-odds per logit, a disputed front's chance."""
    rows = evidence.is_figure & ~evidence.is_fallen
    disputed = evidence.agreement[rows] < 0
    features = np.stack([evidence.first[rows, TURN], evidence.second[rows, TURN], disputed - 1.0, -1.0 * disputed], 1)
    fitted = fit_logits(features, evidence.is_turned[rows], evidence.group[rows], (0.3, 0.3, 0.5, 0.0))
    weights, odds = _as_shares(fitted)
    chance = float(np.clip(sigmoid(fitted[3]), 0.01, 0.99))
    return weights, round(float(fitted[2]) / odds, 3), round(odds, 3), round(chance, 3)


def _fit_falls(evidence: OpinionEvidence) -> tuple[tuple[float, float], float]:
    """Return the refiners' weights and the logit from which a figure has fallen rather than not."""
    rows = evidence.is_figure
    features = np.stack([evidence.first[rows, FALLEN], evidence.second[rows, FALLEN], np.full(rows.sum(), -1.0)], 1)
    fitted = fit_logits(features, evidence.is_fallen[rows], evidence.group[rows], (0.5, 0.5, 0.0))
    weights, odds = _as_shares(fitted)
    return weights, round(float(fitted[2]) / odds, 3)


def _as_shares(fitted: Array) -> tuple[tuple[float, float], float]:
    """Return the first two weights as shares of 1, and their sum."""
    kept = np.maximum(fitted[:2], _LIMITS.least_weight)
    odds = float(kept.sum())
    first = round(float(kept[0]) / odds, 3)
    return (first, round(1 - first, 3)), odds


def _fit_figures(evidence: OpinionEvidence) -> tuple[tuple[float, float], tuple[float, float, float]]:
    """Return the refiners' weights, and the detectors' with an intercept.

    A score is half the refiners' weighted logits and half the detectors'. Most frames of a video are searched by the
    first detector alone: the same refiners' weights are to serve there, with its logit as it is.
    """
    rows = evidence.is_figure | evidence.is_none
    found, groups = evidence.is_figure[rows], evidence.group[rows]
    refiners = np.stack([evidence.first[rows, FIGURE], evidence.second[rows, FIGURE]], axis=1) / 2
    detectors = np.concatenate([evidence.detectors[rows], np.ones((len(found), 1))], axis=1) / 2
    both = np.concatenate([refiners, detectors], axis=1)
    alone = np.concatenate([refiners, np.zeros_like(detectors)], axis=1)
    offset = np.concatenate([np.zeros(len(found)), evidence.detectors[rows, 0] / 2])
    fitted = fit_logits(
        np.concatenate([both, alone]), np.tile(found, 2), np.tile(groups, 2), (0.5, 0.5, 0.5, 0.5, 0.0), offset
    )
    first, second, of_first, of_second, constant = (round(float(value), 3) for value in fitted)
    return (first, second), (of_first, of_second, constant)
