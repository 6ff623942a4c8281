"""Checks of where the defense lines up: EFL's head-up line, Lion's Den's five yards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from downfield.officiating.checks.check import Measured, check
from downfield.officiating.checks.formation import Formation, Man
from downfield.officiating.checks.line import LINE_TOLERANCE_YD, on_line
from downfield.officiating.checks.roles import LINEMEN
from downfield.officiating.rulebooks.params import Param, Params

HEAD_UP_YD = Param(
    "formation.head_up_tolerance_yd", 0.5, "yd", "EFL's 'head up' has no tolerance; as true as a hand sets a base", 0, 3
)
LINES_APART_YD = Param("formation.lines_apart_yd", 2.0, "yd", "EFL's two yards between the lines", 0, 10)
LINES_APART_TOLERANCE_YD = Param(
    "formation.lines_apart_tolerance_yd", 0.5, "yd", "not stated; as true as a hand sets a base", 0, 5
)
DEFENSE_DEPTH_YD = Param("formation.defense_depth_yd", 20.0, "yd", "EFL's limit for the men behind the line", 0, 100)
DEFENSE_OFF_YD = Param("formation.defense_off_yd", 5.0, "yd", "Lion's Den sets the defense five yards off", 0, 20)
DEFENSE_OFF_EXACT = Param(
    "formation.defense_off_exact",
    False,
    "",
    "'allowed five yards in front' is read as the least distance; true for a line exactly there",
)
DEFENSE_OFF_TOLERANCE_YD = Param(
    "formation.defense_off_tolerance_yd", 0.5, "yd", "not stated; as true as a hand sets a base", 0, 5
)


@check("EFL-011", params=(HEAD_UP_YD, LINES_APART_YD, LINES_APART_TOLERANCE_YD))
def head_up(formation: Formation, params: Params) -> Iterator[Measured]:
    """Every offensive lineman has a defensive lineman head up with him, two yards away from front to front."""
    line, tolerance = _defensive_line(formation), params.real(HEAD_UP_YD.name)
    wanted, give = params.real(LINES_APART_YD.name), params.real(LINES_APART_TOLERANCE_YD.name)
    for man in formation.in_role(*LINEMEN):
        facing = _nearest(man, line)
        if facing is None:
            yield Measured(f"nobody is head up with {man.id}", (man.id,), -1, unit="count")
            continue
        off = formation.across_yd(abs(facing.v_mm - man.v_mm))
        text = f"{facing.id} is {off:.2f} yd off head up with {man.id}; at most {tolerance:g}"
        sigma = formation.across_yd((facing.figure.sigma_mm[1] ** 2 + man.figure.sigma_mm[1] ** 2) ** 0.5)
        yield Measured(text, (facing.id, man.id), tolerance - off, sigma, "yd")
        gap = formation.along_yd(facing.upfield_mm - man.downfield_mm)
        text = f"{facing.id} is {gap:z.2f} yd from {man.id}; {wanted:g} wanted, give or take {give:g}"
        sigma = formation.along_yd((facing.sigma_u_mm**2 + man.sigma_u_mm**2) ** 0.5)
        yield Measured(text, (facing.id, man.id), give - abs(gap - wanted), sigma, "yd")


@check("EFL-012", params=(HEAD_UP_YD, LINE_TOLERANCE_YD))
def gap_filling(formation: Formation, params: Params) -> Iterator[Measured]:
    """No defender on the line stands before a gap: each is head up with some man on the offense's line."""
    line, tolerance = on_line(formation, params), params.real(HEAD_UP_YD.name)
    for man in _defensive_line(formation):
        facing = _nearest(man, line)
        if facing is not None:
            off = formation.across_yd(abs(facing.v_mm - man.v_mm))
            sigma = formation.across_yd((facing.figure.sigma_mm[1] ** 2 + man.figure.sigma_mm[1] ** 2) ** 0.5)
            text = f"{man.id} is {off:.2f} yd off head up with {facing.id}, the nearest man on the line"
            yield Measured(text, (man.id, facing.id), tolerance - off, sigma, "yd")


@check("EFL-014", params=(DEFENSE_DEPTH_YD,))
def second_level(formation: Formation, params: Params) -> Iterator[Measured]:
    """The other defenders stand behind their line, within 20 yards, and not in a gap.

    What a gap is to a man behind the line the book does not say: a man right behind the line, before a gap, is only
    pointed out, as too close to call.
    """
    line, limit = _defensive_line(formation), params.real(DEFENSE_DEPTH_YD.name)
    for man in formation.defense:
        if man in line:
            continue
        depth = formation.along_yd(man.depth_mm)
        text = f"{man.id} is {depth:z.2f} yd from the line of scrimmage; at most {limit:g}"
        yield Measured(text, (man.id,), min(depth, limit - depth), formation.along_yd(man.sigma_u_mm), "yd")
        if _in_gap(man, line):
            yield Measured(f"{man.id} is right behind a gap of the line: the coaches judge", (man.id,), broken=0.5)


@check("LD-036", params=(DEFENSE_OFF_YD, DEFENSE_OFF_EXACT, DEFENSE_OFF_TOLERANCE_YD))
def defense_off(formation: Formation, params: Params) -> Iterator[Measured]:
    """Defenders stand five yards in front of the offense's line."""
    wanted, tolerance = params.real(DEFENSE_OFF_YD.name), params.real(DEFENSE_OFF_TOLERANCE_YD.name)
    for man in formation.defense:
        depth = formation.along_yd(man.depth_mm)
        margin = depth - wanted + tolerance
        if params.flag(DEFENSE_OFF_EXACT.name):
            margin = tolerance - abs(depth - wanted)
        text = f"{man.id} is {depth:z.2f} yd from the line of scrimmage; {wanted:g} wanted, give or take {tolerance:g}"
        yield Measured(text, (man.id,), margin, formation.along_yd(man.sigma_u_mm), "yd")


def _defensive_line(formation: Formation) -> tuple[Man, ...]:
    return formation.in_role("DL", "NT", offense=False)


def _nearest(man: Man, men: Sequence[Man]) -> Man | None:
    return min(men, key=lambda other: abs(other.v_mm - man.v_mm), default=None)


def _in_gap(man: Man, line: Sequence[Man]) -> bool:
    if len(line) < 2 or man.upfield_mm - max(one.downfield_mm for one in line) > man.length_mm:
        return False
    beside = min(one.v_mm for one in line) < man.v_mm < max(one.v_mm for one in line)
    return beside and all(not one.low_mm <= man.v_mm <= one.high_mm for one in line)
