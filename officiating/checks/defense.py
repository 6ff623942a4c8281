"""Checks of where the defense lines up: EFL's head-up line, Lion's Den's five yards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from downfield.officiating.checks.alignment import on_line
from downfield.officiating.checks.check import Measurement, check
from downfield.officiating.checks.formation import Formation, FormationPlayer
from downfield.officiating.params import Params
from downfield.officiating.sides import LINEMEN


@check(
    "EFL-011",
    params=("formation.head_up_tolerance_yd", "formation.lines_apart_yd", "formation.lines_apart_tolerance_yd"),
)
def head_up(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Every offensive lineman has a defensive lineman head up with him, two yards away from front to front."""
    line, tolerance = _defensive_line(formation), params.real("formation.head_up_tolerance_yd")
    required, apart_tolerance = (params.real(f"formation.lines_apart_{name}") for name in ("yd", "tolerance_yd"))
    for lineman in formation.in_role(*LINEMEN):
        facing = _nearest(lineman, line)
        if facing is None:
            yield Measurement(f"no defender is head up with {lineman.id}", (lineman.id,), -1, unit="count")
            continue
        off = formation.across_yd(abs(facing.v_mm - lineman.v_mm))
        text = f"{facing.id} is {off:.2f} yd off head up with {lineman.id}; at most {tolerance:g} yd allowed"
        sigma = formation.across_yd((facing.figure.sigma_mm[1] ** 2 + lineman.figure.sigma_mm[1] ** 2) ** 0.5)
        yield Measurement(text, (facing.id, lineman.id), tolerance - off, sigma, "yd")
        gap = formation.along_yd(facing.upfield_mm - lineman.downfield_mm)
        text = f"{facing.id} is {gap:z.2f} yd from {lineman.id}; {required:g} ± {apart_tolerance:g} yd required"
        sigma = formation.along_yd((facing.sigma_u_mm**2 + lineman.sigma_u_mm**2) ** 0.5)
        yield Measurement(text, (facing.id, lineman.id), apart_tolerance - abs(gap - required), sigma, "yd")


@check("EFL-012", params=("formation.head_up_tolerance_yd", "formation.line_tolerance_yd"))
def gap_filling(formation: Formation, params: Params) -> Iterator[Measurement]:
    """No defender on the line stands in front of a gap: each is head up with a player on the offense's line."""
    line, tolerance = on_line(formation, params), params.real("formation.head_up_tolerance_yd")
    for defender in _defensive_line(formation):
        facing = _nearest(defender, line)
        if facing is not None:
            off = formation.across_yd(abs(facing.v_mm - defender.v_mm))
            sigma = formation.across_yd((facing.figure.sigma_mm[1] ** 2 + defender.figure.sigma_mm[1] ** 2) ** 0.5)
            text = f"{defender.id} is {off:.2f} yd off head up with {facing.id}, the nearest player on the line"
            yield Measurement(text, (defender.id, facing.id), tolerance - off, sigma, "yd")


@check("EFL-014", params=("formation.defense_depth_yd",))
def second_level(formation: Formation, params: Params) -> Iterator[Measurement]:
    """The other defenders stand behind their line, within 20 yards, and not in a gap.

    The rulebook does not define a gap for a player behind the line, so a defender right behind the line at a gap is
    only reported as too close to call.
    """
    line, limit = _defensive_line(formation), params.real("formation.defense_depth_yd")
    for defender in formation.defense:
        if defender in line:
            continue
        depth = formation.along_yd(defender.depth_mm)
        where = f"{depth:z.2f} yd behind" if depth >= 0 else f"{-depth:z.2f} yd across"
        text = f"{defender.id} is {where} the line of scrimmage; 0 to {limit:g} yd behind it allowed"
        margin, sigma = min(depth, limit - depth), formation.along_yd(defender.sigma_u_mm)
        yield Measurement(text, (defender.id,), margin, sigma, "yd")
        if _in_gap(defender, line):
            text = f"{defender.id} is right behind a gap in the line: the coaches decide"
            # The rulebook does not say, so it is neither kept nor broken.
            yield Measurement(text, (defender.id,), broken=0.5)


@check(
    "LD-036", params=("formation.defense_off_yd", "formation.defense_off_exact", "formation.defense_off_tolerance_yd")
)
def defense_off(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Defenders stand five yards in front of the offense's line."""
    required, tolerance = params.real("formation.defense_off_yd"), params.real("formation.defense_off_tolerance_yd")
    for defender in formation.defense:
        depth = formation.along_yd(defender.depth_mm)
        margin = depth - required + tolerance
        if params.flag("formation.defense_off_exact"):
            margin = tolerance - abs(depth - required)
        text = f"{defender.id} is {depth:z.2f} yd from the line of scrimmage; {required:g} ± {tolerance:g} yd required"
        yield Measurement(text, (defender.id,), margin, formation.along_yd(defender.sigma_u_mm), "yd")


def _defensive_line(formation: Formation) -> tuple[FormationPlayer, ...]:
    return formation.in_role("DL", "NT", offense=False)


def _nearest(player: FormationPlayer, others: Sequence[FormationPlayer]) -> FormationPlayer | None:
    return min(others, key=lambda other: abs(other.v_mm - player.v_mm), default=None)


def _in_gap(defender: FormationPlayer, line: Sequence[FormationPlayer]) -> bool:
    if len(line) < 2:
        return False
    if defender.upfield_mm - max(lineman.downfield_mm for lineman in line) > defender.length_mm:
        return False
    within = min(lineman.v_mm for lineman in line) < defender.v_mm < max(lineman.v_mm for lineman in line)
    return within and all(not lineman.low_mm <= defender.v_mm <= lineman.high_mm for lineman in line)
