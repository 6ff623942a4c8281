"""A second refiner whose opinion counts as much as the first's, where two that learned apart are right more often.

Which end of a base is its front, and whether it has fallen, are what refiners get wrong on tables they have never seen.
Two that learned from pictures of different renderers make different mistakes, so the mean of their logits is better
than either (an ensemble: Hansen and Salamon, Neural Network Ensembles, 1990). Places are the first refiner's alone: it
measures them more exactly.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.models.refiner import FALLEN, OUTPUTS, TURN
from downfield.models.runtime import Network, Outputs

SHARED_OPINIONS: Final = (TURN, FALLEN)
"""Outputs of which the mean is taken."""


class SecondOpinion:
    """A refiner that has the mean opinion of two about fronts and falls: a `Network`.

    Args:
        refiner: gives everything else as well.
        other: a refiner; numbers that it gives beyond a refiner's are not read.

    """

    def __init__(self, refiner: Network, other: Network) -> None:
        self.name, self.size_px = refiner.name, refiner.size_px
        self._refiner, self._other = refiner, other

    def run(self, pictures: Image) -> Outputs:
        """Run both networks on pictures, uint8 (n, height, width, 3); the output is valid until the next run.

        Raises:
            InputError: the other network is no refiner.

        """
        other = self._other.run(pictures)
        if other.ndim != 2 or len(other) != len(pictures) or other.shape[1] < OUTPUTS:
            raise InputError(
                f"{self._other.name}: its output has shape {other.shape}; a refiner gives (n, {OUTPUTS}) or more."
            )
        outputs: Outputs = np.array(self._refiner.run(pictures), dtype=np.float32)
        for column in SHARED_OPINIONS:
            outputs[:, column] = (outputs[:, column] + other[:, column]) / 2
        return outputs
