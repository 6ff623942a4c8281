"""Finds pictures that show nothing new: sent again bit for bit, or compressed again by a stream or a capture device.

A picture sent again differs from the one before by compression alone, and a new one, while figures walk, by their
movement as well. How much the strongest changes are tells the two apart once both have been seen in turn: a run of
small changes between large ones is no longer than the pictures are repeated. Where nothing moves, or everything has
just come to rest, pictures look alike too; a run longer than any before it is taken as new, as nothing is lost by that.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Image


@dataclass(frozen=True, slots=True)
class RepeatLimits:
    """Thresholds of finding repeated pictures."""

    sample_px: int = 8
    """The picture is sampled at this spacing, in both directions."""
    strongest_share: float = 0.001
    """Share of the samples whose change counts: those at the edges of walking figures."""
    memory: int = 24
    """Changes that are remembered: 0.8 s of movement at 30 a second."""
    memory_runs: int = 12
    """Large changes that are remembered, by the run of small ones before each."""
    large_percentile: float = 85.0
    """Of the remembered changes: a large one, also where each picture is sent four times."""
    small_share: float = 0.5
    """A change smaller than this share of a large one shows nothing new; compression makes less than a third."""
    least_change: float = 0.15
    """Share of the picture's light that a large change makes; without that nothing moves."""
    longest_run: int = 5
    """Pictures in a row that may be repeats: no source repeats more of them."""
    least_runs: int = 3
    """Runs after which repeats are believed: a pause in a movement may look like one."""


_LIMITS: Final = RepeatLimits()


class RepeatDetector:
    """Tells pictures that show nothing new; call `is_repeat` for every picture, in order of time.

    Attributes:
        sample: the latest picture's green, sampled.
        identical: whether the latest picture is the one before it, bit for bit.
    """

    def __init__(self) -> None:
        self.sample: Image | None = None
        self.identical = False
        self._changes: deque[float] = deque(maxlen=_LIMITS.memory)
        self._runs: deque[int] = deque(maxlen=_LIMITS.memory_runs)
        self._run = 0

    def is_repeat(self, image: Image) -> bool:
        """Return whether a picture shows the same as the one before it."""
        before, step = self.sample, _LIMITS.sample_px
        self.sample = np.ascontiguousarray(image[::step, ::step, 1])
        if before is None or before.shape != self.sample.shape:
            return False
        self.identical = np.array_equal(self.sample, before)
        if self.identical:
            return True
        change = _strongest_change(before, self.sample)
        if change >= _LIMITS.least_change:
            self._changes.append(change)
        large = float(np.percentile(self._changes, _LIMITS.large_percentile)) if self._changes else np.inf
        if change >= max(_LIMITS.small_share * large, _LIMITS.least_change):
            if self._run <= _LIMITS.longest_run:  # else nothing moved
                self._runs.append(self._run)
            self._run = 0
            return False
        self._run += 1
        return sum(run > 0 for run in self._runs) >= _LIMITS.least_runs and self._run <= max(self._runs)


def _strongest_change(before: Image, now: Image) -> float:
    """Return by how much the most changed samples differ, beyond the light of whole rows, relative to the picture's."""
    light = (now.mean(axis=1) + 1) / (before.mean(axis=1) + 1)
    levels = np.abs(now - before * light[:, None].astype(np.float32)).astype(np.uint16)
    counts = cv2.calcHist([levels], [0], None, [256], [0, 256]).ravel()
    above = np.cumsum(counts[::-1])
    strongest = 255 - int(np.searchsorted(above, _LIMITS.strongest_share * levels.size))
    return strongest / (float(now.mean()) + 1)
