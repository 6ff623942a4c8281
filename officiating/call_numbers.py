"""The numbers of a call, for programs: what its text says in words."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record


@record
class CallNumbers:
    """The numbers that a call's text speaks of; each is None where the call has none of its kind.

    Attributes:
        kick_yd: length of a kick, yards.
        landing_yd: where a kick came down, field yards along x of the board and across.
        return_yd: length of a kick's return, yards; negative when it lost ground.
        to_goal_yd: yards from the line of scrimmage to the goal line, of a kick at goal.
        caught_yd: where a pass or a kick was caught, field yards along x of the board and across.
        pass_yd: length of a pass, yards.
        gain_yd: yards gained by a play, as its card says; negative for a loss.
        needed: the highest number, or sum of the dice, that succeeds.
        at_least: the lowest number, or sum of the dice, that succeeds.
        rolled: the number, or sum of the dice, that was rolled; dice read as tens and units are one number.
        attempt: which attempt at a pass this was, counted from 1.
        attempts: how many a play allows.
        rating: a skilled player's rating as rolled.
        seasons: seasons of a skilled player's career.
        out_downs: offensive downs that an injured player rests.
        out_games: further games that he misses; -1 for the rest of the season.
        penalty_yd: yards of a penalty; None for a foul enforced at its spot.
        foul_yd: the spot of a foul enforced there, field yards along x of the board and across.
        enforced_from_yd: where a penalty was walked off from, field yards along x of the board.
        enforced_to_yd: where that ends: the ball's next spot, field yards along x of the board.
        pivots_allowed: how many figures the offense and the defense may pivot in the stoppage that begins; each None
            where the rulebook gives no number, or one that follows from what the other coach does.
        measured: what was counted or timed, in the call's unit.
        allowed: the most of it that the rulebook allows, same unit.
        measured_yd: the place that was held against a line, field yards along x of the board and across.
        hit: which side of the carrier's base was hit, where the league asks for it.
        hit_probability: that it is that side, which the end of the base that is its front decides.
        closing_mm_s: how fast the two met, where the league asks for it, mm/s.
        bonus_yd: yards that the league gives for such a hit; the spot has them.
    """

    kick_yd: float | None = None
    landing_yd: tuple[float, float] | None = None
    return_yd: float | None = None
    to_goal_yd: float | None = None
    caught_yd: tuple[float, float] | None = None
    pass_yd: float | None = None
    gain_yd: float | None = None
    needed: int | None = None
    at_least: int | None = None
    rolled: int | None = None
    attempt: int | None = None
    attempts: int | None = None
    rating: int | None = None
    seasons: int | None = None
    out_downs: int | None = None
    out_games: int | None = None
    penalty_yd: float | None = None
    foul_yd: tuple[float, float] | None = None
    enforced_from_yd: float | None = None
    enforced_to_yd: float | None = None
    pivots_allowed: tuple[int | None, int | None] | None = None
    measured: float | None = None
    allowed: float | None = None
    measured_yd: tuple[float, float] | None = None
    hit: Literal["front", "side", "rear"] | None = None
    hit_probability: float | None = None
    closing_mm_s: float | None = None
    bonus_yd: float | None = None
