"""Plays about where the runner goes: to the line, turned or pushed back, to the sidelines and the goal lines."""

from __future__ import annotations

from dataclasses import replace

from downfield.officiating.call_kinds import CallKind
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import FS, LT, RB, RCB, RDE, SS
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import (
    FIELD,
    LANE_YD,
    LENGTH_MM,
    RUN_MM_S,
    WIDTH_MM,
    Motion,
    across,
    ahead,
    at,
    efl_tackle,
    expect,
    lions_den_tackle,
    nowhere,
    opening,
    scrimmage,
    stopped,
    tap_tackle,
    to_the_line,
)
from downfield.twin.plays.playbook.tackles import met
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay
from downfield.twin.plays.script import Stance, Step

_SEED = 5
_NOBODY = Stance(RCB, 26.0, LANE_YD + 4.0)

HALF_YD = FIELD.width_yd / 2
_FAR_CORNER = Stance(RCB, 24.0, 8.0)
_TURN_NS = 450_000_000  # for a turn to count: the runner must also move that way for 0.2 s
_DOWN: tuple[CallKind, ...] = ("tackle", "broken_tackle", "fumble", "down_by_fall")


def line_reached() -> ExpectedPlay:
    """The runner reaches the line of scrimmage: under TAP the board is cut off."""
    steps = (*opening(40.0, RB), *to_the_line(), do.WaitFor(0.3))
    script = scrimmage("line-reached", "The runner reaches the line of scrimmage.", steps, _NOBODY)

    def expectation(history: PlayHistory) -> Expectation:
        call = at("line_of_scrimmage", (RB,), history.marks["line"], ("TAP-087",))
        return expect(tap=(call,), absent={"tap": ("tackle", "fumble")})

    return ExpectedPlay(script, expectation)


def turned_back(times: int = 2) -> ExpectedPlay:
    """The runner turns toward his own goal line; the first time he may be re-aimed, the second time he is down.

    Args:
        times: how often he turns back, 1 or 2.
    """
    steps: list[Step] = [*opening(40.0, RB), *to_the_line(), do.Until((do.Reaches(RB, 9.0),), within_s=6.0)]
    for turn in range(1, times + 1):
        back = 4.0 - turn
        steps += [
            do.Route(RB, ((9.5, LANE_YD + 2.0), (back, LANE_YD + 2.5)), speed_mm_s=70.0),
            do.Until((do.RunnerTurnsBack(RB),), within_s=6.0, mark=f"turned-{turn}"),
            *stopped("away", 0.45, 0.15),
        ]
        if turn < times or times == 1:
            steps += [
                do.Hands("home", (do.Handling(RB, toward_point=(30.0, LANE_YD + 2.0)),), seconds=0.7),
                do.WaitFor(0.1),
                do.Board(on=True, by="away"),
                do.Route(RB, ((30.0, LANE_YD + 2.0),), speed_mm_s=70.0),
                do.WaitFor(0.6),
            ]
    steps.append(do.WaitFor(0.4))
    script = scrimmage("turned-back", f"The runner turns back {times} time(s).", tuple(steps), _NOBODY)

    def expectation(history: PlayHistory) -> Expectation:
        first = at("turned_back", (RB,), history.marks["turned-1"], ("LD-012",), verdict=None)
        calls: tuple[ExpectedCall, ...] = (_later(first, _TURN_NS),)
        if times == 2:
            calls += (_later(at("turned_back", (RB,), history.marks["turned-2"], ("LD-014",)), _TURN_NS),)
        tap = at("turned_back", (RB,), history.marks["turned-1"], ("TAP-031",), verdict="reported")
        return expect(
            tap=(_later(tap, _TURN_NS),), lions_den=calls, absent={"tap": ("tackle", "fumble", "down_by_fall")}
        )

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
        do.Until((do.Reaches(RB, reach + ahead(LENGTH_MM / 2) - 1e-6),), within_s=6.0),
        do.Board(on=False, by="away"),
        do.Hands(
            "home", (do.Handling(LT, to=(reach + behind + ahead(0.001), LANE_YD), toward_point=(-30.0, LANE_YD)),)
        ),
        do.Board(on=True, by="away"),
        do.Route(RB, ((reach - 4.0, LANE_YD),), heading_deg=0.0, speed_mm_s=40.0),
        do.Route(LT, ((reach - 4.0 + behind, LANE_YD),), heading_deg=180.0, speed_mm_s=40.0),
        do.WaitFor(1.2),
        do.Route(RCB, ((reach - 4.0, LANE_YD + 0.01), (reach - 4.0, 0.0)), speed_mm_s=120.0),
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


def sideline_graze(outside_mm: float = -0.3) -> ExpectedPlay:
    """The runner turns upfield along the sideline, tenths of a millimeter inside it or out.

    Args:
        outside_mm: distance of his base beyond the inner edge of the sideline's paint; negative stays in bounds.
    """
    along = HALF_YD - across(WIDTH_MM / 2 - outside_mm)
    steps = (
        *opening(40.0, RB),
        *to_the_line(),
        do.Route(RB, ((12.0, along), (40.0, along)), heading_deg=0.0, speed_mm_s=RUN_MM_S),
        do.Until((do.Passes(RB, 16.0),), within_s=6.0),
        do.Board(on=False, by="away"),
        do.WaitFor(0.5),
    )
    word = f"{outside_mm:g} mm over" if outside_mm >= 0 else f"{-outside_mm:g} mm inside"
    script = scrimmage("sideline-graze", f"The runner passes {word} the sideline.", steps, _FAR_CORNER)

    def expectation(history: PlayHistory) -> Expectation:
        if outside_mm < 0:
            return expect(absent=nowhere("out_of_bounds", *_DOWN))
        return _out_of_bounds(history, _reached_sideline(history))

    return ExpectedPlay(script, expectation)


