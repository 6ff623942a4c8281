"""Lennie Gunderson's Solitaire EFL: square tackles, obliged play-calling, a running clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from downfield.officiating.calls import CallKind
from downfield.officiating.checks.by_book import EFL_CHECKS, EFL_PARAMS, efl_at_snap
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.board import ANY_NUMBER, stoppage_params
from downfield.officiating.consequences.declaration_handlers import (
    LINE_UP_PARAMS,
    SHARED,
    clock_set,
    separated,
    set_declared,
)
from downfield.officiating.consequences.periods import ends_on_time, game_over, period_params
from downfield.officiating.consequences.rolls_and_choices import roll_handler
from downfield.officiating.declarations import (
    Carrier,
    Claim,
    ClockSet,
    KickDeclared,
    KickEnded,
    OffenseSet,
    PassDeclared,
    PassEnded,
    Roll,
    Separated,
)
from downfield.officiating.engine.interfaces import Consequence, Handler, RuleSystem
from downfield.officiating.rulebooks.efl import kicks as efl_kicks
from downfield.officiating.rulebooks.efl import overtime as efl_overtime
from downfield.officiating.rulebooks.efl import play as efl_play
from downfield.officiating.rulebooks.efl.clock import TIMING_PARAMS, begin, halves, two_minutes
from downfield.officiating.rulebooks.efl.play_calls import PARAMS as DUTY_PARAMS
from downfield.officiating.rulebooks.params import Param
from downfield.officiating.rules.lines import LineCrossed, OutOfBounds, out_of_bounds_params, reference_param
from downfield.officiating.rules.passer import HandleSack, PasserTouched
from downfield.officiating.rules.square_tackles import SquareTackle
from downfield.officiating.rules.tackles import DownByFall, FigureDead

SPOT: Final = "EFL-G1: not stated; the foremost part of the base, as Tudor's other book has it"

RULES: Final = (
    LineCrossed("touchdown", ("EFL-025", "EFL-G1"), (reference_param("touchdown.reference", "base", SPOT),)),
    PasserTouched(),
    SquareTackle(),
    DownByFall(("EFL-G1",)),
    OutOfBounds(("EFL-G1",), out_of_bounds_params("base", SPOT, ball=False)),
    LineCrossed(
        "line_of_scrimmage",
        ("EFL-028",),
        (reference_param("line_of_scrimmage.reference", "base", "EFL-028: the front of his base"),),
    ),
    HandleSack(),
    FigureDead(("EFL-G1",)),
)

HANDLERS: Final[Mapping[type[Any], Handler]] = {
    **SHARED,
    Carrier: efl_play.carrier,
    ClockSet: ends_on_time(two_minutes(clock_set)),
    Separated: ends_on_time(two_minutes(separated)),
    OffenseSet: two_minutes(set_declared),
    PassDeclared: efl_play.declare_pass,
    PassEnded: efl_play.pass_ended,
    KickDeclared: efl_kicks.declare_kick,
    KickEnded: EFL_CHECKS.with_formation(efl_kicks.kick_ended),
    Claim: efl_play.claim,
    Roll: roll_handler(
        {
            "kickoff": EFL_CHECKS.with_formation(efl_kicks.kickoff_rolled),
            "punt": efl_kicks.punt_rolled,
            "field_goal": efl_kicks.field_goal_rolled,
            "extra_point": efl_kicks.extra_point_rolled,
        }
    ),
}

_dead = efl_overtime.in_overtime(downs.dead_ball)

CONSEQUENCES: Final[Mapping[CallKind, Consequence]] = {
    "tackle": _dead,
    "sack": _dead,
    "down_by_fall": _dead,
    "stopped": _dead,
    "out_of_bounds": efl_play.stops_late(_dead),
    "incomplete": efl_play.stops_late(downs.incomplete),
    "reception": efl_play.caught,
    "interception": efl_play.caught,
    "line_of_scrimmage": efl_play.line_reached,
    "info": efl_play.passer_touched,
    "kick": efl_overtime.in_overtime(efl_kicks.kick),
    "touchback": efl_overtime.in_overtime(downs.touchback_at("punt.touchback_yd")),
    "touchdown": efl_overtime.in_overtime(efl_kicks.touchdown),
    "safety": efl_overtime.in_overtime(downs.safety),
    "field_goal": efl_overtime.in_overtime(downs.field_goal),
    "extra_point": downs.extra_point,
    "two_point": downs.two_point,
    "first_down": downs.first_down,
    "turnover_on_downs": efl_overtime.in_overtime(downs.turnover_on_downs),
    "period": halves,
    "game_over": game_over,
}

EFL: Final = RuleSystem(
    name="efl",
    title="Gunderson Solitaire EFL",
    rules=RULES,
    handlers=HANDLERS,
    consequences=CONSEQUENCES,
    clauses={
        "stoppage": ("EFL-002",),
        "first_down": ("EFL-002",),
        "downs": ("EFL-002",),
        "safety": ("EFL-G1",),
        "touchback": ("EFL-G1",),
        "two_point": ("EFL-064", "EFL-067"),
        "period": ("EFL-003",),
        "game_over": ("EFL-003", "EFL-076"),
    },
    params=(
        *downs.DOWNS_PARAMS,
        *LINE_UP_PARAMS,
        *stoppage_params(ANY_NUMBER, "not stated: stopping to throw is free", after_line=True),
        Param("pass.tries", 3, "count", "EFL-037", low=1, high=10),
        *DUTY_PARAMS,
        *efl_kicks.KICK_PARAMS,
        *period_params(4, 900.0, "EFL-003"),
        *TIMING_PARAMS,
        *efl_overtime.OVERTIME_PARAMS,
        *EFL_PARAMS,
    ),
    begin=begin,
    at_snap=efl_at_snap,
    at_restart=EFL_CHECKS.at_restart,
)
