"""NFL Strategy: plays from cards and dice, with its line clock, penalties, reviews and hash marks.

Nothing is decided from the camera here: cards, dice, coins and choices are declared, and everything else follows from
them. Values that the source leaves open (yard lines of kicks, lines in a period, time-outs) are parameters.
"""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating import declarations as d
from downfield.officiating.calls import Call, Finding
from downfield.officiating.clauses import read_clauses
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    apply_line_up,
    body_of,
    refuse_unless,
    set_clock,
)
from downfield.officiating.consequences.periods import end_game, kick_off_half
from downfield.officiating.consequences.rolls_and_choices import choice_handler, coin_handler, roll_handler
from downfield.officiating.consequences.set_ups import apply_set_up
from downfield.officiating.consequences.told_plays import WITHOUT_SPOT
from downfield.officiating.events import Event
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.rulebooks.nfl_strategy import handlers
from downfield.officiating.rulebooks.nfl_strategy.clock import LineClock
from downfield.officiating.rulebooks.nfl_strategy.penalties import enforce_penalty
from downfield.officiating.rulebooks.nfl_strategy.play import (
    KICKOFF_PENALTY,
    KICKS_MADE,
    CardGame,
    CardPlay,
    PlayResult,
    card_game,
    kick_from_yd,
    touchdown,
    with_lines,
)
from downfield.officiating.rulebooks.nfl_strategy.results import CARDS, finish_play, set_up_try, two_point_result
from downfield.officiating.state.dice import PERCENTILE
from downfield.officiating.state.game_state import Clock, GameState, opponent
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext, RuleSystem
from downfield.officiating.unseen_declarations import HASH_UNTOLD, CardKind, CardPlayed, DuePlay, ReturnPlayed

KICKS_DUE: Final = frozenset({"kickoff", "free_kick"})


