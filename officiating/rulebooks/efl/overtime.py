"""The EFL's overtime: one ten-minute quarter, over at the first lead but for the answer to an opening field goal."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Call
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.periods import Possession, PossessionEnd, clock_overtime_over, game_over_finding
from downfield.officiating.declarations import Side
from downfield.officiating.engine.interfaces import Consequence, Outcome, RuleContext
from downfield.officiating.engine.state import Clock, GameState, Overtime, opponent
from downfield.officiating.rulebooks.params import Param

OVERTIME_PARAMS: Final = (Param("overtime.period_s", 600.0, "s", "EFL-071", low=1),)
ENDS: Final[dict[float, PossessionEnd]] = {6.0: "touchdown", 2.0: "safety", 3.0: "field_goal", 0.0: "nothing"}
HOME_RECEIVES: Final[Side] = "home"


def begins(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Level after the last quarter: home receives (EFL-070..072)."""
    clock = Clock(context.params.real("overtime.period_s"), False, context.t_ns)
    game = replace(game, period=game.period + 1, clock=clock, overtime=Overtime(1, HOME_RECEIVES))
    return Outcome(downs.schedule_kick(game, opponent(HOME_RECEIVES), "kickoff", call.t_ns))


def in_overtime(consequence: Consequence) -> Consequence:
    """A consequence that, in overtime, may end a possession and with it the game (EFL-073..075)."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        outcome = consequence(game, call, context)
        overtime, state = game.overtime, outcome.state
        if overtime is None or state.overtime is None:
            return outcome
        points = sum(state.score) - sum(game.score)
        if points == 0 and (state.offense == game.offense or game.due == "kickoff"):
            return outcome
        ends = (*state.overtime.gains_yd, float(points if points in ENDS else 0))
        state = replace(state, overtime=replace(state.overtime, gains_yd=ends))
        side: Side = overtime.first
        possessions = []
        for end in ends:
            possessions.append(Possession(side, ENDS[end]))
            side = opponent(side)
        left = state.clock.left_at_s(context.t_ns)
        over, clauses = clock_overtime_over(tuple(possessions), state.score[0] - state.score[1], left or 0.0)
        if not over:
            return Outcome(state, outcome.findings)
        return Outcome(replace(state, try_for=None), (game_over_finding(state, context, clauses),))

    return apply
