"""Dice tables of the Lion's Den rules (Dan Reardon).

Every table of the surviving text has lost its first row. What it must have said is a named parameter here, with the
reading that elimination gives; where elimination gives none (the first penalty row) nothing is made up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.errors import InputError

QUARTERBACK_BASE: Final = 40
KICKER_BASE: Final = 70
KICK_BASE_YD: Final = 20
FREE_YD: Final = 20
"""A pass or a field goal loses nothing up to here, then one per cent for every whole yard (LD-049, LD-058)."""
KICKOFF_OUT_YD: Final = 35.0
SAFETY_PUNT_YD: Final = 20.0
INTERCEPT_NEAR: Final = 10
INTERCEPT_TOUCHING: Final = 7
"""The text says both "3 in 10" and "7-10", which is four in ten; the numbers can be rolled, so they rule (LD-051)."""

Direction = Literal["middle", "left_mark", "right_mark", "out_of_bounds"]
Side = Literal["offense", "defense"]


@dataclass(frozen=True, slots=True)
class Foul:
    """What the penalty roll after a down brought.

    Attributes:
        name: the foul.
        by: who committed it.
        yards: how many; None where the row that says so is lost and the league has set nothing.
        first_down: whether it gives an automatic first down.

    """

    name: str
    by: Side
    yards: int | None
    first_down: bool = False


@dataclass(frozen=True, slots=True)
class Injury:
    """What the injury roll brought the quarterback.

    Attributes:
        out: ``"no"``, for ``downs`` offensive downs, or for the rest of the game and `games` more.
        downs: offensive downs he misses, None while that is still to be rolled.
        games: further games he misses; None while that is still to be rolled, -1 for the season.

    """

    out: Literal["no", "downs", "game"]
    downs: int | None = 0
    games: int | None = 0


SEASON: Final = -1


def rating(base: int, dice: Sequence[int]) -> int:
    """A skilled player's chance in per cent: his base and the sum of 2d10 (LD-002, LD-004)."""
    return base + sum(dice)


def career_seasons(die: int) -> int:
    """How long a skilled player stays, 1d4 (LD-006).

    Raises:
        InputError: no such face.

    """
    if not 1 <= die <= 4:
        raise InputError(f"a career is one four-sided die, 1..4, not {die}")
    return die


def kick_distance(dice: Sequence[int], modifier: int) -> int:
    """Length of a kickoff or punt: 3d10 + 20 + the kicker's modifier, the 2d10 of his rating (LD-032, LD-054)."""
    return sum(dice) + KICK_BASE_YD + modifier


def kick_direction(die: int, first_row: Direction = "middle") -> Direction:
    """Where across the field a kick comes down, by 1d10 (LD-034, LD-055).

    Args:
        die: 1..10.
        first_row: what 1-4 mean; lost in the source, the middle by elimination.

    """
    if die <= 4:
        return first_row
    if die <= 6:
        return "left_mark"
    return "right_mark" if die <= 8 else "out_of_bounds"


def chance(rating: int, yards: float, free_yd: float = FREE_YD) -> int:
    """A rating less one for every whole yard past the free ones (LD-049, LD-058)."""
    return rating - math.floor(max(0.0, yards - free_yd))


def succeeds(roll: int, chance: int) -> bool:
    """Whether a percentile roll makes it: equal is enough (LD-048, LD-057, LD-058, LD-071)."""
    return roll <= chance


def intercepts(die: int, touching: bool, touching_from: int = INTERCEPT_TOUCHING) -> bool:
    """Whether a defender's 1d10 intercepts, near or touching the passer or receiver (LD-050, LD-051)."""
    return die >= (touching_from if touching else INTERCEPT_NEAR)


def foul(
    roll: int, side_die: int, passed: bool, first_row: tuple[int | None, int | None] = (None, None)
) -> Foul | None:
    """The penalty rolled after every down (LD-062..066).

    Args:
        roll: percentile.
        side_die: 1d10, 1-5 the defense is guilty.
        passed: whether the down was a pass.
        first_row: yards against the offense and the defense on 01-05, lost in the source.

    Returns:
        The foul, None for no penalty.

    """
    by: Side = "defense" if side_die <= 5 else "offense"
    defense = by == "defense"
    if roll <= 5:
        return Foul("penalty", by, first_row[1] if defense else first_row[0])
    if roll <= 10:
        return Foul("holding", by, 5 if defense else 10)
    if roll <= 90:
        return None
    if roll <= 95 and passed:
        return Foul("pass interference", by, 15 if defense else 5, first_down=defense)
    return Foul("illegal block" if roll <= 95 else "personal foul", by, 10)


def injury(die: int, first_row_to: int = 8) -> Injury:
    """The injury roll, one for each man who sacked the quarterback (LD-044, LD-067).

    Args:
        die: 1..10.
        first_row_to: up to here he is unhurt; that row is lost in the source, 1-8 by elimination.

    """
    if die <= first_row_to:
        return Injury("no")
    return Injury("downs", downs=None) if die <= 9 else Injury("game", games=None)


def injury_games(die: int, first_row_to: int = 6) -> int:
    """Games missed after this one, by the second injury roll; `SEASON` for the rest of it (LD-068).

    Args:
        die: 1..10.
        first_row_to: up to here none; that row is lost in the source, 1-6 by elimination.

    """
    if die <= first_row_to:
        return 0
    if die <= 8:
        return 1
    return 2 if die <= 9 else SEASON
