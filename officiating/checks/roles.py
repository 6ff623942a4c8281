"""Roles: what coaches call them, brought to one spelling, and inferred from where a man stands where nobody said.

How a role is inferred, in this order:

1. A role the coach named stands.
2. The offense's line is everybody whose front is within a yard of the line of scrimmage. Its five interior men are the
   center, if named, and the two nearest on either side of him; without a named center, those five neighbors that
   stand closest together; of equals, those whose middle man has a back most nearly behind him (of those the shallowest
   back), else those nearest the middle of the field. From the middle out they are center, guards and tackles.
3. The others on the line are ends: tight within three yards of a tackle, else wide.
4. Off the line, a man wholly outside the tackles is a wide receiver. Of the rest the one behind the center who is
   nearest to the line is the quarterback; the others are running backs.
5. A defender whose front is within four yards of the line is a lineman, the one most nearly before the center is the
   nose tackle if he overlaps him; behind them, those inside the tackles within ten yards are linebackers, all others
   backs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

LINE_YD = 1.0
"""Twice what a man on the line is allowed when he is judged: this only names him."""
TIGHT_YD = 3.0
"""A tight end stands about where the next lineman would."""
DEFENSIVE_LINE_YD = 4.0
"""Twice the two yards one rulebook sets its lines apart."""
LINEBACKER_YD = 10.0
"""The distance to gain: deeper men are there for the pass."""

_SAME = {
    "OT": "T", "OG": "G", "OC": "C", "HB": "RB", "FB": "RB", "TB": "RB", "SB": "RB", "SE": "WR", "FL": "WR",
    "TTQB": "QB", "NG": "NT", "DE": "DL", "DT": "DL", "ILB": "LB", "OLB": "LB", "MLB": "LB", "CB": "DB", "S": "DB",
    "FS": "DB", "SS": "DB", "PK": "K", "PR": "KR",
}  # fmt: skip
LINEMEN = ("C", "G", "T")
BACKS = ("QB", "RB", "P")
ELIGIBLE = ("WR", "TE", "RB")


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """Where a man stands, as far as his role needs it.

    Attributes:
        named: the role the coach gave him; empty when none.
        offense: whether he is of the team with the ball.
        depth_mm: behind the line of scrimmage on his side.
        v_mm, low_mm, high_mm: across the field, center and extent.

    """

    named: str
    offense: bool
    depth_mm: float
    v_mm: float
    low_mm: float
    high_mm: float


def canonical_role(named: str) -> str:
    """A coach's word for a role in the one spelling used here; a leading L or R for the side is dropped."""
    role = named.strip().upper()
    if len(role) > 1 and role[0] in "LR" and (role[1:] in LINEMEN or role[1:] in _SAME):
        role = role[1:]
    return _SAME.get(role, role)


def roles_of(spots: Sequence[Spot], mm_per_yd_x: float, mm_per_yd_y: float, middle_mm: float) -> list[tuple[str, bool]]:
    """Every man's role, and whether it was inferred, in the order given.

    Args:
        spots: everybody on the field.
        mm_per_yd_x: the field's scale along it.
        mm_per_yd_y: its scale across.
        middle_mm: across the field, its middle.

    """
    roles = [canonical_role(spot.named) for spot in spots]
    named = [bool(role) for role in roles]
    _offense(spots, roles, LINE_YD * mm_per_yd_x, TIGHT_YD * mm_per_yd_y, middle_mm)
    _defense(spots, roles, mm_per_yd_x)
    return [(role, not was) for role, was in zip(roles, named, strict=True)]


def _offense(spots: Sequence[Spot], roles: list[str], line_mm: float, tight_mm: float, middle_mm: float) -> None:
    mine = [i for i, spot in enumerate(spots) if spot.offense]
    on_line = sorted((i for i in mine if abs(spots[i].depth_mm) <= line_mm), key=lambda i: spots[i].v_mm)
    interior = _interior(spots, roles, on_line, middle_mm)
    for place, i in enumerate(interior):
        from_middle = abs(place - (len(interior) - 1) // 2)
        roles[i] = roles[i] or ("C", "G", "T")[min(from_middle, 2)]
    center = next((i for i in mine if roles[i] == "C"), None)
    line = [i for i in mine if roles[i] in LINEMEN]
    low = min((spots[i].low_mm for i in line), default=middle_mm)
    high = max((spots[i].high_mm for i in line), default=middle_mm)
    for i in on_line:
        apart = max(spots[i].low_mm - high, low - spots[i].high_mm)
        roles[i] = roles[i] or ("TE" if apart <= tight_mm else "WR")
    for i in mine:
        if not roles[i] and (spots[i].low_mm > high or spots[i].high_mm < low):
            roles[i] = "WR"
    backs = sorted((i for i in mine if not roles[i]), key=lambda i: spots[i].depth_mm)
    if center is not None and not any(roles[i] == "QB" for i in mine):
        behind = [
            i for i in backs if spots[i].low_mm < spots[center].high_mm and spots[i].high_mm > spots[center].low_mm
        ]
        for i in behind[:1]:
            roles[i] = "QB"
    for i in backs:
        roles[i] = roles[i] or "RB"


def _interior(spots: Sequence[Spot], roles: list[str], on_line: list[int], middle_mm: float) -> list[int]:
    """The five interior men of the line, low to high; fewer when there are not five who could be."""
    able = [i for i in on_line if roles[i] in {"", "OL", *LINEMEN}]
    for i in able:
        roles[i] = "" if roles[i] == "OL" else roles[i]
    center = next((place for place, i in enumerate(able) if roles[i] == "C"), None)
    if center is not None:
        reach = min(2, center, len(able) - 1 - center)
        return able[center - reach : center + reach + 1]
    if len(able) < 5:
        return able
    fives = [able[start : start + 5] for start in range(len(able) - 4)]
    backs = [spot for i, spot in enumerate(spots) if spot.offense and i not in on_line]

    def spread(five: list[int]) -> tuple[float, tuple[float, float], float]:
        middle = spots[five[2]].v_mm
        behind = min(((round(abs(back.v_mm - middle)), back.depth_mm) for back in backs), default=(0.0, 0.0))
        return round(spots[five[-1]].v_mm - spots[five[0]].v_mm, 3), behind, abs(middle - middle_mm)

    return min(fives, key=spread)


def _defense(spots: Sequence[Spot], roles: list[str], mm_per_yd: float) -> None:
    mine = [i for i, spot in enumerate(spots) if not spot.offense and not roles[i]]
    line = [i for i, spot in enumerate(spots) if spot.offense and roles[i] in LINEMEN]
    center = next((spots[i] for i in line if roles[i] == "C"), None)
    low = min((spots[i].low_mm for i in line), default=0.0)
    high = max((spots[i].high_mm for i in line), default=0.0)
    front = [i for i in mine if spots[i].depth_mm <= DEFENSIVE_LINE_YD * mm_per_yd]
    if center is not None and not any(role == "NT" for role in roles):
        over = [i for i in front if _overlap(spots[i], center)]
        for i in sorted(over, key=lambda i: (spots[i].depth_mm, abs(spots[i].v_mm - center.v_mm)))[:1]:
            roles[i] = "NT"
    for i in mine:
        inside = spots[i].low_mm < high and spots[i].high_mm > low
        deep = spots[i].depth_mm > LINEBACKER_YD * mm_per_yd
        roles[i] = roles[i] or ("DL" if i in front else "LB" if inside and not deep else "DB")


def _overlap(a: Spot, b: Spot) -> bool:
    return a.low_mm < b.high_mm and a.high_mm > b.low_mm
