"""Fits how much each of two detectors and two refiners counts, from their outputs on validation pictures.

Weights are those of logistic regressions, held to equal ones where few figures tell otherwise. Every data set counts
the same, whichever network was trained on pictures like its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import minimize

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.core.errors import InputError
from downfield.models.ball_detection import decode_ball_places
from downfield.models.card import NetworkCard, OpinionWeights
from downfield.models.loading import Opinions
from downfield.models.refiner import (
    FALLEN,
    FIGURE,
    OUTPUTS,
    TURN,
    base_sides,
    cut_figures,
    rotate_back,
    usual_length_px,
)
from downfield.models.runtime import Network, logit, sigmoid
from downfield.models.second_opinion import ball_votes, match_detectors
from downfield.models.two_stage_detector import TwoStageDetector
from downfield.training.evaluation.scoring import WELL_SEEN, is_ball, match_figures
from downfield.twin.sets.labels import Sample


@dataclass(frozen=True, slots=True)
class CandidateEvidence:
    """Candidates of some pictures, one a row.

    Attributes:
        group: number of the data set, shape (n,).
        detectors: logits of both detectors, shape (n, 2).
        agreement: of the fronts both see, as of `match_detectors`, shape (n,).
        first, second: outputs of both refiners, means of a patch and of the same turned by half, shape (n, `OUTPUTS`).
        is_figure: whether it is a well seen figure, shape (n,).
        is_none: whether it is no figure, or one seen twice, shape (n,); what is neither is a figure hardly seen.
        is_turned: whether its front is at the other end, shape (n,).
        is_fallen: shape (n,).
    """

    group: Indices
    detectors: Array
    agreement: Array
    first: Array
    second: Array
    is_figure: Bools
    is_none: Bools
    is_turned: Bools
    is_fallen: Bools


def gather_candidates(opinions: Opinions, pictures: Iterable[tuple[int, Sample, Image]]) -> CandidateEvidence:
    """Return the networks' outputs for the candidates in pictures, each with the number of its data set.

    Raises:
        InputError: the pictures show no candidate.
    """
    parts = [part for each in pictures if (part := _of_picture(opinions, *each)) is not None]
    if not parts:
        raise InputError("The validation pictures show nothing that may be a figure.")
    names = CandidateEvidence.__slots__
    return CandidateEvidence(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _of_picture(opinions: Opinions, group: int, sample: Sample, image: Image) -> CandidateEvidence | None:
    found, others = (
        [figure for figure in detector.detect(image) if figure.corners_px]
        for detector in (opinions.detector, opinions.second_detector)
    )
    if not found:
        return None
    logits, agreement = match_detectors(found, others)
    _, patches = cut_figures(found, image, usual_length_px(found))
    labels = list(sample.labels.figures)
    pairs = {said: true for true, said in match_figures(labels, found).items()}
    turned, fallen, well_seen, none = (np.zeros(len(found), dtype=np.bool_) for _ in range(4))
    for row, figure in enumerate(found):
        if row not in pairs:
            none[row] = True
            continue
        label = labels[pairs[row]]
        well_seen[row] = label.visible >= WELL_SEEN
        fallen[row] = label.kind == "fallen"
        ahead, _ = base_sides((figure.corners_px, label.corners_px))
        turned[row] = ahead[0] @ ahead[1] < 0
    return CandidateEvidence(
        np.full(len(found), group),
        logits,
        agreement,
        _both_ways(opinions.refiner, patches),
        _both_ways(opinions.second_refiner, patches),
        well_seen,
        none,
        turned,
        fallen,
    )


def _both_ways(refiner: Network, patches: Image) -> Array:
    views = [refiner.run(view)[:, :OUTPUTS].astype(np.float64) for view in (patches, patches[:, ::-1, ::-1])]
    mean: Array = (views[0] + rotate_back(views[1])) / 2
    return mean


@dataclass(frozen=True, slots=True)
class WeightFitLimits:
    """What holds the fits, and what they choose from."""

    stiffness: float = 2.0
    """How strongly weights are held to where they start: as much as about so many candidates of all."""
    least_weight: float = 0.05
    """Least weight of a refiner in fronts and falls."""


_LIMITS: Final = WeightFitLimits()

FIGURE_SCORE: Final = 0.65
"""Score from which a figure counts: scores are probabilities, and one that is none, which may touch others, is about
twice as bad as one missed."""


def fit_weights(card: NetworkCard, evidence: CandidateEvidence) -> NetworkCard:
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


def _fit_fronts(evidence: CandidateEvidence) -> tuple[tuple[float, float], float, float, float]:
    """Return the refiners' weights, the logit that turns a figure, log-odds per logit, a disputed front's chance."""
    rows = evidence.is_figure & ~evidence.is_fallen
    disputed = evidence.agreement[rows] < 0
    features = np.stack([evidence.first[rows, TURN], evidence.second[rows, TURN], disputed - 1.0, -1.0 * disputed], 1)
    fitted = fit_logits(features, evidence.is_turned[rows], evidence.group[rows], (0.3, 0.3, 0.5, 0.0))
    weights, odds = _as_shares(fitted)
    chance = float(np.clip(sigmoid(fitted[3]), 0.01, 0.99))
    return weights, round(float(fitted[2]) / odds, 3), round(odds, 3), round(chance, 3)


def _fit_falls(evidence: CandidateEvidence) -> tuple[tuple[float, float], float]:
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


def _fit_figures(evidence: CandidateEvidence) -> tuple[tuple[float, float], tuple[float, float, float]]:
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


BALL_SCORE: Final = 0.15
"""Score from which a ball is reported: scores are probabilities, recall counts twice as much as precision, and who
follows the ball asks for a far surer one."""

LEAST_BALLS: Final = 20
"""Places with a ball, and places without one, below which nothing is fitted."""


@dataclass(frozen=True, slots=True)
class BallEvidence:
    """Places in some pictures, one a row.

    Attributes:
        group: number of the data set, shape (n,).
        own: logit of the ball's networks, shape (n,).
        other: of the second refiner, shape (n,).
        is_ball: shape (n,).
    """

    group: Indices
    own: Array
    other: Array
    is_ball: Bools


def gather_balls(
    detector: TwoStageDetector, other: Network, pictures: Iterable[tuple[int, Sample, Image]]
) -> BallEvidence:
    """Return the networks' outputs for the ball's places in pictures, each with the number of its data set.

    Args:
        detector: with the ball's own networks, without the second refiner.
    """
    group: list[int] = []
    own: list[float] = []
    votes: list[float] = []
    right: list[bool] = []
    for number, sample, image in pictures:
        found = detector.find_candidates(image, ball=False)
        figures = [candidate for candidate in found if candidate.corners_px]
        balls, heat, transforms = detector.search_ball(image, found)
        if not len(heat):
            continue
        places = decode_ball_places(balls, heat, transforms, detector.zoom)
        true = [thing for thing in sample.labels.things if thing.kind == "ball"]
        group += [number] * len(places)
        own += logit(np.array([place.score for place in places])).tolist()
        votes += ball_votes(other, image, places, figures, usual_length_px(figures)).tolist()
        right += [any(is_ball(ball, place) for ball in true) for place in places]
    return BallEvidence(np.array(group, np.intp), np.array(own), np.array(votes), np.array(right, np.bool_))


def fit_ball(evidence: BallEvidence) -> tuple[float, float, float] | None:
    """Return the slopes of both logits and an intercept; None if there are too few places with a ball, or without."""
    if min(evidence.is_ball.sum(), (~evidence.is_ball).sum()) < LEAST_BALLS:
        return None
    features = np.stack([evidence.own, evidence.other, np.ones(len(evidence.own))], axis=1)
    fitted = fit_logits(features, evidence.is_ball, evidence.group, (0.7, 0.3, 0.0))
    own, other, constant = (round(float(value), 3) for value in fitted)
    return max(own, 0.0), max(other, 0.0), constant
