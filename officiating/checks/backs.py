"""Checks of the men off the line: wide men, backs' depth, the quarterback, the punter and who carries the ball."""

from __future__ import annotations

from collections.abc import Iterator

from downfield.officiating.checks.check import Measured, check
from downfield.officiating.checks.formation import Formation, Man
from downfield.officiating.checks.line import LINE_TOLERANCE_YD, on_line
from downfield.officiating.rulebooks.params import Param, Params

WIDE_OFF_YD = Param("formation.wide_off_line_yd", 5.0, "yd", "TAP: wide men are on the line or five off it", 0, 20)
WIDE_OFF_EXACT = Param(
    "formation.wide_off_line_exact",
    False,
    "",
    "TAP does not say exactly five or at least; at least is recommended, so that a deeper back is no violation",
)
BACKS_YD = Param("formation.backs_depth_yd", 20.0, "yd", "both TAP and EFL draw the limit at 20", 0, 50)
PUNTER_YD = Param("formation.punter_depth_yd", 20.0, "yd", "TAP's punter starts 20 yards back", 0, 50)
PUNTER_TOLERANCE_YD = Param(
    "formation.punter_tolerance_yd", 0.5, "yd", "not stated; as true as a hand sets a base", 0, 5
)
PUNT_SPOT_YD = Param("formation.punt_spot_yd", 7.0, "yd", "Lion's Den marks the punt seven yards back", 0, 50)
BEHIND_WIDTHS = Param(
    "formation.behind_base_widths", 0.5, "", "how far off is still behind: not stated; half of each base covered", 0, 3
)
UNDER_CENTER_LENGTHS = Param(
    "formation.under_center_base_lengths", 1.0, "", "EFL's 'directly behind': no room for a base between", 0, 5
)
CORRIDOR_YD = Param(
    "formation.gunner_corridor_yd", 20.0, "yd", "TAP gives a gunner's way no length; his first twenty yards", 0, 100
)


@check("TAP-069", params=(WIDE_OFF_YD, WIDE_OFF_EXACT, LINE_TOLERANCE_YD))
def wide_men(formation: Formation, params: Params) -> Iterator[Measured]:
    """Whoever is outside the tackles is on the line or five yards off it; stacking is another check."""
    tolerance, wanted = params.real(LINE_TOLERANCE_YD.name), params.real(WIDE_OFF_YD.name)
    for man in outside_tackles(formation):
        depth = formation.along_yd(man.depth_mm)
        off_line = depth - wanted + tolerance
        if params.flag(WIDE_OFF_EXACT.name):
            off_line = tolerance - abs(depth - wanted)
        text = f"{man.id}, outside the tackles, is {depth:z.2f} yd off the line; on it or {wanted:g} off is allowed"
        margin = max(tolerance - abs(depth), off_line)
        yield Measured(text, (man.id,), margin, formation.along_yd(man.sigma_u_mm), "yd")


@check("TAP-070", "TAP-071", "TAP-114", params=(BACKS_YD, LINE_TOLERANCE_YD))
def backs_depth(formation: Formation, params: Params) -> Iterator[Measured]:
    """Backs are less than 20 yards behind the line; the quarterback, or punter, may be at exactly 20."""
    limit, line = params.real(BACKS_YD.name), on_line(formation, params)
    for man in formation.offense:
        if man in line:
            continue
        passer = man.role in ("QB", "P")
        depth = formation.along_yd(man.depth_mm)
        text = f"{man.id} is {depth:z.2f} yd behind the line; {'at most' if passer else 'less than'} {limit:g} allowed"
        clauses = ("TAP-071", "TAP-114") if passer else ("TAP-070",)
        sigma = formation.along_yd(man.sigma_u_mm)
        yield Measured(text, (man.id,), limit - depth, sigma, "yd", strict=not passer, clauses=clauses)


