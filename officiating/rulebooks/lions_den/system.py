"""The Lion's Den rules (Dan Reardon): a ball in the hand, passes and kicks by percentile dice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from downfield.officiating import declarations as d
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.checks.alignment import defense_off, men_on_line
from downfield.officiating.checks.backs import punt_spot
from downfield.officiating.checks.kicks import kickers, lions_den_receivers
from downfield.officiating.checks.movement import repositioned
from downfield.officiating.checks.pivots import fumble_turns_in_place, loose_ball_pivots, one_defender, pivots_toward
from downfield.officiating.checks.rulebook_checks import RulebookChecks
from downfield.officiating.clauses import read_clauses
from downfield.officiating.consequences import downs, enforcement, measured_places
from downfield.officiating.consequences.board import ANY_NUMBER, stoppage_params
from downfield.officiating.consequences.declaration_handlers import LINE_UP_PARAMS, SHARED, body_of
from downfield.officiating.consequences.periods import (
    COLLEGE_PARAMS,
    begin_first_period,
    end_game,
    end_in_tie,
    end_period_in_time,
    make_period_end,
    or_next_series,
    or_series,
    period_params,
    unless_time_is_up,
)
from downfield.officiating.consequences.rolls_and_choices import choice_handler, roll_handler
from downfield.officiating.consequences.set_ups import apply_set_up
from downfield.officiating.consequences.told_plays import declare_play_ended
from downfield.officiating.events import Event
from downfield.officiating.params import Param, read_params, with_defaults
from downfield.officiating.rulebooks.lions_den import kicks, penalties, play
from downfield.officiating.rulebooks.lions_den.penalties import after_down
from downfield.officiating.rulebooks.lions_den.skilled_players import SKILLED_PLAYERS, is_skill_roll, roll_skill
from downfield.officiating.rules.ball import BallLost, Recovery
from downfield.officiating.rules.facing import CarrierTurnedBack
from downfield.officiating.rules.lines import (
    BALL_RADIUS,
    BALL_RADIUS_MM,
    LineCrossed,
    OutOfBounds,
    out_of_bounds_params,
    reference_param,
)
from downfield.officiating.rules.passer import PassRush, TooDeep
from downfield.officiating.rules.tackles import Tackle, tackle_params
from downfield.officiating.state.dice import PERCENTILE, TEN, TWO_D6, DiceRule
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Consequence, Handler, Outcome, RuleContext, RuleSystem

NO_FALLS: Final = "falls don't matter here: a base that touches is a tackle, standing or not"

DOWNS: Final = with_defaults(
    downs.DOWNS_PARAMS,
    {
        "downs.mid_field": (False, "LD-016: the ball comes back to the in-bounds mark"),
        "downs.safety_on_returns": (True, "LD-024: any ball carrier tackled behind his own goal line; no touchbacks"),
    },
)

RULES: Final = (
    LineCrossed(
        "touchdown",
        ("LD-021",),
        (
            reference_param("touchdown.reference", "ball", "LD-021: any part of the ball"),
            Param("touchdown.ball_radius_mm", BALL_RADIUS_MM, "mm", BALL_RADIUS, low=0, high=20),
        ),
    ),
    Tackle(
        clauses=("LD-010",),
        broken=(),
        fumble=(),
        both=(),
        spot=("LD-011",),
        params=tackle_params(0.0, "hand", NO_FALLS, fallen_tackles=True),
    ),
    OutOfBounds(("LD-015", "LD-016"), out_of_bounds_params("ball", "LD-016", ball=True, at_mark=True)),
    BallLost(("LD-017",)),
    TooDeep(("LD-042", "LD-043")),
    PassRush(("LD-040",)),
    CarrierTurnedBack(first=("LD-012",), second=("LD-014",)),
    LineCrossed(
        "line_of_scrimmage",
        ("LD-040",),
        (reference_param("line_of_scrimmage.reference", "base", "LD-040: any part of the base"),),
    ),
    Recovery(("LD-019",)),
)

LIONS_DEN_CHECKS: Final = RulebookChecks(
    book="LD-",
    formations={
        "scrimmage": (men_on_line, defense_off),
        "punt": (men_on_line, defense_off, punt_spot),
        "kickoff": (kickers, lions_den_receivers),
    },
    motion=(repositioned,),
    defense_after_set=False,
    stops=(one_defender, loose_ball_pivots, pivots_toward, fumble_turns_in_place),
)

_roll_awaited: Final = roll_handler(
    {
        **penalties.ROLLS,
        "pass": play.roll_pass,
        "interception": play.roll_interception,
        "pitch": play.roll_pitch,
        "kickoff": LIONS_DEN_CHECKS.reporting_formation(kicks.roll_kickoff),
        "punt": LIONS_DEN_CHECKS.reporting_formation(kicks.roll_punt),
        "punt_length": kicks.roll_punt_length,
        "field_goal": kicks.roll_field_goal,
        "extra_point": kicks.roll_extra_point,
        measured_places.FUMBLE: measured_places.roll_fumble,
    }
)


def _roll(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle dice: for a skilled player before the game, else for what the game waits for."""
    roll = body_of(event, d.Roll)
    return roll_skill(game, roll, context) if is_skill_roll(roll.purpose) else _roll_awaited(game, event, context)


