"""NFL Strategy: plays off cards and dice, with its line clock, penalties, reviews and hash marks.

Nothing is decided from the camera here: cards, dice, coins and choices are declared, and all that follows is worked
out. What the source leaves open (yard lines of kicks, lines in a period, time-outs) are parameters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs, rolls_and_choices
from downfield.officiating.consequences.declaration_handlers import body_of, clock_set, line_up, set_up
from downfield.officiating.declarations import (
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    FoulDeclared,
    LineUpDeclared,
    Roll,
    SetUp,
    Side,
)
from downfield.officiating.engine.interfaces import Consequence, Outcome, RuleContext, RuleSystem
from downfield.officiating.engine.state import Clock, GameState, Phase, opponent
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.nfl_strategy import handlers as cards
from downfield.officiating.rulebooks.nfl_strategy import tables
from downfield.officiating.rulebooks.nfl_strategy.card_play import CardGame, card_game, with_lines
from downfield.officiating.rulebooks.nfl_strategy.clock import LineClock
from downfield.officiating.rulebooks.nfl_strategy.declarations import CardPlayed, ReturnPlayed
from downfield.officiating.rulebooks.nfl_strategy.finish import CARDS
from downfield.officiating.rulebooks.params import Param, Params

PARAMS: Final = (
    Param("clock.line_s", 10.0, "s", "not stated; makes a running play 40 s, the play clock's length", low=1, high=60),
    Param("clock.lines", 90, "count", "not stated; a quarter of fifteen minutes in lines of ten seconds", low=2),
    Param("clock.overtime_lines", 90, "count", "not stated; as long as a quarter", low=2),
    Param("clock.warning_lines", 12, "count", "two minutes in lines of ten seconds (NFLS-012)", low=1),
    Param("clock.periods", 4, "count", "quarters, in halves of two", low=2, high=8),
    Param("overtime.first_score_wins", True, "", "overtime is only mentioned; sudden death was the league's own then"),
    Param("time_out.per_half", 3, "count", "not stated; professional football", low=0),
    Param("review.per_game", tables.REVIEWS_PER_GAME, "count", "NFLS-058, successful ones", low=0),
    Param("review.per_overtime", tables.REVIEWS_PER_OVERTIME, "count", "NFLS-058, successful ones", low=0),
    Param("kickoff.from_yd", 35.0, "yd", "not stated; professional football", low=1, high=60),
    Param("kickoff.out_yd", tables.KICKOFF_OUT_YD, "yd", "NFLS-029: from the spot of the kick", low=0, high=60),
    Param("free_kick.from_yd", tables.SAFETY_KICK_YD, "yd", "NFLS-042", low=1, high=60),
    Param("free_kick.margin", tables.FREE_KICK_MARGIN, "", "NFLS-043, read as fourteen or more below", low=0, high=99),
    Param("touchback.yd", 20.0, "yd", "not stated; professional football", low=1, high=50),
    Param("missed.back_yd", tables.MISSED_FIELD_GOAL_YD, "yd", "NFLS-041", low=0, high=20),
    Param("blocked.kick_yd", tables.BLOCKED_FIELD_GOAL_YD, "yd", "NFLS-045", low=0, high=20),
    Param("blocked.punt_yd", tables.BLOCKED_PUNT_YD, "yd", "NFLS-046", low=0, high=20),
    Param("two_point.from_yd", tables.TWO_POINT_YD_TO_GOAL, "yd", "NFLS-038", low=1, high=20),
    Param("extra_point.from_yd", 2.0, "yd", "not stated; where the two-point try is", low=1, high=50),
    Param("kneel.loss_yd", 0.0, "yd", "not stated", low=0, high=5),
)


def fresh_lines(period: int, params: Params) -> LineClock:
    """The clock at the start of a period; the warning comes in the last one of each half."""
    if period > params.count("clock.periods"):
        return LineClock(params.count("clock.overtime_lines"), warning_at=params.count("clock.warning_lines"))
    warned = period % 2 == 0
    return LineClock(params.count("clock.lines"), warning_at=params.count("clock.warning_lines") if warned else None)


def begin(game: GameState, params: Params) -> GameState:
    """Before the first kickoff."""
    time_outs = (params.count("time_out.per_half"),) * 2
    return replace(
        game, system=CardGame(fresh_lines(1, params)), time_outs=(time_outs[0], time_outs[1]), kicking=game.defense
    )


def set_up_lines(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """The game as it stands, with its clock in lines and its hash."""
    body = body_of(event, SetUp)
    game = set_up(game, event, context).state
    lines = fresh_lines(body.period, context.params)
    if body.clock_s is not None:
        left = max(1, round(body.clock_s / context.params.real("clock.line_s")))
        lines = replace(lines, left=left, warning_at=lines.warning_at if left > (lines.warning_at or 0) else None)
    return Outcome(shown_clock(replace(game, system=CardGame(lines), hash=body.hash), context))


def clock_in_lines(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """The clock started, stopped or set by hand."""
    body = body_of(event, ClockSet)
    game = clock_set(shown_clock(game, context), event, context).state
    lines = card_game(game).lines
    if body.left_s is not None:
        left = max(1, round(body.left_s / context.params.real("clock.line_s")))
        lines = replace(lines, left=left, warning_at=lines.warning_at if left > (lines.warning_at or 0) else None)
    return Outcome(shown_clock(with_lines(game, replace(lines, running=body.running)), context))


def shown_clock(game: GameState, context: RuleContext) -> GameState:
    """The game with its clock told in seconds too."""
    left = card_game(game).lines.left * context.params.real("clock.line_s")
    return replace(game, clock=Clock(left, False, context.t_ns))


def placed(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """The call's side has the ball at its spot: kicks, interceptions, recoveries."""
    side = call.side or game.offense
    x_yd, y_yd = call.spot_yd or (game.los_yd, game.width_yd / 2)
    if side == game.offense and call.kind == "fumble_recovery":
        return downs.next_down(game, x_yd, y_yd, context)
    return Outcome(downs.give_ball_to(game, side, x_yd, y_yd, call.t_ns, context))


