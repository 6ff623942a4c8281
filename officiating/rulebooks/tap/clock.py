"""TAP's end of the game and its overtime: one play each from the fifty, more yards wins if they are positive."""

from __future__ import annotations

import math
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import with_jerseys
from downfield.officiating.consequences.measured_places import PastLine
from downfield.officiating.consequences.periods import (
    TOUCHDOWN_GAIN_YD,
    is_time_up,
    kick_off_half,
    or_series,
    yards_winner,
)
from downfield.officiating.consequences.rolls_and_choices import wait_for_choice
from downfield.officiating.declarations import ChoiceMade, Side
from downfield.officiating.events import Event
from downfield.officiating.params import Params
from downfield.officiating.state.game_state import GameState, Overtime, Phase, opponent
from downfield.officiating.state.interfaces import Consequence, Handler, Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState


def with_time_outs(game: GameState, params: Params) -> GameState:
    """Return the game with the time-outs of a half, where the league allows a number of them."""
    each = params.count("time_out.per_half") if params.flag("time_out.allowed") else 0
    return replace(game, time_outs=(each, each)) if each else game


def ending_on_time(handler: Handler) -> Handler:
    """Wrap a handler to end the period or the game when time has run out and the ball is dead."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        outcome = handler(game, event, context)
        if not _is_time_up(outcome.state, event.t_ns):
            return outcome
        return replace(outcome, findings=(*outcome.findings, _period_end_finding(outcome.state, context)))

    return handle


def before_time_is_up(handler: Handler) -> Handler:
    """Wrap a handler of a whole play that is told: where time ran out in the one before, the period ends instead."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        if context.ended is not None and _is_time_up(game, context.ended.now_ns):
            return Outcome(game, (_period_end_finding(game, context),))
        return handler(game, event, context)

    return handle


def ball_dead(game: GameState, context: RuleContext) -> Outcome:
    """End the period once time is up and the ball dead; while a foul may be claimed, once somebody goes on."""
    ended = context.ended
    # Interference is claimed after the whistle, and its penalty is walked off in the period of the play.
    claimable = ended is not None and (ended.play.pass_attempts > 0 or bool(ended.play.gunners))
    if claimable or not _is_time_up(game, context.t_ns):
        return Outcome(game)
    return Outcome(game, (_period_end_finding(game, context),))


def _is_time_up(game: GameState, t_ns: int) -> bool:
    return game.overtime is None and is_time_up(game, t_ns)


def _period_end_finding(game: GameState, context: RuleContext) -> Finding:
    if game.period < context.params.count("clock.periods"):
        text, detail = f"end of period {game.period}", "period"
    elif game.leader is None:
        text, detail = f"end of regulation, tied {game.score[0]}-{game.score[1]}: overtime", "overtime"
    else:
        return _game_over(game, context, game.leader, ("TAP-018",))
    return Finding("clock", "period", context.t_ns, text, ("TAP-018",), detail=detail)


