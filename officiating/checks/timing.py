"""Checks of TAP's clocks: pure functions of when things happened.

The clocks run one after the other: the defense's ten seconds begin when the offense is done, however soon that was, so
a stoppage of 18 seconds can be right and one of 12 wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from downfield.officiating.checks.check import Measured, check
from downfield.officiating.checks.pivots import StopKind
from downfield.officiating.rulebooks.params import Param, Params

LINE_UP_S = Param("timing.line_up_s", 40.0, "s", "TAP's set-up clock; 'less than 40' and '40' both stand there", 0, 600)
DEFENSE_S = Param("timing.defense_set_s", 10.0, "s", "TAP: ten more for the defense after 'set'", 0, 600)
PIVOT_S = Param("timing.pivot_s", 10.0, "s", "TAP: ten a coach, one after the other", 0, 600)
PASS_S = Param("timing.pass_s", 20.0, "s", "TAP: from saying 'pass' to taking the stick away", 0, 600)
CHANGE_S = Param("timing.change_s", 60.0, "s", "TAP: at a change of possession and after a score", 0, 600)
KICK_RUN_S = Param("timing.kickoff_run_s", 3.0, "s", "TAP: the switch is on for three seconds", 0.5, 30)
KICK_RUN_TOLERANCE_S = Param("timing.kickoff_tolerance_s", 0.25, "s", "not stated; a hand's reaction", 0, 5)


FIRST: Mapping[StopKind, tuple[str, ...]] = {
    "coach": ("TAP-092", "TAP-141"),
    "first_touch": ("TAP-106",),
    "interception": ("TAP-106",),
    "kickoff": ("TAP-054",),
}
"""The clauses that give who pivots first his time, by what stopped the board; in other stops nobody has a clock."""

SECOND: Mapping[StopKind, tuple[str, ...]] = {**FIRST, "kickoff": ("TAP-055",), "pass": ("TAP-101",)}
"""Those that give the other coach his."""


@dataclass(frozen=True, slots=True)
class Times:
    """When things happened, on the game's clock; None what did not, or is not known.

    Attributes:
        stop: what stopped the board, of a stoppage.
        separated_ns: the men of the last play were separated.
        changed_ns: possession changed, or points were scored.
        set_ns: the offense said "set".
        defense_ready_ns: the defense was done lining up.
        kick_ready_ns: the kicking team was lined up.
        rolled_ns: a field goal's dice were rolled.
        stopped_ns: the board went off.
        offense_done_ns: the side that pivots first was done: the offense, or who got the ball, or the receivers.
        defense_done_ns: the other side was done, or the board went on again.
        pass_ns: a pass was declared.
        stick_gone_ns: the passing stick was taken away.
        kick_on_ns, kick_off_ns: the board ran for a kickoff.
        sigma_s: standard deviation of an interval.

    """

    stop: StopKind = "coach"
    separated_ns: int | None = None
    changed_ns: int | None = None
    set_ns: int | None = None
    defense_ready_ns: int | None = None
    kick_ready_ns: int | None = None
    rolled_ns: int | None = None
    stopped_ns: int | None = None
    offense_done_ns: int | None = None
    defense_done_ns: int | None = None
    pass_ns: int | None = None
    stick_gone_ns: int | None = None
    kick_on_ns: int | None = None
    kick_off_ns: int | None = None
    sigma_s: float = 0.0


@check("TAP-043", "TAP-075", "TAP-136", "TAP-138", "TAP-140", params=(LINE_UP_S, CHANGE_S), on_claim=True)
def line_up_time(times: Times, params: Params) -> Iterator[Measured]:
    """The offense says "set" within 40 seconds of the men's separation.

    After a change of possession the 40 follow on the 60, so that 100 seconds after it are in time. Too late is more
    than 40.0, since the book says both "less than 40" and "40". Delay is the opponent's to call.
    """
    start = times.separated_ns
    if times.changed_ns is not None:
        start = max(start or 0, times.changed_ns + _ns(params.real(CHANGE_S.name)))
    yield from _within("the offense was set after", start, times.set_ns, params.real(LINE_UP_S.name), times)


@check("TAP-043", "TAP-078", "TAP-140", params=(DEFENSE_S,), on_claim=True)
def defense_set_time(times: Times, params: Params) -> Iterator[Measured]:
    """The defense is done within ten seconds of "set"."""
    limit = params.real(DEFENSE_S.name)
    yield from _within("the defense was lined up after", times.set_ns, times.defense_ready_ns, limit, times)


@check("TAP-136", "TAP-137", params=(CHANGE_S,), on_claim=True)
def kick_ready_time(times: Times, params: Params) -> Iterator[Measured]:
    """The kicking coach is lined up within 60 seconds of a score."""
    limit = params.real(CHANGE_S.name)
    yield from _within("the kicking team was lined up after", times.changed_ns, times.kick_ready_ns, limit, times)


@check("TAP-139", params=(LINE_UP_S,), on_claim=True)
def field_goal_time(times: Times, params: Params) -> Iterator[Measured]:
    """A field goal's dice are rolled inside the set-up clock."""
    limit = params.real(LINE_UP_S.name)
    yield from _within("the dice were rolled after", times.separated_ns, times.rolled_ns, limit, times)


