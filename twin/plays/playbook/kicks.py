"""Plays about kicks: TAP's kickoff with a late returner, and its punt with gunners."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.declarations import ChoiceMade, KickDeclared, LineUpDeclared, OffenseSet, PivotsDone, SetUp
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import DEFENSE_11, FB, FL, LCB, OFFENSE_11, QB, RB, SE, SS, teams
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import FIELD, LENGTH_MM, ahead, expect, scrimmage, stopped, tap_tackle
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay
from downfield.twin.plays.script import Stance

_RETURNER: Final = RB
_COVER: Final = SS
_KICK_S: Final = 3.0
_GUNNERS_S: Final = 1.5
_GUNNER_MM_S: Final = 100.0
_GUNNER_MM: Final = _GUNNERS_S * _GUNNER_MM_S


def kickoff_return() -> ExpectedPlay:
    """The kick runs three seconds, the returner is then put on his goal line and runs until he is tackled."""
    kickers = [id_ for id_ in DEFENSE_11 if id_ != _COVER]
    receivers = [id_ for id_ in OFFENSE_11 if id_ != _RETURNER]
    stances = (
        Stance(_COVER, 70.0, 0.0),
        *(Stance(id_, 70.0, _row(i, len(kickers))) for i, id_ in enumerate(kickers)),
        *(Stance(id_, 50.0, _row(i, len(receivers))) for i, id_ in enumerate(receivers)),
    )
    steps = (
        do.Declare(LineUpDeclared(teams(), "dark")),
        do.Declare(KickDeclared("kickoff", returner=_RETURNER)),
        do.WaitFor(0.2),
        do.Board(on=True, by="away"),
        do.WaitFor(_KICK_S),
        do.Board(on=False, by="away"),
        do.Declare(ChoiceMade("return", "home")),
        do.Hands("home", (do.Handling(_RETURNER, to=(ahead(LENGTH_MM / 2) - 0.5, 0.0)),)),
        do.GiveBall(_RETURNER),
        do.Declare(PivotsDone("home")),
        do.Hands("away", (do.Handling(_COVER, toward=_RETURNER),), seconds=0.6),
        do.Declare(PivotsDone("away")),
        do.WaitFor(0.1),
        do.Board(on=True, by="away"),
        do.Until((do.BasesTouch(_RETURNER, _COVER),), within_s=8.0, mark="contact"),
        *stopped("away", 0.25, 0.6),
    )
    speeds = dict.fromkeys((*kickers, *receivers), 30.0) | {_COVER: 75.0, _RETURNER: 150.0}
    script = replace(
        scrimmage(
            "kickoff-return",
            "A kickoff is returned.",
            steps,
            speeds=speeds,
            line_yd=0.0,
            without=(*OFFENSE_11, *DEFENSE_11),
        ),
        formation=stances,
    )

    def expectation(history: PlayHistory) -> Expectation:
        t_ns = history.when("touched", _RETURNER, _COVER)
        return expect(
            tap=(tap_tackle(history, _RETURNER, _COVER, t_ns),),
            absent={"tap": ("touchdown", "safety", "fumble", "touchback")},
        )

    return ExpectedPlay(script, expectation)


def punt() -> ExpectedPlay:
    """Two gunners run, the punt comes down ten yards past the deeper one, and the returner is put there."""
    gunners, returner = (SE, FL), LCB
    wide = FIELD.width_yd / 2 - 5.0
    stances = (
        Stance(QB, -20.0, 0.0),
        Stance(SE, 0.0, wide),
        Stance(FL, 0.0, -wide + 2.0),
        Stance(FB, -8.0, -6.0),
        Stance(RB, -8.0, 6.0),
        Stance(returner, 64.0, -FIELD.width_yd / 2 + 1.2, at="center"),
    )
    landing = (_GUNNER_MM / FIELD.mm_per_yd_x + 10.0, wide)
    steps = (
        do.Declare(SetUp("home", 1, 40.0, 4, 8.0)),
        do.Declare(LineUpDeclared(teams(), "dark")),
        do.Declare(KickDeclared("punt", gunners=gunners, returner=returner)),
        do.GiveBall(QB),
        do.WaitFor(0.1),
        do.Declare(OffenseSet()),
        do.WaitFor(0.2),
        do.Board(on=True, by="home"),
        *stopped("home", _GUNNERS_S, 0.2),
        do.Declare(ChoiceMade("punt", "home")),
        do.Hands("away", (do.Handling(returner, to=landing),)),
        do.GiveBall(returner),
        do.WaitFor(0.2),
    )
    script = scrimmage(
        "punt",
        "A punt comes down ten yards past the deeper gunner.",
        steps,
        *stances,
        speeds={QB: 0.0, SE: _GUNNER_MM_S, FL: 60.0, returner: 0.0},
    )

    def expectation(history: PlayHistory) -> Expectation:
        # The board has been off since the punt was chosen: the gunner still stands where he was.
        x_yd, y_yd = history.foremost_yd(SE, history.end_ns)
        call = ExpectedCall("kick", (SE,), (x_yd + 10.0, y_yd), clauses=("TAP-123",))
        return expect(tap=(call,), absent={"tap": ("penalty", "tackle", "touchback")})

    return ExpectedPlay(script, expectation)


def _row(place: int, count: int) -> float:
    half = FIELD.width_yd / 2 - 3.0
    side = 1 if place < count / 2 else -1
    step = place if side == 1 else place - (count + 1) // 2
    return side * (4.0 + (half - 4.0) * step / max(count // 2 - 1, 1))
