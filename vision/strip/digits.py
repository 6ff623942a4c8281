"""The digit classifier: a network with one hidden layer, taught by `training.strip_digits` on drawn digits alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Plane

CLASSES: Final = 11
"""The ten digits, and everything else: parts of digits, letters, spots."""
OTHER: Final = 10

_TEMPERATURE: Final = 0.75
"""Divides the log-odds, which smoothed labels keep small."""


class DigitNetwork:
    """A classifier of glyphs.

    Args:
        hidden: weights and biases of the hidden layer, shape (inputs + 1, units).
        output: of the output layer, shape (units + 1, CLASSES).
    """

    def __init__(self, hidden: Array, output: Array) -> None:
        self._hidden, self._output = hidden.astype(np.float64), output.astype(np.float64)

    def probabilities(self, glyphs: Sequence[Plane]) -> Array:
        """Return the probability of each class for each glyph, shape (n, CLASSES)."""
        inputs = np.stack([glyph.ravel() for glyph in glyphs]).astype(np.float64) - 0.3
        units = np.maximum(inputs @ self._hidden[:-1] + self._hidden[-1], 0.0)
        odds = (units @ self._output[:-1] + self._output[-1]) / _TEMPERATURE
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@cache
def bundled_digits() -> DigitNetwork:
    """Return the bundled classifier."""
    data = (files("downfield.vision.strip") / "digits.npz").read_bytes()
    with np.load(BytesIO(data)) as arrays:
        return DigitNetwork(arrays["hidden"], arrays["output"])
