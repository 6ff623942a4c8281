"""What the ball's networks and the second refiner say of places in labeled pictures, and the weights that fit them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.models.ball_detection import decode_ball_places
from downfield.models.ball_opinion import ball_votes
from downfield.models.refiner import usual_length_px
from downfield.models.runtime import Network, logit
from downfield.models.two_stage_detector import TwoStageDetector
from downfield.training.opinion_fit import fit_logits
from downfield.training.scoring import is_ball
from downfield.twin.sets.sample import Sample

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
    """Return what the networks say of the places in pictures, each with the number of its data set.

    Args:
        detector: with the ball's own networks, without another opinion.
        other: the second refiner.
        pictures: labeled ones.

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
