"""Penalties walked off from the line of scrimmage, and fouls that a league plays beside those of its book."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import AT_REST, body_of, refuse_unless
from downfield.officiating.consequences.enforcement import walk_off, walked_words
from downfield.officiating.declarations import FoulDeclared
from downfield.officiating.events import Event
from downfield.officiating.params import read_params
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState

HOUSE_FOUL_PARAMS: Final = read_params("downfield.officiating.consequences", "house_foul")
HOUSE_FOUL: Final = "house"  # with what the details of these penalties begin
_FIRST_DOWN, _LOSS_OF_DOWN = f"{HOUSE_FOUL}_first_down", f"{HOUSE_FOUL}_loss_of_down"


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
    found = Finding(
        "foul",
        "penalty",
        context.t_ns,
        f"{body.name or 'penalty'}, {game.team(body.by).name}: {walked}",
        context.clauses("penalty"),
        f"foul@{context.t_ns}",
        spot_yd=(x_yd, lateral),
        side=opponent(body.by),
        detail=_FIRST_DOWN if body.first_down else _LOSS_OF_DOWN if body.loss_of_down else HOUSE_FOUL,
        numbers=CallNumbers(penalty_yd=float(body.yards), enforced_from_yd=game.los_yd, enforced_to_yd=x_yd),
    )
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
