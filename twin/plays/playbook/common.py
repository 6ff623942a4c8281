"""Shared parts of named plays: a runner around the left end, a defender who meets him, and the expected calls.

The runner is a running back who takes a direct snap behind the quarterback, goes around the end outside `LANE_YD` and
then straight ahead. Where he meets the defender, the geometry of their bases is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Final, Literal

from downfield.core.field.model import FieldModel, preset
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Verdict
from downfield.officiating.declarations import Carrier, LineUpDeclared, OffenseSet, SetUp, Side
from downfield.twin.physics.body import Trait
from downfield.twin.plays.formations import (
    BASE,
    DEFENSE_11,
    LG,
    LT,
    OFFENSE_11,
    QB,
    RB,
    RG,
    RT,
    SE,
    TE,
    C,
    placed,
    standard,
    teams,
)
from downfield.twin.plays.ground import PlayHistory
from downfield.twin.plays.recording import Expectation, ExpectedCall, RulebookName
from downfield.twin.plays.script import Board, Declare, GiveBall, Reaches, Route, Script, Stance, Step, Until, WaitFor

BOARD: Final = "ultimate"
FIELD: Final[FieldModel] = preset(BOARD)
LANE_YD: Final = 15.0  # place across the field where the runner turns upfield, clear of the ends and of the sideline

RUN_MM_S: Final = 130.0
TURN: Final = ((-9.0, 9.0), (-4.0, LANE_YD))  # path around the left end to the start of the lane

LENGTH_MM, WIDTH_MM = BASE.length_mm, BASE.width_mm
FRAME_NS: Final = 33_333_333

PASSER: Final = Stance(QB, -8.0, 0.0, at="center")
RECEIVER: Final = Stance(SE, 0.0, 12.0)

Motion = Literal["physics", "exact"]
Absent = dict[RulebookName, tuple[CallKind, ...]]  # by rulebook, kinds of calls that must not be made


def ahead(mm: float) -> float:
    """Return millimeters along the field in yards."""
    return mm / FIELD.mm_per_yd_x


def across(mm: float) -> float:
    """Return millimeters across the field in yards."""
    return mm / FIELD.mm_per_yd_y


def opening(line_yd: float, carrier: str, *, distance_yd: float = 10.0) -> tuple[Step, ...]:
    """Return the opening steps: line-up, set, carrier, switch on."""
    return (
        Declare(SetUp("home", 1, line_yd, 1, distance_yd)),
        Declare(LineUpDeclared(teams(), "dark")),
        GiveBall(carrier),
        WaitFor(0.1),
        Declare(OffenseSet()),
        WaitFor(0.1),
        Declare(Carrier(carrier)),
        WaitFor(0.1),
        Board(on=True, by="home"),
    )


def stopped(by: Side, after_s: float, wait_s: float) -> tuple[Step, ...]:
    """Return the steps in which a coach switches the board off after some time, and some more passes."""
    return (WaitFor(after_s), Board(on=False, by=by), WaitFor(wait_s))


def to_the_line(*, until_yd: float = 45.0) -> tuple[Step, ...]:
    """Return the steps around the end to the line, where the board is cut off and the defense takes the switch."""
    return (
        Route(RB, (*TURN, (until_yd, LANE_YD)), speed_mm_s=RUN_MM_S),
        Until((Reaches(RB, 0.0),), mark="line"),
        Board(on=False, by="home"),
        WaitFor(0.3),
        Board(on=True, by="away"),
    )


def seconds_to(meet_yd: float) -> float:
    """Return how long the board is on until the runner's center is at a yard line of his lane, s."""
    stance = standard(FIELD)[RB]
    points = ((stance.ahead_yd - ahead(LENGTH_MM / 2), stance.across_yd), *TURN, (meet_yd, LANE_YD))
    to_mm = FIELD.mm_per_yd_x, FIELD.mm_per_yd_y
    legs = (math.hypot((b[0] - a[0]) * to_mm[0], (b[1] - a[1]) * to_mm[1]) for a, b in itertools.pairwise(points))
    return sum(legs) / RUN_MM_S


