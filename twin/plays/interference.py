"""Plays about interference: a touch that turns a receiver or a gunner, one that does not, and a turn of his own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from downfield.officiating.declarations import KickDeclared, LineUpDeclared, OffenseSet, PassDeclared, SetUp
from downfield.twin.physics.history import PlayHistory
from downfield.twin.plays.common import WIDTH_MM, across, at, expect, opening
from downfield.twin.plays.efl import PASSER, few
from downfield.twin.plays.formations import QB, RCB, SE, teams
from downfield.twin.plays.performance import ExpectedPlay
from downfield.twin.plays.recording import Expectation
from downfield.twin.plays.script import BasesTouch, Board, Declare, LayStick, Point, Route, Stance, Step, Until, WaitFor

LANE_YD: Final = 12.0
BALL: Final[Point] = (30.0, LANE_YD)
CLEAR_MM: Final = 5.0
"""Gap between the two as they start side by side; the defender closes it as they run."""
RUN_MM_S: Final = 60.0
TURN_DEG: Final = 45.0
"""Turn of the fouled man: more than a nudge."""


def pass_interference(turned: bool = True, touched: bool = True) -> ExpectedPlay:
    """A defender runs beside the receiver of a pass in the air, touches him, and the receiver turns away from the ball.

    Args:
        turned: whether the receiver turns.
        touched: whether the defender touches him before.

    """
    steps = (
        *opening(40.0, QB),
        WaitFor(0.3),
        Board(on=False, by="home"),
        WaitFor(0.1),
        Declare(PassDeclared(SE)),
        LayStick("home", QB, BALL, seconds=1.0),
        WaitFor(0.1),
        Board(on=True, by="home"),
        *_beside(turned=turned, touched=touched),
    )
    name = "interference" if turned and touched else "touch-without-turn" if touched else "turn-without-touch"
    script = few(name, "A receiver is touched, turned, or both.", steps, PASSER, *_side_by_side(), **_SPEEDS)
    return ExpectedPlay(script, _foul("TAP-109", turned=turned and touched))


def gunner_interference() -> ExpectedPlay:
    """A defender touches a gunner on a punt play and turns him off his way (TAP-046)."""
    steps = (
        Declare(SetUp("home", 1, 40.0, 4, 8.0)),
        Declare(LineUpDeclared(teams(), "dark")),
        Declare(KickDeclared("punt", gunners=(SE,))),
        WaitFor(0.1),
        Declare(OffenseSet()),
        WaitFor(0.2),
        Board(on=True, by="home"),
        *_beside(turned=True, touched=True),
    )
    passer = Stance(QB, -20.0, 0.0)
    script = few("gunner-interference", "A gunner is turned.", steps, passer, *_side_by_side(), **_SPEEDS)
    return ExpectedPlay(script, _foul("TAP-046", turned=True))


_SPEEDS: Final = {SE: 0.1, RCB: 0.1}


def _side_by_side() -> tuple[Stance, Stance]:
    beside = LANE_YD + across(WIDTH_MM + CLEAR_MM)
    return Stance(SE, 2.0, LANE_YD, 0.0, at="center"), Stance(RCB, 2.0, beside, 0.0, at="center")


def _beside(*, turned: bool, touched: bool) -> tuple[Step, ...]:
    """Return the steps in which both run, the defender closes in and moves off, and the receiver turns or does not."""
    apart = LANE_YD + across(WIDTH_MM + CLEAR_MM)
    close = LANE_YD + across(WIDTH_MM - 1.0) if touched else apart
    met: Step = Until((BasesTouch(SE, RCB),), within_s=3.0, mark="touch") if touched else WaitFor(0.6)
    turn = (Route(SE, ((25.0, LANE_YD),), heading_deg=-TURN_DEG, speed_mm_s=RUN_MM_S),) if turned else ()
    return (
        Route(SE, ((25.0, LANE_YD),), heading_deg=0.0, speed_mm_s=RUN_MM_S),
        Route(RCB, ((6.0, close), (25.0, close)), heading_deg=0.0, speed_mm_s=RUN_MM_S),
        met,
        WaitFor(0.07),
        Route(RCB, ((6.5, apart + 3.0), (25.0, apart + 3.0)), heading_deg=0.0, speed_mm_s=2 * RUN_MM_S),
        WaitFor(0.08),  # a turned base is wider
        *turn,
        WaitFor(0.7),
        Board(on=False, by="home"),
        WaitFor(0.4),
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
