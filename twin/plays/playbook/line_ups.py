"""Plays about the line-up: legal line-ups, and one play for each fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from downfield.officiating.declarations import Claim, LineUpDeclared, OffenseSet, SetUp
from downfield.twin.plays.formations import FB, FL, LLB, NT, QB, RB, RLB, SE, head_up, placed, player, standard, teams
from downfield.twin.plays.playbook.common import FIELD, LENGTH_MM, ahead, expect, opening, scrimmage
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay, RulebookName
from downfield.twin.plays.script import Board, Declare, Stance, Step, WaitFor

Fault = Literal["six-on-line", "stacked-back", "wide-off-line", "no-separation", "too-deep", "stacked-defender"]

_FORMATION: Final = standard(FIELD)
_QUARTERBACK = _FORMATION[QB].ahead_yd
_REAR_OF_QB = _QUARTERBACK - ahead(LENGTH_MM)

_FAULTS: Final[dict[Fault, tuple[str, tuple[Stance, ...], dict[RulebookName, str]]]] = {
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


def faults() -> tuple[Fault, ...]:
    """The ways to line up wrongly."""
    return tuple(_FAULTS)


def wrong_line_up(fault: Fault = "six-on-line") -> ExpectedPlay:
    """A line-up with one fault."""
    about, stances, clauses = _FAULTS[fault]
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
    formation = placed(
        head_up(FIELD), under_center, behind, Stance(LLB, 9.0, -_head_up_yd()), Stance(RLB, 9.0, _head_up_yd())
    )
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


def _head_up_yd() -> float:
    return _FORMATION["dark-72"].across_yd


def _snap(carrier: str = QB) -> tuple[Step, ...]:
    return (*opening(40.0, carrier), WaitFor(0.35), Board(on=False, by="home"), WaitFor(0.3))
