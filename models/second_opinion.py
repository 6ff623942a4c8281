"""A second refiner whose opinion counts beside the first's, where two that learned apart are right more often.

Which end of a base is its front, whether it has fallen and whether it is a figure are what refiners get wrong on tables
they have never seen. Two that learned from pictures of different renderers make different mistakes, so a weighted mean
of their logits is better than either (stacking: Wolpert, Stacked generalization, 1992). Places are the first refiner's
alone: a mean weighted by inverse variances was no better on validation pictures of the twin, nor on traced ones.

A figure that was tracked a moment ago has the opinion of both already, and a refiner errs about a body, not about a
frame. So the second is requested again only where the first would change what is known, or is not sure of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.card import OpinionWeights
from downfield.models.refiner import FALLEN, FIGURE, LIMITS, OUTPUTS, TURN, run_patches
from downfield.models.runtime import Network, Outputs

OPINION_BATCHES: Final = (2, 6, 12)
"""Patches of one pass: the few doubtful figures of a frame; each size takes memory of its own."""


class SecondOpinion:
    """A refiner that combines the opinions of two: a `Network`.

    Args:
        refiner: the first.
        other: the second; numbers that it gives beyond a refiner's are not read.
        weights: how much each counts.

    """

    def __init__(self, refiner: Network, other: Network, weights: OpinionWeights | None = None) -> None:
        self.name, self.size_px = refiner.name, refiner.size_px
        self._refiner, self._other = refiner, other
        self._weights = weights or OpinionWeights()

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
        """Combine with the second opinion, in place, in some rows; of the first `known` figures only front and fall."""
        if not len(rows):
            return
        other = self._other.run(pictures[rows])
        if other.ndim != 2 or len(other) != len(rows) or other.shape[1] < OUTPUTS:
            raise InputError(
                f"{self._other.name}: its output has shape {other.shape}; a refiner gives (n, {OUTPUTS}) or more."
            )
        weights = self._weights
        for column, (first, second) in ((TURN, weights.front), (FALLEN, weights.fallen)):
            outputs[rows, column] = first * outputs[rows, column] + second * other[:, column]
        new, (first, second) = rows >= known, weights.figure
        outputs[rows[new], FIGURE] = first * outputs[rows[new], FIGURE] + second * other[new, FIGURE]


def is_doubtful(outputs: Array, known: Sequence[Detection], turn_logit: float, fallen_logit: float) -> Bools:
    """Return which known figures the first refiner sees otherwise than before, or not surely the same, shape (n,).

    Args:
        outputs: of the first refiner for their patches, shape (n, `OUTPUTS`).
        known: the figures.
        turn_logit: logit from which a figure counts as turned around.
        fallen_logit: logit from which a figure counts as fallen.

    """
    fallen = np.array([figure.kind == "fallen" for figure in known], dtype=np.bool_)
    as_before = np.minimum(
        turn_logit - outputs[:, TURN], np.where(fallen, 1.0, -1.0) * (outputs[:, FALLEN] - fallen_logit)
    )
    doubtful: Bools = as_before < LIMITS.clear_logit
    return doubtful