@check("TAP-054", "TAP-092", "TAP-106", "TAP-141", params=(PIVOT_S,))
def first_pivot_time(times: Times, params: Params) -> Iterator[Measured]:
    """Who pivots first is done within ten seconds of the board's stopping; a pass has its own clock."""
    clauses = FIRST.get(times.stop)
    if clauses:
        limit, done_ns = params.real(PIVOT_S.name), times.offense_done_ns
        yield from _within("the first coach was done after", times.stopped_ns, done_ns, limit, times, clauses)


@check("TAP-055", "TAP-092", "TAP-101", "TAP-106", "TAP-141", params=(PIVOT_S,))
def second_pivot_time(times: Times, params: Params) -> Iterator[Measured]:
    """The other coach is done within ten seconds of the first one's being done, or of the stick's leaving."""
    clauses = SECOND.get(times.stop)
    if clauses:
        limit = params.real(PIVOT_S.name)
        start = times.stick_gone_ns if times.stop == "pass" else times.offense_done_ns
        yield from _within("the other coach was done after", start, times.defense_done_ns, limit, times, clauses)


@check("TAP-054", "TAP-055", "TAP-092", "TAP-106", "TAP-141", params=(PIVOT_S,))
def stop_time(times: Times, params: Params) -> Iterator[Measured]:
    """Where nobody said when the first coach was done, both together have twice the time of one."""
    clauses = FIRST.get(times.stop)
    if clauses and times.offense_done_ns is None:
        limit, done_ns = 2 * params.real(PIVOT_S.name), times.defense_done_ns
        yield from _within("both coaches were done after", times.stopped_ns, done_ns, limit, times, clauses)


@check("TAP-100", "TAP-141", "TAP-142", params=(PASS_S,))
def pass_time(times: Times, params: Params) -> Iterator[Measured]:
    """The stick is gone within 20 seconds of "pass": the special clock goes before the ten seconds of a stop."""
    limit = params.real(PASS_S.name)
    yield from _within("the stick was taken away after", times.pass_ns, times.stick_gone_ns, limit, times)


@check("TAP-050", "TAP-051", params=(KICK_RUN_S, KICK_RUN_TOLERANCE_S))
def kickoff_run(times: Times, params: Params) -> Iterator[Measured]:
    """The board runs three seconds for a kickoff, not more and not less."""
    if times.kick_on_ns is not None and times.kick_off_ns is not None:
        ran = (times.kick_off_ns - times.kick_on_ns) / 1e9
        wanted, tolerance = params.real(KICK_RUN_S.name), params.real(KICK_RUN_TOLERANCE_S.name)
        text = f"the board ran {ran:.2f} s for the kickoff; {wanted:g} wanted, give or take {tolerance:g}"
        yield Measured(text, (), tolerance - abs(ran - wanted), times.sigma_s, "s")


def _within(
    what: str,
    start_ns: int | None,
    end_ns: int | None,
    limit_s: float,
    times: Times,
    clauses: tuple[str, ...] = (),
) -> Iterator[Measured]:
    if start_ns is not None and end_ns is not None:
        taken = max(0.0, (end_ns - start_ns) / 1e9)
        text = f"{what} {taken:.1f} s; {limit_s:g} allowed"
        yield Measured(text, (), limit_s - taken, times.sigma_s, "s", clauses=clauses)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
