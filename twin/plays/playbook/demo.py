"""The demonstration: two plays of a game under TAP, with a stop, pivots by hands, a tackle and a fumble."""

from __future__ import annotations

from dataclasses import replace

from downfield.officiating.declarations import Carrier, Coin, LineUpDeclared, OffenseSet, PivotsDone, Separated, SetUp
from downfield.twin.physics.body import Trait
from downfield.twin.plays import script as do
from downfield.twin.plays.formations import (
    DEFENSE_11,
    FB,
    FL,
    FS,
    LCB,
    LG,
    OFFENSE_11,
    QB,
    RB,
    RCB,
    RLB,
    RT,
    SE,
    SS,
    C,
    placed,
    standard,
    teams,
)
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import BOARD, FIELD, LANE_YD, TURN, at, expect, stopped, tap_tackle
from downfield.twin.plays.recording import Expectation, ExpectedPlay
from downfield.twin.plays.script import Script, Stance, Step

_SEED = 11
_FIRST_YD = 34.0
_RUN_MM_S = 105.0
_HEAD_ON_YD, _PUSH_S = 1.5, 0.16  # so that the push of the tackler lasts long enough to be visible
_QB_TURN = ((-3.0, 12.0), (-0.5, LANE_YD))  # he starts nearer to the line than the running back


def demo() -> ExpectedPlay:
    """Return a recording of about 20 s: a run to a tackle, hands at work, and a run to a fumble."""
    formation = standard(FIELD)
    script = Script(
        name="demo",
        about="Two plays under TAP: a tackle after a stop with pivots, and a fumble that a coin decides.",
        players=teams(),
        formation=placed(formation, Stance(RCB, 15.0, LANE_YD)),
        steps=(*_first(), *_between(), *_second()),
        board=BOARD,
        line_yd=_FIRST_YD,
        traits=_traits(),
    )
    return ExpectedPlay(script, _expectation, _SEED)


def _first() -> tuple[Step, ...]:
    """Return the steps of first and ten: a direct snap, one stop with pivots, around the end, a tackle."""
    return (
        do.Declare(SetUp("home", 1, _FIRST_YD)),
        do.Declare(LineUpDeclared(teams(), "dark")),
        do.GiveBall(RB),
        do.WaitFor(0.6),
        do.Declare(OffenseSet()),
        do.WaitFor(0.4),
        do.Declare(Carrier(RB)),
        do.WaitFor(0.3),
        do.Board(on=True, by="home"),
        do.Route(RB, (*TURN, (45.0, LANE_YD)), speed_mm_s=_RUN_MM_S),
        *stopped("home", 0.9, 0.3),
        do.Hands("home", (do.Handling(SE, turn_deg=-25.0), do.Handling(FB, turn_deg=30.0)), hands=2, seconds=1.0),
        do.Declare(PivotsDone("home")),
        do.Hands(
            "away",
            (do.Handling(RLB, turn_deg=-30.0), do.Handling(FS, turn_deg=-20.0), do.Handling(LCB, turn_deg=25.0)),
            seconds=0.9,
        ),
        do.Declare(PivotsDone("away")),
        do.WaitFor(0.2),
        do.Board(on=True, by="home"),
        *_run_to_contact(RB, "first"),
        *stopped("away", 0.25, 0.9),
    )


def _between() -> tuple[Step, ...]:
    """Return the steps of separating and lining up, abbreviated: hands set figures apart, then the picture is cut."""
    return (
        do.Declare(Separated()),
        do.Hands("away", (do.Handling(RCB, to=(30.0, 10.0)), do.Handling(SS, to=(30.0, -10.0))), hands=2, seconds=1.0),
        do.Hands("home", (do.Handling(RB, to=(-20.0, 6.0)), do.Handling(QB, to=(-20.0, -6.0))), hands=2, seconds=1.0),
        do.CutTo(placed(standard(FIELD), Stance(RCB, 13.0, LANE_YD + _HEAD_ON_YD)), spot=(RB, "first"), seconds=0.5),
    )


def _second() -> tuple[Step, ...]:
    """Return the steps of the next down: the quarterback keeps it, a tackler who stands knocks him down; tails."""
    return (
        do.Declare(LineUpDeclared(teams(), "dark")),
        do.GiveBall(QB),
        do.Hands("home", (do.Handling(FL, turn_deg=15.0),), seconds=0.9),
        do.Declare(OffenseSet()),
        do.WaitFor(0.3),
        do.Declare(Carrier(QB)),
        do.WaitFor(0.3),
        do.Board(on=True, by="home"),
        do.Route(QB, (*_QB_TURN, (45.0, LANE_YD)), speed_mm_s=_RUN_MM_S),
        *_run_to_contact(QB, "second"),
        do.WaitFor(_PUSH_S),
        do.Topple(QB, away_from=RCB, strength=2.5),
        *stopped("away", 0.3, 0.9),
        do.Declare(Coin(heads=False, purpose="fumble")),
        do.WaitFor(0.8),
    )


def _run_to_contact(carrier: str, mark: str) -> tuple[Step, ...]:
    """Return the steps to the line, where the board is cut off, and on to the tackler."""
    return (
        do.Until((do.Reaches(carrier, 0.0),), mark=f"{mark}-line"),
        do.Board(on=False, by="home"),
        do.WaitFor(0.5),
        do.Board(on=True, by="away"),
        do.Steer(RCB, toward=carrier),
        do.Until((do.BasesTouch(carrier, RCB),), within_s=5.0, mark=mark),
    )


def _traits() -> dict[str, Trait]:
    """Return slightly different traits for every figure; no runner or tackler falls unless knocked down."""
    out = {}
    for i, id_ in enumerate((*OFFENSE_11, *DEFENSE_11)):
        speed, curl = 26.0 + 7.0 * (i % 4), (-6.0, 3.0, 0.0, 5.0, -2.0)[i % 5]
        out[id_] = Trait(speed_mm_s=speed, curl_deg_s=curl, com_mm=10.0 if id_ in (RB, QB, RCB) else 11.5)
    for id_ in (LG, C, RT):
        out[id_] = replace(out[id_], speed_mm_s=45.0, drive=0.45)
    out[RCB] = replace(out[RCB], speed_mm_s=45.0, curl_deg_s=0.0)
    return out


def _expectation(history: PlayHistory) -> Expectation:
    first = history.when("touched", RB, RCB)
    second = history.when("touched", QB, RCB, after_ns=history.marks["second-line"])
    fumble = at("fumble", (QB, RCB), second, ("TAP-027",), history.foremost_yd(QB, second), tolerance_yd=2.0)
    return expect(
        tap=(
            at("line_of_scrimmage", (RB,), history.marks["first-line"], ("TAP-087",)),
            tap_tackle(history, RB, RCB, first),
            at("line_of_scrimmage", (QB,), history.marks["second-line"], ("TAP-087",)),
            replace(fumble, t_ns=(second - 40_000_000, history.when("fell", QB) + 40_000_000)),
        ),
        absent={"tap": ("broken_tackle", "down_by_fall", "pivot", "out_of_bounds", "touchdown")},
    )
