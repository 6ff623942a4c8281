"""Plays about what only Gunderson's EFL has: throws told by their end, a touched passer, his handle, its kickoffs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from downfield.officiating.declarations import KickDeclared, KickEnded, LineUpDeclared, PassDeclared, PassEnded
from downfield.twin.plays.formations import QB, RB, RCB, RDE, SE, teams
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import (
    FIELD,
    LENGTH_MM,
    PASSER,
    RECEIVER,
    Absent,
    across,
    ahead,
    efl_tackle,
    expect,
    few,
    lions_den_tackle,
    opening,
    stopped,
    tap_tackle,
)
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay
from downfield.twin.plays.script import BasesTouch, Board, Declare, GiveBall, Stance, Step, Until, WaitFor

HANDLE_REACHED_MM: Final = 6.0
"""Gap between the passer's base and the rusher's as the board goes off: less than a handle, and no touch."""
RUSH_MM_S: Final = 20.0
RUSH_S: Final = 1.2
CORNER_DEG: Final = 40.0  # the angle between the rusher's front and the passer's: far from square


def stop_and_throw(*ends: PassEnded) -> tuple[Step, ...]:
    """Return the steps of a stop in which throws to the split end are declared and end, one after another."""
    throws: tuple[Step, ...] = ()
    for end in ends:
        throws += (Declare(PassDeclared(SE)), WaitFor(0.2), Declare(end), WaitFor(0.1))
    return (*opening(40.0, QB), *stopped("home", 0.5, 0.2), *throws)


def completed() -> ExpectedPlay:
    """A throw is caught, the receiver runs and is met squarely."""
    steps = (
        *stop_and_throw(PassEnded("complete", SE)),
        GiveBall(SE),
        Board(on=True, by="home"),
        Until((BasesTouch(SE, RCB),), within_s=6.0, mark="contact"),
        *stopped("home", 0.4, 0.4),
    )
    defender = Stance(RCB, 14.0, 12.0)
    script = few("efl-pass", "A throw is caught, and the receiver tackled.", steps, PASSER, RECEIVER, defender)
    script = replace(script, traits={**script.traits, SE: replace(script.traits[SE], speed_mm_s=80.0)})

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", SE, RCB)
        caught = ExpectedCall("reception", (SE,), clauses=("EFL-038",))
        return expect(
            efl=(caught, efl_tackle(history, SE, RCB, t_ns, "EFL-078")),
            absent={"efl": ("interception", "incomplete", "touchdown", "sack", "penalty")},
        )

    return ExpectedPlay(script, expectation)


def intercepted() -> ExpectedPlay:
    """A defender catches the throw: the ball changes hands, and stays with him until he is tackled."""
    steps = (*stop_and_throw(PassEnded("intercepted", RCB)), Board(on=True, by="away"), WaitFor(0.4))
    script = few(
        "efl-interception", "A throw is intercepted.", steps, PASSER, RECEIVER, Stance(RCB, 14.0, 12.0), **{SE: 5.0}
    )
    call = ExpectedCall("interception", (RCB,), clauses=("EFL-040", "EFL-041"))
    absent: Absent = {"efl": ("reception", "incomplete", "tackle", "turnover_on_downs", "penalty")}
    return ExpectedPlay(script, lambda _: expect(efl=(call,), absent=absent))


def missed(tries: int = 3) -> ExpectedPlay:
    """Throw after throw is missed in one play; only the third ends it. `tries`: number of throws, 1 or 3."""
    steps = (*stop_and_throw(*[PassEnded("incomplete")] * tries), WaitFor(0.3))
    about = f"{tries} throws of a play are missed; the EFL gives three."
    name = "efl-one-miss" if tries == 1 else "efl-three-misses"
    script = few(name, about, steps, PASSER, RECEIVER, Stance(RCB, 14.0, 12.0))
    if tries == 1:
        missed_one = ExpectedCall("incomplete", clauses=("EFL-037",), verdict="reported")
        return ExpectedPlay(script, lambda _: expect(efl=(missed_one,), absent={"efl": ("reception",)}))
    last = ExpectedCall("incomplete", clauses=("EFL-037",))
    return ExpectedPlay(script, lambda _: expect(efl=(last,), absent={"efl": ("reception", "interception", "sack")}))


def passer_touched() -> ExpectedPlay:
    """A rusher's corner touches the passer's base: no tackle under the EFL, but he may no longer pass (EFL-029)."""
    away_mm, turn = 2.0 * LENGTH_MM, math.radians(CORNER_DEG)
    start = ahead(LENGTH_MM / 2 + away_mm * math.cos(turn)), across(-away_mm * math.sin(turn))
    rusher = Stance(RDE, PASSER.ahead_yd + start[0], start[1], 180.0 - CORNER_DEG, at="center")
    steps = (
        *opening(40.0, QB),
        Until((BasesTouch(QB, RDE),), within_s=6.0, mark="contact"),
        *stopped("home", 0.2, 0.3),
        Declare(PassDeclared(SE)),
        WaitFor(0.3),
    )
    script = few("efl-passer-touched", "A corner touches the passer.", steps, PASSER, RECEIVER, rusher, **{RDE: 30.0})

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", QB, RDE)
        return expect(
            tap=(tap_tackle(history, QB, RDE, t_ns),),
            efl=(ExpectedCall("info", (QB, RDE), clauses=("EFL-029",)),),
            lions_den=(lions_den_tackle(history, QB, RDE, t_ns),),
            absent={"efl": ("tackle", "sack", "reception")},
            refused={"efl": ("pass",), "tap": ("pass",), "lions-den": ("pass",)},
        )

    return ExpectedPlay(script, expectation)


def handle_touched() -> ExpectedPlay:
    """A rusher comes from behind as near as a handle reaches: a sack that is proposed, under the EFL alone."""
    behind_mm = LENGTH_MM + HANDLE_REACHED_MM + RUSH_MM_S * RUSH_S
    rusher = Stance(RCB, PASSER.ahead_yd - ahead(behind_mm), 0.0, 0.0, at="center")
    steps = (*opening(40.0, QB), *stopped("home", RUSH_S, 0.5))
    script = few("efl-handle", "A rusher reaches the handle.", steps, PASSER, RECEIVER, rusher, **{RCB: RUSH_MM_S})
    sack = ExpectedCall("sack", (QB, RCB), clauses=("EFL-043",), verdict="proposed")
    absent: Absent = {"tap": ("tackle", "sack"), "efl": ("tackle",), "lions-den": ("tackle", "sack")}
    return ExpectedPlay(script, lambda _: expect(efl=(sack,), absent=absent))


def kickoff(receiver: str = RB, at_yd: float = 18.0) -> ExpectedPlay:
    """A kickoff touches a receiver: a deep one has a fair catch, at the 25 or beyond; a lineman a live ball.

    Args:
        at_yd: where, in the receivers' own yards.
    """
    deep = receiver == RB
    middle_yd = FIELD.width_yd / 2
    steps = (
        Declare(LineUpDeclared(teams(), "dark")),
        Declare(KickDeclared("kickoff")),
        WaitFor(0.2),
        Declare(KickEnded("touched", at_yd, middle_yd, receiver)),
        WaitFor(0.3),
    )
    where = Stance(receiver, at_yd, 0.0, at="center")
    name = "efl-fair-catch" if deep else "efl-live-kick"
    script = replace(few(name, f"A kickoff touches {receiver}.", steps, where), line_yd=0.0)
    if deep:
        call = ExpectedCall("kick", (receiver,), (max(at_yd, 25.0), middle_yd), clauses=("EFL-052", "EFL-053"))
    else:
        call = ExpectedCall("kick", (receiver,), (at_yd, middle_yd), clauses=("EFL-056",))
    return ExpectedPlay(script, lambda _: expect(efl=(call,), absent={"efl": ("touchback", "first_down", "tackle")}))
