"""The EFL's clock: quarters, the two-minute time-out, the time-outs of a half, and overtime.

Overtime is one ten-minute quarter, over at the first lead except for the answer to an opening field goal.
"""

from __future__ import annotations

import itertools
from typing import Final

from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.consequences.periods import (
    begin_first_period,
    clock_overtime_over,
    end_period_in_time,
    game_over_finding,
    is_college,
    make_period_end,
    or_series,
    stop_clock,
)
from downfield.officiating.consequences.set_ups import POSSESSION_POINTS, apply_set_up
from downfield.officiating.declarations import Side
from downfield.officiating.events import Event
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.efl.play_calls import in_late_minutes, time_left_s
from downfield.officiating.state.game_state import Clock, GameState, Overtime, opponent
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext

TWO_MINUTES: Final = "two_minutes_"  # prefix of the notes that the two-minute time-out of a period has been taken
HOME_RECEIVES: Final[Side] = "home"


def begin(game: GameState, params: Params) -> GameState:
    """Return the game before the first kickoff: the visitors kick to the home team (EFL-009)."""
    game = begin_first_period(_with_time_outs(game, params), params)
    return replace(game, kicking="away", offense="home")


def begin_overtime(game: GameState, _call: Call, context: RuleContext) -> Outcome:
    """Begin overtime with the score tied after the last quarter; the home team receives (EFL-070..072)."""
    clock = Clock(context.params.real("overtime.period_s"), False, context.t_ns)
    game = replace(game, period=game.period + 1, clock=clock, overtime=Overtime(1, HOME_RECEIVES))
    return Outcome(downs.schedule_kick(game, opponent(HOME_RECEIVES), "kickoff", context))


_end_quarter = make_period_end(or_series(begin_overtime))


def end_period(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """End a period; each half has its own time-outs."""
    outcome = _end_quarter(game, call, context)
    new_half = outcome.state.period != game.period and outcome.state.period in {3, 5}
    return replace(outcome, state=_with_time_outs(outcome.state, context.params)) if new_half else outcome


def set_up(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Set the game up; a two-minute time-out that lies behind is not taken again (EFL-047)."""
    outcome = apply_set_up(game, event, context)
    game, left = outcome.state, outcome.state.clock.left_at_s(event.t_ns)
    notes = tuple(pair for pair in game.notes if not pair[0].startswith(TWO_MINUTES))
    game = replace(game, notes=notes)
    if left is not None and left <= context.params.real("clock.two_minutes_s"):
        game = game.with_note(f"{TWO_MINUTES}{game.period}", 1.0)
    return replace(outcome, state=game)


def ball_dead(game: GameState, context: RuleContext) -> Outcome:
    """Take the two-minute time-out (EFL-047), or end the period whose time is up, once the ball is dead."""
    left = game.clock.left_at_s(context.t_ns)
    name = f"{TWO_MINUTES}{game.period}"
    due = game.period in {2, 4} and left is not None and left <= context.params.real("clock.two_minutes_s")
    if not due or game.phase not in AT_REST or game.note(name) is not None:
        return end_period_in_time(game, context)
    found = Finding("clock", "timing", context.t_ns, "two-minute time-out", ("EFL-047",), "two_minutes", reported=True)
    outcome = end_period_in_time(stop_clock(game, context.t_ns).with_note(name, 1.0), context)
    return replace(outcome, findings=(found, *outcome.findings))


def stopping_clock_late(consequence: Consequence) -> Consequence:
    """Wrap a consequence to stop the clock too in a half's last minutes (EFL-007, EFL-008, EFL-045)."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        late = in_late_minutes(game.period, time_left_s(game, context), context.params)
        return consequence(stop_clock(game, call.t_ns) if late else game, call, context)

    return apply


def _with_time_outs(game: GameState, params: Params) -> GameState:
    each = params.count("time_out.per_half")
    return replace(game, time_outs=(each, each))


def in_overtime(consequence: Consequence) -> Consequence:
    """Wrap a consequence that, in overtime, may end a possession and with it the game (EFL-073..075)."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        outcome = consequence(game, call, context)
        overtime, state = game.overtime, outcome.state
        if overtime is None or state.overtime is None or is_college(context.params):
            return outcome
        points = sum(state.score) - sum(game.score)
        held = _held_in_play(game)
        # A possession ends whenever the ball changes sides, several times in a down too; the last one by points, or
        # with the down that gives the ball away.
        lost = [0.0] * (len(held) - 1)
        if points or (state.offense != held[-1] and game.due != "kickoff"):
            lost.append(float(points if points in POSSESSION_POINTS else 0))
        if not lost:
            return outcome
        ends = (*state.overtime.gains_yd, *lost)
        state = replace(state, overtime=replace(state.overtime, gains_yd=ends))
        left = state.clock.left_at_s(context.t_ns)
        over, clauses = clock_overtime_over(ends, state.score[0] - state.score[1], left or 0.0)
        if not over:
            return replace(outcome, state=state)
        return Outcome(replace(state, try_for=None), (game_over_finding(state, context, clauses),))

    return apply


def _held_in_play(game: GameState) -> list[Side]:
    """Return the sides that have had the ball in a play, in order; a kickoff begins a possession and ends none."""
    begun: tuple[Side, ...] = () if game.due == "kickoff" else (game.offense,)
    sides = (*begun, *(hold.side for hold in game.play.holds), game.play.ball_side)
    return [side for side, _ in itertools.groupby(sides)]
