"""Plays of NFL Strategy told by their end, without the cards: where the slide was set, by whom.

The clock, the downs and the hash follow as they do from cards. Which third of the field the ball is in is told by its
place across the field.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.officiating.card_declarations import CardKind, CardPlayed
from downfield.officiating.consequences.declaration_handlers import AT_REST, body_of, refuse_unless
from downfield.officiating.declarations import PlayEnded, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.nfl_strategy.play import CardPlay, PlayResult, card_game, line_yd, touchdown
from downfield.officiating.rulebooks.nfl_strategy.results import finish_play, two_point_result
from downfield.officiating.state.game_state import GameState, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext

KICKS_DUE: Final = frozenset({"kickoff", "free_kick"})
SPOTLESS: Final = frozenset({"touchdown", "safety", "touchback", "incomplete"})


def declare_play_ended(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the end of a play as told: the same calls follow as from the cards."""
    body = body_of(event, PlayEnded)
    name = body.kind.replace("_", " ")
    if body.kind not in {*SPOTLESS, "stopped"}:
        raise RefusedError(f"play ended: this rulebook has no {name}; tell where the ball was stopped")
    refuse_unless(game.phase in AT_REST, "play ended", game)
    if game.due == "extra_point":
        raise RefusedError("play ended: an extra point is due; declare its card")
    by = body.by or game.offense
    _check(game, body, by)
    card = CardPlayed(_kind(game, body), dot=_dot(game, body))
    play = CardPlay(card, card_game(game).lines.running, game.note("hurry_up") is not None)
    outcome = finish_play(game, play, _result(game, body, by), event.t_ns, context)
    # A dead ball in the other side's hands is that side's first down.
    return replace(outcome, state=replace(outcome.state, play=replace(outcome.state.play, ball_side=by)))


def _check(game: GameState, body: PlayEnded, by: Side) -> None:
    kick = game.due in KICKS_DUE
    if body.player is not None:
        raise RefusedError("play ended: no figures are played here; leave the player out")
    if body.kind == "incomplete" and (kick or by != game.offense):
        raise RefusedError("play ended: only the offense can have an incomplete pass")
    if body.kind == "safety" and (kick or game.due == "two_point" or by != game.offense):
        raise RefusedError("play ended: a safety is the offense's, tackled in its own end zone")
    if body.kind == "touchback" and (game.due == "two_point" or (by == game.offense) is not kick):
        raise RefusedError("play ended: a touchback needs a kick or a change of possession (by)")
    if body.kind == "stopped" and game.due == "two_point" and by != game.offense:
        raise RefusedError("play ended: a try is good or fails, and only for the side that has it")
    if (body.kind in SPOTLESS) is (body.spot_yd is not None):
        needed = "needs no spot; leave it out" if body.kind in SPOTLESS else "say where the ball was"
        raise RefusedError(f"play ended: {needed} (spot_yd)")
    if body.spot_yd is None:
        return
    x_yd, y_yd = body.spot_yd
    if not (0 <= x_yd <= game.length_yd and 0 <= y_yd <= game.width_yd):
        raise RefusedError(f"play ended: {x_yd:g}, {y_yd:g} yd is not on the field")
    if not 0 < game.progress_yd(x_yd) < game.length_yd:
        raise RefusedError("play ended: that is in an end zone; declare a touchdown, a safety or a touchback")


def _kind(game: GameState, body: PlayEnded) -> CardKind:
    if game.due in KICKS_DUE:
        return "kickoff"
    if game.due == "two_point":
        return "two_point"
    return "pass" if body.kind == "incomplete" else "run"


def _dot(game: GameState, body: PlayEnded) -> Literal["black", "red", "blue"] | None:
    """Return the dot for the third of the field that the ball is in; left is the upper one."""
    if body.spot_yd is None:
        return None
    third = int(3 * body.spot_yd[1] / game.width_yd)
    return ("blue", "red", "black")[min(third, 2)]


def _result(game: GameState, body: PlayEnded, by: Side) -> PlayResult:
    name = game.team(by).name
    if body.kind == "touchdown":
        result = touchdown(game, by, ())
    elif body.kind == "safety":
        gainer = opponent(by)
        return PlayResult("safety", f"safety, {game.team(gainer).name}", (), side=gainer)
    elif body.kind == "touchback":
        return PlayResult("touchback", f"touchback, {name}", (), side=by, dead_kick=True)
    elif body.kind == "incomplete":
        result = PlayResult("incomplete", "incomplete", ("NFLS-005",), line_yd(game))
    else:
        result = _stopped(game, (body.spot_yd or (game.los_yd, 0.0))[0], by)
    return two_point_result(game, result) if game.due == "two_point" else result


def _stopped(game: GameState, x_yd: float, by: Side) -> PlayResult:
    spot, where = game.progress_yd(x_yd), game.spot_text(x_yd)
    if game.due in KICKS_DUE:
        return PlayResult("kick", f"kick, {game.team(by).name} ball at {where}", (), spot, by, "returned")
    if by == game.offense:
        return PlayResult("stopped", f"stopped at {where}", ("NFLS-090",), spot)
    return PlayResult("stopped", f"change of possession, {game.team(by).name} ball at {where}", (), spot, by)
