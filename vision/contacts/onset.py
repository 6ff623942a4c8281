"""When a contact began, as it looks a moment later: where an approach meets the level at which the gap then stays.

Frame by frame (`contacts_belief`) an instant is judged by what was known of the approach then. Once some frames have
followed, both sides of it are seen, and every instant near the one believed is tried: a level after it, a steady
approach before it, fitted to the measured gaps together. An approach is steady for a short time only, so gaps count the
less the longer before the instant they were measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.vision.contacts.measurement import Pair, PairMeasurements

CHATTER_MM: Final = 0.1
"""Bases that shake meet first when they are this near to where they come to lie."""

SLOWEST_MM_S: Final = 5.0
"""Of approaches."""

_BEFORE_S, _AFTER_S = 0.08, 0.13  # the gaps that are looked at, about the instant believed
_REACH_S, _STEP_S = 0.06, 0.002  # the instants that are tried
_UNSTEADY: Final = 1000.0  # mm^2/s^3: density of an approach's acceleration, bases from rest and turning ones included
_USUAL_MM_S: Final = 80.0  # deviation of approaches' speeds
_TAILS: Final = 4.0  # degrees of freedom of Student's distribution: measurements are off by much now and then
_LEAST: Final = 4  # gaps, with which level and approach are overdetermined
_LEAST_BEFORE: Final = 3  # of them, where there are: of slow cameras, longer before
_KEPT_S: Final = 0.5


@dataclass(slots=True)
class GapHistory:
    """The measured gaps of late, of all pairs that are near."""

    _gaps: dict[Pair, deque[tuple[float, float, float]]] = field(default_factory=dict)

    def note(self, now: PairMeasurements, noise_mm: Array, t_s: float, known: Container[Pair]) -> None:
        """Keep what is measured in a frame.

        Args:
            now: pairs; who is not near any more is forgotten.
            noise_mm: standard deviation of what changes from frame to frame, shape (n,).
            t_s: of the frame.
            known: those who go on; of others, whom a hand has moved, nothing before this frame counts.

        """
        kept = {pair: self._gaps[pair] if pair in known and pair in self._gaps else deque() for pair in now.pairs}
        for row in np.flatnonzero(now.fresh).tolist():
            gaps = kept[now.pairs[row]]
            if not gaps or gaps[-1][0] < t_s:  # else the frame is thought over
                gaps.append((t_s, float(now.gap_mm[row]), float(noise_mm[row])))
            while gaps[0][0] < t_s - _KEPT_S:
                gaps.popleft()
        self._gaps = kept

    def met_s(self, pair: Pair, about_s: float) -> float:
        """When a pair met, of which it is known about when it did; just that where too little was measured."""
        gaps = [one for one in self._gaps.get(pair, ()) if one[0] <= about_s + _AFTER_S]
        before = sum(one[0] < about_s for one in gaps)
        first = min(sum(one[0] < about_s - _BEFORE_S for one in gaps), max(before - _LEAST_BEFORE, 0))
        near = gaps[first:]
        return about_s if len(near) < _LEAST else about_s + onset_s(*(np.array(near) - (about_s, 0.0, 0.0)).T)


def onset_s(t_s: Array, gap_mm: Array, noise_mm: Array) -> float:
    """The likeliest instant, less than 60 ms from 0, at which a gap stopped closing; 0 where none is likely.

    Args:
        t_s: of the measurements, shape (n,).
        gap_mm: what was measured, off by whatever lasts, shape (n,).
        noise_mm: standard deviation of the rest of its error, shape (n,).

    """
    instants = np.arange(-_REACH_S, _REACH_S + _STEP_S / 2, _STEP_S)
    before_s = np.maximum(instants[:, None] - t_s, 0.0)
    variance = noise_mm**2 + _UNSTEADY * before_s**3 / 3
    weight = 1 / variance
    # Least squares in two unknowns, level and speed, one problem for each instant.
    a, b, c = weight.sum(axis=1), (weight * before_s).sum(axis=1), (weight * before_s**2).sum(axis=1)
    c += _USUAL_MM_S**-2
    level, closing = weight @ gap_mm, (weight * before_s) @ gap_mm
    speed = np.maximum((a * closing - b * level) / (a * c - b * b), SLOWEST_MM_S)
    off = gap_mm - ((level - b * speed) / a)[:, None] - speed[:, None] * before_s
    tails = (_TAILS + 1) * np.log1p(off**2 / variance / _TAILS)
    unlikely = (np.log(variance) + tails).sum(axis=1) + (speed / _USUAL_MM_S) ** 2
    best = int(unlikely.argmin())
    if best in {0, len(instants) - 1}:  # it is none of these
        return 0.0
    return float(instants[best] - CHATTER_MM / speed[best])
