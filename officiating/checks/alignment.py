"""Checks of alignment: how many players, who is on the line, gaps, stacking, separation, where the defense stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from downfield.core.footprint import PoseError, signed_gap
from downfield.core.texts import counted
from downfield.officiating.checks.check import CHECK_LIMITS, Measurement, at_most, check
from downfield.officiating.checks.formation import Formation, FormationPlayer
from downfield.officiating.params import Params
from downfield.officiating.sides import LINEMEN
from downfield.officiating.state.facts import EVEN_ODDS, exceedance_probability


@check("TAP-042", params=("formation.men_on_field",), on_claim=True)
def men_on_field(formation: Formation, params: Params) -> Iterator[Measurement]:
    """At most eleven players a side. Under TAP only the opponent may claim it, so it is shown only on a claim."""
    limit = params.count("formation.men_on_field")
    for offense, side in ((True, "offense"), (False, "defense")):
        players = [player for player in (*formation.players, *formation.beside) if player.offense == offense]
        chances = [_on_field_probability(player) for player in players]
        on = tuple(player.id for player, likely in zip(players, chances, strict=True) if likely > EVEN_ODDS)
        yield at_most(limit, chances, f"the {side} has {counted(len(on), 'player')} on the field; {limit} allowed", on)


@check("TAP-067", "EFL-013", "LD-035", params=("formation.men_on_line", "formation.line_tolerance_yd"))
def men_on_line(formation: Formation, params: Params) -> Iterator[Measurement]:
    """At least seven of the offense on the line: the seventh nearest to it decides."""
    required = params.count("formation.men_on_line")
    nearest = sorted(formation.offense, key=lambda player: abs(player.depth_mm))
    if len(nearest) < required:
        text = f"the offense has {counted(len(nearest), 'player')} on the field; {required} must be on the line"
        if len(nearest) + len(formation.unseen) >= required:
            verb = "is" if len(formation.unseen) == 1 else "are"
            text = f"{text}, but {len(formation.unseen)} of its players {verb} out of view"
            yield Measurement(text, formation.unseen)
            return
        yield Measurement(text, tuple(player.id for player in nearest), len(nearest) - required, unit="count")
        return
    deciding = nearest[required - 1]
    off, tolerance = formation.along_yd(abs(deciding.depth_mm)), params.real("formation.line_tolerance_yd")
    on = sum(formation.along_yd(abs(player.depth_mm)) <= tolerance for player in nearest)
    text = (
        f"{counted(on, 'player', 'are')} on the line, {required} required: {deciding.id} is {off:.2f} yd off it; "
        f"at most {tolerance:g} yd allowed"
    )
    yield Measurement(text, (deciding.id,), tolerance - off, formation.along_yd(deciding.sigma_u_mm), "yd")


@check("TAP-068", params=("formation.line_gap_yd", "formation.line_gap_tolerance_yd", "formation.line_gap_exact"))
def line_gaps(formation: Formation, params: Params) -> Iterator[Measurement]:
    """A yard between neighboring offensive linemen, in the yards printed across the field, as the gap lies."""
    required, tolerance = params.real("formation.line_gap_yd"), params.real("formation.line_gap_tolerance_yd")
    for left, right in _neighbors(formation.in_role(*LINEMEN)):
        gap = formation.across_yd(right.low_mm - left.high_mm)
        sigma = formation.across_yd((left.sigma_v_mm**2 + right.sigma_v_mm**2) ** 0.5)
        margin = gap - (required - tolerance)
        if params.flag("formation.line_gap_exact"):
            margin = min(margin, required + tolerance - gap)
        text = f"{left.id} and {right.id} are {gap:z.2f} yd apart; {required:g} ± {tolerance:g} yd required"
        yield Measurement(text, (left.id, right.id), margin, sigma, "yd")


@check(
    "EFL-010", params=("formation.base_widths_apart", "formation.spacing_tolerance_mm", "formation.line_tolerance_yd")
)
def line_base_widths(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Neighbors on either line at least a base's width apart, edge to edge."""
    for players in (on_line(formation, params), _defensive_line(formation)):
        for left, right in _neighbors(players):
            gap = right.low_mm - left.high_mm
            required = params.real("formation.base_widths_apart") * (left.width_mm + right.width_mm) / 2
            sigma = (left.sigma_v_mm**2 + right.sigma_v_mm**2) ** 0.5
            text = f"{left.id} and {right.id} are {gap:.1f} mm apart; at least {required:.1f} mm required"
            margin = gap - required + params.real("formation.spacing_tolerance_mm")
            yield Measurement(text, (left.id, right.id), margin, sigma, "mm")


