"""How many figures each coach may pivot in the stoppage that is on; the checks of pivots report what exceeds it."""

from __future__ import annotations

from downfield.core.records import record
from downfield.officiating.params import Params
from downfield.officiating.sides import Side
from downfield.officiating.state.game_state import GameState, opponent


@record
class PivotLimit:
    """What one coach may pivot in this stoppage.

    Attributes:
        side: the coach's.
        most: how many figures; None where the rulebook limits them by nothing but contact with an opponent.
        beyond_offense: how many more than the offense has pivoted, where the number depends on that.
        none_for_none: whether he may pivot none when the offense pivoted none.
        done: whether he has declared his pivots done.
    """

    side: Side
    most: int | None = None
    beyond_offense: int | None = None
    none_for_none: bool = False
    done: bool = False


def pivot_limits(game: GameState, params: Params) -> tuple[PivotLimit, ...]:
    """Return the limits of both coaches, the offense's first; empty unless the board is stopped in mid-play."""
    stoppage = game.play.stoppage
    if stoppage is None:
        return ()
    has_ball = game.play.ball_side
    done = {has_ball: stoppage.offense_done_ns is not None, opponent(has_ball): stoppage.defense_done_ns is not None}
    reason = "pass" if stoppage.pass_ns is not None else stoppage.reason
    if game.due == "onside":
        reason = "onside"
    offense, defense = game.offense, game.defense
    return tuple(
        _limit(side, reason, params, by_offense=side == offense, done=done[side]) for side in (offense, defense)
    )


def _limit(side: Side, reason: str, params: Params, *, by_offense: bool, done: bool) -> PivotLimit:
    def has(name: str) -> bool:
        return name in params.definitions

    most: int | None = None
    if (
        reason in {"fumble", "onside"}
        and has("stop.loose_ball_turns")
        and (reason == "onside" or has("stop.defense_turns"))
    ):
        most = params.count("stop.loose_ball_turns")
    elif reason == "line":
        most = 0
    elif reason in {"coach", "pass"} and has("stop.defense_turns") and not by_offense:
        most = params.count("stop.defense_turns")
    elif reason == "pass" and has("stop.pass_turns") and not by_offense:
        most = params.count("stop.pass_turns")
    elif reason == "interception" and has("stop.interception_turns") and by_offense:
        most = params.count("stop.interception_turns")
    elif reason == "coach" and has("stop.defense_more") and not by_offense:
        more, none = params.count("stop.defense_more"), params.flag("stop.none_for_none")
        return PivotLimit(side, None, more, none, done)
    return PivotLimit(side, most, done=done)
