"""Checks of kickoff and onside formations. The formation's offense is the kicking team; yard lines are its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from downfield.officiating.checks.check import Measured, check, counts
from downfield.officiating.checks.formation import Formation, Man
from downfield.officiating.engine.facts import exceedance_probability
from downfield.officiating.rulebooks.params import Param, Params

RECEIVE_YD = Param("kickoff.receive_line_yd", 50.0, "yd", "TAP's receivers line up at midfield", 0, 100)
KICK_TOLERANCE_YD = Param("kickoff.line_tolerance_yd", 0.5, "yd", "not stated; as true as a hand sets a base", 0, 5)
MIDDLE_TOLERANCE_YD = Param(
    "kickoff.middle_tolerance_yd", 1.0, "yd", "'in the middle of the field' has no tolerance; half a base or so", 0, 10
)
ONSIDE_MEN = Param("kickoff.onside_men", 11, "count", "TAP: all eleven of both teams", 1, 11)
LION_FRONT_MEN = Param(
    "kickoff.lions_den_front_men", 5, "count", "Lion's Den: at most five on the receivers' 40", 0, 11
)
LION_FRONT_YD = Param("kickoff.front_yd", 40.0, "yd", "Lion's Den's front line of receivers", 0, 100)

EFL_RECEIVERS = ((50.0, 5), (30.0, 2), (20.0, 2), (5.0, 2))
"""EFL's receivers: yards from their own goal line, and how many."""
EFL_ONSIDE_RECEIVERS = ((50.0, 5), (40.0, 5))
"""EFL's receivers against an onside kick; one more stands anywhere behind the last."""


@check("TAP-047", "EFL-050", "LD-030", params=(KICK_TOLERANCE_YD,))
def kickers(formation: Formation, params: Params) -> Iterator[Measured]:
    """The kicking team lines up on the line the ball is kicked from, or behind it."""
    tolerance = params.real(KICK_TOLERANCE_YD.name)
    for man in formation.offense:
        over = formation.along_yd(man.downfield_mm)
        text = f"{man.id}'s front is {abs(over):.2f} yd {'past' if over > 0 else 'behind'} the line of the kick"
        yield Measured(text, (man.id,), tolerance - over, formation.along_yd(man.sigma_u_mm), "yd")


@check("TAP-048", params=(RECEIVE_YD, KICK_TOLERANCE_YD))
def tap_receivers(formation: Formation, params: Params) -> Iterator[Measured]:
    """All receivers but a named returner line up at midfield, the nearest part of their bases on the line."""
    line, tolerance = params.real(RECEIVE_YD.name), params.real(KICK_TOLERANCE_YD.name)
    for man in formation.defense:
        if man.id != formation.returner:
            at = formation.own_yd(man.upfield_mm)
            text = f"{man.id} is at the kickers' {at:z.2f}; {line:g} wanted, give or take {tolerance:g}"
            yield Measured(text, (man.id,), tolerance - abs(at - line), formation.along_yd(man.sigma_u_mm), "yd")


@check("TAP-049")
def kick_inbounds(formation: Formation, _params: Params) -> Iterator[Measured]:
    """Everybody lines up inbounds for a kick: the whole base inside the sidelines."""
    width_mm = formation.field.width_mm
    for man in (*formation.men, *formation.beside):
        inside = min(man.low_mm, width_mm - man.high_mm)
        place = "inside" if inside >= 0 else "across"
        text = f"{man.id} is {abs(inside):.1f} mm {place} the sideline"
        yield Measured(text, (man.id,), inside, man.sigma_v_mm, "mm")


@check("TAP-050")
def returner_off(formation: Formation, _params: Params) -> Iterator[Measured]:
    """The named returner is off the field while the kick runs."""
    if formation.returner is not None:
        there = formation.man(formation.returner) is not None
        text = f"the returner {formation.returner} is {'on' if there else 'off'} the field during the kick"
        yield Measured(text, (formation.returner,), -1 if there else 0, unit="count")


@check("TAP-053", params=(MIDDLE_TOLERANCE_YD,))
def returner_place(formation: Formation, params: Params) -> Iterator[Measured]:
    """For a return the returner stands on his goal line, some part of his base on it, in the middle of the field."""
    man = formation.man(formation.returner)
    if man is None:
        yield Measured("the returner is not on the field, or not named")
        return
    goal = formation.field.length_yd
    on = min(formation.own_yd(man.downfield_mm) - goal, goal - formation.own_yd(man.upfield_mm))
    text = f"{man.id}'s base is {abs(on):.2f} yd {'over' if on >= 0 else 'off'} the goal line"
    yield Measured(text, (man.id,), on, formation.along_yd(man.sigma_u_mm), "yd")
    off = formation.across_yd(abs(man.v_mm - formation.field.width_mm / 2))
    limit = params.real(MIDDLE_TOLERANCE_YD.name)
    text = f"{man.id} is {off:.2f} yd off the middle of the field; at most {limit:g}"
    yield Measured(text, (man.id,), limit - off, formation.across_yd(man.figure.sigma_mm[1]), "yd")


