"""The Lion's Den rules (Dan Reardon): a ball in the hand, passes and kicks by percentile dice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from downfield.officiating.calls import CallKind
from downfield.officiating.checks.by_book import LIONS_DEN_CHECKS
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.board import ANY_NUMBER, stoppage_params
from downfield.officiating.consequences.declaration_handlers import (
    LINE_UP_PARAMS,
    SHARED,
    body_of,
    clock_set,
    separated,
)
from downfield.officiating.consequences.periods import (
    ends_level,
    ends_on_time,
    first_period,
    game_over,
    period_ends,
    period_params,
)
from downfield.officiating.consequences.rolls_and_choices import choice_handler, roll_handler
from downfield.officiating.declarations import (
    ChoiceMade,
    ClockSet,
    KickDeclared,
    PassDeclared,
    Pitch,
    Roll,
    Separated,
)
from downfield.officiating.engine.interfaces import Consequence, Handler, Outcome, RuleContext, RuleSystem
from downfield.officiating.engine.state import GameState
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.lions_den import kicks, play
from downfield.officiating.rulebooks.lions_den import passes as passing
from downfield.officiating.rulebooks.lions_den.penalties import (
    PENALTY_PARAMS,
    ROLLS,
    after_down,
    info,
    penalty,
    penalty_chosen,
)
from downfield.officiating.rulebooks.lions_den.skilled_players import SKILL_PARAMS, is_skill_roll, rated
from downfield.officiating.rulebooks.params import Param
from downfield.officiating.rules.ball import BallLost, Recovery
from downfield.officiating.rules.lines import LineCrossed, OutOfBounds, out_of_bounds_params, reference_param
from downfield.officiating.rules.passer import TooDeep
from downfield.officiating.rules.tackles import Tackle, tackle_params
from downfield.officiating.rules.turning import CarrierTurnedBack

NO_FALLS: Final = "falls mean nothing here: a base that touches is a tackle, standing or not"

RULES: Final = (
    LineCrossed(
        "touchdown",
        ("LD-021",),
        (
            reference_param("touchdown.reference", "ball", "LD-021: any part of the ball"),
            Param("touchdown.ball_radius_mm", 3.0, "mm", "half a ball's length; measure your own", low=0, high=20),
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
    CarrierTurnedBack(first=("LD-012",), second=("LD-014",)),
    LineCrossed(
        "line_of_scrimmage",
        ("LD-040",),
        (reference_param("line_of_scrimmage.reference", "base", "LD-040: any part of the base"),),
    ),
    Recovery(("LD-019",)),
)

_waited: Final = roll_handler(
    {
        **ROLLS,
        "pass": passing.pass_rolled,
        "interception": passing.interception_rolled,
        "pitch": play.pitch_rolled,
        "kickoff": LIONS_DEN_CHECKS.with_formation(kicks.kickoff_rolled),
        "punt": LIONS_DEN_CHECKS.with_formation(kicks.punt_rolled),
        "punt_length": kicks.punt_length_rolled,
        "field_goal": kicks.field_goal_rolled,
        "extra_point": kicks.extra_point_rolled,
    }
)


def dice(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Dice: for a skilled player before the game, else for what the game waits for."""
    roll = body_of(event, Roll)
    return rated(game, roll, context) if is_skill_roll(roll.purpose) else _waited(game, event, context)


HANDLERS: Final[Mapping[type[Any], Handler]] = {
    **SHARED,
    ClockSet: ends_on_time(clock_set),
    Separated: ends_on_time(separated),
    PassDeclared: passing.declare_pass,
    Pitch: play.declare_pitch,
    KickDeclared: kicks.declare_kick,
    Roll: dice,
    ChoiceMade: choice_handler({"penalty": penalty_chosen}, {}),
}

CONSEQUENCES: Final[Mapping[CallKind, Consequence]] = {
    "tackle": after_down(downs.dead_ball),
    "sack": after_down(downs.dead_ball),
    "stopped": after_down(downs.dead_ball),
    "out_of_bounds": after_down(play.out_of_bounds),
    "turned_back": play.turned_back,
    "incomplete": after_down(downs.incomplete),
    "reception": play.caught,
    "interception": play.caught,
    "fumble": play.fumble,
    "fumble_recovery": play.fumble_recovery,
    "line_of_scrimmage": play.line_reached,
    "kick": kicks.kick,
    "touchback": downs.touchback_at("kickoff.touchback_yd"),
    "touchdown": kicks.touchdown,
    "safety": downs.safety,
    "field_goal": downs.field_goal,
    "extra_point": downs.extra_point,
    "first_down": downs.first_down,
    "turnover_on_downs": downs.turnover_on_downs,
    "penalty": penalty,
    "info": info,
    "period": period_ends(ends_level),
    "game_over": game_over,
}

LIONS_DEN: Final = RuleSystem(
    name="lions-den",
    title="Lion's Den (Reardon)",
    rules=RULES,
    handlers=HANDLERS,
    consequences=CONSEQUENCES,
    clauses={
        "stoppage": ("LD-013",),
        "first_down": ("LD-020",),
        "downs": ("LD-020",),
        "safety": ("LD-024",),
        "touchback": ("LD-G1",),
        "period": ("LD-060", "LD-061"),
        "game_over": ("LD-060",),
    },
    params=(
        *(replace(param, default=False) if param.name == "downs.mid_field" else param for param in downs.DOWNS_PARAMS),
        *LINE_UP_PARAMS,
        *stoppage_params(ANY_NUMBER, "LD-013: no limit is given", after_line=True),
        *passing.PASS_PARAMS,
        *kicks.KICK_PARAMS,
        *SKILL_PARAMS,
        *PENALTY_PARAMS,
        *period_params(2, 1800.0, "LD-060: sixty minutes in two halves"),
        *LIONS_DEN_CHECKS.params,
    ),
    begin=first_period,
    at_snap=LIONS_DEN_CHECKS.at_snap,
    at_restart=LIONS_DEN_CHECKS.at_restart,
)
