"""Checks of a stoppage: which figures were pivoted, how many, toward which target, and which may not be pivoted.

The same checks serve TAP's stops, passes, first touches, fumbles, kickoffs and onside kicks, EFL's passes and Lion's
Den's stops and fumbles; each looks only at the kinds of stoppage its clause is about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.core.field.model import FieldModel
from downfield.core.mathematics import difference_deg
from downfield.core.records import record
from downfield.core.texts import counted
from downfield.officiating.checks.check import Measurement, at_most, check, count_distribution
from downfield.officiating.checks.movement import PoseChange
from downfield.officiating.conditions import Condition, joint_probability, worth_telling
from downfield.officiating.params import Params
from downfield.officiating.sides import Side, canonical_role
from downfield.officiating.state.facts import EVEN_ODDS
from downfield.officiating.state.game_state import GameState, opponent

StoppageKind = Literal["coach", "pass", "line", "first_touch", "interception", "fumble", "kickoff", "onside", "punt"]

AIMED_SIDES: Final[Mapping[StoppageKind, tuple[bool, ...]]] = {
    "pass": (False,),
    "interception": (True,),
    "fumble": (True, False),
    "onside": (True, False),
}
"""Teams whose pivots must aim at the ball, by what stopped the board: True for the offense, False for the defense."""

AIMED_CLAUSES: Final[Mapping[StoppageKind, tuple[str, ...]]] = {
    "pass": ("TAP-101", "EFL-039"),
    "interception": ("EFL-042",),
    "fumble": ("LD-018",),
    "onside": ("TAP-064",),
}
"""The clauses that require those teams to aim at the ball."""

ENGAGED_CLAUSES: Final[Mapping[StoppageKind, tuple[str, ...]]] = {
    "coach": ("TAP-030", "TAP-089"),
    "line": ("TAP-030",),
    "pass": ("TAP-030", "TAP-101", "EFL-039"),
    "first_touch": ("TAP-030", "TAP-105", "TAP-106"),
    "interception": ("TAP-030", "TAP-105", "TAP-106", "EFL-042"),
    "fumble": ("TAP-030", "TAP-035"),
    "kickoff": ("TAP-030", "TAP-054", "TAP-055"),
    "onside": ("TAP-030",),
    "punt": ("TAP-030",),
}
"""The clauses that forbid pivoting an engaged player, by what stopped the board."""


@dataclass(frozen=True, slots=True)
class StoppageChanges:
    """The figures handled during one stoppage, from the board's going off to just before it comes on again."""

    field: FieldModel
    kind: StoppageKind
    changes: tuple[PoseChange, ...]  # every figure, before and after
    # the ball, receiver or interceptor that pivots must aim at; None when there is no such point
    target_mm: tuple[float, float] | None = None
    exempt: tuple[str, ...] = ()  # roster ids that may be pivoted though engaged: first touch of the pass, recoverer

    def side(self, *, offense: bool) -> tuple[PoseChange, ...]:
        """Return the changes of one team."""
        return tuple(change for change in self.changes if change.offense == offense)


@check("TAP-088", params=("stop.turned_deg",))
def line_stop_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """No player is pivoted in the forced stop at the line of scrimmage: the rulebook offers no pivots there."""
    if stoppage.kind == "line":
        yield _at_most_pivoted(
            stoppage.changes, "", "players were pivoted in the stop at the line of scrimmage", params
        )


