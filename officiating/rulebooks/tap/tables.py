"""Dice, coins and fixed distances of TAP (Tudor-Con's Tudor Advanced Play).

Yard lines are in the kicking or attacking team's own frame: 0 its own goal line, 100 the opponent's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.errors import RefusedError

FieldGoalTable = tuple[tuple[float, int], ...]

FIELD_GOAL: Final[FieldGoalTable] = ((15, 11), (25, 10), (30, 9), (35, 8), (40, 7))
"""Farthest line of scrimmage, yards to the goal, and the highest sum of two dice good from there (TAP-021, TAP-130)."""

KICKOFF_FROM_YD: Final = 30.0
FREE_KICK_FROM_YD: Final = 20.0  # where a team kicks after a safety; TAP does not mention safeties (TAP-G2)
PUNT_BEYOND_GUNNER_YD: Final = 10.0
EXTRA_POINT_FROM: Final = 3  # least sum of two dice that makes an extra point good (TAP-126)
ONSIDE_IN_PLAY_FROM: Final = 10  # least first roll that keeps an onside kick in play


@dataclass(frozen=True, slots=True)
class OnsideRoll:
    """Result of the first roll of an onside kick."""

    in_play: bool  # whether the teams line up for the ball; if not, the kick failed and the receivers have the ball
    yard_line: float  # where the ball goes, in the kicking team's frame


def highest_good(yards_to_goal: float, table: FieldGoalTable = FIELD_GOAL) -> int:
    """Return the highest sum of two dice with which a field goal is good (TAP-129, TAP-130).

    A line of scrimmage between two rows (15.4) belongs to the farther one: the source's rows are whole yards.

    Args:
        yards_to_goal: from the line of scrimmage, not the length of the kick.

    Raises:
        RefusedError: too far out for any row.
    """
    for farthest, highest in table:
        if yards_to_goal <= farthest:
            return highest
    farthest = table[-1][0]
    raise RefusedError(f"no field goal from {yards_to_goal:.1f} yards out: the chart ends at {farthest:g} (TAP-129)")


def is_field_goal_good(yards_to_goal: float, total: int, table: FieldGoalTable = FIELD_GOAL) -> bool:
    """Return whether a field goal is good on a sum of two dice; arguments and errors as of `highest_good`."""
    return total <= highest_good(yards_to_goal, table)


def is_extra_point_good(total: int) -> bool:
    """Return whether an extra point is good: on anything but snake eyes (TAP-126)."""
    return total >= EXTRA_POINT_FROM


def onside_roll(total: int, kickoff_from_yd: float = KICKOFF_FROM_YD) -> OnsideRoll:
    """Return how far an onside kick goes, and whether it stays in play (TAP-060..062).

    The source gives 40, 41 and 42 for 10, 11 and 12, so the roll counts from the kicking line, for failed kicks too.
    """
    return OnsideRoll(total >= ONSIDE_IN_PLAY_FROM, kickoff_from_yd + total)


def onside_place(total: int, across_yd: Sequence[float]) -> float | None:
    """Return where across the field the second onside roll puts the ball (TAP-063).

    The illustration in the source is lost, so a league sets eleven places, for 2 to 12.

    Args:
        total: sum of two dice, 2..12.
        across_yd: the league's places, field yards; empty when it has not set them.

    Returns:
        Field yards across; None when the operator must place the ball.
    """
    return across_yd[total - 2] if across_yd else None


def fumble_keeper(heads: bool) -> Literal["offense", "defense"]:
    """Return the team that has the ball after a fumble: the offense on heads (TAP-034)."""
    return "offense" if heads else "defense"


def punt_landing(gunner_fronts_yd: Sequence[float], beyond_yd: float = PUNT_BEYOND_GUNNER_YD) -> float:
    """Return where a punt lands: past the farthest gunner's front (TAP-123). Raises RefusedError: none was named."""
    if not gunner_fronts_yd:
        raise RefusedError("a punt comes down beyond a gunner, and no gunner was named (TAP-115)")
    return max(gunner_fronts_yd) + beyond_yd
