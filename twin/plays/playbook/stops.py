"""Plays with stoppages: which figures may be pivoted, how many, how far, and how often the board may be stopped."""

from __future__ import annotations

from typing import Final, Literal

from downfield.officiating.calls import CallKind
from downfield.officiating.declarations import PivotsDone
from downfield.twin.plays.formations import FB, FL, FS, LCB, LLB, NT, QB, RCB, RLB, SE, SS, C
from downfield.twin.plays.history import PlayHistory
from downfield.twin.plays.playbook.common import Motion, expect, opening, scrimmage
from downfield.twin.plays.recording import Expectation, ExpectedCall, ExpectedPlay, RulebookName
from downfield.twin.plays.script import BasesTouch, Board, Declare, Handling, Hands, Stance, Step, Until, WaitFor

_BACKS: Final = (SE, FL, FB)
_DEEP: Final = (LCB, RCB, SS, FS, LLB, RLB)
_TURN_DEG = 35.0
_QUICK_S = 0.5


def pivots(offense: int = 2, defense: int = 3, motion: Motion = "exact", seed: int = 4) -> ExpectedPlay:
    """One stop in which both coaches pivot unengaged figures.

    Args:
        offense: number of figures the offense pivots, 0..3.
        defense: number of figures the defense pivots, 0..6.
        motion: exact or physics, as in `Script`.
        seed: of the physics.

    """
    steps = (
        *opening(40.0, QB),
        WaitFor(0.5),
        *_stop(_turns(_BACKS[:offense]), _turns(_DEEP[:defense])),
        WaitFor(0.4),
    )
    script = scrimmage(
        "pivots",
        f"In a stop the offense pivots {offense}, the defense {defense}.",
        steps,
        speeds={QB: 0.0},
        motion=motion,
    )
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

    return ExpectedPlay(script, expectation, seed)


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


def moved_pivot(shift_mm: float = 8.0) -> ExpectedPlay:
    """A back is not only turned but slid ahead in a stop.

    Args:
        shift_mm: distance toward the goal that the offense attacks.

    """
    steps = (
        *opening(40.0, QB),
        WaitFor(0.5),
        *_stop((Handling(FB, turn_deg=_TURN_DEG, shift_mm=(shift_mm, 0.0)),), ()),
        WaitFor(0.4),
    )
    script = scrimmage(
        "moved-pivot", f"A back is slid {shift_mm:g} mm ahead as he is pivoted.", steps, speeds={QB: 0.0}
    )
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
    """Board off, the offense's pivots, the defense's, board on."""
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
