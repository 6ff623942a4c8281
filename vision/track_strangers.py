"""Sightings that fit nobody: where they have stood for a while, somebody who was lost may have been put down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.vision.footprint import Array

_SAME_MM: Final = 6.0  # between frames
_SETTLED_NS: Final = 150_000_000  # what a network sees where nothing is does not last so long
_FORGOTTEN_NS: Final = 150_000_000
_LEAST_SEEN: Final = 3


@dataclass(slots=True)
class _Stranger:
    place_mm: Array
    since_ns: int
    last_ns: int
    seen: int = 1


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
        out = np.zeros((len(seen_ns), len(place_mm)), dtype=bool)
        for one in self._known:
            there = np.linalg.norm(place_mm - one.place_mm, axis=1) < _SAME_MM
            out |= ((seen_ns >= one.since_ns) & (seen_ns <= one.last_ns))[:, None] & there[None]
        return out

    def settled(self, place_mm: Array, t_ns: int) -> NDArray[np.bool_]:
        """Take in one frame's, and say which of them have been there for a while.

        Args:
            place_mm: where they are, shape (k, 2).
            t_ns: of the frame.

        """
        self._known = [one for one in self._known if t_ns - one.last_ns <= _FORGOTTEN_NS]
        settled = np.zeros(len(place_mm), dtype=bool)
        for row, place in enumerate(place_mm):
            same = min(self._known, key=lambda one: float(np.linalg.norm(one.place_mm - place)), default=None)
            if same is None or np.linalg.norm(same.place_mm - place) > _SAME_MM or same.last_ns == t_ns:
                self._known.append(_Stranger(place, t_ns, t_ns))
                continue
            same.place_mm, same.last_ns, same.seen = place, t_ns, same.seen + 1
            settled[row] = t_ns - same.since_ns >= _SETTLED_NS and same.seen >= _LEAST_SEEN
        return settled
