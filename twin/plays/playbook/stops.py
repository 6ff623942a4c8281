"""Plays about what the rules allow before the snap and in a stop: line-ups, their faults, pivots and stoppages."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from downfield.officiating.call_kinds import CallKind
from downfield.officiating.declarations import Claim, LineUpDeclared, OffenseSet, PivotsDone, SetUp
from downfield.twin.plays.formations import (
    FB,
    FL,
    FS,
    LCB,
    LLB,
    LT,
    NT,
    QB,
    RB,
    RCB,
    RLB,
    SE,
    SS,
    C,
    head_up,
    placed,
    player,
    standard,
    teams,
)
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.playbook.common import FIELD, LENGTH_MM, ahead, expect, opening, scrimmage, stopped
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay, RulebookName
from downfield.twin.plays.script import BasesTouch, Board, Declare, Handling, Hands, Stance, Step, Until, WaitFor

Fault = Literal["six-on-line", "stacked-back", "wide-off-line", "no-separation", "too-deep", "stacked-defender"]

_FORMATION: Final = standard(FIELD)
_QUARTERBACK = _FORMATION[QB].ahead_yd
_REAR_OF_QB = _QUARTERBACK - ahead(LENGTH_MM)

# The faults of a line-up, each of which is a named play: what it is about, who stands elsewhere, and the clauses.
FAULTS: Final[dict[Fault, tuple[str, tuple[Stance, ...], dict[RulebookName, str]]]] = {
    "six-on-line": (
        "Only six of the offense stand on the line.",
        (Stance(SE, -6.0, _FORMATION[SE].across_yd + 4.0),),
        {"tap": "TAP-067", "efl": "EFL-013", "lions-den": "LD-035"},
    ),
    "stacked-back": (
        "A running back stands close behind the quarterback.",
        (Stance(RB, _REAR_OF_QB - ahead(10.0), 0.0),),
        {"tap": "TAP-039"},
    ),
    "wide-off-line": (
        "A flanker stands three yards off the line; only on it or five yards off is allowed.",
        (Stance(FL, -3.0, _FORMATION[FL].across_yd),),
        {"tap": "TAP-069"},
    ),
    "no-separation": (
        "Two backs stand side by side with less than a base length between them.",
        (Stance(FB, _QUARTERBACK, -3.2),),
        {"tap": "TAP-072"},
    ),
    "too-deep": (
        "A running back stands more than 20 yards behind the line.",
        (Stance(RB, -21.0, 0.0),),
        {"tap": "TAP-070", "efl": "EFL-021"},
    ),
    "stacked-defender": (
        "A linebacker stands close behind the nose tackle though the quarterback is not under center.",
        (Stance(LLB, _FORMATION[NT].ahead_yd + ahead(LENGTH_MM + 12.0), 0.0),),
        {"tap": "TAP-073"},
    ),
}

_BACKS: Final = (SE, FL, FB)
_DEEP: Final = (LCB, RCB, SS, FS, LLB, RLB)
_TURN_DEG = 35.0
_QUICK_S = 0.5


def wrong_line_up(fault: Fault = "six-on-line") -> ExpectedPlay:
    """A line-up with one fault."""
    about, stances, clauses = FAULTS[fault]
    carrier = RB if fault == "too-deep" else QB
    script = scrimmage(fault, about, _snap(carrier), *stances, speeds={QB: 0.0})
    calls = {book: (ExpectedCall("formation", clauses=(clause,), verdict=None),) for book, clause in clauses.items()}
    return ExpectedPlay(script, lambda _: Expectation(calls, {"tap": ("penalty",), "nfl-strategy": ("formation",)}))


def legal_line_up() -> ExpectedPlay:
    """A line-up that is legal under TAP and Lion's Den."""
    script = scrimmage("legal-line-up", "All figures stand legally.", _snap(), speeds={QB: 0.0})
    absent = expect(absent={"tap": ("formation", "penalty"), "lions-den": ("formation", "penalty")})
    return ExpectedPlay(script, lambda _: absent)


def head_up_line_up() -> ExpectedPlay:
    """A line-up that is legal under Gunderson's EFL: head up, two yards apart, the quarterback under center."""
    deep = ahead(LENGTH_MM)
    under_center = Stance(QB, -deep - ahead(6.0), 0.0)
    behind = Stance(RB, -2 * deep - ahead(12.0), 0.0)
    aside = _FORMATION[LT].across_yd
    formation = placed(head_up(FIELD), under_center, behind, Stance(LLB, 9.0, -aside), Stance(RLB, 9.0, aside))
    script = scrimmage("head-up-line-up", "Head up, two yards apart.", _snap(RB))
    absent = expect(absent={"efl": ("formation", "penalty")})
    return ExpectedPlay(replace(script, formation=formation), lambda _: absent)


def twelve_men(claimed: bool = True) -> ExpectedPlay:
    """The offense has twelve players; only the opponent may claim it, before the snap.

    Args:
        claimed: whether he does; otherwise no call may be made or shown.
    """
    twelfth = player("dark-40", "RB")
    players = (*teams(), twelfth)
    claim: tuple[Step, ...] = (Declare(Claim("too_many_men", "away")), WaitFor(0.3)) if claimed else ()
    start: tuple[Step, ...] = (
        Declare(SetUp("home", 1, 40.0)),
        Declare(LineUpDeclared(players, "dark")),
        WaitFor(0.2),
        Declare(OffenseSet()),
    )
    steps = (*start, WaitFor(0.2), *claim) if claimed else (*start, *_snap()[5:])
    script = scrimmage("twelve-men", "The offense has twelve players on the field.", steps, speeds={QB: 0.0})
    formation = (*script.formation, Stance("dark-40", -10.0, 8.0))
    tap = (ExpectedCall("penalty", clauses=("TAP-042",)),) if claimed else ()
    expectation = expect(tap=tap, absent={} if claimed else {"tap": ("penalty",)})
    return ExpectedPlay(replace(script, players=players, formation=formation), lambda _: expectation)