def out_of_bounds(motion: Motion = "exact") -> ExpectedPlay:
    """The runner runs over the sideline."""
    steps = (
        *opening(40.0, RB),
        *to_the_line(),
        do.Route(RB, ((9.0, HALF_YD - 0.2), (9.5, HALF_YD + 0.5)), speed_mm_s=RUN_MM_S),
        do.Until((do.TouchesSideline(RB),), within_s=6.0, mark="out"),
        *stopped("away", 0.15, 0.5),
    )
    script = scrimmage("out-of-bounds", "The runner runs out of bounds.", steps, _FAR_CORNER, motion=motion)
    return ExpectedPlay(script, lambda history: _out_of_bounds(history, history.marks["out"]), _SEED)


def touchdown(motion: Motion = "exact") -> ExpectedPlay:
    """The runner reaches the end zone from eight yards out."""
    steps = (
        *opening(92.0, RB, distance_yd=0.0),
        *to_the_line(until_yd=13.0),
        do.Until((do.Reaches(RB, 8.0),), within_s=6.0, mark="plane"),
        do.Until((do.Reaches(RB, 12.0),), within_s=6.0),
        do.Board(on=False, by="away"),
        do.WaitFor(0.5),
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.marks["plane"]
        return expect(
            tap=(at("touchdown", (RB,), t_ns, ("TAP-G1",)),),
            efl=(at("touchdown", (RB,), t_ns, ("EFL-G1",)),),
            # The ball, not the base, must cross: the hand lies behind the base's front, so this happens later.
            lions_den=(_later(at("touchdown", (RB,), t_ns, ("LD-021",)), 200_000_000),),
            absent=nowhere("safety", "out_of_bounds", *_DOWN),
        )

    script = scrimmage(
        "touchdown", "The runner reaches the end zone.", steps, line_yd=92.0, motion=motion, without=(SS, FS)
    )
    return ExpectedPlay(script, expectation, _SEED)


def goal_line_stop(short_mm: float = 1.5) -> ExpectedPlay:
    """The runner is met head-on before the goal line.

    Args:
        short_mm: distance of his base's front from the goal line when he is touched.
    """
    stand_yd = 6.0 - ahead(short_mm) + ahead(LENGTH_MM / 2)
    steps = (*opening(94.0, RB, distance_yd=0.0), *to_the_line(until_yd=10.0), *met())

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", RB, RCB)
        return expect(
            tap=(tap_tackle(history, RB, RCB, t_ns),),
            efl=(efl_tackle(history, RB, RCB, t_ns, "EFL-078"),),
            lions_den=(lions_den_tackle(history, RB, RCB, t_ns),),
            absent=nowhere("touchdown", "safety", "fumble", "out_of_bounds"),
        )

    script = scrimmage(
        "goal-line-stop",
        f"The runner is stopped {short_mm:g} mm short of the goal line.",
        steps,
        Stance(RCB, stand_yd, LANE_YD, at="center"),
        line_yd=94.0,
        speeds={RCB: 0.0},
        without=(SS, FS),
    )
    return ExpectedPlay(script, expectation)


def safety() -> ExpectedPlay:
    """The runner is tackled in his own end zone."""
    meet_yd = -11.0
    steps = (
        *opening(8.0, RB),
        do.Route(RDE, ((-4.0, LANE_YD), (meet_yd, LANE_YD - 2.0), (meet_yd, 0.0)), speed_mm_s=150.0),
        do.Route(RB, ((meet_yd, 2.0), (meet_yd, 12.0)), speed_mm_s=25.0),
        do.Until((do.BasesTouch(RB, RDE),), within_s=6.0, mark="contact"),
        *stopped("home", 0.25, 0.6),
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", RB, RDE)
        return expect(
            tap=(at("safety", (RB,), t_ns, ("TAP-G2",)),),
            efl=(at("safety", (RB,), t_ns, ("EFL-G1",)),),
            lions_den=(at("safety", (RB,), t_ns, ("LD-024",)),),
            absent=nowhere("touchdown", "fumble", "out_of_bounds"),
        )

    script = scrimmage(
        "safety", "The runner is tackled in his own end zone.", steps, Stance(RDE, 6.0, LANE_YD), line_yd=8.0
    )
    return ExpectedPlay(script, expectation)


def _reached_sideline(history: PlayHistory) -> int:
    """Return when the runner's base first reached the sideline's paint, to a tenth of a millisecond."""
    width_mm, low, high = FIELD.width_mm, history.marks["line"], history.end_ns
    while high - low > 100_000:
        middle = (low + high) // 2
        low, high = (low, middle) if history.footprint(RB, middle).reach_mm(90.0) >= width_mm else (middle, high)
    return high


def _out_of_bounds(history: PlayHistory, t_ns: int) -> Expectation:
    base_spot = history.foremost_yd(RB, t_ns)
    x_yd, _ = history.hand_yd(RB, t_ns)
    near_hash = FIELD.hash_rows_y_yd[-1]
    return expect(
        tap=(at("out_of_bounds", (RB,), t_ns, ("TAP-G3",), base_spot, tolerance_yd=0.2),),
        efl=(at("out_of_bounds", (RB,), t_ns, ("EFL-G1",), base_spot, tolerance_yd=0.2),),
        lions_den=(at("out_of_bounds", (RB,), t_ns, ("LD-015",), (x_yd, near_hash), tolerance_yd=0.2),),
        absent=nowhere(*_DOWN, "touchdown", "safety"),
    )


def _later(call: ExpectedCall, by_ns: int) -> ExpectedCall:
    first, last = call.t_ns or (0, 0)
    return replace(call, t_ns=(first, last + by_ns))