@check("TAP-066", "TAP-077", params=("formation.hash_half_width_yd",))
def center_between_hashes(formation: Formation, params: Params) -> Iterator[Measurement]:
    """The center lines up in the middle of the field: the middle of his base between the hash rows."""
    field = formation.field
    rows = field.hash_rows_y_yd
    half = (max(rows) - min(rows)) / 2 if len(rows) > 1 else params.real("formation.hash_half_width_yd")
    for center in formation.in_role("C"):
        off = abs(formation.across_yd(center.v_mm - field.width_mm / 2))
        text = f"the center {center.id} is {off:.2f} yd off the middle of the field; at most {half:.2f} yd allowed"
        yield Measurement(text, (center.id,), half - off, formation.across_yd(center.figure.sigma_mm[1]), "yd")


def on_line(formation: Formation, params: Params) -> list[FormationPlayer]:
    """Return the players of the offense on the line of scrimmage."""
    tolerance_mm = params.real("formation.line_tolerance_yd") * formation.field.mm_per_yd_x
    return [player for player in formation.offense if abs(player.depth_mm) <= tolerance_mm]


def _on_field_probability(player: FormationPlayer) -> float:
    """Return the probability that a player is on the field; it is halved for a player out of view."""
    seen = EVEN_ODDS if player.figure.posture == "unseen" else 1.0
    return seen * exceedance_probability(player.inside_mm, max(player.sigma_u_mm, player.sigma_v_mm))


def _neighbors(players: Sequence[FormationPlayer]) -> Iterator[tuple[FormationPlayer, FormationPlayer]]:
    return itertools.pairwise(sorted(players, key=lambda player: player.v_mm))


@dataclass(frozen=True, slots=True)
class StackedPair:
    """Two players of one team, one behind the other."""

    front: FormationPlayer  # front, rear: the player nearer to the line of scrimmage, and the player behind him
    rear: FormationPlayer
    clear_mm: float  # by how much they are not stacked: past each other across, or far enough apart along the field
    sigma_mm: float  # its standard deviation


