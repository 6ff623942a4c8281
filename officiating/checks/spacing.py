"""Checks of stacking and separation: who stands behind whom, and how near."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from downfield.core.footprint import PoseError, signed_gap
from downfield.officiating.checks.check import Measured, check
from downfield.officiating.checks.formation import Formation, Man
from downfield.officiating.checks.line import SPACING_TOLERANCE_MM
from downfield.officiating.checks.roles import LINEMEN
from downfield.officiating.rulebooks.params import Param, Params

STACK_LENGTHS = Param(
    "formation.stack_base_lengths",
    1.0,
    "",
    "TAP gives stacking no distance; nearer than the base length it asks of all others is stacked",
    0,
    10,
)
SEPARATION_LENGTHS = Param("formation.separation_base_lengths", 1.0, "", "TAP's base-length separation", 0, 10)
LARGEST_STACK = Param("formation.largest_stack", 4, "count", "EFL's limit, center included", 1, 11)


@dataclass(frozen=True, slots=True)
class Behind:
    """Two men of a team, one behind the other.

    Attributes:
        front, rear: the one nearer to the line of scrimmage and the one behind him.
        clear_mm: by how much they are not stacked: past each other across, or far enough apart along.
        sigma_mm: its standard deviation.

    """

    front: Man
    rear: Man
    clear_mm: float
    sigma_mm: float


@check("TAP-038", "TAP-039", "TAP-040", "TAP-041", "TAP-069", "TAP-070", "TAP-073", params=(STACK_LENGTHS,))
def stacking(formation: Formation, params: Params) -> Iterator[Measured]:
    """Nobody directly behind another but the quarterback behind the center, and then one linebacker behind the nose.

    The punter stands where the quarterback does and is taken for him.
    """
    offense = stacked(formation.offense, params)
    under_center = any(_is_snap(pair) and pair.clear_mm < 0 for pair in offense)
    for pair in offense:
        if not _is_snap(pair):
            wide = ("TAP-069",) if "WR" in (pair.front.role, pair.rear.role) else ("TAP-070",)
            yield _stack(pair, ("TAP-038", "TAP-039", "TAP-041", *wide), "only the quarterback behind the center")
    for pair in stacked(formation.defense, params):
        on_the_nose = pair.front.role == "NT" and pair.rear.role == "LB"
        if not (under_center and on_the_nose):
            why = "no stacking on defense" + (" unless the quarterback is under center" if on_the_nose else "")
            yield _stack(pair, ("TAP-038", "TAP-040", "TAP-041", "TAP-073"), why)


@check("TAP-041", "TAP-072", params=(SEPARATION_LENGTHS, SPACING_TOLERANCE_MM))
def separation(formation: Formation, params: Params) -> Iterator[Measured]:
    """Men off the line stand a base length apart, outline to outline.

    TAP asks it of "all other players", which can't mean the line with its one-yard gaps: it is read as the backfield
    among itself; one behind another is `stacking`.
    """
    backs = [man for man in formation.offense if man.role not in (*LINEMEN, "TE", "WR")]
    for a, b in itertools.combinations(backs, 2):
        gap = signed_gap(a.figure.footprint, b.figure.footprint)
        wanted = params.real(SEPARATION_LENGTHS.name) * (a.length_mm + b.length_mm) / 2
        text = f"{a.id} and {b.id} are {gap.gap_mm:.1f} mm apart; a base length of {wanted:.1f} wanted"
        sigma = gap.sigma_mm(_error(a), _error(b))
        yield Measured(text, (a.id, b.id), gap.gap_mm - wanted + params.real(SPACING_TOLERANCE_MM.name), sigma, "mm")


@check("EFL-020", params=(LARGEST_STACK, STACK_LENGTHS))
def stack_length(formation: Formation, params: Params) -> Iterator[Measured]:
    """At most four men one behind another on a running play, as in an I formation with its center."""
    limit = params.count(LARGEST_STACK.name)
    pairs = [pair for pair in stacked(formation.offense, params) if pair.clear_mm < 0]
    behind = {pair.rear.id for pair in pairs}
    for first in formation.offense:
        if first.id not in behind:
            stack = _longest(first.id, pairs)
            if len(stack) > 1:
                text = f"{len(stack)} men are stacked behind {first.id}, himself included; {limit} allowed"
                yield Measured(text, stack, limit - len(stack), unit="count")


def stacked(men: Sequence[Man], params: Params) -> list[Behind]:
    """Pairs of a team that overlap across the field, or nearly, with how clear of being stacked each is.

    Only pairs that could be stacked are given: clear by less than three sigma.
    """
    pairs = []
    for a, b in itertools.combinations(men, 2):
        front, rear = sorted((a, b), key=lambda man: (man.depth_mm, man.id))
        limit = params.real(STACK_LENGTHS.name) * (a.length_mm + b.length_mm) / 2
        along = max(front.upfield_mm - rear.downfield_mm, rear.upfield_mm - front.downfield_mm) - limit
        across = max(a.low_mm - b.high_mm, b.low_mm - a.high_mm)
        sides = (along, a.sigma_u_mm, b.sigma_u_mm) if along > across else (across, a.sigma_v_mm, b.sigma_v_mm)
        sigma = (sides[1] ** 2 + sides[2] ** 2) ** 0.5
        beside = abs(a.depth_mm - b.depth_mm) < min(a.length_mm, b.length_mm) / 2
        if sides[0] < 3 * sigma + 1e-9 and not beside:
            pairs.append(Behind(front, rear, sides[0], sigma))
    return pairs


def _is_snap(pair: Behind) -> bool:
    return pair.front.role == "C" and pair.rear.role in ("QB", "P")


def _stack(pair: Behind, clauses: tuple[str, ...], why: str) -> Measured:
    clear = f"stacked by {-pair.clear_mm:.1f} mm" if pair.clear_mm < 0 else f"{pair.clear_mm:.1f} mm from stacked"
    text = f"{pair.rear.id} is behind {pair.front.id}, {clear}; {why}"
    return Measured(text, (pair.rear.id, pair.front.id), pair.clear_mm, pair.sigma_mm, "mm", clauses=clauses)


def _longest(first: str, pairs: list[Behind]) -> tuple[str, ...]:
    tails = [_longest(pair.rear.id, pairs) for pair in pairs if pair.front.id == first]
    return (first, *max(tails, key=len, default=()))


def _error(man: Man) -> PoseError:
    return PoseError((man.figure.x_mm, man.figure.y_mm), man.figure.sigma_mm, man.figure.sigma_deg)
