"""Two detectors' opinions of the first one's figures: how likely each is a figure, and whether its front is disputed.

Detectors that learned from pictures of different renderers take different things for figures. A figure's logit is a
weighted sum of both detectors' logits; one that the second does not report has the logit of the least that it would
report. Where both see a figure, but disagree which end is its front, neither is believed as much as both would be.
Figures that only the second reports are left out: on validation pictures the first misses hardly any, and a second
candidate beside a figure, cut out less well, only competes with the first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.card import OpinionWeights
from downfield.models.refiner import base_sides
from downfield.models.runtime import logit, sigmoid
from downfield.models.suppression import find_same_figure


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Thresholds of joining."""

    least_score: float = 0.05
    """Score from which the second detector's figures are read."""
    missed_logit: float = -4.5
    """Logit of a figure that the second detector does not report."""


LIMITS: Final = JointLimits()


def match_detectors(figures: Sequence[Detection], others: Sequence[Detection]) -> tuple[Array, Array]:
    """Return what two detectors say of the figures of the first.

    Args:
        figures: of the first detector.
        others: of the second, best first.

    Returns:
        Logits of both, shape (n, 2), and the cosine of the angle between the fronts they see, 0 where the second does
        not report the figure, shape (n,).

    """
    logits = np.full((len(figures), 2), LIMITS.missed_logit)
    logits[:, 0] = logit(np.array([figure.score for figure in figures]))
    agreement = np.zeros(len(figures))
    seen = set()
    for other in others:
        same = find_same_figure(other, figures)
        if same is not None and same not in seen:
            seen.add(same)
            logits[same, 1] = logit(np.array(other.score))
            agreement[same] = _cosine(figures[same], other)
    return logits, agreement


def join_figures(
    found: Sequence[Detection], others: Sequence[Detection], weights: OpinionWeights
) -> tuple[Detection, ...]:
    """Return detections, their figures with the scores and fronts that two detectors give them together.

    Args:
        found: detections of the first detector; balls and hands stay as they are.
        others: detections of the second, best first; only figures count.
        weights: of both; without weights of detectors the figures stay as well.

    """
    figures = [figure for figure in found if figure.corners_px]
    if weights.detectors is None or not figures:
        return tuple(found)
    logits, agreement = match_detectors(figures, [other for other in others if other.corners_px])
    first, second, constant = weights.detectors
    scores = sigmoid(logits @ (first, second) + constant).tolist()
    joined = []
    for figure, score, cosine in zip(figures, scores, agreement.tolist(), strict=True):
        front = weights.disputed_front if cosine < 0 else figure.front_score
        joined.append(dataclasses.replace(figure, score=score, front_score=front))
    joined.sort(key=lambda figure: -figure.score)
    return (*joined, *(thing for thing in found if not thing.corners_px))


def _cosine(figure: Detection, other: Detection) -> float:
    ahead, _ = base_sides((figure.corners_px, other.corners_px))
    length = float(np.prod(np.linalg.norm(ahead, axis=1)))
    return float(ahead[0] @ ahead[1]) / length if length > 0 else 0.0