HANDLERS: Final[Mapping[type[Any], Handler]] = {
    **SHARED,
    d.FoulDeclared: enforcement.declare_foul,
    d.PlayEnded: declare_play_ended,
    d.SetUp: apply_set_up,
    d.PassDeclared: play.declare_pass,
    d.Pitch: play.declare_pitch,
    d.KickDeclared: unless_time_is_up(kicks.declare_kick),
    d.Roll: _roll,
    d.ChoiceMade: choice_handler({"penalty": penalties.choose_penalty, "interception": play.decline_interception}, {}),
}

_dead_ball = after_down(downs.spot_dead_ball)

CONSEQUENCES: Final[Mapping[CallKind, Consequence]] = {
    "tackle": measured_places.or_fumble(_dead_ball),
    "sack": _dead_ball,
    "stopped": _dead_ball,
    "out_of_bounds": after_down(play.go_out_of_bounds),
    "turned_back": play.turn_back,
    "incomplete": after_down(downs.apply_incompletion),
    "reception": play.catch_pass,
    "interception": play.catch_pass,
    "fumble": play.fumble_ball,
    "fumble_recovery": play.recover_fumble,
    "line_of_scrimmage": downs.reach_line,
    "kick": kicks.land_kick,
    "touchback": after_down(downs.award_touchback_at("kickoff.touchback_yd")),
    "touchdown": after_down(downs.score_touchdown),
    "safety": after_down(downs.score_safety),
    "field_goal": after_down(downs.score_field_goal),
    "extra_point": downs.score_extra_point,
    "first_down": downs.award_first_down,
    "turnover_on_downs": downs.turn_over_on_downs,
    "penalty": enforcement.enforcing(penalties.enforce_penalty),
    "info": measured_places.or_no_fumble(_dead_ball, penalties.handle_info),
    "period": make_period_end(or_series(end_in_tie)),
    "game_over": end_game,
}

DICE: Final[dict[str, DiceRule]] = {
    **dict.fromkeys(SKILLED_PLAYERS, DiceRule(2, TEN)),
    **dict.fromkeys((f"career_{player}" for player in SKILLED_PLAYERS), DiceRule(1, 4)),
    **dict.fromkeys(("pass", "pitch", "punt", "field_goal", "extra_point"), PERCENTILE),
    **dict.fromkeys(("kickoff", "punt_length"), DiceRule(4, TEN)),
    "interception": DiceRule(1, TEN, count_in=play.count_defenders_near),
    "injury": DiceRule(1, TEN, count_in=penalties.count_injury_dice),
    "injury_downs": DiceRule(2, TEN),
    "injury_games": DiceRule(1, TEN),
    "penalty": DiceRule(3, TEN),
    measured_places.FUMBLE: TWO_D6,
}
"""The dice of each purpose: three for a kick's length and one for its side; percentile and one for the guilty side."""

LIONS_DEN: Final = RuleSystem(
    name="lions-den",
    title="Lion's Den (Reardon)",
    rules=RULES,
    handlers=HANDLERS,
    consequences=CONSEQUENCES,
    catalog=read_clauses("downfield.officiating.rulebooks.lions_den"),
    shared_clauses={
        "stoppage": ("LD-013",),
        "first_down": ("LD-020",),
        "downs": ("LD-020",),
        "safety": ("LD-024",),
        "touchback": ("LD-G1",),
        "period": ("LD-060", "LD-061"),
        "game_over": ("LD-060",),
    },
    params=(
        *DOWNS,
        *LINE_UP_PARAMS,
        *enforcement.HOUSE_FOUL_PARAMS,
        *COLLEGE_PARAMS,
        *stoppage_params(ANY_NUMBER, "LD-013: no limit is given", after_line=True),
        *read_params("downfield.officiating.rulebooks.lions_den"),
        *period_params(2, 1800.0, "LD-060: sixty minutes in two halves"),
        *LIONS_DEN_CHECKS.params,
    ),
    begin=begin_first_period,
    kick_from_yd=downs.kick_from_yd,
    at_snap=LIONS_DEN_CHECKS.at_snap,
    at_restart=LIONS_DEN_CHECKS.at_restart,
    ball_dead=or_next_series(end_period_in_time),
    begin_try=kicks.begin_try,
    series_notes=("todo_",),
    dice=DICE,
    dice_anytime=(*SKILLED_PLAYERS, *(f"career_{player}" for player in SKILLED_PLAYERS)),
)