def _snap(carrier: str = QB) -> tuple[Step, ...]:
    return (*opening(40.0, carrier), *stopped("home", 0.35, 0.3))


def pivots(offense: int = 2, defense: int = 3) -> ExpectedPlay:
    """One stop in which both coaches pivot unengaged figures.

    Args:
        offense: number of figures the offense pivots, 0..3.
        defense: number of figures the defense pivots, 0..6.
    """
    steps = (*opening(40.0, QB), WaitFor(0.5), *_stop(_turns(_BACKS[:offense]), _turns(_DEEP[:defense])), WaitFor(0.4))
    about = f"In a stop the offense pivots {offense}, the defense {defense}."
    script = scrimmage("pivots", about, steps, speeds={QB: 0.0})
    allowed = offense + 1 if offense else 0

    def expectation(_: PlayHistory) -> Expectation:
        absent: dict[RulebookName, tuple[CallKind, ...]] = {}
        tap: tuple[ExpectedCall, ...] = ()
        lions_den: tuple[ExpectedCall, ...] = ()
        if defense > allowed:
            tap = (ExpectedCall("pivot", clauses=("TAP-090" if offense else "TAP-091",), verdict=None),)
        else:
            absent["tap"] = ("pivot", "penalty")
        if defense > 1:
            lions_den = (ExpectedCall("pivot", clauses=("LD-013",), verdict=None),)
        else:
            absent["lions-den"] = ("pivot", "penalty")
        return expect(tap=tap, lions_den=lions_den, absent=absent)

    return ExpectedPlay(script, expectation)


def engaged_pivot() -> ExpectedPlay:
    """The center is turned though he is engaged with the nose tackle."""
    steps = (
        *opening(40.0, QB),
        Until((BasesTouch(C, NT),), within_s=4.0, mark="engaged"),
        WaitFor(0.2),
        *_stop((Handling(C, turn_deg=6.0, shift_mm=(-3.0, 0.0)),), ()),
        WaitFor(0.3),
    )
    script = scrimmage(
        "engaged-pivot",
        "An engaged lineman is pivoted.",
        steps,
        Stance(NT, 1.5, 0.0),
        speeds={QB: 0.0, C: 20.0, NT: 20.0},
    )
    call = ExpectedCall("pivot", players=(C,), clauses=("TAP-089",), verdict=None)
    return ExpectedPlay(script, lambda _: expect(tap=(call,)))


def moved_pivot() -> ExpectedPlay:
    """A back is not only turned but slid 8 mm ahead in a stop."""
    steps = (
        *opening(40.0, QB),
        WaitFor(0.5),
        *_stop((Handling(FB, turn_deg=_TURN_DEG, shift_mm=(8.0, 0.0)),), ()),
        WaitFor(0.4),
    )
    script = scrimmage("moved-pivot", "A back is slid 8 mm ahead as he is pivoted.", steps, speeds={QB: 0.0})
    call = ExpectedCall("pivot", players=(FB,), clauses=("TAP-024",), verdict=None)
    return ExpectedPlay(script, lambda _: expect(tap=(call,)))


def stoppages(count: int = 4) -> ExpectedPlay:
    """The offense stops the board again and again before its carrier reaches the line.

    Args:
        count: number of stoppages; TAP allows three.
    """
    stop = (WaitFor(0.3), Board(on=False, by="home"), WaitFor(0.35), Board(on=True, by="home"))
    steps = (*opening(40.0, QB), *(step for _ in range(count) for step in stop), WaitFor(0.3))
    script = scrimmage("stoppages", f"The offense stops the board {count} times.", steps, speeds={QB: 0.0})
    if count > 3:
        call = ExpectedCall("stoppage", clauses=("TAP-086",), verdict=None)
        return ExpectedPlay(script, lambda _: expect(tap=(call,), absent={"tap": ("pivot",), "lions-den": ("pivot",)}))
    return ExpectedPlay(script, lambda _: expect(absent={"tap": ("pivot", "penalty")}))


def _turns(players: tuple[str, ...]) -> tuple[Handling, ...]:
    return tuple(Handling(player, turn_deg=_TURN_DEG if i % 2 else -_TURN_DEG) for i, player in enumerate(players))


def _stop(offense: tuple[Handling, ...], defense: tuple[Handling, ...]) -> tuple[Step, ...]:
    """Return the steps of a stop: board off, the offense's pivots, the defense's, board on."""
    return (
        Board(on=False, by="home"),
        WaitFor(0.2),
        *_hands("home", offense),
        Declare(PivotsDone("home")),
        *_hands("away", defense),
        Declare(PivotsDone("away")),
        WaitFor(0.15),
        Board(on=True, by="home"),
    )


def _hands(by: Literal["home", "away"], moves: tuple[Handling, ...]) -> tuple[Step, ...]:
    return (Hands(by, moves, seconds=_QUICK_S),) if moves else ()
