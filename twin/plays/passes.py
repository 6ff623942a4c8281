"""Plays about the magnetic ball: caught, intercepted, touched at once, run past; and the pitch."""

from __future__ import annotations

from downfield.officiating.calls import CallKind
from downfield.officiating.declarations import ChoiceMade, PassDeclared, Pitch, PivotsDone
from downfield.twin.physics.history import PlayHistory
from downfield.twin.plays.common import (
    LENGTH_MM,
    WIDTH_MM,
    Motion,
    across,
    ahead,
    at,
    expect,
    opening,
    scrimmage,
)
from downfield.twin.plays.formations import FB, QB, RCB, SE
from downfield.twin.plays.performance import ExpectedPlay
from downfield.twin.plays.recording import Expectation, RulebookName
from downfield.twin.plays.script import (
    BallTouched,
    Board,
    Declare,
    GiveBall,
    Handling,
    Hands,
    LayStick,
    Passes,
    Point,
    Stance,
    Steer,
    Step,
    Until,
    WaitFor,
)

BALL: Point = (9.0, 16.0)
BALL_RADIUS_MM = 4.5
_OTHERS: tuple[CallKind, ...] = ("incomplete", "overrun", "tackle", "sack", "penalty")


def reception(motion: Motion = "exact", seed: int = 2) -> ExpectedPlay:
    """A pass to the split end, who gets to the magnetic ball first."""
    script = scrimmage(
        "reception",
        "The receiver is the first to touch the ball.",
        (*_pass(BALL), *_played(motion)),
        Stance(RCB, 20.0, 22.0),
        speeds={QB: 0.0, SE: 70.0, RCB: 15.0},
        motion=motion,
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched_ball", SE)
        call = at("reception", (SE,), t_ns, ("TAP-103",))
        return expect(tap=(call,), absent={"tap": ("interception", *_OTHERS)})

    return ExpectedPlay(script, expectation, seed)


def interception(motion: Motion = "exact", seed: int = 2) -> ExpectedPlay:
    """The cornerback is turned toward the ball and gets there before the receiver."""
    script = scrimmage(
        "interception",
        "A defender is the first to touch the ball.",
        (*_pass(BALL), *_played(motion, RCB)),
        Stance(RCB, 14.0, 18.0),
        speeds={QB: 0.0, SE: 35.0, RCB: 50.0},
        motion=motion,
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched_ball", RCB)
        call = at("interception", (RCB,), t_ns, ("TAP-103",))
        return expect(tap=(call,), absent={"tap": ("reception", *_OTHERS)})

    return ExpectedPlay(script, expectation, seed)


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

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched_ball", SE)
        call = at("reception", (SE,), t_ns, ("TAP-108",))
        return expect(tap=(call,), absent={"tap": ("interception", *_OTHERS)})

    return ExpectedPlay(script, expectation)


def overrun(clear_mm: float = 2.0) -> ExpectedPlay:
    """The receiver walks past the ball by more than a base length; the offense stops the play.

    Args:
        clear_mm: gap between his base and the ball as he passes it.

    """
    lane = 10.5
    ball = (8.0, lane + across(WIDTH_MM / 2 + clear_mm + BALL_RADIUS_MM))
    steps = (
        *_pass(ball, pivots=False),
        Until((Passes(SE, ball[0] + ahead(LENGTH_MM + 3.0)),), within_s=6.0),
        Board(on=False, by="home"),
        WaitFor(0.2),
        Declare(ChoiceMade("overrun_stop", "home")),
        WaitFor(0.3),
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
        WaitFor(0.5),
        Board(on=False, by="home"),
        WaitFor(0.2),
        Declare(Pitch(FB)),
        *((GiveBall(FB),) if legal else ()),
        WaitFor(0.1),
        Declare(PivotsDone("home")),
        WaitFor(0.1),
        Board(on=True, by="home"),
        WaitFor(0.6),
    )
    name = "pitch" if legal else "illegal-pitch"
    about = "The ball is pitched " + ("to a back behind." if legal else "forward to a back.")
    script = scrimmage(name, about, steps, *back, speeds={QB: 0.0, FB: 5.0})
    absent: tuple[CallKind, ...] = ("penalty", "pivot", "tackle", "fumble")
    refused: dict[RulebookName, tuple[str, ...]] = {} if legal else {"tap": ("pitch",)}
    return ExpectedPlay(script, lambda _: expect(absent={"tap": absent}, refused=refused))


def _pass(ball: Point, *, pivots: bool = True) -> tuple[Step, ...]:
    """A stop, PASS, stick and ball, the receiver turned and then a defender, and the board on again."""
    turn: tuple[Step, ...] = ()
    if pivots:
        turn = (
            Hands("home", (Handling(SE, toward_point=ball),), seconds=0.7),
            Declare(PivotsDone("home")),
            Hands("away", (Handling(RCB, toward_point=ball),), seconds=0.7),
            Declare(PivotsDone("away")),
        )
    return (
        *opening(40.0, QB),
        WaitFor(0.4),
        Board(on=False, by="home"),
        WaitFor(0.1),
        Declare(PassDeclared(SE)),
        LayStick("home", QB, ball, seconds=1.2),
        *turn,
        WaitFor(0.1),
        Board(on=True, by="home"),
    )


def _played(motion: Motion, defender: str | None = None) -> tuple[Step, ...]:
    """Return the steps until a figure touches the ball; in the physics the runners are steered to it."""
    runners = (SE,) if defender is None else (SE, defender)
    chase = tuple(Steer(runner, toward_point=BALL) for runner in runners) if motion == "physics" else ()
    return (
        *chase,
        Until((BallTouched(),), within_s=6.0, mark="touch"),
        Board(on=False, by="home"),
        WaitFor(0.5),
    )
