"""Who lies: a belief per figure, filtered over frames.

A figure stands or lies; now and then it goes from one to the other, and every sighting speaks for one of them. Two or
three frames in a row settle it; one that mistakes a leaning figure for a fallen one does not. When it fell is where the
frames since speak most for having fallen and those before for having stood (the change point of Page's cumulative sums,
Biometrika 41, 1954), however long it took to be believed. While a hand is at a figure, what it is seen as counts for
nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array

_FALLS_PER_S: Final = 0.05  # while the board is on
_RISES_PER_S: Final = 0.02  # nobody stands up by himself
_LIKELY: Final = 0.5
_VANISHED: Final = -3.0  # log-odds of one who showed well and was then missed in two looks, no hand near: of such one
# in fourteen was falling, tumbling too fast to look like anything; the others were back soon
_IN_VIEW: Final = 0.6  # share of its base's top, of late
_OF_LATE: Final = 0.2  # weight of the latest look in that


@dataclass(frozen=True, slots=True)
class Fall:
    """A figure that lies.

    Attributes:
        id: roster id.
        t_ns: when it fell, half-way between the sightings before and after.
        toward_deg: where its head points, counter-clockwise from +x; None while its helmet is not seen.

    """

    id: str
    t_ns: int
    toward_deg: float | None


class PostureBelief:
    """Whether each figure of a roster lies.

    Args:
        count: how many there are.
        t_ns: when they are said to stand.

    """

    def __init__(self, count: int, t_ns: int) -> None:
        self._odds = np.full(count, -4.0)
        self._seen_ns = np.full(count, t_ns, dtype=np.int64)
        self._since_ns = self._seen_ns.copy()
        self._shown = np.ones(count)  # how much of its base's top was seen of late
        self._missed = np.zeros(count, dtype=np.int64)  # in how many looks, since it was seen
        self._speaks = np.zeros(count)  # what sightings since then say, log-odds, as long as it is for lying
        self.fell_ns: list[int | None] = [None] * count
        """When each that lies fell; None for those that stand."""

    @property
    def fallen(self) -> Array:
        """Probability that each lies, shape (n,)."""
        odds: Array = 1 / (1 + np.exp(-self._odds))
        return odds

    def miss(self, rows: NDArray[np.intp], missed: NDArray[np.bool_], visible: Array) -> None:
        """Take in who was not seen where nothing is known to hide him.

        Args:
            rows: of the figures seen, shape (k,).
            missed: who was not, with the board on and no hand near, shape (n,).
            visible: how much was seen of the bases of those who were, shape (k,).

        """
        self._missed[rows] = 0
        self._missed[missed] += 1
        self._shown[rows] += _OF_LATE * (visible - self._shown[rows])
        gone = missed & (self._missed == 2) & (self._shown > _IN_VIEW)
        self._odds[gone] = np.maximum(self._odds[gone], _VANISHED)

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
        silent = rows[self._speaks[rows] == 0.0]
        self._since_ns[silent] = (self._seen_ns[silent] + t_ns) // 2
        self._seen_ns[rows] = t_ns
        self._speaks[rows] = np.maximum(self._speaks[rows] + odds, 0.0)
        for row in np.flatnonzero((before < _LIKELY) & (after >= _LIKELY)):
            self.fell_ns[row] = int(self._since_ns[row])
        self._speaks[(before >= _LIKELY) & (after < _LIKELY)] = 0.0  # it stands again: it may fall another time
        for row in np.flatnonzero(after < _LIKELY):
            self.fell_ns[row] = None

    def stand(self, rows: NDArray[np.intp]) -> None:
        """Believe of figures that were in a hand that they stand: that is what hands put them down for."""
        self._odds[rows] = np.minimum(self._odds[rows], 0.0)
        self._speaks[rows] = 0.0
