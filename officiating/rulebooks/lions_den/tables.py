"""Dice tables of the Lion's Den rules (Dan Reardon).

Every table in the surviving text has lost its first row. Each lost row is a named parameter here, set by elimination
from the rows that are left; where elimination gives nothing (the first penalty row) it stays empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

KICK_BASE_YD: Final = 20  # added to the dice of a kickoff or punt
INTERCEPT_NEAR: Final = 10  # least 1d10 with which a defender intercepts who touches neither passer nor receiver
SEASON: Final = -1  # games missed when a quarterback is out for the season

KickDirection = Literal["middle", "left_mark", "right_mark", "out_of_bounds"]


@dataclass(frozen=True, slots=True)
class PenaltyRoll:
    """Result of the penalty roll after a down."""

    name: str
    by: Literal["offense", "defense"]  # which team committed it
    yards: int | None  # of the penalty; None where the row with them is lost and the league has set none
    first_down: bool = False  # whether it gives an automatic first down


def kick_direction(die: int, first_row: KickDirection = "middle") -> KickDirection:
    """Return where across the field a kick comes down, by 1d10 (LD-034, LD-055).

    The first row, of 1 to 4, is lost in the source: the middle, by elimination.
    """
    if die <= 4:
        return first_row
    if die <= 6:
        return "left_mark"
    return "right_mark" if die <= 8 else "out_of_bounds"


def success_percent(rating: int, yards: float, free_yd: float) -> int:
    """Return a rating less one for every whole yard past the free ones (LD-049, LD-058)."""
    return rating - math.floor(max(0.0, yards - free_yd))


def penalty_roll(
    roll: int, side_die: int, passed: bool, first_row: tuple[int | None, int | None] = (None, None)
) -> PenaltyRoll | None:
    """Return the penalty rolled after a down, None for no penalty (LD-062..066).

    Args:
        roll: percentile.
        side_die: 1d10, the defense is guilty on 1-5.
        first_row: yards against the offense and the defense on 01-05, lost in the source.
    """
    by: Literal["offense", "defense"] = "defense" if side_die <= 5 else "offense"
    defense = by == "defense"
    if roll <= 5:
        return PenaltyRoll("penalty", by, first_row[1] if defense else first_row[0])
    if roll <= 10:
        return PenaltyRoll("holding", by, 5 if defense else 10)
    if roll <= 90:
        return None
    if roll <= 95 and passed:
        return PenaltyRoll("pass interference", by, 15 if defense else 5, first_down=defense)
    return PenaltyRoll("illegal block" if roll <= 95 else "personal foul", by, 10)


def injury(die: int, first_row_to: int = 8) -> Literal["no", "downs", "game"]:
    """Return the result of an injury roll; there is one for each tackler of the sack (LD-044, LD-067).

    The first row, up to which he is unhurt, is lost in the source: 1 to 8, by elimination. ``"downs"`` rests him some
    offensive downs, ``"game"`` takes him out of it; how many downs, or further games, is still to be rolled.
    """
    if die <= first_row_to:
        return "no"
    return "downs" if die <= 9 else "game"


def injury_games(die: int, first_row_to: int = 6) -> int:
    """Return the games missed after this one, by the second injury roll; `SEASON` for the rest of it (LD-068).

    The first row, up to which there are none, is lost in the source: 1 to 6, by elimination.
    """
    if die <= first_row_to:
        return 0
    if die <= 8:
        return 1
    return 2 if die <= 9 else SEASON