def walkers(speeds: Mapping[str, float] | None = None) -> dict[str, Trait]:
    """Return the traits of all figures: linemen lean into each other, the others drift, none wanders into the play.

    Args:
        speeds: of the figures in the play, mm/s; 0 for a stationary base.
    """
    out = {player.id: Trait(speed_mm_s=18.0, wander=0.0) for player in teams()}
    for lineman in (C, LG, RG, LT, RT, TE, SE):
        out[lineman] = Trait(speed_mm_s=30.0, wander=0.0)
    for id_, speed in (speeds or {}).items():
        out[id_] = Trait(speed_mm_s=speed, wander=0.0, stationary=speed == 0)
    return out


def scrimmage(
    name: str,
    about: str,
    steps: tuple[Step, ...],
    *stances: Stance,
    line_yd: float = 40.0,
    speeds: Mapping[str, float] | None = None,
    motion: Motion = "exact",
    direction: Literal[-1, 1] = 1,
    without: tuple[str, ...] = (),
) -> Script:
    """Return a play from scrimmage in the standard formation, with some figures moved."""
    return Script(
        name=name,
        about=about,
        players=teams(),
        formation=placed(standard(FIELD), *stances, without=without),
        steps=steps,
        board=BOARD,
        line_yd=line_yd,
        direction=direction,
        traits=walkers(speeds),
        motion=motion,
    )


def few(name: str, about: str, steps: tuple[Step, ...], *stances: Stance, **speeds: float) -> Script:
    """Return a play of a handful of figures; the others are off the board."""
    placed = [stance.player for stance in stances]
    without = tuple(id_ for id_ in (*OFFENSE_11, *DEFENSE_11) if id_ not in placed)
    return scrimmage(name, about, steps, *stances, speeds={QB: 0.0, **speeds}, without=without)


def at(
    kind: CallKind,
    players: tuple[str, ...],
    t_ns: int,
    clauses: tuple[str, ...],
    spot_yd: tuple[float, float] | None = None,
    *,
    tolerance_yd: float = 0.1,
    verdict: Verdict | None = "called",
) -> ExpectedCall:
    """Return an expected call about an instant that is known to a frame."""
    window = (t_ns - FRAME_NS, t_ns + FRAME_NS)
    return ExpectedCall(kind, players, spot_yd, tolerance_yd, window, clauses, verdict)


def expect(
    *,
    tap: tuple[ExpectedCall, ...] = (),
    efl: tuple[ExpectedCall, ...] = (),
    lions_den: tuple[ExpectedCall, ...] = (),
    absent: Mapping[RulebookName, tuple[CallKind, ...]] | None = None,
    refused: Mapping[RulebookName, tuple[str, ...]] | None = None,
) -> Expectation:
    """Return the expected calls of a play. Under NFL Strategy contacts do not count: cards decide its plays."""
    calls: dict[RulebookName, tuple[ExpectedCall, ...]] = {
        "tap": tap,
        "efl": efl,
        "lions-den": lions_den,
        "nfl-strategy": (),
    }
    none: dict[RulebookName, tuple[CallKind, ...]] = {"nfl-strategy": ("tackle", "broken_tackle", "fumble")}
    return Expectation(calls, none | dict(absent or {}), dict(refused or {}))


def nowhere(*kinds: CallKind) -> dict[RulebookName, tuple[CallKind, ...]]:
    """Return kinds of calls that no rulebook may make."""
    return {"tap": kinds, "efl": kinds, "lions-den": kinds, "nfl-strategy": kinds}


def tap_tackle(history: PlayHistory, carrier: str, defender: str, t_ns: int) -> ExpectedCall:
    """Return TAP's tackle: any touch by a standing defender; spot at the base's foremost part."""
    return at("tackle", (carrier, defender), t_ns, ("TAP-022", "TAP-033"), history.foremost_yd(carrier, t_ns))


def efl_tackle(history: PlayHistory, carrier: str, defender: str, t_ns: int, clause: str) -> ExpectedCall:
    """Return the tackle of Gunderson's EFL, by the clause that allows this kind of hit."""
    return at("tackle", (carrier, defender), t_ns, (clause,), history.foremost_yd(carrier, t_ns))


def lions_den_tackle(history: PlayHistory, carrier: str, defender: str, t_ns: int) -> ExpectedCall:
    """Return the tackle of Lion's Den: any touch of bases; spot under the carrying hand."""
    return at("tackle", (carrier, defender), t_ns, ("LD-010", "LD-011"), history.hand_yd(carrier, t_ns))
