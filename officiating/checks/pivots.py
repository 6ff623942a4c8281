"""Checks of a stoppage: who was pivoted, how many, whereto, and who may not be.

The same checks serve TAP's stops, passes, first touches, fumbles, kickoffs and onside kicks, EFL's passes and Lion's
Den's stops and fumbles; each looks only at the kinds of stop its clause is about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from downfield.core.angles import difference_deg
from downfield.core.field import FieldModel
from downfield.officiating.checks.check import Measured, at_most, check, counts
from downfield.officiating.checks.movement import MOVED_MM, TURNED_DEG, Change
from downfield.officiating.checks.roles import canonical_role
from downfield.officiating.engine.facts import EVEN_ODDS
from downfield.officiating.rulebooks.params import Param, Params

StopKind = Literal["coach", "pass", "line", "first_touch", "interception", "fumble", "kickoff", "onside", "punt"]

DEFENSE_MORE = Param("stop.defense_more", 1, "count", "TAP: the defense may pivot one man more than the offense", 0, 11)
NONE_FOR_NONE = Param(
    "stop.none_for_none",
    True,
    "",
    "TAP: where the offense pivots nobody, neither may the defense, not even the one more",
)
SHIFT_YD = Param(
    "stop.pivot_shift_yd", 0.1, "yd", "a pivot brings nobody closer; how far a hand may slip is not stated", 0, 5
)
LION_TURNS = Param("stop.defense_turns", 1, "count", "Lion's Den: one defender a stop, pass stops too", 0, 11)
LOOSE_TURNS = Param("stop.loose_ball_turns", 3, "count", "three a team, at a fumble or an onside kick", 0, 11)
PASS_TURNS = Param("stop.pass_turns", 2, "count", "EFL: two defenders toward the receiver", 0, 11)
INTERCEPTION_TURNS = Param(
    "stop.interception_turns", 2, "count", "EFL: two of the offense toward the interceptor", 0, 11
)

AIMED: Mapping[StopKind, tuple[bool, ...]] = {
    "pass": (False,),
    "interception": (True,),
    "fumble": (True, False),
    "onside": (True, False),
}
"""Whose pivots must aim at the ball, by what stopped the board: True for the offense's, False for the defense's."""

TOWARD: Mapping[StopKind, tuple[str, ...]] = {
    "pass": ("TAP-101", "EFL-039"),
    "interception": ("EFL-042",),
    "fumble": ("LD-018",),
    "onside": ("TAP-064",),
}
"""The clauses that say so."""

ENGAGED: Mapping[StopKind, tuple[str, ...]] = {
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
"""The clauses that keep an engaged man from being pivoted, by what stopped the board."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One stoppage, from the board's going off to just before it goes on again.

    Attributes:
        field: the printed field.
        kind: what stopped the board.
        changes: everybody, before and after.
        target_mm: the ball, the receiver or the interceptor pivots must aim at; None when there is no such point.
        exempt: roster ids that may be pivoted though engaged: who touched the pass first, who recovered.

    """

    field: FieldModel
    kind: StopKind
    changes: tuple[Change, ...]
    target_mm: tuple[float, float] | None = None
    exempt: tuple[str, ...] = ()

    def side(self, *, offense: bool) -> tuple[Change, ...]:
        """One team's men."""
        return tuple(change for change in self.changes if change.offense == offense)


@check("TAP-088", params=(TURNED_DEG,))
def line_stop_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """Nobody is pivoted in the forced stop at the line of scrimmage: the book offers none there."""
    if stop.kind == "line":
        yield _limit(stop.changes, 0, "men were pivoted in the stop at the line of scrimmage", params)


