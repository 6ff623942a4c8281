"""Measurements that fit nobody: where they have stood for a while, somebody who was lost may have been put down.

A stain or a printed helmet that a network takes for a figure is such a sighting too. It is known by having been there,
in the same place, while the figure was still seen elsewhere, and it is remembered while a hand hides it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array

_SAME_MM: Final = 6.0  # between frames
_SETTLED_NS: Final = 150_000_000  # what a network sees where nothing is does not last so long
_FORGOTTEN_NS: Final = 150_000_000
_LEAST_SEEN: Final = 3
_FIXTURE_NS: Final = 500_000_000  # what was in a place for so long while a figure was elsewhere is not that figure,
_REMEMBERED_NS: Final = 3_000_000_000  # nor when it is seen again after no longer than this


@dataclass(slots=True)
class _Stranger:
    """A sighting that is followed: where it is, since when without a break, when last, and how often in that time.

    Attributes:
        home_mm: where it stays, shape (2,).
        home_ns: when it was there first.

    """

    place_mm: Array
    since_ns: int
    last_ns: int
    home_mm: Array
    home_ns: int
    seen: int = 1

    def see(self, place_mm: Array, t_ns: int) -> None:
        """It is seen again."""
        if t_ns - self.last_ns > _FORGOTTEN_NS:
            self.since_ns, self.seen = t_ns, 0
        if np.linalg.norm(place_mm - self.home_mm) > _SAME_MM:
            self.home_mm, self.home_ns = place_mm, t_ns
        self.place_mm, self.last_ns, self.seen = place_mm, t_ns, self.seen + 1

    def is_forgotten(self, t_ns: int) -> bool:
        """Whether it was not seen for too long."""
        stayed = self.last_ns - self.home_ns >= _FIXTURE_NS
        return t_ns - self.last_ns > (_REMEMBERED_NS if stayed else _FORGOTTEN_NS)


class Strangers:
    """Keeps in mind where sightings were that fitted nobody."""

    def __init__(self) -> None:
        self._known: list[_Stranger] = []

    def beside(self, place_mm: Array, seen_ns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which places had a stranger at the very time that figures were seen elsewhere: he is none of those.

        Args:
            place_mm: shape (m, 2).
            seen_ns: when each figure was last seen, shape (n,).

        Returns:
            Shape (n, m).

        """
        return self._who_is_not(place_mm, seen_ns, lambda one: (seen_ns >= one.since_ns) & (seen_ns <= one.last_ns))

    def fixed(self, place_mm: Array, seen_ns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which places had a stranger for long while figures were seen elsewhere, and he may have been hidden since.

        Args:
            place_mm: shape (m, 2).
            seen_ns: when each figure was last seen, shape (n,).

        Returns:
            Shape (n, m).

        """
        return self._who_is_not(place_mm, seen_ns, lambda one: seen_ns - one.home_ns >= _FIXTURE_NS)

    def _who_is_not(
        self, place_mm: Array, seen_ns: NDArray[np.int64], was_elsewhere: Callable[[_Stranger], NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        out = np.zeros((len(seen_ns), len(place_mm)), dtype=bool)
        for one in self._known:
            there = np.linalg.norm(place_mm - one.place_mm, axis=1) < _SAME_MM
            out |= was_elsewhere(one)[:, None] & there[None]
        return out

    def settled(self, place_mm: Array, t_ns: int) -> NDArray[np.bool_]:
        """Take in one frame's, and say which of them have been there for a while.

        Args:
            place_mm: where they are, shape (k, 2).
            t_ns: of the frame.

        """
        self._known = [one for one in self._known if not one.is_forgotten(t_ns)]
        settled = np.zeros(len(place_mm), dtype=bool)
        for row, place in enumerate(place_mm):
            same = min(self._known, key=lambda one: float(np.linalg.norm(one.place_mm - place)), default=None)
            if same is None or np.linalg.norm(same.place_mm - place) > _SAME_MM or same.last_ns == t_ns:
                self._known.append(_Stranger(place, t_ns, t_ns, place, t_ns))
                continue
            same.see(place, t_ns)
            settled[row] = t_ns - same.since_ns >= _SETTLED_NS and same.seen >= _LEAST_SEEN
        return settled