def field_goal(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Three points and a kickoff, or the defense's ball at the call's spot."""
    if call.detail != "good":
        return placed(game, call, context)
    side = call.side or game.offense
    return Outcome(downs.schedule_kick(downs.add_points(game, side, 3, call.t_ns), side, "kickoff", call.t_ns))


def penalty(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """A penalty as its detail says: the down again, its loss, a first down, or yards on the kickoff to come."""
    side: Side = call.side or game.offense
    if call.detail == "kickoff":
        yards = float(call.margin or 0.0)
        return Outcome(
            game.with_note("kickoff_penalty_yd", yards if side == (game.try_for or game.kicking) else -yards)
        )
    if call.spot_yd is None:
        return Outcome(game)
    x_yd, y_yd = call.spot_yd
    if call.detail == "first_down":
        game = downs.first_and_ten(game, game.offense, game.direction, x_yd, y_yd, call.t_ns, context)
        return Outcome(game, (downs.follow_up(context, "first_down", "first_down", "first down", side=game.offense),))
    if call.detail == "loss_of_down":
        return downs.next_down(game, x_yd, y_yd, context)
    return Outcome(replace(downs.end_play(game), los_yd=x_yd))


def period(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """The end of a period: the next one, the half's kickoff, overtime, or the end of the game."""
    if call.detail != "end":
        return Outcome(game)
    params, last = context.params, game.period
    decided = game.score[0] != game.score[1]
    if last >= params.count("clock.periods") and (decided or last > params.count("clock.periods")):
        return Outcome(game, (game_over_finding(game, context),))
    game = with_lines(replace(game, period=last + 1), fresh_lines(last + 1, params))
    if last == params.count("clock.periods") // 2 or last >= params.count("clock.periods"):
        time_outs = params.count("time_out.per_half")
        notes = tuple(pair for pair in game.notes if not pair[0].startswith("spiked_"))
        game = replace(game, time_outs=(time_outs, time_outs), notes=notes)
        game = downs.schedule_kick(game, opponent(game.opening_kicker or "home"), "kickoff", call.t_ns)
    return Outcome(shown_clock(game, context))


def game_over_finding(game: GameState, context: RuleContext) -> Finding:
    """The game is over."""
    home, away = game.score
    text = "the game ends in a tie" if home == away else f"{game.team('home' if home > away else 'away').name} wins"
    return Finding(CARDS, "game_over", context.t_ns, f"{text}, {max(home, away)}-{min(home, away)}", ("NFLS-011",))


def game_over(game: GameState, _call: Call, _context: RuleContext) -> Outcome:
    """Nothing more is played."""
    return Outcome(replace(game, phase=Phase.OVER, wait=None))


def ends_overtime(consequence: Consequence) -> Consequence:
    """A score that ends the game when it comes in overtime."""

    def scored(game: GameState, call: Call, context: RuleContext) -> Outcome:
        outcome = consequence(game, call, context)
        overtime = game.period > context.params.count("clock.periods")
        home, away = outcome.state.score
        if overtime and home != away and context.params.flag("overtime.first_score_wins"):
            return Outcome(outcome.state, (game_over_finding(outcome.state, context),))
        return outcome

    return scored


NFL_STRATEGY: Final = RuleSystem(
    name="nfl-strategy",
    title="NFL Strategy",
    rules=(),
    handlers={
        LineUpDeclared: line_up,
        SetUp: set_up_lines,
        ClockSet: clock_in_lines,
        CardPlayed: cards.card_played,
        ReturnPlayed: cards.return_played,
        FoulDeclared: cards.foul_named,
        Claim: cards.claimed,
        Roll: rolls_and_choices.roll_handler(
            {
                "fumble": cards.fumble_rolled,
                "fumble_return": cards.run_back_rolled,
                "interception_return": cards.run_back_rolled,
                "review": cards.review_rolled,
                "return": cards.not_dice,
                "penalty": cards.not_dice,
            }
        ),
        Coin: rolls_and_choices.coin_handler({"onside": cards.onside_flipped}),
        ChoiceMade: rolls_and_choices.choice_handler(
            {"try": cards.try_chosen, "review": cards.review_waived, "penalty": cards.penalty_chosen},
            {
                "hurry_up": cards.hurried,
                "let_run": cards.clock_let_run,
                "kneel": cards.knelt,
                "spike": cards.spiked,
            },
        ),
    },
    consequences={
        "stopped": downs.dead_ball,
        "incomplete": downs.incomplete,
        "fumble_recovery": placed,
        "interception": placed,
        "kick": placed,
        "touchback": downs.touchback_at("touchback.yd"),
        "touchdown": ends_overtime(downs.touchdown),
        "safety": ends_overtime(downs.safety),
        "field_goal": ends_overtime(field_goal),
        "extra_point": downs.extra_point,
        "two_point": downs.two_point,
        "first_down": downs.first_down,
        "turnover_on_downs": downs.turnover_on_downs,
        "penalty": penalty,
        "period": period,
        "game_over": game_over,
    },
    clauses={"first_down": (), "downs": ("NFLS-008",), "safety": ("NFLS-007",)},
    params=(
        *(replace(param, default=False) if param.name == "downs.mid_field" else param for param in downs.DOWNS_PARAMS),
        Param("line_up.jersey_by_role", False, "", "no figures are judged here"),
        *PARAMS,
    ),
    begin=begin,
)
