"""Plays about passes: the magnetic ball caught, intercepted, run past; the pitch; and interference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from downfield.officiating import declarations as d
from downfield.officiating.call_kinds import CallKind
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import FB, QB, RCB, SE, teams
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import (
    LENGTH_MM,
    PASSER,
    WIDTH_MM,
    Motion,
    across,
    ahead,
    at,
    expect,
    few,
    opening,
    scrimmage,
    stopped,
)
from downfield.twin.plays.recording import Expectation, ExpectedPlay, RulebookName
from downfield.twin.plays.script import Point, Stance, Step

BALL: Point = (9.0, 16.0)
BALL_RADIUS_MM = 4.5
_OTHERS: tuple[CallKind, ...] = ("incomplete", "overrun", "tackle", "sack", "penalty")

LANE_YD: Final = 12.0
FAR_BALL: Final[Point] = (30.0, LANE_YD)
CLEAR_MM: Final = 5.0  # gap between the two as they start side by side; the defender closes it as they run
RUN_MM_S: Final = 60.0
TURN_DEG: Final = 45.0  # turn of the fouled man: more than a nudge

_SEED: Final = 2
_SPEEDS: Final = {SE: 0.1, RCB: 0.1}


def _first_touch(kind: CallKind, player: str, clause: str, absent: CallKind) -> Callable[[PlayHistory], Expectation]:
    """Return the expectation of TAP's call when a figure is the first to touch the ball."""

    def expectation(history: PlayHistory) -> Expectation:
        call = at(kind, (player,), history.when("touched_ball", player), (clause,))
        return expect(tap=(call,), absent={"tap": (absent, *_OTHERS)})

    return expectation


def reception(motion: Motion = "exact") -> ExpectedPlay:
    """A pass to the split end, who gets to the magnetic ball first."""
    script = scrimmage(
        "reception",
        "The receiver is the first to touch the ball.",
        (*_pass(BALL), *_played(motion)),
        Stance(RCB, 20.0, 22.0),
        speeds={QB: 0.0, SE: 70.0, RCB: 15.0},
        motion=motion,
    )
    return ExpectedPlay(script, _first_touch("reception", SE, "TAP-103", "interception"), _SEED)


def interception(motion: Motion = "exact") -> ExpectedPlay:
    """The cornerback is turned toward the ball and gets there before the receiver."""
    script = scrimmage(
        "interception",
        "A defender is the first to touch the ball.",
        (*_pass(BALL), *_played(motion, RCB)),
        Stance(RCB, 14.0, 18.0),
        speeds={QB: 0.0, SE: 35.0, RCB: 50.0},
        motion=motion,
    )
    return ExpectedPlay(script, _first_touch("interception", RCB, "TAP-103", "reception"), _SEED)


def simultaneous() -> ExpectedPlay:
    """Receiver and defender touch the ball at the same instant: the offense's ball.

    They start as mirror images about the ball and walk alike, so that they reach it together.
    """
    start = (-ahead(LENGTH_MM / 2), 10.5)
    ball = (8.0, 15.0)
    mirrored = (2 * ball[0] - start[0], 2 * ball[1] - start[1])
    script = scrimmage(
        "simultaneous",
        "Receiver and defender touch the ball at the same instant.",
        (*_pass(ball), *_played("exact")),
        Stance(SE, *start, at="center"),
        Stance(RCB, *mirrored, at="center"),
        speeds={QB: 0.0, SE: 50.0, RCB: 50.0},
    )
    return ExpectedPlay(script, _first_touch("reception", SE, "TAP-108", "interception"))


