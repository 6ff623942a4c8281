"""Checks of TAP's clocks: pure functions of when things happened.

The clocks run one after the other: the defense's ten seconds begin when the offense is done, however soon that was, so
a stoppage of 18 seconds can be legal and one of 12 not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from downfield.officiating.checks.check import Measurement, check
from downfield.officiating.checks.pivots import StoppageKind
from downfield.officiating.params import Params

FIRST_COACH: Final[Mapping[StoppageKind, tuple[str, ...]]] = {
    "coach": ("TAP-092", "TAP-141"),
    "first_touch": ("TAP-106",),
    "interception": ("TAP-106",),
    "kickoff": ("TAP-054",),
}
"""The clauses that time the first coach's pivots, by what stopped the board; other stoppages have no clock."""

SECOND_COACH: Final[Mapping[StoppageKind, tuple[str, ...]]] = {
    **FIRST_COACH,
    "kickoff": ("TAP-055",),
    "pass": ("TAP-101",),
}
"""The clauses that time the second coach's pivots."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """When things happened, on the game's clock; None for what did not happen or is not known."""

    stop: StoppageKind = "coach"  # what stopped the board, for a stoppage
    separated_ns: int | None = None  # the players of the last play were separated
    changed_ns: int | None = None  # possession changed, or points were scored
    set_ns: int | None = None  # the offense declared "set"
    defense_ready_ns: int | None = None  # the defense was done lining up
    kick_ready_ns: int | None = None  # the kicking team was lined up
    rolled_ns: int | None = None  # a field goal's dice were rolled
    stopped_ns: int | None = None  # the board went off
    # the side that pivots first was done: the offense, the side that got the ball, or the receivers
    offense_done_ns: int | None = None
    defense_done_ns: int | None = None  # the other side was done, or the board came on again
    pass_ns: int | None = None  # a pass was declared
    stick_gone_ns: int | None = None  # the passing stick was removed
    kick_on_ns: int | None = None  # kick_on_ns, kick_off_ns: the board ran for a kickoff
    kick_off_ns: int | None = None
    sigma_s: float = 0.0  # standard deviation of an interval


@check(
    "TAP-043", "TAP-075", "TAP-136", "TAP-138", "TAP-140", params=("timing.line_up_s", "timing.change_s"), on_claim=True
)
def line_up_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The offense declares "set" within 40 seconds of the players' separation.

    After a change of possession the 40 follow the 60, so that 100 seconds after it are in time. Late is more than 40.0
    s, since the rulebook gives both "less than 40" and "40". Only the opponent may claim a delay.
    """
    start = times.separated_ns
    if times.changed_ns is not None:
        start = max(start or 0, times.changed_ns + params.ns("timing.change_s"))
    yield from _measure_time("the offense was set after", start, times.set_ns, params.real("timing.line_up_s"), times)


@check("TAP-043", "TAP-078", "TAP-140", params=("timing.defense_set_s",), on_claim=True)
def defense_set_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The defense is done within ten seconds of "set"."""
    limit = params.real("timing.defense_set_s")
    yield from _measure_time("the defense was lined up after", times.set_ns, times.defense_ready_ns, limit, times)


@check("TAP-136", "TAP-137", params=("timing.change_s",), on_claim=True)
def kick_ready_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The kicking coach is lined up within 60 seconds of a score."""
    limit = params.real("timing.change_s")
    yield from _measure_time("the kicking team was lined up after", times.changed_ns, times.kick_ready_ns, limit, times)


@check("TAP-139", params=("timing.line_up_s",), on_claim=True)
def field_goal_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """A field goal's dice are rolled inside the set-up clock."""
    limit = params.real("timing.line_up_s")
    yield from _measure_time("the dice were rolled after", times.separated_ns, times.rolled_ns, limit, times)


@check("TAP-054", "TAP-092", "TAP-106", "TAP-141", params=("timing.pivot_s",))
def first_pivot_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The coach who pivots first is done within ten seconds of the board's stopping; a pass has its own clock."""
    clauses = FIRST_COACH.get(times.stop)
    if clauses:
        limit, done_ns = params.real("timing.pivot_s"), times.offense_done_ns
        yield from _measure_time("the first coach was done after", times.stopped_ns, done_ns, limit, times, clauses)


@check("TAP-055", "TAP-092", "TAP-101", "TAP-106", "TAP-141", params=("timing.pivot_s",))
def second_pivot_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The other coach is done within ten seconds of the first one's finishing, or of the stick's removal."""
    clauses = SECOND_COACH.get(times.stop)
    if clauses:
        limit = params.real("timing.pivot_s")
        start = times.stick_gone_ns if times.stop == "pass" else times.offense_done_ns
        yield from _measure_time("the other coach was done after", start, times.defense_done_ns, limit, times, clauses)


@check("TAP-054", "TAP-055", "TAP-092", "TAP-106", "TAP-141", params=("timing.pivot_s",))
def stop_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """Without a declaration that the first coach is done, both together have twice the time of one."""
    clauses = FIRST_COACH.get(times.stop)
    if clauses and times.offense_done_ns is None:
        limit, done_ns = 2 * params.real("timing.pivot_s"), times.defense_done_ns
        yield from _measure_time("both coaches were done after", times.stopped_ns, done_ns, limit, times, clauses)


@check("TAP-100", "TAP-141", "TAP-142", params=("timing.pass_s",))
def pass_time(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The stick is removed within 20 seconds of "pass": this clock takes precedence over the ten seconds of a stop."""
    limit = params.real("timing.pass_s")
    yield from _measure_time("the stick was removed after", times.pass_ns, times.stick_gone_ns, limit, times)


@check("TAP-050", "TAP-051", params=("timing.kickoff_run_s", "timing.kickoff_tolerance_s"))
def kickoff_run(times: Timeline, params: Params) -> Iterator[Measurement]:
    """The board runs three seconds for a kickoff, not more and not less."""
    if times.kick_on_ns is not None and times.kick_off_ns is not None:
        ran = (times.kick_off_ns - times.kick_on_ns) / 1e9
        required, tolerance = params.real("timing.kickoff_run_s"), params.real("timing.kickoff_tolerance_s")
        text = f"the board ran {ran:.2f} s for the kickoff; {required:g} ± {tolerance:g} s required"
        yield Measurement(text, (), tolerance - abs(ran - required), times.sigma_s, "s")


def _measure_time(
    text: str, start_ns: int | None, end_ns: int | None, limit_s: float, times: Timeline, clauses: tuple[str, ...] = ()
) -> Iterator[Measurement]:
    if start_ns is not None and end_ns is not None:
        taken = max(0.0, (end_ns - start_ns) / 1e9)
        text = f"{text} {taken:.1f} s; {limit_s:g} s allowed"
        yield Measurement(text, (), limit_s - taken, times.sigma_s, "s", clauses=clauses, allowed=limit_s)
