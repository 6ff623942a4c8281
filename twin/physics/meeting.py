"""Bases that meet on exact paths: the share of its move that each makes until it touches another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, gaps_mm

STOP_GAP_MM: Final = 1e-6
"""The gap at which two bases that meet are stopped."""

_MARGIN_MM = 4.0  # pairs farther apart than this can't meet within a step
_HALVINGS = 60
_CORNERS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])  # in a footprint's order

Poses2D = Array
"""Centers and headings of bases: x mm, y mm, degrees; shape (n, 3)."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The sizes of some bases.

    Attributes:
        half_mm: half lengths and widths of the core rectangles, shape (n, 2).
        corner_mm: radii of their corners, shape (n,).

    """

    half_mm: Array
    corner_mm: Array

    @classmethod
    def of(cls, sizes: list[BaseSize]) -> Crowd:
        """Return the crowd of bases of these sizes."""
        corner = np.array([size.corner_mm for size in sizes])
        sides = np.array([(size.length_mm, size.width_mm) for size in sizes]).reshape(-1, 2)
        return cls(sides / 2 - corner[:, None], corner)

    def shares(self, before: Poses2D, after: Poses2D) -> Array:
        """Return the share of its move from `before` to `after` that each base may make, 0..1, shape (n,).

        Two bases that would overlap both stop where they touch; bases that touch already and push on stay.
        """
        share = np.ones(len(before))
        pairs = self._near(before, after)
        if not len(pairs):
            return share
        gap_before = self._gaps(before, pairs)
        while True:
            now = before + share[:, None] * (after - before)
            clash = self._gaps(now, pairs) < np.minimum(0.0, gap_before - STOP_GAP_MM)
            clash &= (share[pairs] > 0).any(axis=1)
            if not clash.any():
                return share
            for pair, gap in zip(pairs[clash], gap_before[clash], strict=True):
                share[pair] *= self._touching_share(before[pair], now[pair], pair, gap)

    def _near(self, before: Poses2D, after: Poses2D) -> NDArray[np.intp]:
        """Return the pairs that might meet and of which at least one moves; shape (m, 2)."""
        reach = np.hypot(*self.half_mm.T) + self.corner_mm
        apart = np.linalg.norm(after[:, None, :2] - after[None, :, :2], axis=2) - reach[:, None] - reach
        moves = (before != after).any(axis=1)
        return np.argwhere(np.triu(apart < _MARGIN_MM, k=1) & (moves[:, None] | moves))

    def _gaps(self, poses: Poses2D, pairs: NDArray[np.intp]) -> Array:
        turn = np.radians(poses[:, 2])
        ahead = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
        arms = self.half_mm[:, None, :] * _CORNERS
        cores = poses[:, None, :2] + arms[:, :, :1] * ahead[:, None] + arms[:, :, 1:] * aside[:, None]
        a, b = pairs.T
        return gaps_mm(cores[a], cores[b], (poses[a, 2], poses[b, 2]), self.corner_mm[a] + self.corner_mm[b])

    def _touching_share(self, before: Poses2D, after: Poses2D, pair: NDArray[np.intp], gap_before: float) -> float:
        if gap_before <= 2 * STOP_GAP_MM:
            return 0.0
        two, low, high = Crowd(self.half_mm[pair], self.corner_mm[pair]), 0.0, 1.0
        only = np.array([[0, 1]])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            gap = float(two._gaps(before + middle * (after - before), only)[0])
            if 0.0 <= gap <= STOP_GAP_MM:
                return middle
            low, high = (middle, high) if gap > 0 else (low, middle)
        return low
