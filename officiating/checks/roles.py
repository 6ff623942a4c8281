"""Roles (positions): their standard spelling, and how a player's role is inferred when the coach named none.

How a role is inferred, in this order:

1. A role named by the coach stands.
2. The offensive line is every player whose front is within a yard of the line of scrimmage. Its five interior linemen
   are the center, if named, and the two nearest on either side of him; without a named center, the five neighbors who
   stand closest together; among equals, the five whose middle player has a back most nearly behind him (then the
   shallowest back), else the five nearest the middle of the field. From the middle outward they are center, guards and
   tackles.
3. The others on the line are ends: tight within three yards of a tackle, else wide.
4. Off the line, a player wholly outside the tackles is a wide receiver. Of the rest, the one behind the center who is
   nearest to the line is the quarterback; the others are running backs.
5. A defender whose front is within four yards of the line is a lineman, and the one most nearly in front of the center
   is the nose tackle if he overlaps him. Behind them, those inside the tackles and within ten yards are linebackers;
   all others are defensive backs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from downfield.officiating.role_names import LINEMEN, canonical_role


@dataclass(frozen=True, slots=True)
class RoleLimits:
    """Thresholds of role inference."""

    line_yd: float = 1.0
    """Players up to this far from the line of scrimmage are on it: twice what a check of the line allows."""
    tight_end_yd: float = 3.0
    """Farthest a tight end stands from the tackle: about where the next lineman would."""
    defensive_line_yd: float = 4.0
    """Deepest defensive lineman: twice the two yards one rulebook sets the lines apart."""
    linebacker_yd: float = 10.0
    """Deepest linebacker, the distance to gain: deeper players are there for the pass."""


_LIMITS: Final = RoleLimits()


@dataclass(frozen=True, slots=True)
class RolePlacement:
    """The part of a player's alignment that his role depends on.

    Attributes:
        named: the role the coach gave him; empty when none.
        offense: whether he is on the team with the ball.
        depth_mm: distance behind the line of scrimmage on his side.
        v_mm, low_mm, high_mm: center and extent of his base across the field.
    """

    named: str
    offense: bool
    depth_mm: float
    v_mm: float
    low_mm: float
    high_mm: float


def infer_roles(
    placements: Sequence[RolePlacement], mm_per_yd_x: float, mm_per_yd_y: float, middle_mm: float
) -> list[tuple[str, bool]]:
    """Return every player's role and whether it was inferred, in the order given.

    Args:
        placements: everyone on the field.
        mm_per_yd_x: scale of the field along its length.
        mm_per_yd_y: scale across.
        middle_mm: middle of the field, across.
    """
    roles = [canonical_role(placement.named) for placement in placements]
    named = [bool(role) for role in roles]
    _infer_offense(placements, roles, _LIMITS.line_yd * mm_per_yd_x, _LIMITS.tight_end_yd * mm_per_yd_y, middle_mm)
    _infer_defense(placements, roles, mm_per_yd_x)
    return [(role, not was_named) for role, was_named in zip(roles, named, strict=True)]


def _infer_offense(
    placements: Sequence[RolePlacement], roles: list[str], line_mm: float, tight_mm: float, middle_mm: float
) -> None:
    offense = [i for i, placement in enumerate(placements) if placement.offense]
    on_line = sorted((i for i in offense if abs(placements[i].depth_mm) <= line_mm), key=lambda i: placements[i].v_mm)
    interior = _interior_line(placements, roles, on_line, middle_mm)
    for place, i in enumerate(interior):
        from_middle = abs(place - (len(interior) - 1) // 2)
        roles[i] = roles[i] or ("C", "G", "T")[min(from_middle, 2)]
    center = next((i for i in offense if roles[i] == "C"), None)
    line = [i for i in offense if roles[i] in LINEMEN]
    low = min((placements[i].low_mm for i in line), default=middle_mm)
    high = max((placements[i].high_mm for i in line), default=middle_mm)
    for i in on_line:
        apart = max(placements[i].low_mm - high, low - placements[i].high_mm)
        roles[i] = roles[i] or ("TE" if apart <= tight_mm else "WR")
    for i in offense:
        if not roles[i] and (placements[i].low_mm > high or placements[i].high_mm < low):
            roles[i] = "WR"
    backs = sorted((i for i in offense if not roles[i]), key=lambda i: placements[i].depth_mm)
    if center is not None and not any(roles[i] == "QB" for i in offense):
        behind = [i for i in backs if _overlap(placements[i], placements[center])]
        for i in behind[:1]:
            roles[i] = "QB"
    for i in backs:
        roles[i] = roles[i] or "RB"


def _interior_line(
    placements: Sequence[RolePlacement], roles: list[str], on_line: list[int], middle_mm: float
) -> list[int]:
    """Return the five interior linemen, low to high; fewer when fewer are eligible."""
    eligible = [i for i in on_line if roles[i] in {"", "OL", *LINEMEN}]
    for i in eligible:
        roles[i] = "" if roles[i] == "OL" else roles[i]
    center = next((place for place, i in enumerate(eligible) if roles[i] == "C"), None)
    if center is not None:
        reach = min(2, center, len(eligible) - 1 - center)
        return eligible[center - reach : center + reach + 1]
    if len(eligible) < 5:
        return eligible
    # Seven on the line may be two ends beside five, or an unbalanced line: the closest five are the interior.
    fives = [eligible[start : start + 5] for start in range(len(eligible) - 4)]
    backs = [placement for i, placement in enumerate(placements) if placement.offense and i not in on_line]

    def spacing(five: list[int]) -> tuple[float, tuple[float, float], float]:
        middle = placements[five[2]].v_mm
        behind = min(((round(abs(back.v_mm - middle)), back.depth_mm) for back in backs), default=(0.0, 0.0))
        width = round(placements[five[-1]].v_mm - placements[five[0]].v_mm, 3)
        return width, behind, abs(middle - middle_mm)

    return min(fives, key=spacing)


def _infer_defense(placements: Sequence[RolePlacement], roles: list[str], mm_per_yd: float) -> None:
    unnamed = [i for i, placement in enumerate(placements) if not placement.offense and not roles[i]]
    line = [i for i, placement in enumerate(placements) if placement.offense and roles[i] in LINEMEN]
    center = next((placements[i] for i in line if roles[i] == "C"), None)
    low = min((placements[i].low_mm for i in line), default=0.0)
    high = max((placements[i].high_mm for i in line), default=0.0)
    front = [i for i in unnamed if placements[i].depth_mm <= _LIMITS.defensive_line_yd * mm_per_yd]
    if center is not None and not any(role == "NT" for role in roles):
        over = [i for i in front if _overlap(placements[i], center)]
        nearest = sorted(over, key=lambda i: (placements[i].depth_mm, abs(placements[i].v_mm - center.v_mm)))
        for i in nearest[:1]:
            roles[i] = "NT"
    for i in unnamed:
        inside = placements[i].low_mm < high and placements[i].high_mm > low
        deep = placements[i].depth_mm > _LIMITS.linebacker_yd * mm_per_yd
        roles[i] = roles[i] or ("DL" if i in front else "LB" if inside and not deep else "DB")


def _overlap(a: RolePlacement, b: RolePlacement) -> bool:
    return a.low_mm < b.high_mm and a.high_mm > b.low_mm