@check("TAP-090", "TAP-091", "TAP-093", "TAP-095", "TAP-098", params=(DEFENSE_MORE, NONE_FOR_NONE, TURNED_DEG))
def defense_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """The defense pivots at most one man more than the offense, and nobody where the offense pivoted nobody.

    The quarterback's change of base is a pivot, with a turn of his still one; a pitch is none. On a pass the defense
    is free in number, so the receiver's pivot does not matter there.
    """
    if stop.kind != "coach":
        return
    offense = [change.pivoted(params) for change in stop.side(offense=True)]
    defense = [change.pivoted(params) for change in stop.side(offense=False)]
    more, none = params.count(DEFENSE_MORE.name), params.flag(NONE_FOR_NONE.name)

    def allowed(own: int) -> int:
        return 0 if none and own == 0 else own + more

    theirs, ours = counts(offense), counts(defense)
    excess = sum(theirs[n] * sum(ours[allowed(n) + 1 :]) for n in range(len(theirs)))
    made, used = theirs.index(max(theirs)), ours.index(max(ours))
    men = tuple(change.id for change in stop.side(offense=False) if change.pivoted(params) > EVEN_ODDS)
    text = f"the offense pivoted {made}, the defense {used}; {allowed(made)} allowed"
    yield Measured(text, men, allowed(made) - used, unit="count", broken=round(excess, 9))


@check("TAP-030", "TAP-035", "TAP-054", "TAP-055", "TAP-089", "TAP-101", "TAP-105", "TAP-106", "EFL-039", "EFL-042",
       params=(TURNED_DEG,))  # fmt: skip
def engaged_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """Nobody is pivoted while engaged, but who touched the pass first and who recovered the fumble."""
    for change in stop.changes:
        if change.id not in stop.exempt and change.engaged > 0:
            turned = change.pivoted(params)
            if turned > 1 - EVEN_ODDS:
                text = f"{change.id} was turned {change.turned_deg:.0f}° while touching an opponent"
                measured = Measured(text, (change.id,), -change.turned_deg, change.sigma_deg, "deg")
                yield replace(measured, broken=turned * change.engaged, clauses=ENGAGED[stop.kind])


@check("TAP-028", params=(TURNED_DEG, MOVED_MM))
def dead_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """A fallen man is out of the play: he lies where he fell and is not turned."""
    for change in stop.changes:
        if change.dead and change.handled(params):
            text = f"{change.id} has fallen in this play and was turned {change.turned_deg:.0f}°"
            yield Measured(text, (change.id,), -change.turned_deg, change.sigma_deg, "deg", broken=1.0)


@check("TAP-101", "TAP-064", "LD-018", "EFL-039", "EFL-042", params=(TURNED_DEG,))
def pivots_toward(stop: Stop, params: Params) -> Iterator[Measured]:
    """Where pivots must aim at the ball (or at EFL's receiver or interceptor), each ends nearer to facing it."""
    if stop.target_mm is None:
        return
    for change in stop.changes:
        if change.offense in AIMED.get(stop.kind, ()) and change.pivoted(params) > EVEN_ODDS and not change.swapped:
            closer = bearing_error_deg(change, stop.target_mm) - bearing_error_deg(change, stop.target_mm, after=True)
            text = f"{change.id} was turned {abs(closer):.0f}° {'toward' if closer >= 0 else 'away from'} the ball"
            clauses = TOWARD[stop.kind]
            yield Measured(text, (change.id,), closer, change.sigma_deg, "deg", strict=True, clauses=clauses)


@check("TAP-024", "LD-018", params=(SHIFT_YD, TURNED_DEG, MOVED_MM))
def pivots_in_place(stop: Stop, params: Params) -> Iterator[Measured]:
    """A pivot brings nobody closer to his target; with no target known, nobody's center moves.

    The center is what counts: turning alone brings a front edge nearer.
    """
    limit = params.real(SHIFT_YD.name)
    for change in stop.changes:
        if change.handled(params):
            closer, sigma = _closer_yd(change, stop)
            what = "closer to his target" if stop.target_mm is not None else "from where he stood"
            text = f"{change.id} ended {closer:z.2f} yd {what}; at most {limit:g}"
            clauses = ("TAP-024", "LD-018") if stop.kind == "fumble" else ("TAP-024",)
            yield Measured(text, (change.id,), limit - closer, sigma, "yd", clauses=clauses)


