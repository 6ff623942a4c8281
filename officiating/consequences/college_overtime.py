"""Overtime as colleges play it, where a league sets it: a series for each side from a yard line, until a round decides.

A possession is over as soon as the ball is dead and a kick is due, or the other side's down is. The game is over as
soon as who has the last series of a round leads, also by what he scored on defense. No clock runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.consequences.periods import FIRST_KICKER, game_over_finding
from downfield.officiating.declarations import Side
from downfield.officiating.params import Param, Params
from downfield.officiating.state.game_state import Clock, GameState, Overtime, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext

AfterTie = Callable[[GameState, Call, RuleContext], Outcome]
BallDead = Callable[[GameState, RuleContext], Outcome]

COLLEGE_PARAMS: Final = (
    Param("overtime.series_from_yd", 0.0, "yd", "0: the book's own overtime; else yards to the goal", low=0, high=50),
)


def is_college(params: Params) -> bool:
    """Return whether overtime is played in series."""
    name = "overtime.series_from_yd"
    return name in params.definitions and params.real(name) > 0


def or_series(after_tie: AfterTie) -> AfterTie:
    """Return what follows a last tie: series, where played, by who kicked off first; else as the book says."""

    def after(game: GameState, call: Call, context: RuleContext) -> Outcome:
        if not is_college(context.params):
            return after_tie(game, call, context)
        game = replace(game, period=game.period + 1, clock=Clock(None, False, context.t_ns))
        return Outcome(_series(game, Overtime(1, game.opening_kicker or FIRST_KICKER), context))

    return after


def or_next_series(ball_dead: BallDead) -> BallDead:
    """Return what follows while the ball is dead: the other side's series once one is over, or the end of the game."""

    def dead(game: GameState, context: RuleContext) -> Outcome:
        overtime = game.overtime
        if overtime is None or not is_college(context.params):
            return ball_dead(game, context)
        side, last = series_holder(overtime), opponent(overtime.first)
        if game.phase is not Phase.OVER and game.points(last) > game.points(overtime.first):
            return Outcome(game, (game_over_finding(game, context),))
        is_over = game.due in {"kickoff", "free_kick"} or (game.due == "scrimmage" and game.offense != side)
        if game.phase not in AT_REST or not is_over:
            return Outcome(game)
        if not overtime.gains_yd:
            return Outcome(_series(game, replace(overtime, gains_yd=(0.0,)), context))
        if game.score[0] != game.score[1]:
            return Outcome(game, (game_over_finding(game, context),))
        again = Overtime(overtime.number + 1, opponent(overtime.first))
        text = f"overtime {overtime.number} ends tied: another follows"
        tied = Finding("overtime", "info", context.t_ns, text, (), str(overtime.number), reported=True)
        return Outcome(_series(game, again, context), (tied,))

    return dead


def series_holder(overtime: Overtime) -> Side:
    """Return whose series it is."""
    return opponent(overtime.first) if overtime.gains_yd else overtime.first


def _series(game: GameState, overtime: Overtime, context: RuleContext) -> GameState:
    """Return the game with the next side's series of an overtime; both keep the goals that they attack."""
    side = series_holder(overtime)
    direction = game.direction_of(side)
    own = game.length_yd - context.params.real("overtime.series_from_yd")
    game = replace(downs.end_play(game), overtime=overtime, kicking=None)
    x_yd = game.board_x_yd(own, direction)
    return downs.start_series(game, side, direction, x_yd, game.width_yd / 2, context.t_ns, context)
