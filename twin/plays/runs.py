"""Plays about the runner's direction: to the line, turned back, or pushed back."""

from __future__ import annotations

from dataclasses import replace

from downfield.twin.physics.history import PlayHistory
from downfield.twin.plays.common import (
    LANE_YD,
    LENGTH_MM,
    Motion,
    ahead,
    at,
    expect,
    opening,
    scrimmage,
    tap_tackle,
    to_the_line,
)
from downfield.twin.plays.formations import LT, RB, RCB
from downfield.twin.plays.performance import ExpectedPlay
from downfield.twin.plays.recording import Expectation, ExpectedCall
from downfield.twin.plays.script import (
    Board,
    Handling,
    Hands,
    Reaches,
    Route,
    RunnerTurnsBack,
    Stance,
    Step,
    Until,
    WaitFor,
)
from downfield.twin.plays.tackles import met

_NOBODY = Stance(RCB, 26.0, LANE_YD + 4.0)


def line_reached(motion: Motion = "exact", seed: int = 6) -> ExpectedPlay:
    """The runner reaches the line of scrimmage: under TAP the board is cut off."""
    steps = (*opening(40.0, RB), *to_the_line(), WaitFor(0.3))
    script = scrimmage("line-reached", "The runner reaches the line of scrimmage.", steps, _NOBODY, motion=motion)

    def expectation(history: PlayHistory) -> Expectation:
        call = at("line_of_scrimmage", (RB,), history.marks["line"], ("TAP-087",))
        return expect(tap=(call,), absent={"tap": ("tackle", "fumble")})

    return ExpectedPlay(script, expectation, seed)


def turned_back(times: int = 2) -> ExpectedPlay:
    """The runner turns toward his own goal line; the first time he may be re-aimed, the second time he is down.

    Args:
        times: how often he turns back, 1 or 2.

    """
    steps: list[Step] = [*opening(40.0, RB), *to_the_line(), Until((Reaches(RB, 9.0),), within_s=6.0)]
    for turn in range(1, times + 1):
        back = 4.0 - turn
        steps += [
            Route(RB, ((9.5, LANE_YD + 2.0), (back, LANE_YD + 2.5)), speed_mm_s=70.0),
            Until((RunnerTurnsBack(RB),), within_s=6.0, mark=f"turned-{turn}"),
            WaitFor(0.45),
            Board(on=False, by="away"),
            WaitFor(0.15),
        ]
        if turn < times or times == 1:
            steps += [
                Hands("home", (Handling(RB, toward_point=(30.0, LANE_YD + 2.0)),), seconds=0.7),
                WaitFor(0.1),
                Board(on=True, by="away"),
                Route(RB, ((30.0, LANE_YD + 2.0),), speed_mm_s=70.0),
                WaitFor(0.6),
            ]
    steps.append(WaitFor(0.4))
    script = scrimmage("turned-back", f"The runner turns back {times} time(s).", steps, _NOBODY)

    def expectation(history: PlayHistory) -> Expectation:
        first = at("turned_back", (RB,), history.marks["turned-1"], ("LD-012",), verdict=None)
        calls: tuple[ExpectedCall, ...] = (_loose(first),)
        if times == 2:
            calls += (_loose(at("turned_back", (RB,), history.marks["turned-2"], ("LD-014",))),)
        tap = at("turned_back", (RB,), history.marks["turned-1"], ("TAP-031",), verdict="reported")
        return expect(tap=(_loose(tap),), lions_den=calls, absent={"tap": ("tackle", "fumble", "down_by_fall")})

    return ExpectedPlay(script, expectation)


def pushed_back() -> ExpectedPlay:
    """The runner faces the right way and is pushed back by a teammate, then tackled: no forward progress.

    Only a teammate can push him: a standing defender's touch is the tackle.
    """
    reach = 9.0
    behind = ahead(LENGTH_MM)
    steps = (
        *opening(40.0, RB),
        *to_the_line(until_yd=reach),
        Until((Reaches(RB, reach + ahead(LENGTH_MM / 2) - 1e-6),), within_s=6.0),
        Board(on=False, by="away"),
        Hands("home", (Handling(LT, to=(reach + behind + ahead(0.001), LANE_YD), toward_point=(-30.0, LANE_YD)),)),
        Board(on=True, by="away"),
        Route(RB, ((reach - 4.0, LANE_YD),), heading_deg=0.0, speed_mm_s=40.0),
        Route(LT, ((reach - 4.0 + behind, LANE_YD),), heading_deg=180.0, speed_mm_s=40.0),
        WaitFor(1.2),
        Route(RCB, ((reach - 4.0, LANE_YD + 0.01), (reach - 4.0, 0.0)), speed_mm_s=120.0),
        *met(),
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", RB, RCB)
        pushed = ExpectedCall("turned_back", (RB,), clauses=("TAP-032",), verdict="reported")
        return expect(
            tap=(pushed, tap_tackle(history, RB, RCB, t_ns)),
            absent={"tap": ("fumble", "broken_tackle", "down_by_fall")},
        )

    script = scrimmage(
        "pushed-back",
        "The runner is pushed back by a teammate.",
        steps,
        Stance(RCB, reach - 4.0, LANE_YD + 8.0, -90.0, at="center"),
        speeds={RCB: 0.0},
    )
    return ExpectedPlay(script, expectation)


def _loose(call: ExpectedCall) -> ExpectedCall:
    """A turn counts only once the runner also moves that way for a fifth of a second."""
    first, last = call.t_ns or (0, 0)
    return replace(call, t_ns=(first, last + 450_000_000))