@check("TAP-071", "TAP-114", "EFL-019", params=(BEHIND_WIDTHS,))
def behind_center(formation: Formation, params: Params) -> Iterator[Measured]:
    """The quarterback, or punter, lines up behind the center: across the field, the middles of their bases agree."""
    center = next(iter(formation.in_role("C")), None)
    passers = formation.in_role("QB", "P")
    if center is None or not passers:
        yield Measured("no center, or nobody behind him, is on the field or named")
        return
    for man in passers:
        yield _behind(center, man, params)


@check("EFL-019", params=(UNDER_CENTER_LENGTHS,))
def under_center(formation: Formation, params: Params) -> Iterator[Measured]:
    """On a running play the quarterback stands directly behind the center, with no room for a base between them."""
    for center in formation.in_role("C"):
        for man in formation.in_role("QB"):
            gap = center.upfield_mm - man.downfield_mm
            limit = params.real(UNDER_CENTER_LENGTHS.name) * (center.length_mm + man.length_mm) / 2
            sigma = (center.sigma_u_mm**2 + man.sigma_u_mm**2) ** 0.5
            text = f"{man.id} is {gap:.1f} mm behind the center {center.id}; at most {limit:.1f}"
            yield Measured(text, (man.id, center.id), limit - gap, sigma, "mm")


@check("TAP-083", params=(BEHIND_WIDTHS,))
def direct_snap(formation: Formation, params: Params) -> Iterator[Measured]:
    """A running back may take the snap only from behind the quarterback."""
    back = formation.man(formation.carrier)
    if back is None or not back.offense or back.role != "RB":
        return
    for passer in formation.in_role("QB", "P"):
        if passer.depth_mm < back.depth_mm:
            yield _behind(passer, back, params)
            return
    yield Measured(f"{back.id} takes the snap with no quarterback before him", (back.id,), -1, unit="count")


@check("EFL-021", params=(BACKS_YD,))
def carrier_depth(formation: Formation, params: Params) -> Iterator[Measured]:
    """The rear of the runner's base is at most 20 yards behind the line."""
    carrier = formation.man(formation.carrier)
    if carrier is None:
        yield Measured("nobody was announced to have the ball")
        return
    depth, limit = formation.along_yd(-carrier.upfield_mm), params.real(BACKS_YD.name)
    text = f"the rear of {carrier.id}'s base is {depth:z.2f} yd behind the line; at most {limit:g}"
    yield Measured(text, (carrier.id,), limit - depth, formation.along_yd(carrier.sigma_u_mm), "yd")


@check("EFL-022")
def carrier_inside_guards(formation: Formation, _params: Params) -> Iterator[Measured]:
    """The runner does not line up outside the guards: the middle of his base is within their outer edges."""
    carrier, guards = formation.man(formation.carrier), formation.in_role("G")
    if carrier is None or len(guards) < 2:
        yield Measured("nobody was announced to have the ball, or the guards are not known")
        return
    low, high = min(man.low_mm for man in guards), max(man.high_mm for man in guards)
    inside = formation.across_yd(min(carrier.v_mm - low, high - carrier.v_mm))
    place = f"{inside:.2f} yd inside" if inside >= 0 else f"{-inside:.2f} yd outside"
    sigma = formation.across_yd(carrier.sigma_v_mm)
    yield Measured(f"{carrier.id} is {place} the guards", (carrier.id,), inside, sigma, "yd")


@check("EFL-027", params=(BACKS_YD,))
def passer_depth(formation: Formation, params: Params) -> Iterator[Measured]:
    """The passing quarterback is at most 20 yards behind the line."""
    for man in formation.in_role("QB"):
        depth, limit = formation.along_yd(man.depth_mm), params.real(BACKS_YD.name)
        text = f"{man.id} is {depth:z.2f} yd behind the line; at most {limit:g}"
        yield Measured(text, (man.id,), limit - depth, formation.along_yd(man.sigma_u_mm), "yd")


