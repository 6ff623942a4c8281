"""The declaration that sets a game up as it stands, before any kind of play."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record
from downfield.officiating.sides import Hash, Side

DuePlay = Literal["scrimmage", "kickoff", "free_kick", "try", "extra_point", "two_point"]
"""The kinds of play a game can be set up for; ``"try"`` leaves the choice of the try to the coach or the rulebook."""


@record
class OvertimeSetUp:
    """An overtime as it stands.

    Attributes:
        first: the side that had, or has, the ball first.
        number: 1-based.
        gains_yd: of the possessions so far, in order: yards under TAP (1000 for a touchdown), points under the EFL.
    """

    first: Side
    number: int = 1
    gains_yd: tuple[float, ...] = ()


@record
class SetUp:
    """The game as it stands before a play, to begin at any point or to correct the state.

    Attributes:
        offense: the side with the ball; before a kickoff or free kick the side that receives it, before a try the side
            that scored.
        direction: 1 when the offense goes toward larger x, -1 toward smaller x.
        spot_yd: line of scrimmage, field yards along x of the board; None before a kick, a try or an overtime play,
            whose spot the rulebook gives.
        down, distance_yd: as in football; a distance of 0 means to the goal line.
        period: 1-based; one more than the rulebook has is overtime.
        clock_s: seconds left in the period; None where the rulebook has no such clock.
        score: points of home, away.
        hash: the hash mark the ball is on, where that matters; left is the upper row as the camera sees the board.
        due: the kind of play that comes next.
        time_outs: time-outs left to home, away; None leaves them as they are.
        reviews_used: successful reviews of home, away so far, in the game or in this overtime.
        spiked: whether home, away have spiked the ball in this half.
        opening_kicker: the side that kicked off first, which decides who kicks off the second half.
        overtime: the overtime in progress, where the rulebook counts its possessions.
    """

    offense: Side
    direction: Literal[-1, 1]
    spot_yd: float | None = None
    down: int = 1
    distance_yd: float = 10.0
    period: int = 1
    clock_s: float | None = None
    score: tuple[int, int] = (0, 0)
    hash: Hash = "center"
    due: DuePlay = "scrimmage"
    time_outs: tuple[int, int] | None = None
    reviews_used: tuple[int, int] | None = None
    spiked: tuple[bool, bool] | None = None
    opening_kicker: Side | None = None
    overtime: OvertimeSetUp | None = None
    type: Literal["set_up"] = "set_up"
