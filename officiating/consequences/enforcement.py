"""Penalty enforcement: half the distance, midpoints of returns, whole yards.

Spots are in the frame of the team that has the ball: 0 its own goal line, `length_yd` the other one.
"""

from __future__ import annotations

import math
from typing import Final

from downfield.core.errors import RefusedError

TINY_YD: Final = 1e-9  # keeps rounding errors from moving a whole yard


def walk_off(
    spot_yd: float, yards: float, *, length_yd: float = 100.0, half_the_distance: bool = True, whole: bool = False
) -> float:
    """Return where the ball goes after a penalty.

    Args:
        yards: toward the opponent's goal when positive, back toward one's own when negative.
        half_the_distance: whether a penalty is at most half the distance to the goal line it goes toward. No source
            states when this applies; as in football, whenever the penalty is longer than that.
        whole: whether the ball goes on a whole yard, in the offender's favor: a half yard shortens the penalty
            (NFLS-083).

    Raises:
        RefusedError: the spot is not between the goal lines.
    """
    if not 0 <= spot_yd <= length_yd:
        raise RefusedError(
            f"a penalty can't be walked off from {spot_yd:.1f} yd: the goal lines are at 0 and {length_yd:g} yd"
        )
    room = length_yd - spot_yd if yards > 0 else spot_yd
    distance = min(abs(yards), room / 2 if half_the_distance else room)
    if yards > 0:
        reached = spot_yd + distance
        return math.floor(reached + TINY_YD) if whole else reached
    reached = spot_yd - distance
    return math.ceil(reached - TINY_YD) if whole else reached


def walked_words(yards: float, walked_yd: float) -> str:
    """Return a penalty's yards in words, with those walked off where a goal line is too near for all of them."""
    if math.isclose(yards, walked_yd, abs_tol=TINY_YD):
        return f"{yards:g} yards"
    return f"{round(walked_yd, 2):g} of {yards:g} yards, half the distance to the goal"


def walk_off_return(
    start_yd: float, end_yd: float, yards: float, *, by_returners: bool, length_yd: float = 100.0
) -> float:
    """Return where the ball goes after a foul on a kick's return (NFLS-070, 071, 076, 077), on a whole yard.

    Nothing in the book makes a safety of such a foul: where the middle lies in the end zone, the ball is put on the 1.

    Args:
        start_yd: where the return began; in the returners' end zone below 0.
        yards: the penalty, not negative.
        by_returners: whether the returning team fouled: its foul is walked off from the middle of the return, the
            kicking team's from its end.

    Raises:
        RefusedError: that spot is not between the goal lines.
    """
    if by_returners:
        middle_yd = (start_yd + end_yd) / 2
        return max(1.0, walk_off(max(0.0, middle_yd), -yards, length_yd=length_yd, whole=True))
    return walk_off(end_yd, yards, length_yd=length_yd, whole=True)
