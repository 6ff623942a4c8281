"""Matches figures that have just fallen to where they lie, not to what is still detected where they stood.

Whoever falls lies beside the place where it stood, with its body over that place. A detector that follows figures from
frame to frame may go on detecting a base there for a while, less and less surely, and such a detection fits the figure
better than the one that lies beside it. The roster is closed: where nobody is missing, the surer one is the figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools
from downfield.models.runtime import logit
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.assignment import ASSIGNMENT_LIMITS, Assignment


@dataclass(frozen=True, slots=True)
class FallenBesideLimits:
    """Thresholds of matching a figure to where it lies."""

    beside_mm: float = 45.0
    """A base lies at most this far from where it stood, or from what is still detected there."""

    missing_mm: float = 60.0
    """A figure that is not detected and was this near may be the one that lies."""

    surer_log_odds: float = 2.0
    """The detection that lies is surer by this than what is still detected where the figure stood; for a figure that is
    believed to lie it is enough that it is surer."""

    min_score: float = 0.7
    """Least score (0..1) of the detection that lies."""


_LIMITS: Final = FallenBesideLimits()


def prefer_fallen(
    found: Assignment, measurements: Measurements, off_mm: Array, jersey: Array, lies: Bools
) -> Assignment:
    """Return the pairs, figures that lie beside their places matched to where they lie.

    Args:
        found: pairs of figures and detections.
        measurements: the m detections.
        off_mm: distances of detections from the n figures' predicted places, shape (n, m).
        jersey: of each figure, 1 light, -1 dark, shape (n,).
        lies: which figures are believed to lie, shape (n,).

    """
    place, sure = measurements.pose[:, :2], logit(measurements.scores)
    lying = measurements.signs.called_fallen & measurements.signs.edgewise & (measurements.scores >= _LIMITS.min_score)
    lying[found.detections] = False
    surer = np.where(lies, 0.0, _LIMITS.surer_log_odds)[found.figures]
    missing = np.ones(len(off_mm), dtype=np.bool_)
    missing[found.figures] = False
    detections = found.detections.copy()
    for column in np.flatnonzero(lying).tolist():
        if (off_mm[missing, column] < _LIMITS.missing_mm).any():
            continue
        near = np.linalg.norm(place[detections] - place[column], axis=1) < _LIMITS.beside_mm
        near &= off_mm[found.figures, column] < _LIMITS.beside_mm
        near &= sure[column] - sure[detections] > surer
        near &= jersey[found.figures] * measurements.light[column] > -ASSIGNMENT_LIMITS.other_team_log_odds
        if near.any():
            detections[np.where(near, sure[detections], np.inf).argmin()] = column
    return replace(found, detections=detections)