def overrun() -> ExpectedPlay:
    """The receiver walks past the ball, 2 mm beside it, by more than a base length; the offense stops the play."""
    lane = 10.5
    ball = (8.0, lane + across(WIDTH_MM / 2 + 2.0 + BALL_RADIUS_MM))
    steps = (
        *_pass(ball, pivots=False),
        do.Until((do.Passes(SE, ball[0] + ahead(LENGTH_MM + 3.0)),), within_s=6.0),
        do.Board(on=False, by="home"),
        do.WaitFor(0.2),
        do.Declare(d.ChoiceMade("overrun_stop", "home")),
        do.WaitFor(0.3),
    )
    script = scrimmage(
        "overrun",
        "The receiver goes past the ball by more than a base length.",
        steps,
        Stance(SE, 0.0, lane),
        Stance(RCB, 22.0, 22.0),
        speeds={QB: 0.0, SE: 80.0, RCB: 10.0},
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.end_ns - 300_000_000
        call = at("overrun", (SE,), t_ns, ("TAP-104",))
        return expect(tap=(call,), absent={"tap": ("reception", "interception", "tackle", "sack", "penalty")})

    return ExpectedPlay(script, expectation)


def pitch(legal: bool = True) -> ExpectedPlay:
    """The quarterback pitches to a back behind him, or to a back ahead of him.

    Args:
        legal: whether the back is behind the quarterback.
    """
    back = () if legal else (Stance(FB, -2.5, -14.0),)
    steps = (
        *opening(40.0, QB),
        *stopped("home", 0.5, 0.2),
        do.Declare(d.Pitch(FB)),
        *((do.GiveBall(FB),) if legal else ()),
        do.WaitFor(0.1),
        do.Declare(d.PivotsDone("home")),
        do.WaitFor(0.1),
        do.Board(on=True, by="home"),
        do.WaitFor(0.6),
    )
    name = "pitch" if legal else "illegal-pitch"
    about = "The ball is pitched " + ("to a back behind." if legal else "forward to a back.")
    script = scrimmage(name, about, steps, *back, speeds={QB: 0.0, FB: 5.0})
    absent: tuple[CallKind, ...] = ("penalty", "pivot", "tackle", "fumble")
    refused: dict[RulebookName, tuple[str, ...]] = {} if legal else {"tap": ("pitch",)}
    return ExpectedPlay(script, lambda _: expect(absent={"tap": absent}, refused=refused))


def _pass(ball: Point, *, pivots: bool = True) -> tuple[Step, ...]:
    """Return the steps of a pass: a stop, stick and ball, receiver and defender turned, the board on again."""
    turn: tuple[Step, ...] = ()
    if pivots:
        turn = (
            do.Hands("home", (do.Handling(SE, toward_point=ball),), seconds=0.7),
            do.Declare(d.PivotsDone("home")),
            do.Hands("away", (do.Handling(RCB, toward_point=ball),), seconds=0.7),
            do.Declare(d.PivotsDone("away")),
        )
    return (
        *opening(40.0, QB),
        *stopped("home", 0.4, 0.1),
        do.Declare(d.PassDeclared(SE)),
        do.LayStick("home", QB, ball, seconds=1.2),
        *turn,
        do.WaitFor(0.1),
        do.Board(on=True, by="home"),
    )


def _played(motion: Motion, defender: str | None = None) -> tuple[Step, ...]:
    """Return the steps until a figure touches the ball; in the physics the runners are steered to it."""
    runners = (SE,) if defender is None else (SE, defender)
    chase = tuple(do.Steer(runner, toward_point=BALL) for runner in runners) if motion == "physics" else ()
    return (
        *chase,
        do.Until((do.BallTouched(),), within_s=6.0, mark="touch"),
        do.Board(on=False, by="home"),
        do.WaitFor(0.5),
    )


def pass_interference(turned: bool = True, touched: bool = True) -> ExpectedPlay:
    """A defender runs beside the receiver of a pass in the air, touches him, and the receiver turns away from the ball.

    Args:
        turned: whether the receiver turns.
        touched: whether the defender touches him before.
    """
    steps = (
        *opening(40.0, QB),
        *stopped("home", 0.3, 0.1),
        do.Declare(d.PassDeclared(SE)),
        do.LayStick("home", QB, FAR_BALL, seconds=1.0),
        do.WaitFor(0.1),
        do.Board(on=True, by="home"),
        *_beside(turned=turned, touched=touched),
    )
    name = "interference" if turned and touched else "touch-without-turn" if touched else "turn-without-touch"
    script = few(name, "A receiver is touched, turned, or both.", steps, PASSER, *_side_by_side(), **_SPEEDS)
    return ExpectedPlay(script, _foul("TAP-109", turned=turned and touched))


def gunner_interference() -> ExpectedPlay:
    """A defender touches a gunner on a punt play and turns him off his way (TAP-046)."""
    steps = (
        do.Declare(d.SetUp("home", 1, 40.0, 4, 8.0)),
        do.Declare(d.LineUpDeclared(teams(), "dark")),
        do.Declare(d.KickDeclared("punt", gunners=(SE,))),
        do.WaitFor(0.1),
        do.Declare(d.OffenseSet()),
        do.WaitFor(0.2),
        do.Board(on=True, by="home"),
        *_beside(turned=True, touched=True),
    )
    passer = Stance(QB, -20.0, 0.0)
    script = few("gunner-interference", "A gunner is turned.", steps, passer, *_side_by_side(), **_SPEEDS)
    return ExpectedPlay(script, _foul("TAP-046", turned=True))


def _side_by_side() -> tuple[Stance, Stance]:
    beside = LANE_YD + across(WIDTH_MM + CLEAR_MM)
    return Stance(SE, 2.0, LANE_YD, 0.0, at="center"), Stance(RCB, 2.0, beside, 0.0, at="center")


def _beside(*, turned: bool, touched: bool) -> tuple[Step, ...]:
    """Return the steps in which both run, the defender closes in and moves off, and the receiver turns or does not."""
    apart = LANE_YD + across(WIDTH_MM + CLEAR_MM)
    close = LANE_YD + across(WIDTH_MM - 1.0) if touched else apart
    met: Step = do.Until((do.BasesTouch(SE, RCB),), within_s=3.0, mark="touch") if touched else do.WaitFor(0.6)
    turn = (do.Route(SE, ((25.0, LANE_YD),), heading_deg=-TURN_DEG, speed_mm_s=RUN_MM_S),) if turned else ()
    return (
        do.Route(SE, ((25.0, LANE_YD),), heading_deg=0.0, speed_mm_s=RUN_MM_S),
        do.Route(RCB, ((6.0, close), (25.0, close)), heading_deg=0.0, speed_mm_s=RUN_MM_S),
        met,
        do.WaitFor(0.07),
        do.Route(RCB, ((6.5, apart + 3.0), (25.0, apart + 3.0)), heading_deg=0.0, speed_mm_s=2 * RUN_MM_S),
        do.WaitFor(0.08),  # a turned base is wider
        *turn,
        *stopped("home", 0.7, 0.4),
    )


def _foul(clause: str, *, turned: bool) -> Callable[[PlayHistory], Expectation]:
    def expectation(history: PlayHistory) -> Expectation:
        if not turned:
            return expect(absent={"tap": ("penalty", "tackle", "reception")})
        t_ns = history.when("touched", SE, RCB)
        spot = history.foremost_yd(SE, t_ns)
        foul = at("penalty", (SE, RCB), t_ns, (clause,), spot, tolerance_yd=0.3, verdict="proposed")
        return expect(tap=(foul,), absent={"tap": ("tackle", "reception", "interception")})

    return expectation
