"""The clocks: one that ticks from the start of the system, and a wall clock that can't be set while a game runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

from downfield.core.platform.system import SYSTEM, System


class SteadyClock:
    """A wall clock that is read once and then only ticks: setting the computer's clock does not move it."""

    def __init__(
        self, wall_ns: Callable[[], int] = time.time_ns, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._offset_ns = wall_ns() - monotonic_ns()

    def now_ns(self) -> int:
        """Return the time, ns since 1970 as far as the computer knew at the start."""
        return self._monotonic_ns() + self._offset_ns

    def now_ms(self) -> int:
        """Return the time, ms since 1970 as far as the computer knew at the start."""
        return self.now_ns() // 1_000_000


CLOCK_WAS_SET_NS: Final = 1_735_689_600_000_000_000
"""2025-01-01. What is dated earlier was dated before the computer's clock was set, so its age is not known."""

RUN_CLOCK: Final = SteadyClock()
"""The clock that this run dates its messages by, so that what counts down on a page never jumps."""


def earlier_now_ns() -> int:
    """Return the time that something ends by: the earlier one, if the clock was set since the start of the run."""
    return min(RUN_CLOCK.now_ns(), time.time_ns())


def has_coarse_clock(system: System, python: tuple[int, ...]) -> bool:
    """Return whether `time.monotonic_ns` is too coarse to date frames, in a version of Python on a system."""
    return system == "windows" and python < (3, 13)


monotonic_ns: Final[Callable[[], int]] = (
    time.perf_counter_ns if has_coarse_clock(SYSTEM, sys.version_info[:3]) else time.monotonic_ns
)
"""Returns the monotonic time, ns since an instant of no meaning; on Linux that of V4L2's stamps."""
