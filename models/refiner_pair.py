"""Two refiners as one: independently trained networks make less correlated errors.

Which end of a base is its front, whether it has fallen and whether it is a figure are what refiners get wrong on tables
they have never seen. Two that learned from pictures of different renderers make different mistakes, so a weighted mean
of their logits is better than either (stacking: Wolpert, Stacked generalization, 1992). Places are means of both,
weighted by the inverse of the variances that they predict: the first is the more exact on pictures like its own, the
second on unfamiliar ones, and the predicted variances show it.

A figure that was tracked a moment ago has been measured by both already, and a refiner errs about a body, not about a
frame. So the second runs again only where the first would change what is known, is not sure of it, or says that its
corners are coarse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.card import RefinerWeights
from downfield.models.frame_detector import KEYPOINTS
from downfield.models.refiner import (
    FALLEN,
    FIGURE,
    LOG_ERRORS,
    OUTPUTS,
    PATCH_PX,
    POINTS,
    REFINER_LIMITS,
    TURN,
    run_patches,
)
from downfield.models.runtime import Network, Outputs

SECOND_BATCHES: Final = (2, 6, 12)
"""Patches of one pass: the few doubtful figures of a frame; each size takes memory of its own."""


# range of the errors that a refiner may say: it was trained within it
LOG_ERROR_RANGE: Final[tuple[float, float]] = (-7.0, 2.0)
# median error of a tracked base's corners, pixels of the patch, from which the second measures them as well
COARSE_PX: Final = 1.2
_COARSE_LOG_ERROR: Final = math.log(COARSE_PX / (PATCH_PX / 2))


class RefinerPair:
    """A refiner that combines two: a `Network`.

    Args:
        other: the second; numbers that it gives beyond a refiner's are not read.
        weights: how much each counts.
    """

    def __init__(self, refiner: Network, other: Network, weights: RefinerWeights | None = None) -> None:
        self.name, self.size_px = refiner.name, refiner.size_px
        self._refiner, self._other = refiner, other
        self._weights = weights or RefinerWeights()

    def run(self, pictures: Image) -> Outputs:
        """Run both networks on pictures, uint8 (n, height, width, 3); the output is valid until the next run.

        Raises:
            InputError: the other network is no refiner.
        """
        outputs: Outputs = np.array(self._refiner.run(pictures), dtype=np.float32)
        self._combine(outputs, np.arange(len(pictures)), pictures)
        return outputs

    def run_tracked(
        self, pictures: Image, known: Sequence[Detection], *, turn_logit: float, fallen_logit: float
    ) -> Array:
        """Run the first network on all patches, and the second on those of new and of doubtful figures.

        Args:
            pictures: patches, those of the known figures first, uint8 (n, height, width, 3).
            known: figures tracked a moment ago, cut out as they were then.
            turn_logit: logit from which a figure counts as turned around.
            fallen_logit: logit from which a figure counts as fallen.

        Returns:
            Outputs of shape (n, `OUTPUTS`).

        Raises:
            InputError: a network is no refiner.
        """
        outputs = run_patches(self._refiner, pictures)
        again = is_doubtful(outputs[: len(known)], known, turn_logit, fallen_logit)
        rows = np.concatenate([np.flatnonzero(again), np.arange(len(known), len(pictures))])
        self._combine(outputs, rows, pictures, known=len(known))
        return outputs

    def _combine(self, outputs: Array | Outputs, rows: Indices, pictures: Image, known: int = 0) -> None:
        """Combine with the second refiner, in place, in some rows; the first `known` figures are ones already."""
        if not len(rows):
            return
        other = self._other.run(pictures[rows])
        if other.ndim != 2 or len(other) != len(rows) or other.shape[1] < OUTPUTS:
            raise InputError(
                f"{self._other.name}: its output has shape {other.shape}; a refiner gives (n, {OUTPUTS}) or more."
            )
        outputs[rows] = _with_mean_places(outputs[rows], other)
        weights = self._weights
        for column, (first, second) in ((TURN, weights.front), (FALLEN, weights.fallen)):
            outputs[rows, column] = first * outputs[rows, column] + second * other[:, column]
        new, (first, second) = rows >= known, weights.figure
        outputs[rows[new], FIGURE] = first * outputs[rows[new], FIGURE] + second * other[new, FIGURE]


def _with_mean_places(first: Array | Outputs, second: Array | Outputs) -> Array | Outputs:
    """Return the first refiner's outputs, (n, `OUTPUTS`), with places and errors of keypoints that both measured."""
    out = first.copy()
    errors = [outputs[:, LOG_ERRORS].astype(np.float64) for outputs in (first, second)]
    shares = [np.exp(-2 * np.clip(each, *LOG_ERROR_RANGE)) for each in errors]
    total = shares[0] + shares[1]
    places = [outputs[:, POINTS].reshape(-1, KEYPOINTS, 2) for outputs in (first, second)]
    mean = (places[0] * shares[0][..., None] + places[1] * shares[1][..., None]) / total[..., None]
    out[:, POINTS] = mean.reshape(-1, 2 * KEYPOINTS)
    out[:, LOG_ERRORS] = 0.5 * np.log(2 / total)  # no smaller than both are in the mean: they err alike
    return out


def is_doubtful(outputs: Array, known: Sequence[Detection], turn_logit: float, fallen_logit: float) -> Bools:
    """Return which known figures the first refiner sees otherwise than before, not surely the same, or only coarsely.

    Args:
        outputs: of the first refiner for their patches, shape (n, `OUTPUTS`).
        turn_logit: logit from which a figure counts as turned around.
        fallen_logit: logit from which a figure counts as fallen.

    Returns:
        Shape (n,).
    """
    fallen = np.array([figure.kind == "fallen" for figure in known], dtype=np.bool_)
    as_before = np.minimum(
        turn_logit - outputs[:, TURN], np.where(fallen, 1.0, -1.0) * (outputs[:, FALLEN] - fallen_logit)
    )
    coarse = np.median(outputs[:, LOG_ERRORS][:, :4], axis=1) > _COARSE_LOG_ERROR
    doubtful: Bools = (as_before < REFINER_LIMITS.clear_logit) | coarse
    return doubtful