def declare_play_ended(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the end of a play as told: the same calls follow as from the cards."""
    body = body_of(event, d.PlayEnded)
    name = body.kind.replace("_", " ")
    if body.kind not in {*WITHOUT_SPOT, "stopped"}:
        raise RefusedError(f"play ended: this rulebook has no {name}; tell where the ball was stopped")
    refuse_unless(game.phase in AT_REST, "play ended", game)
    if game.due == "extra_point":
        raise RefusedError("play ended: an extra point is due; declare its card")
    by = body.by or game.offense
    _check(game, body, by)
    card = CardPlayed(_kind(game, body), dot=_dot(game, body))
    play = CardPlay(card, card_game(game).lines.running, game.note("hurry_up") is not None)
    outcome = finish_play(game, play, _result(game, body, by), event.t_ns, context)
    # A dead ball in the other side's hands is that side's first down.
    return replace(outcome, state=replace(outcome.state, play=replace(outcome.state.play, ball_side=by)))


def _check(game: GameState, body: d.PlayEnded, by: d.Side) -> None:
    kick = game.due in KICKS_DUE
    if body.player is not None:
        raise RefusedError("play ended: no figures are played here; leave the player out")
    if body.kind == "incomplete" and (kick or by != game.offense):
        raise RefusedError("play ended: only the offense can have an incomplete pass")
    if body.kind == "safety" and (kick or game.due == "two_point" or by != game.offense):
        raise RefusedError("play ended: a safety is the offense's, tackled in its own end zone")
    if body.kind == "touchback" and (game.due == "two_point" or (by == game.offense) is not kick):
        raise RefusedError("play ended: a touchback needs a kick or a change of possession (by)")
    if body.kind == "stopped" and game.due == "two_point" and by != game.offense:
        raise RefusedError("play ended: a try is good or fails, and only for the side that has it")
    if (body.kind in WITHOUT_SPOT) is (body.spot_yd is not None):
        needed = "needs no spot; leave it out" if body.kind in WITHOUT_SPOT else "say where the ball was"
        raise RefusedError(f"play ended: {needed} (spot_yd)")
    if body.spot_yd is None:
        return
    x_yd, y_yd = body.spot_yd
    if not (0 <= x_yd <= game.length_yd and 0 <= y_yd <= game.width_yd):
        raise RefusedError(f"play ended: {x_yd:g}, {y_yd:g} yd is not on the field")
    if not 0 < game.progress_yd(x_yd) < game.length_yd:
        raise RefusedError("play ended: that is in an end zone; declare a touchdown, a safety or a touchback")


def _kind(game: GameState, body: d.PlayEnded) -> CardKind:
    if game.due in KICKS_DUE:
        return "kickoff"
    if game.due == "two_point":
        return "two_point"
    return "pass" if body.kind == "incomplete" else "run"


def _dot(game: GameState, body: d.PlayEnded) -> Literal["black", "red", "blue"] | None:
    """Return the dot for the third of the field that the ball is in; left is the upper one."""
    if body.spot_yd is None:
        return None
    third = int(3 * body.spot_yd[1] / game.width_yd)
    return ("blue", "red", "black")[min(third, 2)]


def _result(game: GameState, body: d.PlayEnded, by: d.Side) -> PlayResult:
    name = game.team(by).name
    if body.kind == "touchdown":
        result = touchdown(game, by, ())
    elif body.kind == "safety":
        gainer = opponent(by)
        return PlayResult("safety", f"safety, {game.team(gainer).name}", (), side=gainer)
    elif body.kind == "touchback":
        return PlayResult("touchback", f"touchback, {name}", (), side=by, dead_kick=True)
    elif body.kind == "incomplete":
        result = PlayResult("incomplete", "incomplete", ("NFLS-005",), game.line_yd)
    else:
        result = _stopped(game, (body.spot_yd or (game.los_yd, 0.0))[0], by)
    return two_point_result(game, result) if game.due == "two_point" else result


def _stopped(game: GameState, x_yd: float, by: d.Side) -> PlayResult:
    spot, where = game.progress_yd(x_yd), game.spot_text(x_yd)
    if game.due in KICKS_DUE:
        return PlayResult("kick", f"kick, {game.team(by).name} ball at {where}", (), spot, by, "returned")
    if by == game.offense:
        return PlayResult("stopped", f"stopped at {where}", ("NFLS-090",), spot)
    return PlayResult("stopped", f"change of possession, {game.team(by).name} ball at {where}", (), spot, by)


def _period_clock(period: int, params: Params) -> LineClock:
    """Return the clock at the start of a period; the warning comes in the last period of each half."""
    overtime, warning_at = period > params.count("clock.periods"), params.count("clock.warning_lines")
    lines = params.count("clock.overtime_lines" if overtime else "clock.lines")
    return LineClock(lines, warning_at=warning_at if overtime or period % 2 == 0 else None)


def begin(game: GameState, params: Params) -> GameState:
    """Return the game before the first kickoff."""
    each = params.count("time_out.per_half")
    return replace(game, system=CardGame(_period_clock(1, params)), time_outs=(each, each), kicking=game.defense)


def declare_set_up(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a set-up of the game's state, with its clock in lines and its hash."""
    body = body_of(event, d.SetUp)
    outcome = apply_set_up(game, event, context)
    lines = _period_clock(body.period, context.params)
    if body.clock_s is not None:
        lines = _with_time_left(lines, body.clock_s, context)
    # As under the other rulebooks a clock goes on as it did: a corrected score does not stop it.
    running = card_game(game).lines.running and body.due == "scrimmage" and body.period == game.period
    lines = replace(lines, running=running)
    return replace(outcome, state=_with_clock_in_seconds(replace(outcome.state, system=CardGame(lines)), context))


def declare_clock(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a clock that is started, stopped or set by hand."""
    body = body_of(event, d.ClockSet)
    if body.running and game.due != "scrimmage":
        raise RefusedError("clock: it is stopped for kickoffs and tries (NFLS-018, NFLS-019)")
    game = set_clock(_with_clock_in_seconds(game, context), event, context).state
    lines = card_game(game).lines
    if body.left_s is not None:
        lines = _with_time_left(lines, body.left_s, context)
    return Outcome(_with_clock_in_seconds(with_lines(game, replace(lines, running=body.running)), context))


def _with_time_left(lines: LineClock, left_s: float, context: RuleContext) -> LineClock:
    left = max(1, round(left_s / context.params.real("clock.line_s")))
    return replace(lines, left=left, warning_at=lines.warning_at if left > (lines.warning_at or 0) else None)


def _with_clock_in_seconds(game: GameState, context: RuleContext) -> GameState:
    left = card_game(game).lines.left * context.params.real("clock.line_s")
    return replace(game, clock=Clock(left, False, context.t_ns))


def begin_try(game: GameState, kind: DuePlay, context: RuleContext) -> Outcome:
    """Offer the choice of a try, or line up for the one named (NFLS-036, NFLS-038)."""
    return downs.offer_try(game) if kind == "try" else Outcome(set_up_try(game, kind, context))


def spot_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the call's side the ball at its spot: after kicks, interceptions and recoveries."""
    side = call.side or (game.defense if call.kind == "interception" else game.offense)
    x_yd, y_yd = call.spot_yd or (game.los_yd, game.width_yd / 2)
    if side == game.offense and call.kind == "fumble_recovery":
        return downs.play_next_down(game, x_yd, y_yd, context)
    return Outcome(downs.give_ball_to(game, side, x_yd, y_yd, call.t_ns, context))


def end_field_goal(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Score three points and kick off; after a miss, the defense's ball at the call's spot."""
    if call.detail != "good":
        return spot_ball(game, call, context)
    side = call.side or game.offense
    game = downs.add_points(game, side, downs.FIELD_GOAL, call.t_ns)
    return Outcome(downs.schedule_kick(game, side, "kickoff", context))


def end_period(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """End a period: the next one, the half's kickoff, overtime, or the end of the game."""
    if call.detail != "end":
        return Outcome(game)
    params, last, periods = context.params, game.period, context.params.count("clock.periods")
    if last >= periods and (game.leader or last > periods):
        return Outcome(game, (_game_over_finding(game, context),))
    game = with_lines(replace(game, period=last + 1), _period_clock(last + 1, params))
    if last == periods // 2 or last >= periods:
        each = params.count("time_out.per_half")
        notes = tuple(pair for pair in game.notes if not pair[0].startswith("spiked_"))
        game = replace(game, time_outs=(each, each), notes=notes)
        game = kick_off_half(game, context)
    return Outcome(_with_clock_in_seconds(game, context))


def _game_over_finding(game: GameState, context: RuleContext) -> Finding:
    winner = game.leader
    text = "the game ends in a tie" if winner is None else f"{game.team(winner).name} wins"
    text = f"{text}, {max(game.score)}-{min(game.score)}"
    return Finding(CARDS, "game_over", context.t_ns, text, ("NFLS-011",), side=winner)


def ending_overtime(consequence: Consequence) -> Consequence:
    """Wrap a scoring consequence so that it ends the game when it comes in overtime."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        outcome = consequence(game, call, context)
        overtime = game.period > context.params.count("clock.periods")
        if overtime and outcome.state.leader and context.params.flag("overtime.first_score_wins"):
            return Outcome(outcome.state, (_game_over_finding(outcome.state, context),))
        return outcome

    return apply


NFL_STRATEGY: Final = RuleSystem(
    name="nfl-strategy",
    title="NFL Strategy",
    rules=(),
    handlers={
        d.LineUpDeclared: apply_line_up,
        d.SetUp: declare_set_up,
        d.ClockSet: declare_clock,
        CardPlayed: handlers.declare_card,
        ReturnPlayed: handlers.declare_return,
        d.PlayEnded: declare_play_ended,
        d.FoulDeclared: handlers.declare_foul,
        d.Claim: handlers.handle_claim,
        d.Roll: roll_handler(
            {
                "fumble": handlers.roll_fumble,
                "fumble_return": handlers.roll_run_back,
                "interception_return": handlers.roll_run_back,
                "review": handlers.roll_review,
                "return": handlers.refuse_bare_dice,
                "penalty": handlers.refuse_bare_dice,
            }
        ),
        d.Coin: coin_handler({"onside": handlers.flip_onside}),
        d.ChoiceMade: choice_handler(
            {"try": handlers.choose_try, "review": handlers.waive_review, "penalty": handlers.choose_penalty},
            {
                "hurry_up": handlers.hurry_up,
                "let_run": handlers.let_clock_run,
                "kneel": handlers.kneel,
                "spike": handlers.spike_ball,
            },
        ),
    },
    consequences={
        "stopped": downs.spot_dead_ball,
        "incomplete": downs.apply_incompletion,
        "fumble_recovery": spot_ball,
        "interception": spot_ball,
        "kick": spot_ball,
        "touchback": downs.award_touchback_at("touchback.yd"),
        "touchdown": ending_overtime(downs.score_touchdown),
        "safety": ending_overtime(downs.score_safety),
        "field_goal": ending_overtime(end_field_goal),
        "extra_point": downs.score_extra_point,
        "two_point": downs.score_two_point,
        "first_down": downs.award_first_down,
        "turnover_on_downs": downs.turn_over_on_downs,
        "penalty": enforce_penalty,
        "period": end_period,
        "game_over": end_game,
    },
    catalog=read_clauses("downfield.officiating.rulebooks.nfl_strategy"),
    shared_clauses={"first_down": (), "downs": ("NFLS-008",), "safety": ("NFLS-007",)},
    params=(
        *(replace(param, default=False) if param.name == "downs.mid_field" else param for param in downs.DOWNS_PARAMS),
        Param("line_up.jersey_by_role", False, "", "no figures are judged here"),
        *read_params("downfield.officiating.rulebooks.nfl_strategy"),
    ),
    begin=begin,
    kick_from_yd=kick_from_yd,
    begin_try=begin_try,
    overtime="period",
    series_notes=("hurry_up", "fair_catch", KICKOFF_PENALTY, KICKS_MADE, HASH_UNTOLD),
    dice=dict.fromkeys(("fumble", "fumble_return", "interception_return", "review"), PERCENTILE),
)
