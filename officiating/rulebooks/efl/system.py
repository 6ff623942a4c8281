"""Lennie Gunderson's Solitaire EFL: square tackles, prescribed play calls, a running clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from downfield.core.records import replace
from downfield.officiating import declarations as d
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Finding
from downfield.officiating.checks import alignment, backs, pivots
from downfield.officiating.checks import kicks as kick_checks
from downfield.officiating.checks.rulebook_checks import RulebookChecks
from downfield.officiating.clauses import read_clauses
from downfield.officiating.consequences import downs, enforcement, measured_places
from downfield.officiating.consequences.board import ANY_NUMBER, stoppage_params
from downfield.officiating.consequences.declaration_handlers import LINE_UP_PARAMS, SHARED
from downfield.officiating.consequences.periods import (
    COLLEGE_PARAMS,
    end_game,
    or_next_series,
    period_params,
    unless_time_is_up,
)
from downfield.officiating.consequences.rolls_and_choices import choice_handler, roll_handler
from downfield.officiating.params import read_params
from downfield.officiating.rulebooks.efl import clock, kicks, play
from downfield.officiating.rulebooks.efl.clock import in_overtime, stopping_clock_late
from downfield.officiating.rules.lines import LineCrossed, OutOfBounds, out_of_bounds_params, reference_param
from downfield.officiating.rules.passer import HandleSack, PasserTouched, PassRush
from downfield.officiating.rules.square_tackles import SquareTackle
from downfield.officiating.rules.tackles import DownByFall, FigureDead
from downfield.officiating.sides import canonical_role
from downfield.officiating.state.dice import TWO_D6
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Consequence, Handler, RuleContext, RuleSystem

FOREMOST: Final = "EFL-G1: not stated; the foremost part of the base, as in Tudor's other rulebook"

RULES: Final = (
    LineCrossed("touchdown", ("EFL-025", "EFL-G1"), (reference_param("touchdown.reference", "base", FOREMOST),)),
    PasserTouched(),
    SquareTackle(),
    DownByFall(("EFL-G1",)),
    OutOfBounds(("EFL-G1",), out_of_bounds_params("base", FOREMOST, ball=False)),
    LineCrossed(
        "line_of_scrimmage",
        ("EFL-028",),
        (reference_param("line_of_scrimmage.reference", "base", "EFL-028: the front of his base"),),
    ),
    HandleSack(),
    PassRush(("EFL-029",)),
    FigureDead(("EFL-G1",)),
)

_LINE_UP_CHECKS: Final = (
    alignment.men_on_line,
    alignment.line_base_widths,
    alignment.head_up,
    alignment.gap_filling,
    alignment.second_level,
    alignment.stack_length,
)
_RUN_CHECKS: Final = (
    *_LINE_UP_CHECKS,
    backs.behind_center,
    backs.under_center,
    backs.carrier_depth,
    backs.carrier_inside_guards,
)
_PASS_CHECKS: Final = (*_LINE_UP_CHECKS, backs.passer_depth)
_KICKOFF_CHECKS: Final = (kick_checks.kickers, kick_checks.efl_receivers)

EFL_CHECKS: Final = RulebookChecks(
    book="EFL-",
    formations={
        "scrimmage": _LINE_UP_CHECKS,
        "two_point": _PASS_CHECKS,
        "kickoff": _KICKOFF_CHECKS,
        "free_kick": _KICKOFF_CHECKS,
        "onside": (kick_checks.kickers, kick_checks.efl_onside_receivers),
    },
    stops=(pivots.engaged_pivots, pivots.pass_pivots, pivots.interception_pivots, pivots.pivots_toward),
)
_EFL_RUN_CHECKS: Final = replace(EFL_CHECKS, formations={"scrimmage": _RUN_CHECKS})
_EFL_PASS_CHECKS: Final = replace(EFL_CHECKS, formations={"scrimmage": _PASS_CHECKS})
_CHECK_PARAMS: Final = tuple(
    {
        param.name: param for checks in (EFL_CHECKS, _EFL_RUN_CHECKS, _EFL_PASS_CHECKS) for param in checks.params
    }.values()
)


def _check_snap(game: GameState, context: RuleContext) -> tuple[Finding, ...]:
    """Report on the formation; in a running series the places of the quarterback and the carrier are limited too.

    In a passing series the passing quarterback has the ball at the snap.
    """
    if game.play.kind != "scrimmage":
        return EFL_CHECKS.at_snap(game, context)
    carrier = game.player(game.play.carrier)
    passing = carrier is not None and canonical_role(carrier.role) == "QB"
    return (_EFL_PASS_CHECKS if passing else _EFL_RUN_CHECKS).at_snap(game, context)


HANDLERS: Final[Mapping[type[Any], Handler]] = {
    **SHARED,
    d.FoulDeclared: enforcement.declare_foul,
    d.PlayEnded: play.declare_play_ended,
    d.SetUp: clock.set_up,
    d.Carrier: play.declare_carrier,
    d.PassDeclared: play.declare_pass,
    d.PassEnded: play.end_pass,
    d.KickDeclared: unless_time_is_up(kicks.declare_kick),
    d.KickEnded: EFL_CHECKS.reporting_formation(kicks.end_kick),
    d.Claim: play.handle_claim,
    d.ChoiceMade: choice_handler({"try": kicks.choose_try}, {}),
    d.Roll: roll_handler(
        {
            "kickoff": EFL_CHECKS.reporting_formation(kicks.roll_kickoff),
            "punt": kicks.roll_punt,
            "field_goal": kicks.roll_field_goal,
            "extra_point": kicks.roll_extra_point,
            measured_places.FUMBLE: measured_places.roll_fumble,
        }
    ),
}

_dead_ball = in_overtime(downs.spot_dead_ball)

CONSEQUENCES: Final[Mapping[CallKind, Consequence]] = {
    "tackle": measured_places.or_fumble(_dead_ball),
    "sack": _dead_ball,
    "down_by_fall": _dead_ball,
    "stopped": _dead_ball,
    "out_of_bounds": stopping_clock_late(_dead_ball),
    "incomplete": stopping_clock_late(downs.apply_incompletion),
    "reception": play.catch_pass,
    "interception": play.catch_pass,
    "fumble": play.fumble_ball,
    "fumble_recovery": play.recover_fumble,
    "line_of_scrimmage": downs.reach_line,
    "info": measured_places.or_no_fumble(_dead_ball, play.end_right_to_pass),
    "kick": in_overtime(kicks.land_kick),
    "touchback": in_overtime(kicks.award_touchback),
    "touchdown": in_overtime(downs.score_touchdown),
    "safety": in_overtime(downs.score_safety),
    "field_goal": in_overtime(downs.score_field_goal),
    "extra_point": downs.score_extra_point,
    "two_point": downs.score_two_point,
    "first_down": downs.award_first_down,
    "turnover_on_downs": in_overtime(downs.turn_over_on_downs),
    "penalty": enforcement.enforcing(),
    "period": clock.end_period,
    "game_over": end_game,
}

EFL: Final = RuleSystem(
    name="efl",
    title="Gunderson Solitaire EFL",
    rules=RULES,
    handlers=HANDLERS,
    consequences=CONSEQUENCES,
    catalog=read_clauses("downfield.officiating.rulebooks.efl"),
    shared_clauses={
        "stoppage": ("EFL-002",),
        "first_down": ("EFL-002",),
        "downs": ("EFL-002",),
        "safety": ("EFL-G1",),
        "touchback": ("EFL-G1",),
        "two_point": ("EFL-064", "EFL-067"),
        "penalty": ("EFL-002",),
        "period": ("EFL-003",),
        "game_over": ("EFL-003", "EFL-076"),
    },
    params=(
        *downs.DOWNS_PARAMS,
        *LINE_UP_PARAMS,
        *enforcement.HOUSE_FOUL_PARAMS,
        *stoppage_params(ANY_NUMBER, "not stated: stopping to throw is free", after_line=True),
        *period_params(4, 900.0, "EFL-003"),
        *COLLEGE_PARAMS,
        *read_params("downfield.officiating.rulebooks.efl"),
        *_CHECK_PARAMS,
    ),
    begin=clock.begin,
    kick_from_yd=downs.kick_from_yd,
    at_snap=_check_snap,
    at_restart=EFL_CHECKS.at_restart,
    ball_dead=or_next_series(clock.ball_dead),
    begin_try=kicks.begin_try,
    overtime="possessions",
    series_notes=("style",),
    dice=dict.fromkeys(("kickoff", "punt", "field_goal", "extra_point", measured_places.FUMBLE), TWO_D6),
)
