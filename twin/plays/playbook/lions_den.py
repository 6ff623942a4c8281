"""Plays about what only Lion's Den has: passes and kicks by dice, the pocket, penalties rolled after a down."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating import declarations as d
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import LCB, QB, RB, RCB, SE, SS, teams
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import (
    PASSER,
    RECEIVER,
    Absent,
    expect,
    few,
    lions_den_tackle,
    opening,
    stopped,
)
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay
from downfield.twin.plays.script import Stance, Step

RATING: Final = 50
"""Chance in percent of the quarterbacks here: 40 and the 5 and 5 of their dice; kickers and punters have 80."""
FAR: Final = Stance(RCB, 24.0, 12.0)
DEEP_YD: Final = 10.0


def rated(side: d.Side = "home") -> tuple[Step, ...]:
    """Return the steps that roll for a side's skilled players: 5 and 5 for each."""
    players = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")
    return tuple(do.Declare(d.Roll((5, 5), player, side)) for player in players)


def stop_and_roll(number: int) -> tuple[Step, ...]:
    """Return the steps of a stop in which a pass to the split end is declared and its percentile dice are rolled."""
    return (
        *rated(),
        *opening(40.0, QB),
        *stopped("home", 0.4, 0.2),
        do.Declare(d.PassDeclared(SE)),
        do.WaitFor(0.1),
        do.Declare(d.Roll((number // 10 % 10, number % 10), "pass", "home")),
    )


def caught() -> ExpectedPlay:
    """The dice are the quarterback's chance or less: caught, and the receiver is live until he is tackled."""
    steps = (
        *stop_and_roll(RATING),
        do.GiveBall(SE),
        do.Board(on=True, by="home"),
        do.Until((do.BasesTouch(SE, RCB),), within_s=6.0, mark="contact"),
        *stopped("home", 0.2, 0.3),
    )
    script = few("lions-den-pass", f"A pass is caught on {RATING}.", steps, PASSER, RECEIVER, FAR)
    script = replace(script, traits={**script.traits, SE: replace(script.traits[SE], speed_mm_s=90.0)})

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", SE, RCB)
        return expect(
            lions_den=(ExpectedCall("reception", (SE,), clauses=("LD-048",)), lions_den_tackle(history, SE, RCB, t_ns)),
            absent={"lions-den": ("incomplete", "interception", "fumble", "penalty")},
        )

    return ExpectedPlay(script, expectation)


def intercepted(die: int = 10) -> ExpectedPlay:
    """A defender within 5 yards of the receiver rolls for the ball: a 10 intercepts, although the pass was caught."""
    steps = (
        *stop_and_roll(RATING),
        do.WaitFor(0.1),
        do.Declare(d.Roll((die,), "interception", "away")),
        do.WaitFor(0.2),
    )
    near = Stance(RCB, RECEIVER.ahead_yd + 4.0, RECEIVER.across_yd)
    name = "lions-den-interception" if die == 10 else "lions-den-kept"
    script = few(name, f"A defender near the receiver rolls {die}.", steps, PASSER, RECEIVER, near)
    if die == 10:
        taken = ExpectedCall("interception", (RCB,), clauses=("LD-050", "LD-052"))
        return ExpectedPlay(
            script, lambda _: expect(lions_den=(taken,), absent={"lions-den": ("reception", "incomplete")})
        )
    kept = ExpectedCall("reception", (SE,), clauses=("LD-048",))
    return ExpectedPlay(
        script, lambda _: expect(lions_den=(kept,), absent={"lions-den": ("interception", "incomplete")})
    )


def interfered() -> ExpectedPlay:
    """After an incomplete pass the dice say interference by the defense: 15 yards and a first down (LD-065)."""
    steps = (
        *stop_and_roll(RATING + 1),
        do.WaitFor(0.1),
        do.Declare(d.Roll((9, 3, 3), "penalty", "away")),
        do.WaitFor(0.1),
        do.Declare(d.ChoiceMade("accept", "home")),
        do.WaitFor(0.1),
    )
    script = few("lions-den-interference", "Interference is rolled after a miss.", steps, PASSER, RECEIVER, FAR)
    missed = ExpectedCall("incomplete", clauses=("LD-048",))
    rolled = ExpectedCall("penalty", clauses=("LD-065",), verdict="reported")
    enforced = ExpectedCall("penalty", (), (55.0, 26.67), clauses=("LD-062",))
    first = ExpectedCall("first_down", clauses=("LD-020",))
    absent: Absent = {"lions-den": ("reception", "interception", "turnover_on_downs")}
    return ExpectedPlay(script, lambda _: expect(lions_den=(missed, rolled, enforced, first), absent=absent))


def ineligible() -> ExpectedPlay:
    """The receiver points toward his own goal line: no pass to him (LD-047)."""
    steps = (*rated(), *opening(40.0, QB), *stopped("home", 0.3, 0.2), do.Declare(d.PassDeclared(SE)), do.WaitFor(0.1))
    backward = Stance(SE, -3.0, 12.0, 120.0, at="center")
    script = few("lions-den-ineligible", "A pass to a receiver who faces back.", steps, PASSER, backward, FAR)
    absent: Absent = {"lions-den": ("reception", "incomplete")}
    return ExpectedPlay(script, lambda _: expect(absent=absent, refused={"lions-den": ("pass",)}))


def too_deep() -> ExpectedPlay:
    """The quarterback walks back until the ball is more than ten yards behind the line: sacked (LD-042, LD-043)."""
    steps = (
        *opening(40.0, QB),
        do.Route(QB, ((-14.0, 0.0),), heading_deg=0.0, speed_mm_s=40.0),
        *stopped("home", 1.8, 0.4),
    )
    script = few("lions-den-too-deep", "The quarterback drops too deep.", steps, PASSER, RECEIVER, **{QB: 1.0})

    def expectation(history: PlayHistory) -> Expectation:
        spot = 40.0 - DEEP_YD, history.hand_yd(QB, history.end_ns)[1]
        sack = ExpectedCall("sack", (QB,), spot, clauses=("LD-043",))
        return expect(lions_den=(sack,), absent={"lions-den": ("tackle", "reception"), "tap": ("sack", "tackle")})

    return ExpectedPlay(script, expectation)


def kickoff(side_die: int = 1) -> ExpectedPlay:
    """Three dice, 20 and the kicker's 10 are the kick's length, a fourth its side; the returner is live there.

    Args:
        side_die: 1 to 4 the middle, 5 and 6 the left mark, 7 and 8 the right one, 9 and 10 out of bounds.
    """
    dead, length = side_die > 8, 5 + 5 + 5 + 20 + 10
    landing = 35.0 if dead else 65.0 - length
    steps = (
        *rated("away"),
        do.Declare(d.LineUpDeclared(teams(), "dark")),
        do.Declare(d.KickDeclared("kickoff", returner=RB)),
        do.WaitFor(0.2),
        do.Declare(d.Roll((5, 5, 5, side_die), "kickoff", "away")),
        *(() if dead else _returned(landing)),
        do.WaitFor(0.3),
    )
    stances = (Stance(RB, 5.0, 20.0, at="center"), Stance(SS, landing + 14.0, 0.0))
    name = "lions-den-kickoff-out" if dead else "lions-den-kickoff"
    script = replace(few(name, "A kickoff by dice.", steps, *stances, **{RB: 90.0, SS: 20.0}), line_yd=0.0)

    def expectation(history: PlayHistory) -> Expectation:
        clauses = ("LD-034",) if dead else ("LD-032", "LD-034")
        kick = ExpectedCall("kick", () if dead else (RB,), (landing, 26.67), clauses=clauses)
        if dead:
            return expect(lions_den=(kick,), absent={"lions-den": ("touchback", "tackle", "touchdown")})
        t_ns = history.when("touched", RB, SS)
        tackle = lions_den_tackle(history, RB, SS, t_ns)
        return expect(lions_den=(kick, tackle), absent={"lions-den": ("touchback", "safety", "touchdown", "fumble")})

    return ExpectedPlay(script, expectation)


def _returned(landing_yd: float) -> tuple[Step, ...]:
    return (
        do.Hands("home", (do.Handling(RB, to=(landing_yd, 0.0), turn_deg=0.0),)),
        do.GiveBall(RB),
        do.WaitFor(0.1),
        do.Board(on=True, by="home"),
        do.Until((do.BasesTouch(RB, SS),), within_s=6.0, mark="contact"),
        do.WaitFor(0.2),
        do.Board(on=False, by="home"),
    )


def blocked_punt() -> ExpectedPlay:
    """The punter's dice fail: blocked, and the nearest of the receivers has the ball (LD-057)."""
    steps = (
        *rated(),
        do.Declare(d.SetUp("home", 1, 40.0, 4, 8.0)),
        do.Declare(d.LineUpDeclared(teams(), "dark")),
        do.GiveBall(QB),
        do.WaitFor(0.1),
        do.Declare(d.Carrier(QB)),
        do.WaitFor(0.1),
        do.Declare(d.KickDeclared("punt", returner=LCB)),
        do.WaitFor(0.1),
        do.Declare(d.Roll((8, 1), "punt", "home")),
        do.WaitFor(0.3),
    )
    punter = Stance(QB, -7.0, 0.0)
    stances = (punter, Stance(SS, 5.0, 3.0), Stance(LCB, 40.0, 0.0), Stance(RCB, 6.0, -8.0))
    script = few("lions-den-blocked-punt", "A punt is blocked.", steps, *stances)
    call = ExpectedCall("kick", (SS,), clauses=("LD-057",))
    return ExpectedPlay(script, lambda _: expect(lions_den=(call,), absent={"lions-den": ("touchback", "tackle")}))
