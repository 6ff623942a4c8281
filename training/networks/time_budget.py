"""Training by the clock: how much of a run's time is over, and the learning rate that follows from it.

Time on an accelerator is lent by the minute, so a run is told its seconds, not its steps. The rate rises, stays level
and comes down; a run whose rate stays level to the end can be resumed as if it had not been interrupted (the warm-up,
stable, decay schedule of Hu et al., MiniCPM, 2024).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateSchedule:
    """The learning rate over a run.

    Attributes:
        rate: while it is level.
        level: share of the time after which it comes down; 1 for never.
        last_share: of the rate at the end.
        warm_up_steps: after so many steps it is level,
        warm_up_share: or after this share of the time, whichever comes first.

    """

    rate: float = 3e-3
    level: float = 0.55
    last_share: float = 0.01
    warm_up_steps: int = 150
    warm_up_share: float = 0.04

    def at(self, over: float, steps: int) -> float:
        """Return the rate when a share of the time is over and so many steps of this run are taken."""
        warm = min(1.0, max((steps + 1) / self.warm_up_steps, over / self.warm_up_share))
        if over <= self.level:
            return self.rate * warm
        descent = (over - self.level) / max(1 - self.level, 1e-6)
        return self.rate * warm * (1 - (1 - self.last_share) * min(descent, 1.0))


class TimeBudget:
    """The time of one run.

    Args:
        seconds: in all.
        reserve_s: of them for the last checkpoints.
        clock: seconds that only ever rise.

    """

    def __init__(self, seconds: float, reserve_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begun = clock, clock()
        self._seconds = max(seconds - reserve_s, 1e-3)

    @property
    def over(self) -> float:
        """The share of it that is over, 0..1."""
        return min((self._clock() - self._begun) / self._seconds, 1.0)

    @property
    def is_up(self) -> bool:
        """Whether all of it is over."""
        return self.over >= 1.0