@check("TAP-119", params=(MIDDLE_TOLERANCE_YD,))
def punt_returner_place(formation: Formation, params: Params) -> Iterator[Measured]:
    """A punt's returner waits in the end zone, at a sideline: within a yard of it, on either side of the paint."""
    man = formation.man(formation.returner)
    if man is None:
        yield Measured("the returner is not on the field, or not named")
        return
    behind = formation.own_yd(man.upfield_mm) - formation.field.length_yd
    text = f"{man.id} is {abs(behind):.2f} yd {'behind' if behind >= 0 else 'before'} the goal line"
    yield Measured(text, (man.id,), behind, formation.along_yd(man.sigma_u_mm), "yd")
    off = formation.across_yd(max(min(man.low_mm, formation.field.width_mm - man.high_mm), 0.0))
    limit = params.real(MIDDLE_TOLERANCE_YD.name)
    text = f"{man.id} is {off:.2f} yd from the nearer sideline; at most {limit:g}"
    yield Measured(text, (man.id,), limit - off, formation.across_yd(man.sigma_v_mm), "yd")


@check("TAP-061", params=(ONSIDE_MEN,))
def onside_men(formation: Formation, params: Params) -> Iterator[Measured]:
    """For an onside kick all eleven of both teams line up."""
    wanted = params.count(ONSIDE_MEN.name)
    for men, side in ((formation.offense, "kickers"), (formation.defense, "receivers")):
        text = f"{len(men)} {side} line up; {wanted} wanted"
        yield Measured(text, tuple(man.id for man in men), -abs(len(men) - wanted), unit="count")


@check("EFL-051", params=(KICK_TOLERANCE_YD,))
def efl_receivers(formation: Formation, params: Params) -> Iterator[Measured]:
    """The receivers stand five at the 50, two each at their 30, 20 and 5."""
    for line, wanted in EFL_RECEIVERS:
        yield _exactly(formation, line, wanted, params.real(KICK_TOLERANCE_YD.name))


@check("EFL-055", params=(KICK_TOLERANCE_YD,))
def efl_onside_receivers(formation: Formation, params: Params) -> Iterator[Measured]:
    """Against an onside kick five stand at the 50, five at their 40, and one anywhere behind it."""
    tolerance = params.real(KICK_TOLERANCE_YD.name)
    for line, wanted in EFL_ONSIDE_RECEIVERS:
        yield _exactly(formation, line, wanted, tolerance)
    last = EFL_ONSIDE_RECEIVERS[-1][0]
    behind = [last - tolerance - _receivers_yd(formation, man) for man in formation.defense]
    sigmas = [formation.along_yd(man.sigma_u_mm) for man in formation.defense]
    likely = counts(exceedance_probability(-1e-9 + yd, sigma) for yd, sigma in zip(behind, sigmas, strict=True))
    found = likely.index(max(likely))
    text = f"{found} men stand behind the receivers' {last:g}; 1 wanted"
    yield Measured(text, (), -abs(found - 1), unit="count", broken=_not(1, likely))


@check("LD-031", params=(LION_FRONT_MEN, LION_FRONT_YD, KICK_TOLERANCE_YD))
def lions_den_receivers(formation: Formation, params: Params) -> Iterator[Measured]:
    """No more than five receivers stand on their 40."""
    limit, line = params.count(LION_FRONT_MEN.name), params.real(LION_FRONT_YD.name)
    chances = _on_line(formation, formation.defense, line, params.real(KICK_TOLERANCE_YD.name))
    likely = counts(chances)
    found = likely.index(max(likely))
    text = f"{found} men stand on the receivers' {line:g}; at most {limit}"
    yield Measured(text, (), limit - found, unit="count", broken=round(sum(likely[limit + 1 :]), 9))


def _exactly(formation: Formation, line: float, wanted: int, tolerance: float) -> Measured:
    likely = counts(_on_line(formation, formation.defense, line, tolerance))
    found = likely.index(max(likely))
    text = f"{found} men stand on the receivers' {line:g}; {wanted} wanted"
    return Measured(text, (), -abs(found - wanted), unit="count", broken=_not(wanted, likely))


def _on_line(formation: Formation, men: Sequence[Man], line: float, tolerance: float) -> Iterator[float]:
    for man in men:
        off = abs(_receivers_yd(formation, man) - line)
        yield exceedance_probability(round(tolerance - off, 9), formation.along_yd(man.sigma_u_mm))


def _receivers_yd(formation: Formation, man: Man) -> float:
    """Where the front of a receiver, the part nearest to the kickers, is: yards from his own goal line."""
    return formation.field.length_yd - formation.own_yd(man.upfield_mm)


def _not(wanted: int, likely: Sequence[float]) -> float:
    return round(1 - (likely[wanted] if wanted < len(likely) else 0.0), 9)
