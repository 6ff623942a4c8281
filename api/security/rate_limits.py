"""Token buckets: how often somebody may ask."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

REMEMBERED: Final = 4096
"""Callers whose buckets are kept; the longest silent are forgotten first, with their bucket full again by then."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often.

    Attributes:
        per_s: in the long run.
        burst: at once.

    """

    per_s: float
    burst: int


class RateLimiter:
    """One bucket for every caller. Used from one thread.

    Args:
        rate: of each.
        clock: seconds, monotonic.

    """

    def __init__(self, rate: RateLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str) -> float:
        """Take one from a caller's bucket.

        Returns:
            0 when there was one; else how long to wait for the next.

        """
        now = self._clock()
        left, at = self._left.pop(caller, (float(self._rate.burst), now))
        left = min(float(self._rate.burst), left + (now - at) * self._rate.per_s)
        wait_s = 0.0 if left >= 1 else (1 - left) / self._rate.per_s
        self._left[caller] = (left if wait_s else left - 1, now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return wait_s
