"""Plays with falls: in a tackle, in making one, or alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from downfield.officiating.call_kinds import CallKind
from downfield.officiating.declarations import Coin
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import FS, RB, RCB
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import (
    LANE_YD,
    Motion,
    at,
    efl_tackle,
    expect,
    lions_den_tackle,
    opening,
    scrimmage,
    stopped,
    tap_tackle,
    to_the_line,
)
from downfield.twin.plays.playbook.tackles import HIT, met, square_at_his_side
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay
from downfield.twin.plays.script import Script, Stance, Step

TIP_S: Final = 0.08  # time from the contact to the start of the fall: a figure totters before it falls

_MEET_YD = 7.0
_SEED = 3


def broken_tackle(motion: Motion = "exact") -> ExpectedPlay:
    """The tackler hits the runner's side and falls away; the runner goes on."""
    steps = (
        do.Until((do.BasesTouch(RB, RCB),), within_s=6.0, mark=HIT),
        do.WaitFor(TIP_S),
        do.Topple(RCB, away_from=RB),
        do.Until((do.Passes(RB, _MEET_YD + 6.0),), within_s=6.0),
        do.WaitFor(0.2),
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", RB, RCB)
        return expect(
            tap=(at("broken_tackle", (RB, RCB), t_ns, ("TAP-023",)),),
            lions_den=(lions_den_tackle(history, RB, RCB, t_ns),),
            efl=(efl_tackle(history, RB, RCB, t_ns, "EFL-078"),) if motion == "exact" else (),
            absent={"tap": ("tackle", "fumble", "down_by_fall", "out_of_bounds")},
        )

    script = _side_hit("broken-tackle", "The tackler falls in making the tackle.", steps, motion)
    return ExpectedPlay(script, expectation, _SEED)


def second_tackler() -> ExpectedPlay:
    """One tackler falls, and within the fall window a standing one has the runner: a tackle by the second."""
    steps = (
        do.Until((do.BasesTouch(RB, RCB),), within_s=6.0, mark=HIT),
        do.WaitFor(TIP_S),
        do.Topple(RCB, away_from=RB),
        *met(defender=FS),
    )
    script = _side_hit(
        "second-tackler",
        "The first tackler falls, the second stands.",
        steps,
        "exact",
        Stance(FS, _MEET_YD + 6.0, LANE_YD, at="center"),
        others={FS: 0.0},
    )

    def expectation(history: PlayHistory) -> Expectation:
        first, second = history.when("touched", RB, RCB), history.when("touched", RB, FS)
        return expect(
            tap=(tap_tackle(history, RB, FS, second),),
            efl=(efl_tackle(history, RB, RCB, first, "EFL-078"),),
            lions_den=(lions_den_tackle(history, RB, RCB, first),),
            absent={"tap": ("fumble", "down_by_fall")},
        )

    return ExpectedPlay(script, expectation)


def both_fall(motion: Motion = "exact") -> ExpectedPlay:
    """Runner and tackler both fall: no fumble, and the runner is down."""
    after = (do.WaitFor(TIP_S), do.Topple(RCB, away_from=RB), do.WaitFor(0.03), do.Topple(RB, away_from=RCB))

    def expectation(history: PlayHistory) -> Expectation:
        return expect(
            tap=(_in_the_fall(history, "down_by_fall", (RB,), "TAP-036"),),
            lions_den=(lions_den_tackle(history, RB, RCB, history.when("touched", RB, RCB)),),
            absent={"tap": ("tackle", "fumble", "broken_tackle"), "lions-den": ("fumble",), "efl": ("fumble",)},
        )

    script = _side_hit("both-fall", "Runner and tackler both fall.", met(after), motion)
    return ExpectedPlay(script, expectation, _SEED)


def falls_alone(motion: Motion = "exact") -> ExpectedPlay:
    """The runner falls with no other figure near."""
    steps = (
        *opening(40.0, RB),
        *to_the_line(),
        do.Until((do.Reaches(RB, 5.0),), within_s=6.0),
        do.Topple(RB),
        *stopped("away", 0.4, 0.6),
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("fell", RB)
        # The foremost part of a tipping base moves by half a base's width in the course of the fall.
        call = at("down_by_fall", (RB,), t_ns, ("TAP-026",), history.foremost_yd(RB, t_ns), tolerance_yd=1.2)
        none: tuple[CallKind, ...] = ("tackle", "fumble", "broken_tackle")
        return expect(tap=(call,), absent={"tap": none, "lions-den": none, "efl": none})

    stance = Stance(RCB, 24.0, LANE_YD + 4.0)
    script = scrimmage("falls-alone", "The runner falls by himself.", steps, stance, motion=motion)
    return ExpectedPlay(script, expectation, _SEED)


def fumble(heads: bool = True, motion: Motion = "exact") -> ExpectedPlay:
    """The runner is knocked down by a tackler who stays up: under TAP a coin decides which side has the ball.

    Args:
        heads: whether the coin shows heads, so that the offense keeps the ball.
    """
    steps = (
        *met((do.WaitFor(TIP_S), do.Topple(RB, away_from=RCB))),
        do.Declare(Coin(heads=heads, purpose="fumble")),
        do.WaitFor(0.3),
    )

    def expectation(history: PlayHistory) -> Expectation:
        return expect(
            tap=(_in_the_fall(history, "fumble", (RB, RCB), "TAP-027"),),
            lions_den=(lions_den_tackle(history, RB, RCB, history.when("touched", RB, RCB)),),
            absent={"tap": ("tackle", "broken_tackle", "down_by_fall"), "lions-den": ("fumble",), "efl": ("fumble",)},
        )

    script = _side_hit("fumble", "The runner is knocked down by a tackler who stands.", steps, motion)
    return ExpectedPlay(script, expectation, _SEED)


def ball_lost() -> ExpectedPlay:
    """The ball drops off the tackled runner, who stands: a fumble only under Lion's Den."""
    spot = (_MEET_YD + 1.0, LANE_YD - 3.0)
    steps = (
        *opening(40.0, RB),
        *to_the_line(),
        do.Until((do.Reaches(RB, _MEET_YD),), within_s=6.0, mark="lost"),
        do.LoseBall(spot),
        *stopped("away", 0.15, 0.6),
    )

    def expectation(history: PlayHistory) -> Expectation:
        call = at("fumble", (RB,), history.marks["lost"], ("LD-017",))
        return expect(lions_den=(call,), absent={"tap": ("fumble", "tackle"), "efl": ("fumble", "tackle")})

    stance = Stance(RCB, 24.0, LANE_YD + 4.0)
    return ExpectedPlay(scrimmage("ball-lost", "The ball drops off an untouched runner.", steps, stance), expectation)


def fallen_defender() -> ExpectedPlay:
    """The runner touches a defender who fell long before: an obstacle, no tackle under TAP."""
    steps = (*opening(40.0, RB), do.Topple(RCB), *to_the_line(), *met())

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", RB, RCB)
        return expect(
            lions_den=(lions_den_tackle(history, RB, RCB, t_ns),),
            absent={"tap": ("tackle", "broken_tackle", "fumble", "down_by_fall"), "lions-den": ("fumble",)},
        )

    script = scrimmage(
        "fallen-defender",
        "The runner brushes a defender who has been lying there.",
        steps,
        Stance(RCB, 9.0, LANE_YD, at="center"),
        speeds={RCB: 0.0},
    )
    return ExpectedPlay(script, expectation)


def _in_the_fall(history: PlayHistory, kind: CallKind, players: tuple[str, ...], clause: str) -> ExpectedCall:
    """Return a call about any instant between contact and fall, with a spot tolerance for the falling base."""
    t_ns = history.when("touched", RB, RCB)
    call = at(kind, players, t_ns, (clause,), history.foremost_yd(RB, t_ns), tolerance_yd=2.0)
    return replace(call, t_ns=(t_ns - 40_000_000, history.when("fell", RB) + 40_000_000))


def _side_hit(
    name: str,
    about: str,
    steps: tuple[Step, ...],
    motion: Motion,
    *stances: Stance,
    others: Mapping[str, float] | None = None,
) -> Script:
    """Return steps in which a defender comes square at the runner's side; in the physics he is steered at him."""
    speed = 25.0
    if motion == "physics":
        chase: tuple[Step, ...] = (do.Steer(RCB, toward=RB),)
        stance = Stance(RCB, _MEET_YD + 8.0, LANE_YD, at="center")
    else:
        chase = ()
        stance = square_at_his_side(_MEET_YD, speed)
    return scrimmage(
        name,
        about,
        (*opening(40.0, RB), *to_the_line(), *chase, *steps),
        stance,
        *stances,
        speeds={RCB: speed} | dict(others or {}),
        motion=motion,
    )