@check("LD-013", params=(LION_TURNS, TURNED_DEG))
def one_defender(stop: Stop, params: Params) -> Iterator[Measured]:
    """For each stop of the offense the defense may turn one man, any way, at pass stops too."""
    if stop.kind in ("coach", "pass"):
        limit = params.count(LION_TURNS.name)
        yield _limit(stop.side(offense=False), limit, f"defenders were turned; {limit} allowed", params)


@check("LD-018", "TAP-064", params=(LOOSE_TURNS, TURNED_DEG))
def loose_ball_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """At Lion's Den's fumble and TAP's onside kick each coach may turn three men."""
    if stop.kind in ("fumble", "onside"):
        limit = params.count(LOOSE_TURNS.name)
        clauses = ("LD-018",) if stop.kind == "fumble" else ("TAP-064",)
        for offense in (True, False):
            what = f"men of one team were turned; {limit} allowed"
            yield replace(_limit(stop.side(offense=offense), limit, what, params), clauses=clauses)


@check("EFL-039", params=(PASS_TURNS, TURNED_DEG))
def pass_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """On a pass up to two defenders may be turned toward the receiver."""
    if stop.kind == "pass":
        limit = params.count(PASS_TURNS.name)
        yield _limit(stop.side(offense=False), limit, f"defenders were turned on a pass; {limit} allowed", params)


@check("EFL-042", params=(INTERCEPTION_TURNS, TURNED_DEG))
def interception_pivots(stop: Stop, params: Params) -> Iterator[Measured]:
    """After an interception up to two of the offense may be turned toward the interceptor."""
    if stop.kind == "interception":
        limit = params.count(INTERCEPTION_TURNS.name)
        yield _limit(stop.side(offense=True), limit, f"men of the offense were turned; {limit} allowed", params)


@check("TAP-025", "TAP-037")
def base_swaps(stop: Stop, _params: Params) -> Iterator[Measured]:
    """Only the quarterback, or the punter in his place, changes between a moving and a stationary base."""
    for change in stop.changes:
        if change.swapped:
            role = canonical_role(change.player.role)
            text = f"{change.id} ({role or 'role not named'}) changed his base"
            if role:
                yield Measured(text, (change.id,), 0 if role in ("QB", "P") else -1, unit="count")
            else:
                yield Measured(text, (change.id,))


def bearing_error_deg(change: Change, target_mm: tuple[float, float], *, after: bool = False) -> float:
    """Degrees between where a figure faces and a point, before or after, 0..180."""
    figure = change.after if after else change.before
    aim = math.degrees(math.atan2(target_mm[1] - figure.y_mm, target_mm[0] - figure.x_mm))
    return difference_deg(figure.heading_deg, aim)


def _closer_yd(change: Change, stop: Stop) -> tuple[float, float]:
    """How much closer to its target a figure ended, or how far it went where there is none; with its error, yards."""
    a, b, field = change.before, change.after, stop.field

    def distance(x_mm: float, y_mm: float) -> float:
        return math.hypot(x_mm / field.mm_per_yd_x, y_mm / field.mm_per_yd_y)

    sigma = change.sigma_mm / min(field.mm_per_yd_x, field.mm_per_yd_y)
    if stop.target_mm is None:
        return distance(b.x_mm - a.x_mm, b.y_mm - a.y_mm), sigma
    x_mm, y_mm = stop.target_mm
    return distance(x_mm - a.x_mm, y_mm - a.y_mm) - distance(x_mm - b.x_mm, y_mm - b.y_mm), sigma


def _limit(men: Sequence[Change], limit: int, what: str, params: Params) -> Measured:
    chances = [change.pivoted(params) for change in men]
    turned = tuple(change.id for change, likely in zip(men, chances, strict=True) if likely > EVEN_ODDS)
    return at_most(limit, chances, f"{len(turned)} {what}", turned)
