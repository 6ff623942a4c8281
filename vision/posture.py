"""Who lies: a belief per figure, filtered over frames.

A figure stands or lies; now and then it goes from one to the other, and every sighting speaks for one of them. Two or
three frames in a row settle it; one that mistakes a leaning figure for a fallen one does not. While a hand is at a
figure, what it is seen as counts for nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.vision.footprint import Array

_FALLS_PER_S: Final = 0.05  # while the board is on
_RISES_PER_S: Final = 0.02  # nobody stands up by himself
_LIKELY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Fall:
    """A figure that lies.

    Attributes:
        id: roster id.
        t_ns: when it fell, interpolated between frames.
        toward_deg: where its head points, counter-clockwise from +x; None while its helmet is not seen.

    """

    id: str
    t_ns: int
    toward_deg: float | None


class PostureBelief:
    """Whether each figure of a roster lies.

    Args:
        count: how many there are.

    """

    def __init__(self, count: int) -> None:
        self._odds = np.full(count, -4.0)
        self.fell_ns: list[int | None] = [None] * count
        """When each that lies fell; None for those that stand."""

    @property
    def fallen(self) -> Array:
        """Probability that each lies, shape (n,)."""
        odds: Array = 1 / (1 + np.exp(-self._odds))
        return odds

    def update(self, rows: NDArray[np.intp], odds: Array, step_s: float, t_ns: int) -> None:
        """Take in what one frame shows.

        Args:
            rows: of the figures seen, in nobody's hand, shape (k,).
            odds: log-odds that they lie, by this frame alone, shape (k,).
            step_s: since the frame before.
            t_ns: of this frame.

        """
        before = self.fallen
        falls, rises = (1 - math.exp(-rate * step_s) for rate in (_FALLS_PER_S, _RISES_PER_S))
        now = before * (1 - rises) + (1 - before) * falls
        self._odds = np.log(now / (1 - now))
        self._odds[rows] += odds
        after = self.fallen
        for row in np.flatnonzero((before < _LIKELY) & (after >= _LIKELY)):
            self.fell_ns[row] = t_ns - round(step_s * 1e9 * (after[row] - _LIKELY) / (after[row] - before[row]))
        for row in np.flatnonzero(after < _LIKELY):
            self.fell_ns[row] = None

    def stand(self, rows: NDArray[np.intp]) -> None:
        """Believe of figures that were in a hand that they stand: that is what hands put them down for."""
        self._odds[rows] = np.minimum(self._odds[rows], 0.0)
