"""Penalties walked off: half the distance, midpoints of returns, whole yards; and fouls of a league beside its book's.

Spots are in the frame of the team that has the ball: 0 its own goal line, `length_yd` the other one.
"""

from __future__ import annotations

import math
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import AT_REST, body_of, refuse_unless
from downfield.officiating.declarations import FoulDeclared
from downfield.officiating.events import Event
from downfield.officiating.params import read_params
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState

HOUSE_FOUL_PARAMS: Final = read_params("downfield.officiating.consequences", "house_foul")
HOUSE_FOUL: Final = "house"  # with what the details of these penalties begin
_FIRST_DOWN, _LOSS_OF_DOWN = f"{HOUSE_FOUL}_first_down", f"{HOUSE_FOUL}_loss_of_down"
TINY_YD: Final = 1e-9  # keeps rounding errors from moving a whole yard


def walk_off(
    spot_yd: float, yards: float, *, length_yd: float = 100.0, half_the_distance: bool = True, whole: bool = False
) -> float:
    """Return where the ball goes after a penalty. Raises RefusedError: the spot is not between the goal lines.

    Args:
        yards: toward the opponent's goal when positive, back toward one's own when negative.
        half_the_distance: whether a penalty is at most half the distance to the goal line it goes toward. No source
            states when this applies; as in football, whenever the penalty is longer than that.
        whole: whether the ball goes on a whole yard, in the offender's favor: a half yard shortens the penalty
            (NFLS-083).
    """
    if not 0 <= spot_yd <= length_yd:
        raise RefusedError(
            f"a penalty can't be walked off from {spot_yd:.1f} yd: the goal lines are at 0 and {length_yd:g} yd"
        )
    room = length_yd - spot_yd if yards > 0 else spot_yd
    distance = min(abs(yards), room / 2 if half_the_distance else room)
    if yards > 0:
        reached = spot_yd + distance
        return math.floor(reached + TINY_YD) if whole else reached
    reached = spot_yd - distance
    return math.ceil(reached - TINY_YD) if whole else reached


def walked_words(yards: float, walked_yd: float) -> str:
    """Return a penalty's yards in words, with those walked off where a goal line is too near for all of them."""
    if math.isclose(yards, walked_yd, abs_tol=TINY_YD):
        return f"{yards:g} yards"
    return f"{round(walked_yd, 2):g} of {yards:g} yards, half the distance to the goal"


def walk_off_return(
    start_yd: float, end_yd: float, yards: float, *, by_returners: bool, length_yd: float = 100.0
) -> float:
    """Return where the ball goes after a foul on a kick's return (NFLS-070, 071, 076, 077), on a whole yard.

    Nothing in the book makes a safety of such a foul: where the middle lies in the end zone, the ball is put on the 1.
    Raises RefusedError: that spot is not between the goal lines.

    Args:
        start_yd: where the return began; in the returners' end zone below 0.
        yards: the penalty, not negative.
        by_returners: whether the returning team fouled: its foul is walked off from the middle of the return, the
            kicking team's from its end.
    """
    if by_returners:
        middle_yd = (start_yd + end_yd) / 2
        return max(1.0, walk_off(max(0.0, middle_yd), -yards, length_yd=length_yd, whole=True))
    return walk_off(end_yd, yards, length_yd=length_yd, whole=True)


def declare_foul(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a foul that the book does not have, named with its yards: walked off from where the ball lies now."""
    body = body_of(event, FoulDeclared)
    longest = context.params.real("fouls.longest_yd")
    if not longest:
        raise RefusedError(
            "foul: this rulebook has its own fouls only; a league that plays others sets fouls.longest_yd"
        )
    for_yards = game.overtime is not None and game.overtime.for_yards
    refuse_unless(game.phase in AT_REST and not for_yards, "foul", game)
    if not 0 < body.yards <= longest:
        raise RefusedError(f"foul: say its yards, from 1 to {longest:g} (yards)")
    if body.automatic or body.on_kicker or body.offsetting or (body.first_down and body.loss_of_down):
        raise RefusedError("foul: here it has yards, and a first down or the loss of the down; leave the rest out")
    x_yd, lateral = _walked_off_x_yd(game, body), game.width_yd / 2 if game.lateral_yd is None else game.lateral_yd
    walked = walked_words(body.yards, abs(x_yd - game.los_yd))
    text = f"{body.name or 'penalty'}, {game.team(body.by).name}: {walked}"
    clauses, key = context.clauses("penalty"), f"foul@{context.t_ns}"
    found = Finding("foul", "penalty", context.t_ns, text, clauses, key, spot_yd=(x_yd, lateral))
    detail = _FIRST_DOWN if body.first_down else _LOSS_OF_DOWN if body.loss_of_down else HOUSE_FOUL
    numbers = CallNumbers(penalty_yd=float(body.yards), enforced_from_yd=game.los_yd, enforced_to_yd=x_yd)
    found = replace(found, side=opponent(body.by), detail=detail, numbers=numbers)
    return Outcome(game, (found,))


def enforcing(consequence: Consequence | None = None) -> Consequence:
    """Return a book's consequence of a penalty that enforces those of the league as well."""

    def enforce(game: GameState, call: Call, context: RuleContext) -> Outcome:
        if not call.detail.startswith(HOUSE_FOUL):
            return Outcome(game) if consequence is None else consequence(game, call, context)
        x_yd, lateral = call.spot_yd or (game.los_yd, game.width_yd / 2)
        if call.detail == _FIRST_DOWN:
            return automatic_first_down(game, x_yd, lateral, call, context)
        return move_line(game, x_yd, lateral, context, loss_of_down=call.detail == _LOSS_OF_DOWN)

    return enforce


def _walked_off_x_yd(game: GameState, body: FoulDeclared) -> float:
    toward = -body.yards if body.by == game.offense else body.yards
    return game.board_x_yd(walk_off(game.line_yd, toward, length_yd=game.length_yd))


def automatic_first_down(game: GameState, x_yd: float, lateral: float, call: Call, context: RuleContext) -> Outcome:
    """Give the offense a first down at a place; a two-point try is tried again from there."""
    if game.due == "two_point":
        again = PlayState(kind="two_point", ball_side=game.offense)
        game = replace(game, phase=Phase.LINE_UP, wait=None, play=again, separated_ns=None, set_ns=None)
        return Outcome(replace(game, los_yd=x_yd))
    return Outcome(
        downs.start_series(game, game.offense, game.direction, x_yd, lateral, call.t_ns, context),
        (downs.follow_up(context, "first_down", "first_down", "automatic first down", side=game.offense),),
    )


def move_line(game: GameState, x_yd: float, lateral: float, context: RuleContext, *, loss_of_down: bool) -> Outcome:
    """Replay the down from another spot, or play the next one; reaching the line to gain is a first down."""
    if game.due in {"kickoff", "free_kick", "onside", "two_point", "extra_point"}:
        return Outcome(replace(game, los_yd=x_yd))
    if loss_of_down:
        return downs.play_next_down(replace(game, los_yd=x_yd), x_yd, lateral, context)
    outcome = downs.play_next_down(game, x_yd, lateral, context)
    if any(finding.kind == "first_down" for finding in outcome.findings):
        return outcome
    return Outcome(replace(outcome.state, down=game.down))
