"""Checks of kickoff and onside formations; the formation's offense is the kicking team, and yard lines are its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from downfield.core.texts import counted
from downfield.officiating.checks.check import Measurement, check, count_distribution
from downfield.officiating.checks.formation import Formation, FormationPlayer
from downfield.officiating.params import Params
from downfield.officiating.state.facts import exceedance_probability

EFL_RECEIVERS = ((50.0, 5), (30.0, 2), (20.0, 2), (5.0, 2))
"""EFL's receivers: yards from their own goal line, and how many."""
EFL_ONSIDE_RECEIVERS = ((50.0, 5), (40.0, 5))
"""EFL's receivers against an onside kick; one more stands anywhere behind the last."""


@check("TAP-047", "EFL-050", "LD-030", params=("kickoff.line_tolerance_yd",))
def kickers(formation: Formation, params: Params) -> Iterator[Measurement]:
    """The kicking team lines up on the line the ball is kicked from, or behind it."""
    tolerance = params.real("kickoff.line_tolerance_yd")
    for player in formation.offense:
        over = formation.along_yd(player.downfield_mm)
        text = f"{player.id}'s front is {abs(over):.2f} yd {'past' if over > 0 else 'behind'} the line of the kick"
        yield Measurement(text, (player.id,), tolerance - over, formation.along_yd(player.sigma_u_mm), "yd")


@check("TAP-048", params=("kickoff.receive_line_yd", "kickoff.line_tolerance_yd"))
def tap_receivers(formation: Formation, params: Params) -> Iterator[Measurement]:
    """All receivers but a named returner line up at midfield, the nearest part of their bases on the line."""
    line, tolerance = params.real("kickoff.receive_line_yd"), params.real("kickoff.line_tolerance_yd")
    for player in formation.defense:
        if player.id != formation.returner:
            at = formation.own_yd(player.upfield_mm)
            text = f"{player.id} is at the kickers' {at:z.2f} yd line; {line:g} ± {tolerance:g} yd required"
            yield Measurement(
                text, (player.id,), tolerance - abs(at - line), formation.along_yd(player.sigma_u_mm), "yd"
            )


