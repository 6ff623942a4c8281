"""How much measured gaps shake from frame to frame."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.vision.contacts.likelihood import GapObservations
from downfield.vision.contacts.measurement import Pair, PairMeasurements

_SHARE: Final = 0.35  # of the gap's variance: what changes from frame to frame after tracking
_LEARNED: Final = 0.03  # of what a pair says in a frame of everybody's noise: some ten pairs' last few frames
_OWN_LEARNED: Final = 0.1  # of what it says of its own
_MEDIAN_BEND: Final = 0.6745 * math.sqrt(6.0)  # of the absolute second difference of noise of deviation 1,
_MEAN_BEND: Final = math.sqrt(12.0 / math.pi)  # and its mean
_MOST: Final = 4.0
_LEAST_MM: Final = 0.05  # what bouncing and rounding leave between bases that touch


@dataclass(frozen=True, slots=True)
class _Gaps:
    """What is known of a pair: its gap in the last frame and the one before, and how much it shakes for its size."""

    last_mm: float = math.nan
    older_mm: float = math.nan
    own: float = 1.0


class GapNoise:
    """How much gaps really shake, learned from how they bend: smooth movement does not.

    All pairs together tell of the picture's state within a few frames. One whose bases are hard to see, be it for
    their color or for who stands before them, shakes more than the others, and tells that itself.
    """

    def __init__(self) -> None:
        self._gaps: dict[Pair, _Gaps] = {}
        self._common = 1.0

    def note(self, pairs: PairMeasurements) -> None:
        """Take in the gaps of a frame."""
        bends, gaps = [], {}
        numbers = (pairs.gap_mm.tolist(), _noise_mm(pairs).tolist(), pairs.seen.tolist(), pairs.fresh.tolist())
        for pair, now_mm, sigma_mm, seen, fresh in zip(pairs.pairs, *numbers, strict=True):
            before = self._gaps.get(pair, _Gaps())
            if not fresh:
                if seen:  # nobody looked
                    gaps[pair] = before
                continue
            own, bend = before.own, abs(now_mm - 2 * before.last_mm + before.older_mm) / sigma_mm
            if not math.isnan(bend):
                bends.append(bend / _MEDIAN_BEND)
                own += _OWN_LEARNED * (min(bend / _MEAN_BEND, _MOST) - own)
            gaps[pair] = _Gaps(now_mm, before.last_mm, own)
        self._gaps = gaps
        if bends:
            share = 1 - (1 - _LEARNED) ** len(bends)
            self._common += share * (statistics.median(bends) - self._common)

    def seen(self, pairs: PairMeasurements) -> GapObservations:
        """The measured gaps with the noise that they really have."""
        own = [self._gaps[pair].own if pair in self._gaps else 1.0 for pair in pairs.pairs]
        factor = np.clip(np.maximum(np.array(own), self._common), 1.0, _MOST)
        return GapObservations(gap_mm=pairs.gap_mm, noise_mm=_noise_mm(pairs) * factor, known=pairs.fresh)


def _noise_mm(pairs: PairMeasurements) -> Array:
    return np.sqrt(_SHARE * pairs.variance_mm2 + _LEAST_MM**2)
