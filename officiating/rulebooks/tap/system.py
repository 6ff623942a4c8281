"""TAP: Tudor Advanced Play, as played at Tudor-Con."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from downfield.core.records import replace
from downfield.officiating import declarations as d
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Finding
from downfield.officiating.checks import alignment, backs, jerseys, movement, pivots, timing
from downfield.officiating.checks import kicks as kick_checks
from downfield.officiating.checks.check import Check
from downfield.officiating.checks.formation import Formation
from downfield.officiating.checks.rulebook_checks import RulebookChecks
from downfield.officiating.clauses import read_clauses
from downfield.officiating.consequences import downs, enforcement, measured_places
from downfield.officiating.consequences.board import stoppage_params
from downfield.officiating.consequences.declaration_handlers import (
    LINE_UP_PARAMS,
    SHARED,
    begin_line_up,
    declare_set,
    name_carrier,
    set_clock,
    swap_base,
)
from downfield.officiating.consequences.periods import COLLEGE_PARAMS, end_game, or_next_series
from downfield.officiating.consequences.rolls_and_choices import choice_handler, coin_handler, roll_handler
from downfield.officiating.consequences.set_ups import apply_set_up
from downfield.officiating.consequences.told_plays import declare_play_ended
from downfield.officiating.params import read_params
from downfield.officiating.rulebooks.tap import clock, kicked, kicks, penalties, play
from downfield.officiating.rulebooks.tap.clock import in_overtime
from downfield.officiating.rules.ball import FirstTouch
from downfield.officiating.rules.facing import Backward
from downfield.officiating.rules.interference import Interference
from downfield.officiating.rules.lines import LineCrossed, OutOfBounds, out_of_bounds_params, reference_param
from downfield.officiating.rules.passer import PassRush
from downfield.officiating.rules.tackles import DownByFall, FigureDead, Tackle, tackle_params
from downfield.officiating.state.dice import TWO_D6
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Consequence, Handler, Outcome, RuleContext, RuleSystem

FALL_WINDOW: Final = "TAP gives no time for 'while making contact'; a figure knocked over is down within half a second"

RULES: Final = (
    LineCrossed(
        "touchdown",
        ("TAP-G1",),
        (
            reference_param(
                "touchdown.reference", "base", "TAP-G1: the ball is deemed at the foremost part of the base"
            ),
        ),
    ),
    Tackle(
        clauses=("TAP-022",),
        broken=("TAP-023", "TAP-028"),
        fumble=("TAP-027",),
        both=("TAP-036", "TAP-026"),
        spot=("TAP-033",),
        params=tackle_params(0.5, "base", FALL_WINDOW, fallen_tackles=False),
    ),
    DownByFall(("TAP-026",)),
    OutOfBounds(("TAP-G3", "TAP-033"), out_of_bounds_params("base", "TAP-033", ball=False)),
    LineCrossed(
        "line_of_scrimmage",
        ("TAP-087",),
        (reference_param("line_of_scrimmage.reference", "base", "TAP-087: 'reaches' is the first part of the base"),),
    ),
    PassRush(("TAP-096",)),
    FirstTouch(catch=("TAP-103",), tie=("TAP-108",), void=("TAP-028", "TAP-030", "TAP-116")),
    Interference(("TAP-109", "TAP-110"), ("TAP-046", "TAP-118"), penalties.with_numbers),
    Backward(turned=("TAP-031",), pushed=("TAP-032",)),
    FigureDead(("TAP-028",)),
)

_SCRIMMAGE_CHECKS: Final = (
    alignment.men_on_line,
    alignment.line_gaps,
    alignment.center_between_hashes,
    alignment.stacking,
    alignment.separation,
    backs.wide_men,
    backs.backs_depth,
    backs.behind_center,
    backs.direct_snap,
    jerseys.jerseys,
    jerseys.numbers_by_role,
    jerseys.numbers_worn,
    jerseys.numbers_distinct,
)


def _kick_checks(of_kick: Check[Formation]) -> tuple[Check[Formation], ...]:
    sides = (kick_checks.kickers, kick_checks.tap_receivers, kick_checks.kick_inbounds)
    return (*sides, of_kick, jerseys.kick_jerseys, jerseys.numbers_distinct)


TAP_CHECKS: Final = RulebookChecks(
    book="TAP-",
    formations={
        "scrimmage": _SCRIMMAGE_CHECKS,
        "two_point": _SCRIMMAGE_CHECKS,
        "punt": (
            *_SCRIMMAGE_CHECKS,
            backs.punter_depth,
            backs.gunners_wide,
            backs.gunner_corridor,
            kick_checks.punt_returner_place,
        ),
        "kickoff": _kick_checks(kick_checks.returner_off),
        "free_kick": _kick_checks(kick_checks.returner_off),
        "onside": _kick_checks(kick_checks.onside_men),
    },
    motion=(movement.offense_motion, movement.defense_motion),
    returns=(kick_checks.returner_place,),
    stops=(
        pivots.line_stop_pivots,
        pivots.defense_pivots,
        pivots.engaged_pivots,
        pivots.dead_pivots,
        pivots.pivots_toward,
        pivots.pivots_in_place,
        pivots.loose_ball_pivots,
        pivots.base_swaps,
    ),
    times=(timing.first_pivot_time, timing.second_pivot_time, timing.stop_time, timing.pass_time),
    kick_run=(timing.kickoff_run,),
)

HANDLERS: Final[Mapping[type[Any], Handler]] = {
    **SHARED,
    d.FoulDeclared: enforcement.declare_foul,
    d.PlayEnded: clock.before_time_is_up(declare_play_ended),
    d.SetUp: apply_set_up,
    d.BaseSwap: TAP_CHECKS.reporting_base_swap(swap_base),
    d.ClockSet: clock.ending_on_time(set_clock),
    d.Separated: clock.ending_on_time(begin_line_up),
    d.PassDeclared: play.declare_pass,
    d.PassEnded: play.end_pass,
    d.KickEnded: kicked.end_kick,
    d.Pitch: play.declare_pitch,
    d.KickDeclared: clock.ending_on_time(kicks.declare_kick),
    d.Carrier: clock.ending_on_time(name_carrier),
    d.OffenseSet: clock.ending_on_time(declare_set),
    d.Claim: penalties.handle_claim,
    d.Coin: coin_handler({"fumble": play.flip_fumble}),
    d.Roll: roll_handler(
        {
            "onside_length": kicks.roll_onside_length,
            "onside_place": kicks.roll_onside_place,
            "field_goal": kicks.roll_field_goal,
            "extra_point": kicks.roll_extra_point,
            measured_places.FUMBLE: measured_places.roll_fumble,
        }
    ),
    d.ChoiceMade: choice_handler(
        {
            "kickoff": kicks.choose_return,
            "punt": kicks.choose_return,
            "try": kicks.choose_try,
            "overtime": clock.choose_overtime,
        },
        {
            "touchback": kicks.choose_touchback_before,
            "punt": kicks.choose_punt,
            "overrun_stop": play.stop_overrun_pass,
            "stop_here": play.stop_runner,
            "let_run": play.keep_running,
        },
    ),
}

_tackled = measured_places.or_fumble(in_overtime(downs.spot_dead_ball))

CONSEQUENCES: Final[Mapping[CallKind, Consequence]] = {
    "tackle": _tackled,
    "sack": in_overtime(downs.spot_dead_ball),
    "down_by_fall": in_overtime(downs.spot_dead_ball),
    "out_of_bounds": in_overtime(downs.spot_dead_ball),
    "stopped": in_overtime(downs.spot_dead_ball),
    "incomplete": in_overtime(downs.apply_incompletion),
    "overrun": in_overtime(downs.apply_incompletion),
    "touchdown": in_overtime(downs.score_touchdown),
    "line_of_scrimmage": play.reach_line,
    "fumble": play.fumble_ball,
    "fumble_recovery": play.recover_fumble,
    "reception": play.catch_pass,
    "interception": play.intercept_pass,
    "kick": kicks.land_kick,
    "info": measured_places.or_no_fumble(in_overtime(downs.spot_dead_ball), kicks.offer_touchback),
    "touchback": in_overtime(downs.award_touchback_at("kickoff.touchback_after_yd")),
    "field_goal": downs.score_field_goal,
    "extra_point": downs.score_extra_point,
    "two_point": downs.score_two_point,
    "safety": in_overtime(downs.score_safety),
    "first_down": downs.award_first_down,
    "turnover_on_downs": downs.turn_over_on_downs,
    "penalty": enforcement.enforcing(penalties.enforce_penalty),
    "period": clock.end_period,
    "game_over": end_game,
}


def _check_restart(game: GameState, context: RuleContext) -> tuple[Finding, ...]:
    return (*play.check_ball_ahead(game, context), *TAP_CHECKS.at_restart(game, context))


def _end_kick(game: GameState, t_ns: int, context: RuleContext) -> Outcome:
    outcome = kicks.offer_return(game, t_ns, context)
    return replace(outcome, findings=(*outcome.findings, *TAP_CHECKS.at_kick_over(game, t_ns, context)))


TAP: Final = RuleSystem(
    name="tap",
    title="Tudor Advanced Play (Tudor-Con)",
    rules=RULES,
    handlers=HANDLERS,
    consequences=CONSEQUENCES,
    catalog=read_clauses("downfield.officiating.rulebooks.tap"),
    shared_clauses={
        "stoppage": ("TAP-086", "TAP-088"),
        "switch": ("TAP-085",),
        "first_down": ("TAP-G4",),
        "downs": ("TAP-G4",),
        "safety": ("TAP-G2",),
        "touchback": ("TAP-G4", "TAP-052"),
        "two_point": ("TAP-127",),
        "penalty": ("TAP-G5",),
        "field_goal": ("TAP-021", "TAP-130"),
        "extra_point": ("TAP-126",),
    },
    params=(
        *downs.DOWNS_PARAMS,
        *(replace(param, default=True, reason="TAP-010") for param in LINE_UP_PARAMS),
        *enforcement.HOUSE_FOUL_PARAMS,
        *stoppage_params(3, "TAP-086", after_line=False),
        *penalties.CLAIM_PARAMS,
        *COLLEGE_PARAMS,
        *read_params("downfield.officiating.rulebooks.tap"),
        *TAP_CHECKS.params,
    ),
    begin=clock.with_time_outs,
    kick_from_yd=downs.kick_from_yd,
    at_snap=TAP_CHECKS.at_snap,
    at_restart=_check_restart,
    ball_dead=or_next_series(clock.ball_dead),
    kick_over=_end_kick,
    begin_try=kicks.begin_try,
    overtime="plays",
    dice=dict.fromkeys(("onside_length", "onside_place", "field_goal", "extra_point", measured_places.FUMBLE), TWO_D6),
)