def end_period(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Start the next period with ends changed, a half with its kickoff, or wait for the toss for overtime (TAP-133)."""
    clock = replace(game.clock, left_s=None, running=False, at_ns=call.t_ns)
    if call.detail == "overtime":
        return _after_tie(replace(game, clock=clock), call, context)
    next_period = replace(
        game,
        period=game.period + 1,
        clock=clock,
        direction=1 if -game.direction > 0 else -1,
        los_yd=game.length_yd - game.los_yd,
        to_gain_yd=game.length_yd - game.to_gain_yd,
    )
    half = game.period == context.params.count("clock.periods") // 2
    if not half:
        return Outcome(next_period)
    return Outcome(kick_off_half(with_time_outs(next_period, context.params), context))


def _wait_for_toss(game: GameState, _call: Call, _context: RuleContext) -> Outcome:
    game = replace(downs.end_play(game), overtime=Overtime(0, "home", for_yards=True))
    return Outcome(wait_for_choice(game, "overtime", ("offense_first", "defense_first"), None))


_after_tie: Final = or_series(_wait_for_toss)


def choose_overtime(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the toss winner's choice to go first on offense or on defense."""
    if choice.by is None:
        raise RefusedError("overtime: say which coach won the toss (by)")
    first: Side = choice.by if choice.choice == "offense_first" else opponent(choice.by)
    return Outcome(_give_one_play(replace(game, overtime=Overtime(1, first, for_yards=True)), first, context))


def in_overtime(consequence: Consequence) -> Consequence:
    """Wrap a consequence so that, in an overtime of yards, it ends a team's one play instead."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        if game.overtime is None or not game.overtime.for_yards:
            return consequence(game, call, context)
        gain = _gain_yd(game, call)
        sigma_yd = call.spot_sigma_yd[0] if 0.0 != gain < TOUCHDOWN_GAIN_YD else 0.0
        return end_overtime_play(game, game.overtime, gain, context, sigma_yd)

    return apply


def _gain_yd(game: GameState, call: Call) -> float:
    """Return what the play gained from the middle of the field; a turnover counts as nothing (TAP-131)."""
    if game.play.changed_sides(game.offense) or call.kind in {"incomplete", "overrun", "touchback"}:
        return 0.0
    if call.kind == "touchdown":
        return TOUCHDOWN_GAIN_YD
    if call.kind == "safety":
        return -game.length_yd / 2
    return game.progress_yd(call.spot_yd[0]) - game.length_yd / 2 if call.spot_yd else 0.0


def end_overtime_play(
    game: GameState, overtime: Overtime, gain: float, context: RuleContext, sigma_yd: float = 0.0
) -> Outcome:
    """End a side's one play, with the yards it gained: the other side's turn, a winner, or another overtime."""
    gains, sigmas = (*overtime.gains_yd, gain), (*overtime.gains_sigma_yd, sigma_yd)
    if len(gains) == 1:
        game = replace(game, overtime=replace(overtime, gains_yd=gains, gains_sigma_yd=sigmas))
        return Outcome(_give_one_play(game, opponent(overtime.first), context))
    text = f"overtime {overtime.number} ends tied: another follows"
    tied = Finding("overtime", "info", context.t_ns, text, ("TAP-134",), reported=True, detail="overtime")
    again = replace(game, overtime=Overtime(overtime.number + 1, overtime.first, for_yards=True))
    another = _give_one_play(again, overtime.first, context)
    winner = yards_winner(overtime.first, (gains[0], gains[1]))
    if winner is None:
        return Outcome(another, (tied,))
    error_yd = math.hypot(*sigmas)
    # More yards win if they are positive: both are measured.
    ahead, most = PastLine(abs(gains[0] - gains[1]), error_yd), max(gains)
    positive = PastLine(most, 0.0 if most >= TOUCHDOWN_GAIN_YD else error_yd)
    ended = replace(downs.end_play(game), overtime=replace(overtime, gains_yd=gains, gains_sigma_yd=sigmas))
    won, lost = (_game_over(ended, context, side, ("TAP-132",)) for side in (winner, opponent(winner)))
    won = ahead.told(won, "", within=positive.probability)
    if positive.probability < ahead.probability:
        return Outcome(another, (replace(won, against=text),), (tied,))
    return Outcome(ended, (replace(won, against=lost.text, against_kind="game_over"),), (lost,))


def _give_one_play(game: GameState, side: Side, context: RuleContext) -> GameState:
    """Return the game with a side's one play from the middle of the field; it keeps the goal it attacks."""
    direction = game.direction_of(side)
    game = downs.start_series(game, side, direction, game.length_yd / 2, game.width_yd / 2, context.t_ns, context)
    return with_jerseys(replace(game, phase=Phase.LINE_UP, play=PlayState(ball_side=side)), context)


def _game_over(game: GameState, context: RuleContext, winner: Side, clauses: tuple[str, ...]) -> Finding:
    text = f"{game.team(winner).name} wins"
    return Finding("clock", "game_over", context.t_ns, text, clauses, side=winner)
