"""TAP: Tudor Advanced Play, as played at Tudor-Con."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from downfield.officiating.calls import CallKind, Finding
from downfield.officiating.checks.by_book import TAP_CHECKS
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.board import stoppage_params
from downfield.officiating.consequences.declaration_handlers import LINE_UP_PARAMS, SHARED
from downfield.officiating.consequences.rolls_and_choices import choice_handler, coin_handler, roll_handler
from downfield.officiating.declarations import (
    BaseSwap,
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    KickDeclared,
    PassDeclared,
    Pitch,
    Roll,
    Separated,
)
from downfield.officiating.engine.interfaces import Consequence, Handler, Outcome, RuleContext, RuleSystem
from downfield.officiating.engine.state import GameState
from downfield.officiating.rulebooks.tap import clock as tap_clock
from downfield.officiating.rulebooks.tap import kicks as tap_kicks
from downfield.officiating.rulebooks.tap import passes as tap_pass
from downfield.officiating.rulebooks.tap import play as tap_play
from downfield.officiating.rulebooks.tap.clock import in_overtime
from downfield.officiating.rulebooks.tap.penalties import CLAIM_PARAMS, PENALTY_PARAMS, claim, penalty
from downfield.officiating.rules.ball import FirstTouch
from downfield.officiating.rules.lines import LineCrossed, OutOfBounds, out_of_bounds_params, reference_param
from downfield.officiating.rules.tackles import DownByFall, FigureDead, Tackle, tackle_params
from downfield.officiating.rules.turning import Backward, Interference

WINDOW: Final = "TAP gives no time for 'while making contact'; a figure knocked over is down within half a second"

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
        params=tackle_params(0.5, "base", WINDOW, fallen_tackles=False),
    ),
    DownByFall(("TAP-026",)),
    OutOfBounds(("TAP-G3", "TAP-033"), out_of_bounds_params("base", "TAP-033", ball=False)),
    LineCrossed(
        "line_of_scrimmage",
        ("TAP-087",),
        (reference_param("line_of_scrimmage.reference", "base", "TAP-087: 'reaches' is the first part of the base"),),
    ),
    FirstTouch(catch=("TAP-103",), tie=("TAP-108",), void=("TAP-028", "TAP-030", "TAP-116")),
    Interference(on_pass=("TAP-109", "TAP-110"), on_gunner=("TAP-046", "TAP-118")),
    Backward(turned=("TAP-031",), pushed=("TAP-032",)),
    FigureDead(("TAP-028",)),
)


HANDLERS: Final[Mapping[type[Any], Handler]] = {
    **SHARED,
    BaseSwap: TAP_CHECKS.at_base_swap,
    ClockSet: tap_clock.clock_ends,
    Separated: tap_clock.separated_ends,
    PassDeclared: tap_pass.declare_pass,
    Pitch: tap_pass.declare_pitch,
    KickDeclared: tap_kicks.declare_kick,
    Claim: claim,
    Coin: coin_handler({"fumble": tap_play.fumble_flipped}),
    Roll: roll_handler(
        {
            "onside_length": tap_kicks.onside_length,
            "onside_place": tap_kicks.onside_place,
            "field_goal": tap_kicks.field_goal_rolled,
            "extra_point": tap_kicks.extra_point_rolled,
        }
    ),
    ChoiceMade: choice_handler(
        {
            "kickoff": tap_kicks.kickoff_chosen,
            "punt": tap_kicks.kickoff_chosen,
            "try": tap_kicks.try_chosen,
            "overtime": tap_clock.overtime_chosen,
        },
        {
            "touchback": tap_kicks.touchback_before,
            "punt": tap_kicks.punt_chosen,
            "overrun_stop": tap_pass.overrun_stop,
            "stop_here": tap_play.stop_here,
            "let_run": tap_play.let_run,
        },
    ),
}

CONSEQUENCES: Final[Mapping[CallKind, Consequence]] = {
    "tackle": in_overtime(downs.dead_ball),
    "sack": in_overtime(downs.dead_ball),
    "down_by_fall": in_overtime(downs.dead_ball),
    "out_of_bounds": in_overtime(downs.dead_ball),
    "stopped": in_overtime(downs.dead_ball),
    "incomplete": in_overtime(downs.incomplete),
    "overrun": in_overtime(downs.incomplete),
    "touchdown": in_overtime(downs.touchdown),
    "line_of_scrimmage": tap_play.line_reached,
    "fumble": tap_play.fumble,
    "fumble_recovery": tap_play.fumble_recovery,
    "reception": tap_pass.reception,
    "interception": tap_pass.interception,
    "kick": tap_kicks.kick,
    "touchback": downs.touchback_at("kickoff.touchback_after_yd"),
    "field_goal": downs.field_goal,
    "extra_point": downs.extra_point,
    "two_point": downs.two_point,
    "safety": downs.safety,
    "first_down": downs.first_down,
    "turnover_on_downs": downs.turnover_on_downs,
    "penalty": penalty,
    "period": tap_clock.period,
    "game_over": tap_clock.game_over,
}


def _at_restart(game: GameState, context: RuleContext) -> tuple[Finding, ...]:
    return (*tap_pass.passer_behind_ball(game, context), *TAP_CHECKS.at_restart(game, context))


def _kick_over(game: GameState, t_ns: int, context: RuleContext) -> Outcome:
    outcome = tap_kicks.kick_over(game, t_ns, context)
    return replace(outcome, findings=(*outcome.findings, *TAP_CHECKS.at_kick_over(game, t_ns, context)))


TAP: Final = RuleSystem(
    name="tap",
    title="Tudor Advanced Play (Tudor-Con)",
    rules=RULES,
    handlers=HANDLERS,
    consequences=CONSEQUENCES,
    clauses={
        "stoppage": ("TAP-086", "TAP-088"),
        "first_down": ("TAP-G4",),
        "downs": ("TAP-G4",),
        "safety": ("TAP-G2",),
        "touchback": ("TAP-G4", "TAP-052"),
        "two_point": ("TAP-127",),
    },
    params=(
        *downs.DOWNS_PARAMS,
        *(replace(param, default=True, reason="TAP-010") for param in LINE_UP_PARAMS),
        *stoppage_params(3, "TAP-086", after_line=False),
        *tap_pass.PASS_PARAMS,
        *tap_kicks.KICK_PARAMS,
        *PENALTY_PARAMS,
        *CLAIM_PARAMS,
        *tap_clock.OVERTIME_PARAMS,
        *TAP_CHECKS.params,
    ),
    at_snap=TAP_CHECKS.at_snap,
    at_restart=_at_restart,
    kick_over=_kick_over,
)