@check("TAP-114", "TAP-120", params=(PUNTER_YD, PUNTER_TOLERANCE_YD))
def punter_depth(formation: Formation, params: Params) -> Iterator[Measured]:
    """TAP's punter starts 20 yards back: one clause says within 20, the later one 20, and 20 keeps both."""
    yield from _at_depth(formation, params.real(PUNTER_YD.name), params.real(PUNTER_TOLERANCE_YD.name))


@check("LD-053", params=(PUNT_SPOT_YD, PUNTER_TOLERANCE_YD))
def punt_spot(formation: Formation, params: Params) -> Iterator[Measured]:
    """One man stands seven yards back to mark where the punt is measured from."""
    yield from _at_depth(formation, params.real(PUNT_SPOT_YD.name), params.real(PUNTER_TOLERANCE_YD.name))


@check("TAP-116")
def gunners_wide(formation: Formation, _params: Params) -> Iterator[Measured]:
    """Gunners line up where wide receivers do: outside the tackles."""
    edges = _tackles(formation)
    for man in map(formation.man, formation.gunners):
        if man is None or edges is None:
            yield Measured("a gunner, or the tackles he lines up outside of, are not on the field")
            continue
        apart = formation.across_yd(max(man.low_mm - edges[1], edges[0] - man.high_mm))
        text = f"gunner {man.id} is {apart:z.2f} yd outside the tackles"
        yield Measured(text, (man.id,), apart, formation.across_yd(man.sigma_v_mm), "yd")


@check("TAP-046", "TAP-118", params=(CORRIDOR_YD,))
def gunner_corridor(formation: Formation, params: Params) -> Iterator[Measured]:
    """No defender is placed in a gunner's way: a straight lane as wide as his base, ahead of him from the line on."""
    reach_mm = params.real(CORRIDOR_YD.name) * formation.field.mm_per_yd_x
    for gunner in filter(None, map(formation.man, formation.gunners)):
        for man in formation.defense:
            if 0 <= man.upfield_mm <= reach_mm:
                low, high = gunner.v_mm - gunner.width_mm / 2, gunner.v_mm + gunner.width_mm / 2
                clear = max(man.low_mm - high, low - man.high_mm)
                sigma = (man.sigma_v_mm**2 + gunner.sigma_v_mm**2) ** 0.5
                if clear < 3 * sigma + 1e-9:
                    text = f"{man.id} stands in the way of gunner {gunner.id}, clear by {clear:.1f} mm"
                    yield Measured(text, (man.id, gunner.id), clear, sigma, "mm")


def outside_tackles(formation: Formation) -> list[Man]:
    """The men of the offense wholly outside the tackles; none while the tackles are not known."""
    edges = _tackles(formation)
    if edges is None:
        return []
    return [man for man in formation.offense if man.low_mm > edges[1] or man.high_mm < edges[0]]


def _tackles(formation: Formation) -> tuple[float, float] | None:
    tackles = formation.in_role("T")
    if len(tackles) < 2:
        return None
    return min(man.low_mm for man in tackles), max(man.high_mm for man in tackles)


def _behind(front: Man, man: Man, params: Params) -> Measured:
    off = abs(man.v_mm - front.v_mm)
    limit = params.real(BEHIND_WIDTHS.name) * (man.width_mm + front.width_mm) / 2
    sigma = (man.figure.sigma_mm[1] ** 2 + front.figure.sigma_mm[1] ** 2) ** 0.5
    text = f"{man.id} is {off:.1f} mm to the side of {front.id}; at most {limit:.1f} is behind him"
    return Measured(text, (man.id, front.id), limit - off, sigma, "mm")


def _at_depth(formation: Formation, wanted: float, tolerance: float) -> Iterator[Measured]:
    punters = formation.in_role("P") or formation.in_role("QB")
    if not punters:
        yield Measured("no punter is on the field or named")
    for man in punters:
        depth = formation.along_yd(man.depth_mm)
        text = f"{man.id} is {depth:z.2f} yd behind the line; {wanted:g} wanted, give or take {tolerance:g}"
        yield Measured(text, (man.id,), tolerance - abs(depth - wanted), formation.along_yd(man.sigma_u_mm), "yd")
