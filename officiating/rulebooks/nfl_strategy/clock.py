"""NFL Strategy's clock: counted in lines, moved after each play according to whether it ran before.

The source states neither the length of a line nor the lines in a period; both are parameters.
"""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.records import record, replace

ClockPlay = Literal["ordinary", "kneel", "spike", "auto_5", "kickoff_returned", "kickoff_dead", "try"]
"""The kind of a play, for the clock; ``"kickoff_dead"`` went out of bounds or is a touchback, ``"try"`` is for one
extra point or two. Punts and field goals are ordinary."""

RUNNING_LINES: Final = 4  # lines taken by a play before which the clock ran (NFLS-003)
STOPPED_LINES: Final = 1  # lines taken by a play before which the clock was stopped (NFLS-004)
HURRY_UP_LINES: Final = 2  # lines taken by a play of a hurrying offense with the clock running (NFLS-015)
RUN_OUT_LINES: Final = 3  # the most lines the offense may let run out (NFLS-024)
PAST_WARNING_LINES: Final = 2  # a play begun with this many lines or fewer before the warning ends after it (NFLS-025)


@record
class LineClock:
    """The clock between two plays."""

    left: int  # lines left in the period
    running: bool = False  # whether it runs
    warning_at: int | None = None  # lines left at the two-minute warning still to come; None when there is none
    one_more: bool = False  # whether an auto-5 or a recovered onside kick has left time for one more play only

    @property
    def to_mark(self) -> int:
        """Lines to the two-minute warning if it is still to come, else to the end of the period."""
        return self.left - (self.warning_at or 0)

    @property
    def is_over(self) -> bool:
        """Whether the period has ended."""
        return self.left <= 0


def lines_moved(play: ClockPlay, *, running: bool, hurry_up: bool = False) -> int:
    """Return the lines a play takes by itself (NFLS-002..004, 015..020, 023).

    A kickoff is a single kick, since there are no re-kicks (NFLS-072). Hurrying shortens only plays before which the
    clock ran. Raises RefusedError: a spike with the clock stopped, or a kickoff or try with it running.
    """
    if play == "spike" and not running:
        raise RefusedError("spike: the clock is not running (NFLS-017)")
    if play in {"kickoff_returned", "kickoff_dead", "try"} and running:
        raise RefusedError(
            "kickoffs and tries take place with the clock stopped, but it is running (NFLS-018, NFLS-019)"
        )
    if play in {"spike", "kickoff_dead", "try"}:
        return 0
    if play == "kneel":
        return RUNNING_LINES if running else 0
    if not running:
        return 0 if play == "auto_5" else STOPPED_LINES
    lines = HURRY_UP_LINES if hurry_up else RUNNING_LINES
    return lines - 1 if play == "auto_5" else lines


def after_play(
    clock: LineClock, play: ClockPlay, *, stopped: bool = False, hurry_up: bool = False, onside_recovered: bool = False
) -> LineClock:
    """Return the clock after a play (NFLS-002..025). Raises RefusedError: it can't take place as the clock stands.

    `stopped` says whether something in it stops the clock. One more play always follows an onside kick that its kickers
    recovered.
    """
    lines = lines_moved(play, running=clock.running, hurry_up=hurry_up)
    left, one_more = clock.left - lines, clock.one_more
    near_warning = clock.warning_at is not None and clock.running and 1 <= clock.to_mark <= PAST_WARNING_LINES
    if play == "auto_5":
        if lines >= clock.to_mark:
            left, one_more = clock.left - clock.to_mark + 1, True
    elif lines and (near_warning or clock.one_more):
        left, one_more = (0 if clock.warning_at is None else clock.warning_at - 1), False
    if onside_recovered and left <= 0:
        left, one_more = 1, True
    return _with_warning(clock, left, one_more=one_more, stopped=stopped)


def run_out_clock(clock: LineClock) -> LineClock:
    """Return the clock run out (NFLS-024). Raises RefusedError: it stands, or more than three lines are left."""
    if not clock.running or not 1 <= clock.to_mark <= RUN_OUT_LINES:
        raise RefusedError(
            f"let the clock run: only while it runs with one to three lines left; it is "
            f"{'running' if clock.running else 'stopped'} with {clock.to_mark} left (NFLS-024)"
        )
    return _with_warning(clock, clock.left - clock.to_mark, one_more=False, stopped=False)


def _with_warning(clock: LineClock, left: int, *, one_more: bool, stopped: bool) -> LineClock:
    left = max(left, 0)
    warned = clock.warning_at is not None and left <= clock.warning_at
    running = not (stopped or warned or left == 0)
    return replace(
        clock, left=left, running=running, warning_at=None if warned else clock.warning_at, one_more=one_more
    )
