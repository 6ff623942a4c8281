"""When pictures were taken, each with its error, from stamps that may tell only when they arrived.

A camera takes pictures evenly, and whatever delivers them can only be late: in bursts, after a stall, now and then. So
where stamps are uneven in a way that no camera is, a picture is taken a period after the one before, and at the latest
when it came; pictures that came without delay, such as the last one of a burst, keep that true. Steps that are
multiples of one period are left alone, since those between were dropped, and so is a rate that changes with the light.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from downfield.core.frame import TIME_UNKNOWN_NS


@dataclass(frozen=True, slots=True)
class PictureTimeLimits:
    """Thresholds of telling how even stamps are."""

    memory: int = 25
    """Stamps that are remembered."""
    at_once_ns: int = 12_000_000
    """Pictures nearer to each other than this, and `at_once_share`, came together: few cameras take 80 a second."""
    at_once_share: float = 0.35
    """Share of the usual step below which pictures came together."""
    uneven_share: float = 0.25
    """A step that differs from the mean by more than this share is short or long."""
    turns: int = 4
    """Changes between short and long steps from which stamps are uneven; a rate that changes makes one."""
    multiple_share: float = 0.12
    """Steps this near, by share of a period, to its multiples are of dropped pictures."""
    late_factor: float = 1.7
    """A step this many times the usual one was a drop; or a stall, once pictures have come together."""
    even_ns: int = 1_500_000
    """Deviations of steps to this are rounding."""


_LIMITS: Final = PictureTimeLimits()


class PictureTime(NamedTuple):
    """When a picture was taken.

    Attributes:
        t_ns: strictly later than the picture before.
        sigma_ns: standard deviation; `TIME_UNKNOWN_NS` where it came together with others and nothing tells.
    """

    t_ns: int
    sigma_ns: int


class PictureTimes:
    """Returns the times of pictures by their stamps; call it for every picture, in the order in which they come."""

    def __init__(self) -> None:
        self._stamps: deque[int] = deque(maxlen=_LIMITS.memory)
        self._lags: deque[int] = deque(maxlen=_LIMITS.memory - 1)
        self._last_ns: int | None = None
        self._at_once = False

    def __call__(self, stamp_ns: int) -> PictureTime:
        """Return when a picture was taken that is stamped so, or came then; any epoch."""
        last_ns = self._last_ns
        self._stamps.append(stamp_ns)
        if last_ns is None:
            self._last_ns = stamp_ns
            return PictureTime(stamp_ns, 0)
        steps = [after - before for before, after in pairwise(self._stamps)]
        if _is_uneven(steps):
            t_ns, sigma_ns = self._evened(stamp_ns, last_ns, steps)
        else:
            self._lags.clear()
            t_ns, sigma_ns = stamp_ns, self._error_ns(steps)
        self._last_ns = max(t_ns, last_ns + 1)
        return PictureTime(self._last_ns, sigma_ns)

    def _evened(self, stamp_ns: int, last_ns: int, steps: list[int]) -> tuple[int, int]:
        """Return a period after the picture before, no later than it came, and no later than it always comes."""
        period_ns = _slope(self._stamps)
        t_ns = min(stamp_ns, last_ns + round(period_ns))
        self._lags.append(stamp_ns - t_ns)
        recent = list(self._lags)[-(_longest_burst(steps, period_ns) + 2) :]
        if len(self._lags) > len(recent):
            t_ns += min(recent)  # all of them lag, so the pictures between were dropped
            self._lags[-1] -= min(recent)
        return t_ns, round(max(max(self._lags), abs(steps[-1]) / 4) / math.sqrt(12))

    def _error_ns(self, steps: list[int]) -> int:
        """Return the error of a stamp among even ones."""
        usual = statistics.median(steps)
        if steps[-1] < min(_LIMITS.at_once_ns, _LIMITS.at_once_share * usual):
            self._at_once = True
            return TIME_UNKNOWN_NS
        if len(steps) < 3:
            return 0
        off = statistics.median(abs(_off_multiple(step, _shortest(steps))) for step in steps)
        jitter = 1.05 * off if off > _LIMITS.even_ns else 0.0  # of one stamp, by those of two
        late = steps[-1] - usual if self._at_once and steps[-1] > _LIMITS.late_factor * usual else 0.0
        return round(math.hypot(jitter, late / math.sqrt(12)))


def _is_uneven(steps: list[int]) -> bool:
    """Return whether steps change between short and long again and again, and dropped pictures don't explain it."""
    mean = (sum(steps)) / len(steps)
    kinds = [step > mean for step in steps if abs(step - mean) > _LIMITS.uneven_share * mean]
    if sum(before != after for before, after in pairwise(kinds)) < _LIMITS.turns:
        return False
    period = _shortest(steps)
    if period <= _LIMITS.at_once_ns:
        return True
    odd = sum(abs(_off_multiple(step, period)) > _LIMITS.multiple_share * period for step in steps)
    return odd > len(steps) // 6


def _shortest(steps: list[int]) -> int:
    """Return the shortest step, but for a tenth that may be shorter by chance."""
    return sorted(steps)[len(steps) // 10]


def _off_multiple(step: float, period: float) -> float:
    """Return by how much a step misses the nearest multiple of a period, at least one of them."""
    return step - max(round(step / period), 1) * period if period > 0 else 0.0


def _longest_burst(steps: list[int], period: float) -> int:
    """Return how many short steps follow each other at most."""
    longest = run = 0
    for step in steps:
        run = run + 1 if step < period else 0
        longest = max(longest, run)
    return longest


def _slope(stamps: deque[int]) -> float:
    """Return the period by which stamps grow, by least squares."""
    first, middle = stamps[0], (len(stamps) - 1) / 2
    rows = [(place - middle, stamp - first) for place, stamp in enumerate(stamps)]
    return sum(x * y for x, y in rows) / sum(x * x for x, _ in rows)