@check(
    "TAP-090",
    "TAP-091",
    "TAP-093",
    "TAP-095",
    "TAP-098",
    params=("stop.defense_more", "stop.none_for_none", "stop.turned_deg"),
)
def defense_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """The defense pivots at most one player more than the offense, and none when the offense pivoted none.

    The quarterback's change of base counts as a pivot, together with any turn of his; a pitch does not. On a pass the
    number of the defense's pivots is not limited, so the receiver's pivot does not count there.
    """
    if stoppage.kind != "coach":
        return
    more, none_for_none = params.count("stop.defense_more"), params.flag("stop.none_for_none")

    def allowed_count(by_offense: int) -> int:
        return 0 if none_for_none and by_offense == 0 else by_offense + more

    offense = count_distribution([change.pivoted_probability(params) for change in stoppage.side(offense=True)])
    defense = count_distribution([change.pivoted_probability(params) for change in stoppage.side(offense=False)])
    # How many the defense may turn depends on how many the offense turned, and neither count is certain.
    excess = sum(offense[n] * sum(defense[allowed_count(n) + 1 :]) for n in range(len(offense)))
    by_offense, by_defense = offense.index(max(offense)), defense.index(max(defense))
    pivoted = tuple(
        change.id for change in stoppage.side(offense=False) if change.pivoted_probability(params) > EVEN_ODDS
    )
    allowed = allowed_count(by_offense)
    text = f"the offense pivoted {counted(by_offense, 'player')}, the defense {by_defense}; {allowed} allowed"
    yield Measurement(text, pivoted, allowed - by_defense, unit="count", broken=round(excess, 9), allowed=allowed)


@check("TAP-030", "TAP-035", "TAP-054", "TAP-055", "TAP-089", "TAP-101", "TAP-105", "TAP-106", "EFL-039", "EFL-042",
       params=("stop.turned_deg",))  # fmt: skip
def engaged_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """No player is pivoted while engaged, except the first to touch the pass and the recoverer of a fumble."""
    for change in stoppage.changes:
        if change.id not in stoppage.exempt and change.engaged_probability > 0:
            pivoted = change.pivoted_probability(params)
            if pivoted > 1 - EVEN_ODDS:
                text = f"{change.id} was turned {change.turned_deg:.0f}° while touching an opponent"
                measured = Measurement(text, (change.id,), -change.turned_deg, change.sigma_deg, "deg")
                clauses = ENGAGED_CLAUSES[stoppage.kind]
                over_deg = change.turned_deg - params.real("stop.turned_deg")
                conditions = (
                    Condition("turn", pivoted, over_deg, change.sigma_deg, "deg"),
                    Condition("touch", change.engaged_probability),
                )
                broken = joint_probability(conditions)
                yield replace(measured, broken=broken, clauses=clauses, conditions=worth_telling(conditions))


@check("TAP-028", params=("stop.turned_deg", "stop.moved_mm"))
def dead_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """A fallen player is out of the play and is not turned."""
    for change in stoppage.changes:
        if change.dead and change.is_handled(params):
            text = f"{change.id} has fallen in this play and was turned {change.turned_deg:.0f}°"
            yield Measurement(text, (change.id,), -change.turned_deg, change.sigma_deg, "deg", broken=1.0)


