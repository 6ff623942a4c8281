"""Two-dice tables and fixed distances of the Gunderson Solitaire EFL, for teams without a working kicker.

Yard lines are in the kicking team's own frame: 0 its own goal line, 100 the opponent's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

KICKOFF_FROM_YD: Final = 35.0
FREE_KICK_FROM_YD: Final = 20.0
"""Where a team kicks after a safety, which the EFL leaves to Tudor's rules (EFL-G1)."""
KICKOFF_SPOT_YD: Final = 25.0
TWO_POINT_YD_TO_GOAL: Final = 2.0
EXTRA_POINT_KICK_YD: Final = 10.0
HOLD_BEHIND_LINE_YD: Final = 7.0

FIELD_GOAL: Final[tuple[tuple[int, float], ...]] = ((2, 9), (3, 19), (4, 29), (5, 39), (6, 49))
"""The tens die and the farthest line of scrimmage, yards to the goal, from which its kick is good (EFL-082)."""

KICKOFF_BONUS_YD: Final = 30
"""Added to a kickoff whose tens die is 2 or 3 (EFL-083); the source adds nothing to a 4, 5 or 6."""

PlaceKick = Literal["good", "short", "wide_left", "wide_right", "blocked"]


@dataclass(frozen=True, slots=True)
class PuntRoll:
    """A punt by dice.

    Attributes:
        blocked: whether it was blocked.
        yards: from the line of scrimmage, forward; a blocked one may lie behind it.
    """

    blocked: bool
    yards: int


def place_kick(roll: int, yards_to_goal: float) -> PlaceKick:
    """Return the result of a field goal or extra point by dice (EFL-082).

    Args:
        roll: two dice as tens and units.
        yards_to_goal: from the line of scrimmage.
    """
    if roll <= 12:
        return "blocked"
    if roll <= 14:
        return "wide_left"
    if roll <= 16:
        return "wide_right"
    return "good" if yards_to_goal <= dict(FIELD_GOAL)[roll // 10] else "short"


def place_kick_from(yards_to_goal: float) -> int | None:
    """Return the least roll with which a kick from that line of scrimmage is good; None beyond the table (EFL-082).

    Rolls below 17 are blocked or wide whatever the distance.
    """
    tens = next((tens for tens, farthest in FIELD_GOAL if yards_to_goal <= farthest), None)
    return None if tens is None else 10 * tens + 1


def punt(roll: int) -> PuntRoll:
    """Return the result of a punt by dice, as tens and units (EFL-083)."""
    if roll <= 12:
        return PuntRoll(True, roll)
    if roll <= 16:
        return PuntRoll(True, -roll)
    return PuntRoll(False, roll)


def kickoff(roll: int) -> int | None:
    """Return the length of a kickoff by dice, as tens and units; None for out of bounds (EFL-083)."""
    if roll <= 16:
        return None
    return roll + KICKOFF_BONUS_YD if roll <= 36 else roll