@check(
    "TAP-038",
    "TAP-039",
    "TAP-040",
    "TAP-041",
    "TAP-069",
    "TAP-070",
    "TAP-073",
    params=("formation.stack_base_lengths",),
)
def stacking(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Only the quarterback may be directly behind a player, the center; then one linebacker may stand behind the nose.

    The punter stands where the quarterback does and counts as the quarterback.
    """
    offense = stacked_pairs(formation.offense, params)
    under_center = any(_is_snap(pair) and pair.clear_mm < 0 for pair in offense)
    for pair in offense:
        if not _is_snap(pair):
            wide = ("TAP-069",) if "WR" in (pair.front.role, pair.rear.role) else ("TAP-070",)
            reason = "only the quarterback may be stacked, behind the center"
            yield _measure_stack(pair, ("TAP-038", "TAP-039", "TAP-041", *wide), reason)
    for pair in stacked_pairs(formation.defense, params):
        on_the_nose = pair.front.role == "NT" and pair.rear.role == "LB"
        if not (under_center and on_the_nose):
            reason = "no stacking on defense" + (" unless the quarterback is under center" if on_the_nose else "")
            yield _measure_stack(pair, ("TAP-038", "TAP-040", "TAP-041", "TAP-073"), reason)


@check("TAP-041", "TAP-072", params=("formation.separation_base_lengths", "formation.spacing_tolerance_mm"))
def separation(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Players off the line stand a base length apart, outline to outline.

    TAP requires it of "all other players", which can't mean the line with its one-yard gaps: it is read as the
    backfield among itself. One behind another is `stacking`.
    """
    backs = [player for player in formation.offense if player.role not in (*LINEMEN, "TE", "WR")]
    for a, b in itertools.combinations(backs, 2):
        gap = signed_gap(a.figure.footprint, b.figure.footprint)
        required = params.real("formation.separation_base_lengths") * (a.length_mm + b.length_mm) / 2
        text = f"{a.id} and {b.id} are {gap.gap_mm:.1f} mm apart; a base length of {required:.1f} mm required"
        sigma = gap.sigma_mm(_position_error(a), _position_error(b))
        margin = gap.gap_mm - required + params.real("formation.spacing_tolerance_mm")
        yield Measurement(text, (a.id, b.id), margin, sigma, "mm")


@check("EFL-020", params=("formation.largest_stack", "formation.stack_base_lengths"))
def stack_length(formation: Formation, params: Params) -> Iterator[Measurement]:
    """At most four players are stacked on a running play, as in an I formation with its center."""
    limit = params.count("formation.largest_stack")
    pairs = [pair for pair in stacked_pairs(formation.offense, params) if pair.clear_mm < 0]
    behind = {pair.rear.id for pair in pairs}
    for front in formation.offense:
        if front.id not in behind:
            stack = _longest_stack(front.id, pairs)
            if len(stack) > 1:
                text = f"{len(stack)} players are stacked behind {front.id}, himself included; {limit} allowed"
                yield Measurement(text, stack, limit - len(stack), unit="count")


def stacked_pairs(players: Sequence[FormationPlayer], params: Params) -> list[StackedPair]:
    """Return the pairs of a team that may be stacked: clear of it by less than three sigma."""
    pairs = []
    for a, b in itertools.combinations(players, 2):
        front, rear = sorted((a, b), key=lambda player: (player.depth_mm, player.id))
        limit = params.real("formation.stack_base_lengths") * (a.length_mm + b.length_mm) / 2
        along = max(front.upfield_mm - rear.downfield_mm, rear.upfield_mm - front.downfield_mm) - limit
        across = max(a.low_mm - b.high_mm, b.low_mm - a.high_mm)
        clear = (along, a.sigma_u_mm, b.sigma_u_mm) if along > across else (across, a.sigma_v_mm, b.sigma_v_mm)
        sigma = (clear[1] ** 2 + clear[2] ** 2) ** 0.5
        side_by_side = abs(a.depth_mm - b.depth_mm) < min(a.length_mm, b.length_mm) / 2
        if clear[0] < CHECK_LIMITS.clear_sigmas * sigma + CHECK_LIMITS.rounding_mm and not side_by_side:
            pairs.append(StackedPair(front, rear, clear[0], sigma))
    return pairs


def _is_snap(pair: StackedPair) -> bool:
    return pair.front.role == "C" and pair.rear.role in ("QB", "P")


def _measure_stack(pair: StackedPair, clauses: tuple[str, ...], reason: str) -> Measurement:
    clear = f"stacked by {-pair.clear_mm:.1f} mm" if pair.clear_mm < 0 else f"{pair.clear_mm:.1f} mm from stacked"
    text = f"{pair.rear.id} is behind {pair.front.id}, {clear}; {reason}"
    return Measurement(text, (pair.rear.id, pair.front.id), pair.clear_mm, pair.sigma_mm, "mm", clauses=clauses)


def _longest_stack(front: str, pairs: list[StackedPair]) -> tuple[str, ...]:
    tails = [_longest_stack(pair.rear.id, pairs) for pair in pairs if pair.front.id == front]
    return (front, *max(tails, key=len, default=()))


def _position_error(player: FormationPlayer) -> PoseError:
    return PoseError((player.figure.x_mm, player.figure.y_mm), player.figure.sigma_mm, player.figure.sigma_deg)


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
