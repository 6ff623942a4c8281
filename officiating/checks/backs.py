"""Checks of players off the line: wide players, the backs' depth, the quarterback, the punter, gunners, the carrier."""

from __future__ import annotations

from collections.abc import Iterator

from downfield.officiating.checks.alignment import on_line
from downfield.officiating.checks.check import CHECK_LIMITS, Measurement, check
from downfield.officiating.checks.formation import Formation, FormationPlayer
from downfield.officiating.params import Params


@check("TAP-069", params=("formation.wide_off_line_yd", "formation.wide_off_line_exact", "formation.line_tolerance_yd"))
def wide_men(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Players outside the tackles are on the line or five yards off it; stacking is another check."""
    tolerance, required = params.real("formation.line_tolerance_yd"), params.real("formation.wide_off_line_yd")
    edges = _tackle_edges(formation)
    for player in formation.offense:
        if edges is None or not (player.low_mm > edges[1] or player.high_mm < edges[0]):
            continue
        depth = formation.along_yd(player.depth_mm)
        off_line = depth - required + tolerance
        if params.flag("formation.wide_off_line_exact"):
            off_line = tolerance - abs(depth - required)
        text = (
            f"{player.id}, outside the tackles, is {depth:z.2f} yd off the line; "
            f"on it or {required:g} yd off is allowed"
        )
        margin = max(tolerance - abs(depth), off_line)
        yield Measurement(text, (player.id,), margin, formation.along_yd(player.sigma_u_mm), "yd")


@check("TAP-070", "TAP-071", "TAP-114", params=("formation.backs_depth_yd", "formation.line_tolerance_yd"))
def backs_depth(formation: Formation, params: Params) -> Iterator[Measurement]:
    """Backs are less than 20 yards behind the line; the quarterback or punter may be at exactly 20."""
    limit, line = params.real("formation.backs_depth_yd"), on_line(formation, params)
    for player in formation.offense:
        if player in line:
            continue
        passer = player.role in ("QB", "P")
        depth = formation.along_yd(player.depth_mm)
        bound = "at most" if passer else "less than"
        text = f"{player.id} is {depth:z.2f} yd behind the line; {bound} {limit:g} yd allowed"
        clauses = ("TAP-071", "TAP-114") if passer else ("TAP-070",)
        sigma = formation.along_yd(player.sigma_u_mm)
        yield Measurement(text, (player.id,), limit - depth, sigma, "yd", strict=not passer, clauses=clauses)


@check("TAP-071", "TAP-114", "EFL-019", params=("formation.behind_base_widths",))
def behind_center(formation: Formation, params: Params) -> Iterator[Measurement]:
    """The quarterback or punter lines up behind the center: across the field, the middles of their bases agree."""
    center = next(iter(formation.in_role("C")), None)
    passers = formation.in_role("QB", "P")
    if center is None or not passers:
        yield Measurement("the center or the quarterback is not on the field, or not known")
        return
    for passer in passers:
        yield _measure_behind(center, passer, params)


@check("EFL-019", params=("formation.under_center_base_lengths",))
def under_center(formation: Formation, params: Params) -> Iterator[Measurement]:
    """On a running play the quarterback stands directly behind the center, with no room for a base between them."""
    for center in formation.in_role("C"):
        for passer in formation.in_role("QB"):
            gap = center.upfield_mm - passer.downfield_mm
            limit = params.real("formation.under_center_base_lengths") * (center.length_mm + passer.length_mm) / 2
            sigma = (center.sigma_u_mm**2 + passer.sigma_u_mm**2) ** 0.5
            text = f"{passer.id} is {gap:.1f} mm behind the center {center.id}; at most {limit:.1f} mm allowed"
            yield Measurement(text, (passer.id, center.id), limit - gap, sigma, "mm")


@check("TAP-083", params=("formation.behind_base_widths",))
def direct_snap(formation: Formation, params: Params) -> Iterator[Measurement]:
    """A running back may take the snap only from behind the quarterback."""
    back = formation.player(formation.carrier)
    if back is None or not back.offense or back.role != "RB":
        return
    for passer in formation.in_role("QB", "P"):
        if passer.depth_mm < back.depth_mm:
            yield _measure_behind(passer, back, params)
            return
    yield Measurement(f"{back.id} takes the snap with no quarterback in front of him", (back.id,), -1, unit="count")


@check("EFL-021", params=("formation.backs_depth_yd",))
def carrier_depth(formation: Formation, params: Params) -> Iterator[Measurement]:
    """The rear of the ball carrier's base is at most 20 yards behind the line."""
    carrier = formation.player(formation.carrier)
    if carrier is None:
        yield Measurement("no ball carrier was announced")
        return
    depth, limit = formation.along_yd(-carrier.upfield_mm), params.real("formation.backs_depth_yd")
    text = f"the rear of {carrier.id}'s base is {depth:z.2f} yd behind the line; at most {limit:g} yd allowed"
    yield Measurement(text, (carrier.id,), limit - depth, formation.along_yd(carrier.sigma_u_mm), "yd")


@check("EFL-022")
def carrier_inside_guards(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """The ball carrier does not line up outside the guards: the middle of his base is within their outer edges."""
    carrier, guards = formation.player(formation.carrier), formation.in_role("G")
    if carrier is None or len(guards) < 2:
        yield Measurement("no ball carrier was announced, or the guards are not known")
        return
    low, high = min(guard.low_mm for guard in guards), max(guard.high_mm for guard in guards)
    inside = formation.across_yd(min(carrier.v_mm - low, high - carrier.v_mm))
    place = f"{inside:.2f} yd inside" if inside >= 0 else f"{-inside:.2f} yd outside"
    sigma = formation.across_yd(carrier.sigma_v_mm)
    yield Measurement(f"{carrier.id} is {place} the guards", (carrier.id,), inside, sigma, "yd")


@check("EFL-027", params=("formation.backs_depth_yd",))
def passer_depth(formation: Formation, params: Params) -> Iterator[Measurement]:
    """The passing quarterback is at most 20 yards behind the line."""
    for passer in formation.in_role("QB"):
        depth, limit = formation.along_yd(passer.depth_mm), params.real("formation.backs_depth_yd")
        text = f"{passer.id} is {depth:z.2f} yd behind the line; at most {limit:g} yd allowed"
        yield Measurement(text, (passer.id,), limit - depth, formation.along_yd(passer.sigma_u_mm), "yd")


@check("TAP-114", "TAP-120", params=("formation.punter_depth_yd", "formation.punter_tolerance_yd"))
def punter_depth(formation: Formation, params: Params) -> Iterator[Measurement]:
    """TAP's punter starts 20 yards back: one clause requires at most 20 and a later one 20, so 20 satisfies both."""
    yield from _measure_punter(formation, "formation.punter_depth_yd", params)


@check("LD-053", params=("formation.punt_spot_yd", "formation.punter_tolerance_yd"))
def punt_spot(formation: Formation, params: Params) -> Iterator[Measurement]:
    """One player stands seven yards back to mark where the punt is measured from."""
    yield from _measure_punter(formation, "formation.punt_spot_yd", params)


@check("TAP-116")
def gunners_wide(formation: Formation, _params: Params) -> Iterator[Measurement]:
    """Gunners line up where wide receivers do: outside the tackles."""
    edges = _tackle_edges(formation)
    for gunner in map(formation.player, formation.gunners):
        if gunner is None or edges is None:
            yield Measurement("a gunner, or the tackles he lines up outside of, are not on the field")
            continue
        apart = formation.across_yd(max(gunner.low_mm - edges[1], edges[0] - gunner.high_mm))
        text = f"gunner {gunner.id} is {apart:z.2f} yd outside the tackles"
        yield Measurement(text, (gunner.id,), apart, formation.across_yd(gunner.sigma_v_mm), "yd")


@check("TAP-046", "TAP-118", params=("formation.gunner_corridor_yd",))
def gunner_corridor(formation: Formation, params: Params) -> Iterator[Measurement]:
    """No defender lines up in a gunner's way: a straight lane as wide as his base, ahead of him from the line on."""
    reach_mm = params.real("formation.gunner_corridor_yd") * formation.field.mm_per_yd_x
    for gunner in filter(None, map(formation.player, formation.gunners)):
        for defender in formation.defense:
            if 0 <= defender.upfield_mm <= reach_mm:
                low, high = gunner.v_mm - gunner.width_mm / 2, gunner.v_mm + gunner.width_mm / 2
                clear = max(defender.low_mm - high, low - defender.high_mm)
                sigma = (defender.sigma_v_mm**2 + gunner.sigma_v_mm**2) ** 0.5
                if clear < CHECK_LIMITS.clear_sigmas * sigma + CHECK_LIMITS.rounding_mm:
                    text = f"{defender.id} stands in the way of gunner {gunner.id}, clear by {clear:.1f} mm"
                    yield Measurement(text, (defender.id, gunner.id), clear, sigma, "mm")


def _tackle_edges(formation: Formation) -> tuple[float, float] | None:
    tackles = formation.in_role("T")
    if len(tackles) < 2:
        return None
    return min(tackle.low_mm for tackle in tackles), max(tackle.high_mm for tackle in tackles)


def _measure_behind(front: FormationPlayer, rear: FormationPlayer, params: Params) -> Measurement:
    off = abs(rear.v_mm - front.v_mm)
    limit = params.real("formation.behind_base_widths") * (rear.width_mm + front.width_mm) / 2
    sigma = (rear.figure.sigma_mm[1] ** 2 + front.figure.sigma_mm[1] ** 2) ** 0.5
    text = f"{rear.id} is {off:.1f} mm to the side of {front.id}; at most {limit:.1f} mm counts as behind him"
    return Measurement(text, (rear.id, front.id), limit - off, sigma, "mm")


def _measure_punter(formation: Formation, depth_param: str, params: Params) -> Iterator[Measurement]:
    required, tolerance = params.real(depth_param), params.real("formation.punter_tolerance_yd")
    punters = formation.in_role("P") or formation.in_role("QB")
    if not punters:
        yield Measurement("no punter is on the field or named")
    for punter in punters:
        depth = formation.along_yd(punter.depth_mm)
        text = f"{punter.id} is {depth:z.2f} yd behind the line; {required:g} ± {tolerance:g} yd required"
        sigma = formation.along_yd(punter.sigma_u_mm)
        yield Measurement(text, (punter.id,), tolerance - abs(depth - required), sigma, "yd")