@check("TAP-101", "TAP-064", "LD-018", "EFL-039", "EFL-042", params=("stop.turned_deg",))
def pivots_toward(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """Where pivots must aim at the ball (or at EFL's receiver or interceptor), each ends nearer to facing it."""
    if stoppage.target_mm is None:
        return
    for change in stoppage.changes:
        aimed = change.offense in AIMED_SIDES.get(stoppage.kind, ())
        if aimed and change.pivoted_probability(params) > EVEN_ODDS and not change.swapped:
            before = _bearing_error_deg(change, stoppage.target_mm)
            closer = before - _bearing_error_deg(change, stoppage.target_mm, after=True)
            text = f"{change.id} was turned {abs(closer):.0f}° {'toward' if closer >= 0 else 'away from'} the ball"
            clauses = AIMED_CLAUSES[stoppage.kind]
            measured = Measurement(text, (change.id,), closer, change.sigma_deg, "deg", strict=True, clauses=clauses)
            front = min(change.before.front, change.after.front)
            if front < 1.0:  # the other end turned the other way
                broken = front * measured.probability + (1.0 - front) * (1.0 - measured.probability)
                away = Condition("turn", measured.probability, -closer, change.sigma_deg, "deg")
                conditions = worth_telling((away, Condition("front", front)))
                measured = replace(measured, broken=broken, conditions=conditions)
            yield measured


@check("LD-018", params=("stop.moved_mm",))
def fumble_turns_in_place(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """At a fumble players are turned, not moved: a center moved at all counts, whichever way it went."""
    limit = params.real("stop.moved_mm")
    if stoppage.kind == "fumble":
        for change in stoppage.changes:
            if change.moved_probability(params) > 1 - EVEN_ODDS:
                text = f"{change.id} was moved {change.moved_mm:.0f} mm; he may be turned only"
                yield Measurement(text, (change.id,), limit - change.moved_mm, change.sigma_mm, "mm", allowed=limit)


@check("TAP-024", params=("stop.pivot_shift_yd", "stop.turned_deg", "stop.moved_mm"))
def pivots_in_place(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """A pivot may not bring a player closer to his target; with no target known, his center may not move.

    The center counts: turning alone brings a front edge nearer.
    """
    limit = params.real("stop.pivot_shift_yd")
    for change in stoppage.changes:
        if change.is_handled(params):
            # In yards of each axis, as the clause is about yards gained: a millimeter across is another share of one.
            closer, sigma = _closer_yd(change, stoppage)
            place = "closer to his target" if stoppage.target_mm is not None else "from where he stood"
            text = f"{change.id} ended {closer:z.2f} yd {place}; at most {limit:g} yd allowed"
            yield Measurement(text, (change.id,), limit - closer, sigma, "yd", allowed=limit)


@check("LD-013", params=("stop.defense_turns", "stop.turned_deg"))
def one_defender(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """For each stop by the offense the defense may turn one player in any direction, stops for passes included."""
    if stoppage.kind in ("coach", "pass"):
        yield _at_most_pivoted(stoppage.side(offense=False), "stop.defense_turns", "defenders were turned", params)


@check("LD-018", "TAP-064", params=("stop.loose_ball_turns", "stop.turned_deg"))
def loose_ball_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """At Lion's Den's fumble and TAP's onside kick each coach may turn three players."""
    if stoppage.kind in ("fumble", "onside"):
        clauses = ("LD-018",) if stoppage.kind == "fumble" else ("TAP-064",)
        for offense in (True, False):
            text, changes = "players of one team were turned", stoppage.side(offense=offense)
            yield replace(_at_most_pivoted(changes, "stop.loose_ball_turns", text, params), clauses=clauses)


@check("EFL-039", params=("stop.pass_turns", "stop.turned_deg"))
def pass_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """On a pass up to two defenders may be turned toward the receiver."""
    if stoppage.kind == "pass":
        changes = stoppage.side(offense=False)
        yield _at_most_pivoted(changes, "stop.pass_turns", "defenders were turned on a pass", params)


@check("EFL-042", params=("stop.interception_turns", "stop.turned_deg"))
def interception_pivots(stoppage: StoppageChanges, params: Params) -> Iterator[Measurement]:
    """After an interception up to two of the offense may be turned toward the interceptor."""
    if stoppage.kind == "interception":
        changes = stoppage.side(offense=True)
        yield _at_most_pivoted(changes, "stop.interception_turns", "players of the offense were turned", params)


@check("TAP-025", "TAP-037")
def base_swaps(stoppage: StoppageChanges, _params: Params) -> Iterator[Measurement]:
    """Only the quarterback, or the punter in his place, changes between a moving and a stationary base."""
    for change in stoppage.changes:
        if change.swapped:
            role = canonical_role(change.player.role)
            text = f"{change.id} ({role or 'role not named'}) changed his base"
            if role:
                yield Measurement(text, (change.id,), 0 if role in ("QB", "P") else -1, unit="count")
            else:
                yield Measurement(text, (change.id,))


def _bearing_error_deg(change: PoseChange, target_mm: tuple[float, float], *, after: bool = False) -> float:
    """Return the angle between a figure's heading and the bearing of a point, before or after, 0..180."""
    pose = change.after if after else change.before
    bearing = math.degrees(math.atan2(target_mm[1] - pose.y_mm, target_mm[0] - pose.x_mm))
    return difference_deg(pose.heading_deg, bearing)


def _closer_yd(change: PoseChange, stoppage: StoppageChanges) -> tuple[float, float]:
    """Return how much closer to its target a figure ended (without a target: how far it moved) and the error, yards."""
    a, b, field = change.before, change.after, stoppage.field

    def distance_yd(x_mm: float, y_mm: float) -> float:
        return math.hypot(x_mm / field.mm_per_yd_x, y_mm / field.mm_per_yd_y)

    sigma = change.sigma_mm / min(field.mm_per_yd_x, field.mm_per_yd_y)
    if stoppage.target_mm is None:
        return distance_yd(b.x_mm - a.x_mm, b.y_mm - a.y_mm), sigma
    x_mm, y_mm = stoppage.target_mm
    return distance_yd(x_mm - a.x_mm, y_mm - a.y_mm) - distance_yd(x_mm - b.x_mm, y_mm - b.y_mm), sigma


def _at_most_pivoted(changes: Sequence[PoseChange], param: str, text: str, params: Params) -> Measurement:
    limit, allowed = (params.count(param), f"; {params.count(param)} allowed") if param else (0, "")
    chances = [change.pivoted_probability(params) for change in changes]
    pivoted = tuple(change.id for change, likely in zip(changes, chances, strict=True) if likely > EVEN_ODDS)
    return at_most(limit, chances, f"{len(pivoted)} {text}{allowed}", pivoted)


@record
class PivotLimit:
    """What one coach may pivot in this stoppage.

    Attributes:
        side: the coach's.
        most: how many figures; None where the rulebook limits them by nothing but contact with an opponent.
        beyond_offense: how many more than the offense has pivoted, where the number depends on that.
        none_for_none: whether he may pivot none when the offense pivoted none.
        done: whether he has declared his pivots done.
    """

    side: Side
    most: int | None = None
    beyond_offense: int | None = None
    none_for_none: bool = False
    done: bool = False


def pivot_limits(game: GameState, params: Params) -> tuple[PivotLimit, ...]:
    """Return the limits of both coaches, the offense's first; empty unless the board is stopped in mid-play."""
    stoppage = game.play.stoppage
    if stoppage is None:
        return ()
    has_ball = game.play.ball_side
    done = {has_ball: stoppage.offense_done_ns is not None, opponent(has_ball): stoppage.defense_done_ns is not None}
    reason = "pass" if stoppage.pass_ns is not None else stoppage.reason
    if game.due == "onside":
        reason = "onside"
    offense, defense = game.offense, game.defense
    return tuple(
        _limit(side, reason, params, by_offense=side == offense, done=done[side]) for side in (offense, defense)
    )


def _limit(side: Side, reason: str, params: Params, *, by_offense: bool, done: bool) -> PivotLimit:
    known = params.definitions
    is_loose = reason == "onside" or (reason == "fumble" and "stop.defense_turns" in known)
    limits = (  # whether one applies, and its parameter, if the rulebook has it
        (is_loose, "stop.loose_ball_turns"),
        (reason in {"coach", "pass"} and not by_offense, "stop.defense_turns"),
        (reason == "pass" and not by_offense, "stop.pass_turns"),
        (reason == "interception" and by_offense, "stop.interception_turns"),
    )
    name = next((name for applies, name in limits if applies and name in known), None)
    if name is not None:
        return PivotLimit(side, params.count(name), done=done)
    if reason == "coach" and "stop.defense_more" in known and not by_offense:
        more, none_for_none = params.count("stop.defense_more"), params.flag("stop.none_for_none")
        return PivotLimit(side, None, more, none_for_none, done)
    return PivotLimit(side, 0 if reason == "line" else None, done=done)
