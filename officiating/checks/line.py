"""Checks of the line: how many men are on the field and on the line, their gaps, and where the center stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from downfield.officiating.checks.check import Measured, at_most, check
from downfield.officiating.checks.formation import Formation, Man
from downfield.officiating.checks.roles import LINEMEN
from downfield.officiating.engine.facts import EVEN_ODDS, exceedance_probability
from downfield.officiating.rulebooks.params import Param, Params

MEN = Param("formation.men_on_field", 11, "count", "football's eleven; no book says another number", 1, 22)
MEN_ON_LINE = Param("formation.men_on_line", 7, "count", "three of the books ask for at least seven", 1, 11)
LINE_TOLERANCE_YD = Param(
    "formation.line_tolerance_yd",
    0.5,
    "yd",
    "no book says how near is on the line; as true as a hand sets a base",
    0,
    3,
)
GAP_YD = Param("formation.line_gap_yd", 1.0, "yd", "TAP's one yard between offensive linemen", 0, 10)
GAP_TOLERANCE_YD = Param(
    "formation.line_gap_tolerance_yd", 0.25, "yd", "not stated; bases are set by eye, a quarter of the gap", 0, 2
)
GAP_EXACT = Param(
    "formation.line_gap_exact",
    False,
    "",
    "TAP may mean one yard exactly or at least; at least is recommended, since a wider gap hinders only its own side",
)
BASE_WIDTHS_APART = Param("formation.base_widths_apart", 1.0, "", "EFL's one base width between men at the line", 0, 5)
SPACING_TOLERANCE_MM = Param(
    "formation.spacing_tolerance_mm", 1.0, "mm", "not stated; as true as a hand sets a base", 0, 10
)
HASH_HALF_WIDTH_YD = Param(
    "formation.hash_half_width_yd", 3.08, "yd", "professional hash marks, for a field that prints none", 0, 27
)


@check("TAP-042", params=(MEN,), on_claim=True)
def men_on_field(formation: Formation, params: Params) -> Iterator[Measured]:
    """At most eleven men a side. TAP leaves it to the opponent to notice, so it is told only on his claim."""
    limit = params.count(MEN.name)
    for offense, side in ((True, "offense"), (False, "defense")):
        men = [man for man in (*formation.men, *formation.beside) if man.offense == offense]
        chances = [_there(man) for man in men]
        on = tuple(man.id for man, likely in zip(men, chances, strict=True) if likely > EVEN_ODDS)
        yield at_most(limit, chances, f"the {side} has {len(on)} men on the field; {limit} allowed", on)


@check("TAP-067", "EFL-013", "LD-035", params=(MEN_ON_LINE, LINE_TOLERANCE_YD))
def men_on_line(formation: Formation, params: Params) -> Iterator[Measured]:
    """At least seven of the offense on the line: it is the seventh nearest to it that decides."""
    wanted = params.count(MEN_ON_LINE.name)
    nearest = sorted(formation.offense, key=lambda man: abs(man.depth_mm))
    if len(nearest) < wanted:
        text = f"{len(nearest)} men of the offense are on the field; {wanted} must be on the line"
        if len(nearest) + len(formation.unseen) >= wanted:
            yield Measured(f"{text}, but {len(formation.unseen)} of its men are not seen", formation.unseen)
            return
        yield Measured(text, tuple(man.id for man in nearest), len(nearest) - wanted, unit="count")
        return
    last = nearest[wanted - 1]
    off, tolerance = formation.along_yd(abs(last.depth_mm)), params.real(LINE_TOLERANCE_YD.name)
    on = sum(formation.along_yd(abs(man.depth_mm)) <= tolerance for man in nearest)
    text = f"{on} men are on the line, {wanted} wanted: {last.id} is {off:.2f} yd off it, at most {tolerance:g}"
    yield Measured(text, (last.id,), tolerance - off, formation.along_yd(last.sigma_u_mm), "yd")


@check("TAP-068", params=(GAP_YD, GAP_TOLERANCE_YD, GAP_EXACT))
def line_gaps(formation: Formation, params: Params) -> Iterator[Measured]:
    """A yard between neighboring offensive linemen, in the yards printed across the field, as the gap lies."""
    wanted, tolerance = params.real(GAP_YD.name), params.real(GAP_TOLERANCE_YD.name)
    for left, right in neighbors(formation.in_role(*LINEMEN)):
        gap = formation.across_yd(right.low_mm - left.high_mm)
        sigma = formation.across_yd((left.sigma_v_mm**2 + right.sigma_v_mm**2) ** 0.5)
        margin = gap - (wanted - tolerance)
        if params.flag(GAP_EXACT.name):
            margin = min(margin, wanted + tolerance - gap)
        text = f"{left.id} and {right.id} are {gap:z.2f} yd apart; {wanted:g} wanted, give or take {tolerance:g}"
        yield Measured(text, (left.id, right.id), margin, sigma, "yd")


@check("EFL-010", params=(BASE_WIDTHS_APART, SPACING_TOLERANCE_MM, LINE_TOLERANCE_YD))
def line_base_widths(formation: Formation, params: Params) -> Iterator[Measured]:
    """Neighbors on either line at least a base's width apart, edge to edge."""
    for men in (on_line(formation, params), formation.in_role("DL", "NT", offense=False)):
        for left, right in neighbors(men):
            gap = right.low_mm - left.high_mm
            wanted = params.real(BASE_WIDTHS_APART.name) * (left.width_mm + right.width_mm) / 2
            sigma = (left.sigma_v_mm**2 + right.sigma_v_mm**2) ** 0.5
            text = f"{left.id} and {right.id} are {gap:.1f} mm apart; at least {wanted:.1f} wanted"
            yield Measured(
                text, (left.id, right.id), gap - wanted + params.real(SPACING_TOLERANCE_MM.name), sigma, "mm"
            )


@check("TAP-066", "TAP-077", params=(HASH_HALF_WIDTH_YD,))
def center_between_hashes(formation: Formation, params: Params) -> Iterator[Measured]:
    """The center lines up in the middle of the field: the middle of his base between the hash rows."""
    field = formation.field
    rows = field.hash_rows_y_yd
    half = (max(rows) - min(rows)) / 2 if len(rows) > 1 else params.real(HASH_HALF_WIDTH_YD.name)
    for center in formation.in_role("C"):
        off = abs(formation.across_yd(center.v_mm - field.width_mm / 2))
        text = f"the center {center.id} is {off:.2f} yd off the middle of the field; at most {half:.2f}"
        yield Measured(text, (center.id,), half - off, formation.across_yd(center.figure.sigma_mm[1]), "yd")


def _there(man: Man) -> float:
    """Probability that a man is on the field; one not seen is as likely gone as there."""
    seen = EVEN_ODDS if man.figure.posture == "unseen" else 1.0
    return seen * exceedance_probability(man.inside_mm, max(man.sigma_u_mm, man.sigma_v_mm))


def on_line(formation: Formation, params: Params) -> list[Man]:
    """The men of the offense that are on the line of scrimmage."""
    tolerance_mm = params.real(LINE_TOLERANCE_YD.name) * formation.field.mm_per_yd_x
    return [man for man in formation.offense if abs(man.depth_mm) <= tolerance_mm]


def neighbors(men: Sequence[Man]) -> Iterator[tuple[Man, Man]]:
    """Pairs of men next to each other across the field."""
    return itertools.pairwise(sorted(men, key=lambda man: man.v_mm))
