"""Reports how far solving a field has come: the stage, the share done and the seconds that are probably left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

SolveStage = Literal["finding lines", "matching the print", "measuring the print", "solving the camera", "checking"]

_STARTS: Final[dict[SolveStage, float]] = {
    "finding lines": 0.0,
    "matching the print": 0.25,
    "measuring the print": 0.5,
    "solving the camera": 0.65,
    "checking": 0.9,
}
"""Share of the work done when a stage begins, as measured over many pictures."""

_TRUSTED_SHARE: Final = 0.1  # share of the work after which the time it took tells how long the rest takes


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """How far solving has come."""

    stage: SolveStage  # what is being done now, for people
    fraction: float  # share of the work done, 0..1; 1 once, at the end
    remaining_s: float | None  # seconds that are probably left; None while nothing is known of that


ProgressListener = Callable[[SolveProgress], None]
"""Takes every report; called in the thread that solves, so it must return soon."""


class ProgressReporter:
    """Tells a listener how far one solution has come.

    Args:
        listener: takes the reports; None for no reports.
        clock_s: seconds, rising; for tests.
    """

    def __init__(self, listener: ProgressListener | None, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._listener = listener
        self._clock_s = clock_s
        self._began_s = clock_s()
        self._fraction = 0.0

    def enter(self, stage: SolveStage, share: float = 0.0) -> None:
        """Report a stage of which a share, 0..1, is done; a report never falls behind an earlier one."""
        starts = [*_STARTS.values(), 1.0]
        at = list(_STARTS).index(stage)
        self._report(stage, starts[at] + min(max(share, 0.0), 1.0) * (starts[at + 1] - starts[at]))

    def finish(self) -> None:
        """Report the end."""
        self._report("checking", 1.0)

    def _report(self, stage: SolveStage, fraction: float) -> None:
        self._fraction = max(self._fraction, fraction)
        if self._listener is None:
            return
        spent_s = self._clock_s() - self._began_s
        known = self._fraction >= _TRUSTED_SHARE
        left_s = spent_s * (1 - self._fraction) / self._fraction if known else None
        self._listener(SolveProgress(stage, self._fraction, left_s))
