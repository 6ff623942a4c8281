"""NFL Strategy's clock: counted in lines, moved after each play by whether it ran before it.

The source says neither what a line is worth nor how many make a period; both are a league's parameters.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.records import record

ClockPlay = Literal["ordinary", "kneel", "spike", "auto_5", "kickoff_returned", "kickoff_dead", "try"]
"""What a play is to the clock; ``"kickoff_dead"`` went out of bounds or is a touchback, ``"try"`` kicks or runs for
the extra point or two. Punts and field-goal tries are ordinary."""

StopReason = Literal[
    "incomplete",
    "spike",
    "kickoff",
    "field_goal_try",
    "extra_point_try",
    "two_point_try",
    "punt",
    "touchdown",
    "safety",
    "change_of_possession",
    "penalty",
    "time_out",
    "period_end",
    "two_minute_warning",
    "ran_out_of_bounds",
]
"""What leaves the clock stopped for the next play (NFLS-005..013); after anything else it runs (NFLS-014)."""

RUNNING_LINES: Final = 4
STOPPED_LINES: Final = 1
HURRY_UP_LINES: Final = 2
LET_RUN_LINES: Final = 3
PAST_WARNING_LINES: Final = 2


@record
class LineClock:
    """The clock between two plays.

    Attributes:
        left: lines left in the period.
        running: whether it runs.
        warning_at: lines left at the two-minute warning still to come; None when there is none.
        one_more: an auto-5 or a recovered onside kick has left time for one more play only.

    """

    left: int
    running: bool = False
    warning_at: int | None = None
    one_more: bool = False

    @property
    def to_mark(self) -> int:
        """Lines to the two-minute warning if it is still to come, else to the end of the period."""
        return self.left - (self.warning_at or 0)

    @property
    def over(self) -> bool:
        """Whether the period has ended."""
        return self.left <= 0


def lines_moved(play: ClockPlay, *, running: bool, hurry_up: bool = False) -> int:
    """Lines a play takes by itself (NFLS-003, 004, 015..020).

    Args:
        play: what it was.
        running: whether the clock ran before it.
        hurry_up: whether the offense hurried; that shortens only plays before which the clock ran.

    Raises:
        RefusedError: a spike with the clock stopped, or a kickoff or try with it running: neither can be.

    """
    if play == "spike" and not running:
        raise RefusedError("a spike stops a running clock and this one is stopped (NFLS-017)")
    if play in {"kickoff_returned", "kickoff_dead", "try"} and running:
        raise RefusedError("a kickoff or try always comes with the clock stopped (NFLS-018, NFLS-019)")
    if play in {"spike", "kickoff_dead", "try"}:
        return 0
    if play == "kneel":
        return RUNNING_LINES if running else 0
    if not running:
        return 0 if play == "auto_5" else STOPPED_LINES
    lines = HURRY_UP_LINES if hurry_up else RUNNING_LINES
    return lines - 1 if play == "auto_5" else lines


def lines_for_kicks(kicks: int) -> int:
    """Lines for a kickoff and its re-kicks together: one for every two of them (NFLS-023).

    Raises:
        RefusedError: fewer than one kick.

    """
    if kicks < 1:
        raise RefusedError(f"{kicks} kicks can't have been made")
    return math.ceil(kicks / 2)


def after_play(
    clock: LineClock,
    play: ClockPlay,
    reasons: frozenset[StopReason] = frozenset(),
    *,
    hurry_up: bool = False,
    onside_recovered: bool = False,
) -> LineClock:
    """The clock after a play, with every exception of the source (NFLS-002..025).

    Args:
        clock: as it stood before the play.
        play: what the play is to the clock.
        reasons: what in the play stops it.
        hurry_up: whether the offense hurried.
        onside_recovered: whether it was an onside kick its kickers recovered: one more play always follows.

    Raises:
        RefusedError: such a play can't be with the clock like this.

    """
    lines = lines_moved(play, running=clock.running, hurry_up=hurry_up)
    left, one_more = clock.left - lines, clock.one_more
    if play == "auto_5":
        if lines >= clock.to_mark:
            left, one_more = clock.left - clock.to_mark + 1, True
    elif lines and _ends_past_warning(clock):
        left, one_more = _past_mark(clock), False
    if onside_recovered and left <= 0:
        left, one_more = 1, True
    return _settled(clock, left, one_more, reasons)


def let_run(clock: LineClock) -> LineClock:
    """The clock when the offense lets it run out to the warning or the period's end (NFLS-024).

    Raises:
        RefusedError: it does not run, or more than three lines are left to there.

    """
    if not clock.running or not 1 <= clock.to_mark <= LET_RUN_LINES:
        raise RefusedError(
            f"the clock can be let run out only while it runs with one to three lines left, not {clock.to_mark} "
            f"{'running' if clock.running else 'stopped'} (NFLS-024)"
        )
    return _settled(clock, clock.left - clock.to_mark, one_more=False, reasons=frozenset())


def _ends_past_warning(clock: LineClock) -> bool:
    near = clock.warning_at is not None and clock.running and 1 <= clock.to_mark <= PAST_WARNING_LINES
    return near or clock.one_more


def _past_mark(clock: LineClock) -> int:
    return 0 if clock.warning_at is None else clock.warning_at - 1


def _settled(clock: LineClock, left: int, one_more: bool, reasons: frozenset[StopReason]) -> LineClock:
    left = max(left, 0)
    warned = clock.warning_at is not None and left <= clock.warning_at
    running = not (reasons or warned or left == 0)
    return replace(
        clock, left=left, running=running, warning_at=None if warned else clock.warning_at, one_more=one_more
    )