@check("TAP-049")
def kick_inbounds(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """Everyone lines up inbounds for a kick: the whole base inside the sidelines."""
    width_mm = formation.field.width_mm
    for player in (*formation.players, *formation.beside):
        inside = min(player.low_mm, width_mm - player.high_mm)
        place = "inside" if inside >= 0 else "across"
        text = f"{player.id} is {abs(inside):.1f} mm {place} the sideline"
        yield Measurement(text, (player.id,), inside, player.sigma_v_mm, "mm")


@check("TAP-050")
def returner_off(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """The named returner is off the field while the kick runs."""
    if formation.returner is not None:
        on_field = formation.player(formation.returner) is not None
        text = f"the returner {formation.returner} is {'on' if on_field else 'off'} the field during the kick"
        yield Measurement(text, (formation.returner,), -1 if on_field else 0, unit="count")


@check("TAP-053", params=("kickoff.middle_tolerance_yd",))
def returner_place(formation: Formation, params: Params) -> Iterator[Measurement]:
    """For a return the returner stands in the middle of the field with some part of his base on his goal line."""
    player = formation.player(formation.returner)
    if player is None:
        yield Measurement("the returner is not on the field or not named")
        return
    goal = formation.field.length_yd
    on = min(formation.own_yd(player.downfield_mm) - goal, goal - formation.own_yd(player.upfield_mm))
    text = f"{player.id}'s base is {abs(on):.2f} yd {'over' if on >= 0 else 'off'} the goal line"
    yield Measurement(text, (player.id,), on, formation.along_yd(player.sigma_u_mm), "yd")
    off = formation.across_yd(abs(player.v_mm - formation.field.width_mm / 2))
    limit = params.real("kickoff.middle_tolerance_yd")
    text = f"{player.id} is {off:.2f} yd off the middle of the field; at most {limit:g} yd allowed"
    yield Measurement(text, (player.id,), limit - off, formation.across_yd(player.figure.sigma_mm[1]), "yd")


@check("TAP-119", params=("kickoff.middle_tolerance_yd",))
def punt_returner_place(formation: Formation, params: Params) -> Iterator[Measurement]:
    """A punt's returner waits in the end zone, at a sideline: within a yard of it, on either side of the paint."""
    player = formation.player(formation.returner)
    if player is None:
        yield Measurement("the returner is not on the field or not named")
        return
    behind = formation.own_yd(player.upfield_mm) - formation.field.length_yd
    text = f"{player.id} is {abs(behind):.2f} yd {'behind' if behind >= 0 else 'in front of'} the goal line"
    yield Measurement(text, (player.id,), behind, formation.along_yd(player.sigma_u_mm), "yd")
    off = formation.across_yd(max(min(player.low_mm, formation.field.width_mm - player.high_mm), 0.0))
    limit = params.real("kickoff.middle_tolerance_yd")
    text = f"{player.id} is {off:.2f} yd from the nearer sideline; at most {limit:g} yd allowed"
    yield Measurement(text, (player.id,), limit - off, formation.across_yd(player.sigma_v_mm), "yd")


@check("TAP-061", params=("kickoff.onside_men",))
def onside_men(formation: Formation, params: Params) -> Iterator[Measurement]:
    """For an onside kick all eleven of both teams line up."""
    required = params.count("kickoff.onside_men")
    for players, side in ((formation.offense, "kickers"), (formation.defense, "receivers")):
        text = f"{len(players)} {side} line up; {required} required"
        yield Measurement(text, tuple(player.id for player in players), -abs(len(players) - required), unit="count")


@check("EFL-051", params=("kickoff.line_tolerance_yd",))
def efl_receivers(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Five receivers stand at the 50, two each at their 30, 20 and 5."""
    for line, required in EFL_RECEIVERS:
        yield _measure_count(formation, line, required, params.real("kickoff.line_tolerance_yd"))


@check("EFL-055", params=("kickoff.line_tolerance_yd",))
def efl_onside_receivers(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Against an onside kick five receivers stand at the 50, five at their 40, and one anywhere behind it."""
    tolerance = params.real("kickoff.line_tolerance_yd")
    for line, required in EFL_ONSIDE_RECEIVERS:
        yield _measure_count(formation, line, required, tolerance)
    last = EFL_ONSIDE_RECEIVERS[-1][0]
    behind = [last - tolerance - _receivers_yd(formation, player) for player in formation.defense]
    sigmas = [formation.along_yd(player.sigma_u_mm) for player in formation.defense]
    counts = count_distribution(
        exceedance_probability(-1e-9 + yd, sigma) for yd, sigma in zip(behind, sigmas, strict=True)
    )
    found = counts.index(max(counts))
    text = f"{counted(found, 'player', 'stand')} behind the receivers' {last:g} yd line; 1 required"
    yield Measurement(text, (), -abs(found - 1), unit="count", broken=_probability_not(1, counts))


@check("LD-031", params=("kickoff.lions_den_front_men", "kickoff.front_yd", "kickoff.line_tolerance_yd"))
def lions_den_receivers(formation: Formation, params: Params) -> Iterator[Measurement]:
    """No more than five receivers stand on their 40."""
    limit, line = params.count("kickoff.lions_den_front_men"), params.real("kickoff.front_yd")
    chances = _on_line_probabilities(formation, formation.defense, line, params.real("kickoff.line_tolerance_yd"))
    counts = count_distribution(chances)
    found = counts.index(max(counts))
    text = f"{counted(found, 'player', 'stand')} on the receivers' {line:g} yd line; at most {limit} allowed"
    yield Measurement(text, (), limit - found, unit="count", broken=round(sum(counts[limit + 1 :]), 9))


def _measure_count(formation: Formation, line: float, required: int, tolerance: float) -> Measurement:
    counts = count_distribution(_on_line_probabilities(formation, formation.defense, line, tolerance))
    found = counts.index(max(counts))
    text = f"{counted(found, 'player', 'stand')} on the receivers' {line:g} yd line; {required} required"
    return Measurement(text, (), -abs(found - required), unit="count", broken=_probability_not(required, counts))


def _on_line_probabilities(
    formation: Formation, players: Sequence[FormationPlayer], line: float, tolerance: float
) -> Iterator[float]:
    for player in players:
        off = abs(_receivers_yd(formation, player) - line)
        yield exceedance_probability(round(tolerance - off, 9), formation.along_yd(player.sigma_u_mm))


def _receivers_yd(formation: Formation, player: FormationPlayer) -> float:
    """Return the distance of a receiver's front, the part nearest to the kickers, from his own goal line, yards."""
    return formation.field.length_yd - formation.own_yd(player.upfield_mm)


def _probability_not(required: int, counts: Sequence[float]) -> float:
    return round(1 - (counts[required] if required < len(counts) else 0.0), 9)
