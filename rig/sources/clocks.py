"""Clocks: what time it is on the table, and what a camera's own clock means on it."""

from __future__ import annotations

import time
from typing import Final

_SECOND_NS: Final = 1_000_000_000
_NEAR_NS: Final = 10 * _SECOND_NS
"""A stamp this near to a clock's now is of that clock; the next nearest is days away on any running computer."""

_LEAK: Final = 1e-4
"""How fast a mapping gives way, so that a clock that runs slow is followed: ten times what a bad crystal needs."""


class CaptureClock:
    """The capture clock of live sources: the time of day when the rig started, and monotonic from there."""

    def __init__(self) -> None:
        self._ahead_ns = time.time_ns() - time.monotonic_ns()

    def not_before(self, t_ns: int) -> None:
        """Go on after an instant of a game that is resumed, even when the computer's clock was put back since."""
        self._ahead_ns = max(self._ahead_ns, t_ns + 1 - time.monotonic_ns())

    def now_ns(self) -> int:
        """Now, ns since 1970."""
        return self.of(time.monotonic_ns())

    def of(self, monotonic_ns: int) -> int:
        """An instant of the monotonic clock, ns since 1970."""
        return monotonic_ns + self._ahead_ns


class SourceClock:
    """Takes the stamps of a camera or stream to this computer's monotonic clock.

    A V4L2 driver stamps with one of this computer's clocks, which is recognized. Any other clock is tied to ours by the
    packets that were under way the shortest, and followed as it drifts.
    """

    def __init__(self) -> None:
        self._ahead_ns: float | None = None
        self._arrived_ns = 0

    def monotonic_ns(self, stamp_ns: int, arrived_ns: int) -> int:
        """When it was, by our monotonic clock, never after it arrived.

        Args:
            stamp_ns: the stamp.
            arrived_ns: when it came, by our monotonic clock.

        """
        if 0 <= arrived_ns - stamp_ns < _NEAR_NS:
            return stamp_ns
        ahead = arrived_ns - stamp_ns
        if self._ahead_ns is not None and ahead - self._ahead_ns < _NEAR_NS:
            leaked = self._ahead_ns + _LEAK * (arrived_ns - self._arrived_ns)
            ahead = min(ahead, round(leaked))
        self._ahead_ns, self._arrived_ns = ahead, arrived_ns
        return stamp_ns + ahead


class IncreasingTimestamps:
    """Makes stamps rise strictly, as track files and games need them; a camera may repeat one."""

    def __init__(self) -> None:
        self._last_ns: int | None = None

    def __call__(self, t_ns: int) -> int:
        """The stamp, or just after the last one."""
        if self._last_ns is not None and t_ns <= self._last_ns:
            t_ns = self._last_ns + 1
        self._last_ns = t_ns
        return t_ns
