"""Which checks each rulebook makes, and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Finding
from downfield.officiating.checks.backs import (
    backs_depth,
    behind_center,
    carrier_depth,
    carrier_inside_guards,
    direct_snap,
    gunner_corridor,
    gunners_wide,
    passer_depth,
    punt_spot,
    punter_depth,
    under_center,
    wide_men,
)
from downfield.officiating.checks.defense import defense_off, gap_filling, head_up, second_level
from downfield.officiating.checks.jerseys import jerseys, kick_jerseys, numbers_by_role, numbers_distinct, numbers_worn
from downfield.officiating.checks.kicks import (
    efl_onside_receivers,
    efl_receivers,
    kick_inbounds,
    kickers,
    lions_den_receivers,
    onside_men,
    punt_returner_place,
    returner_off,
    returner_place,
    tap_receivers,
)
from downfield.officiating.checks.line import center_between_hashes, line_base_widths, line_gaps, men_on_line
from downfield.officiating.checks.moments import LineUpChecks
from downfield.officiating.checks.motion import defense_motion, offense_motion, repositioned
from downfield.officiating.checks.pivots import (
    base_swaps,
    dead_pivots,
    defense_pivots,
    engaged_pivots,
    interception_pivots,
    line_stop_pivots,
    loose_ball_pivots,
    one_defender,
    pass_pivots,
    pivots_in_place,
    pivots_toward,
)
from downfield.officiating.checks.roles import canonical_role
from downfield.officiating.checks.spacing import separation, stack_length, stacking
from downfield.officiating.checks.timing import first_pivot_time, kickoff_run, pass_time, second_pivot_time, stop_time
from downfield.officiating.engine.interfaces import RuleContext
from downfield.officiating.engine.state import GameState

_TAP_LINE_UP = (
    men_on_line,
    line_gaps,
    center_between_hashes,
    stacking,
    separation,
    wide_men,
    backs_depth,
    behind_center,
    direct_snap,
    jerseys,
    numbers_by_role,
    numbers_worn,
    numbers_distinct,
)
_TAP_KICKOFF = (kickers, tap_receivers, kick_inbounds, returner_off, kick_jerseys, numbers_distinct)

TAP_CHECKS: Final = LineUpChecks(
    book="TAP-",
    formations={
        "scrimmage": _TAP_LINE_UP,
        "two_point": _TAP_LINE_UP,
        "punt": (*_TAP_LINE_UP, punter_depth, gunners_wide, gunner_corridor, punt_returner_place),
        "kickoff": _TAP_KICKOFF,
        "free_kick": _TAP_KICKOFF,
        "onside": (kickers, tap_receivers, kick_inbounds, onside_men, kick_jerseys, numbers_distinct),
    },
    motion=(offense_motion, defense_motion),
    returns=(returner_place,),
    stops=(
        line_stop_pivots,
        defense_pivots,
        engaged_pivots,
        dead_pivots,
        pivots_toward,
        pivots_in_place,
        loose_ball_pivots,
        base_swaps,
    ),
    times=(first_pivot_time, second_pivot_time, stop_time, pass_time),
    kick_run=(kickoff_run,),
)

_EFL_LINE_UP = (men_on_line, line_base_widths, head_up, gap_filling, second_level, stack_length)
_EFL_RUN = (*_EFL_LINE_UP, behind_center, under_center, carrier_depth, carrier_inside_guards)

_EFL_KICKOFF = (kickers, efl_receivers)

EFL_CHECKS: Final = LineUpChecks(
    book="EFL-",
    formations={
        "scrimmage": _EFL_LINE_UP,
        "two_point": (*_EFL_LINE_UP, passer_depth),
        "kickoff": _EFL_KICKOFF,
        "free_kick": _EFL_KICKOFF,
        "onside": (kickers, efl_onside_receivers),
    },
    stops=(engaged_pivots, pass_pivots, interception_pivots, pivots_toward),
)
_EFL_RUNNING: Final = replace(EFL_CHECKS, formations={"scrimmage": _EFL_RUN})
_EFL_PASSING: Final = replace(EFL_CHECKS, formations={"scrimmage": (*_EFL_LINE_UP, passer_depth)})
EFL_PARAMS: Final = tuple(
    {param.name: param for one in (EFL_CHECKS, _EFL_RUNNING, _EFL_PASSING) for param in one.params}.values()
)


def efl_at_snap(game: GameState, context: RuleContext) -> tuple[Finding, ...]:
    """EFL's formation: a running series has limits of its own, for the quarterback's place and the runner's.

    A passing series is known by the passing quarterback's having the ball at the snap.
    """
    if game.play.kind != "scrimmage":
        return EFL_CHECKS.at_snap(game, context)
    carrier = game.player(game.play.carrier)
    passing = carrier is not None and canonical_role(carrier.role) == "QB"
    return (_EFL_PASSING if passing else _EFL_RUNNING).at_snap(game, context)


LIONS_DEN_CHECKS: Final = LineUpChecks(
    book="LD-",
    formations={
        "scrimmage": (men_on_line, defense_off),
        "punt": (men_on_line, defense_off, punt_spot),
        "kickoff": (kickers, lions_den_receivers),
    },
    motion=(repositioned,),
    defense_after_set=False,
    stops=(one_defender, loose_ball_pivots, pivots_toward, pivots_in_place),
)
