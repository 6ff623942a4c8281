"""Plays told by a person: how they ended and where the ball was, for a game that no camera follows."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import POWER, Call, CallNumbers, Finding
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    BALL_LIVE,
    body_of,
    refuse_unless,
    require_on_board,
    require_on_field,
    require_on_side,
)
from downfield.officiating.consequences.downs import ends_try, with_kicker
from downfield.officiating.declarations import PassEnded, PlayEnded, Side
from downfield.officiating.events import Event
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext

TOLD: Final = "told"  # rule id of findings that a person tells

WITHOUT_SPOT: Final = frozenset({"touchdown", "safety", "touchback", "incomplete"})
NEVER_ON_TRIES: Final = frozenset({"safety", "touchback", "fumble", "recovered"})
KICKED: Final = frozenset({"kickoff", "onside", "free_kick", "punt"})
FROM_START: Final = frozenset({"scrimmage", "two_point", *KICKED})
"""Kinds of play that can be told as a whole, without their snap or kick."""


def declare_play_ended(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the end of a play as told: the same call follows as if it had been measured."""
    body = body_of(event, PlayEnded)
    name = body.kind.replace("_", " ")
    kind: CallKind = "fumble_recovery" if body.kind == "recovered" else body.kind
    if kind not in context.system.consequences:
        raise RefusedError(f"play ended: this rulebook has no {name}")
    game = _under_way(game, body, context)
    side = body.by or game.play.ball_side
    _check_kind(game, body, side, name)
    _check_spot(game, body, side, name)
    if body.player is not None:
        require_on_board(game, body.player, "play ended")
        if body.kind != "fumble":
            require_on_side(game, body.player, side, "play ended")
    # A safety is told of the side that gives it up, and favors the other.
    favored = opponent(side) if body.kind == "safety" else side
    text, key = _text(game, body, favored, name), f"{kind}@{context.t_ns}"
    found = Finding(TOLD, kind, context.t_ns, text, context.clauses(kind), key, _players(game, body), body.spot_yd)
    numbers = None if body.hit is None else CallNumbers(hit=body.hit)
    found = replace(found, side=favored, detail="recovered" if body.kind == "recovered" else "", numbers=numbers)
    return Outcome(_with_ball(game, body, side), (found,))


def _under_way(game: GameState, body: PlayEnded, context: RuleContext) -> GameState:
    """Return the game with its play under way, from the snap or kick if that was not declared.

    What the camera has found of the play and is not sure of yet is left: a person has seen how it ended.
    """
    if game.phase in AT_REST and game.due in FROM_START:
        play = replace(
            game.play,
            kind=game.due,
            snapped_to=game.play.carrier,
            snap_ns=context.t_ns,
            board_on_ns=context.t_ns,
            ball_side=game.offense,
        )
        if game.due not in KICKED - {"punt"}:
            play = play.gained(game.offense, play.carrier, "snap", context.t_ns)
        game = replace(game, phase=Phase.LIVE, play=play)
        return with_kicker(game) if game.due in KICKED - {"punt"} else game
    if game.phase in AT_REST:
        raise RefusedError(f"play ended: a {game.due.replace('_', ' ')} is due; declare how the kick went")
    refuse_unless(game.phase in BALL_LIVE | {Phase.STOPPED, Phase.PASS}, "play ended", game)
    goes_on = body.kind in {"fumble", "recovered"}
    pending = tuple(found for found in game.play.pending if goes_on and found.rule == POWER)
    return replace(game, play=replace(game.play, pending=pending))


def _check_kind(game: GameState, body: PlayEnded, side: Side, name: str) -> None:
    trying = game.due in {"extra_point", "two_point"}
    if trying and (body.kind in NEVER_ON_TRIES or side != game.offense):
        raise RefusedError("play ended: a try is good or fails, and only for the side that has it")
    own_play = side == game.offense and game.play.kind not in KICKED - {"punt"}
    if body.kind == "touchback" and own_play:
        raise RefusedError("play ended: a touchback needs a kick or a change of possession (by)")
    if body.kind in {"incomplete", "sack"} and not own_play:
        raise RefusedError(f"play ended: only the offense can have a {name}")
    if body.hit is not None and body.kind != "tackle":
        raise RefusedError("play ended: only a tackle has a hit; leave it out (hit)")
    if body.kind == "recovered" and game.play.fumble_yd is None:
        raise RefusedError("play ended: no fumble lies free")


def _check_spot(game: GameState, body: PlayEnded, side: Side, name: str) -> None:
    if body.kind in WITHOUT_SPOT:
        if body.spot_yd is not None:
            raise RefusedError(f"play ended: a {name} needs no spot; leave it out (spot_yd)")
        return
    if body.spot_yd is None:
        raise RefusedError("play ended: say where the ball was (spot_yd)")
    require_on_field(game, body.spot_yd, "play ended")
    ends = body.kind not in {"fumble", "recovered"}
    if ends and game.progress_yd(body.spot_yd[0], game.direction_of(side)) >= game.length_yd:
        raise RefusedError("play ended: that is in the end zone; declare a touchdown")


def _with_ball(game: GameState, body: PlayEnded, side: Side) -> GameState:
    play = game.play
    if body.kind == "incomplete":
        play = replace(play, pass_attempts=max(1, play.pass_attempts))  # so that interference may be claimed
    if body.kind == "fumble":
        play = replace(play, tackler=body.player)
    elif body.kind == "recovered":
        pass  # the consequence gives it to the recoverer
    elif side != play.ball_side:
        play = replace(play, ball_side=side, carrier=body.player)
    elif body.player is not None:
        play = replace(play, carrier=body.player)
    return replace(game, play=play)


def told_catch(game: GameState, body: PassEnded, clauses: tuple[str, ...], t_ns: int, context: RuleContext) -> Finding:
    """Return the catch of a pass that was told, by whom it says, where it says or where the camera sees him."""
    complete = body.end == "complete"
    side = game.offense if complete else game.defense
    player = body.player or (game.play.receiver if complete else None)
    figure = context.facts.figures.get(player or "") if context.facts else None
    seen = context.facts.spot_yd(figure.x_mm, figure.y_mm) if context.facts and figure else None
    kind: CallKind = "reception" if complete else "interception"
    text = f"{'caught' if complete else 'intercepted'} by {player or game.team(side).name}"
    spot_yd, players = body.spot_yd or seen, (player,) if player else ()
    found = Finding("pass", kind, t_ns, text, clauses, "caught", players, spot_yd, side=side)
    return replace(found, numbers=CallNumbers(caught_yd=spot_yd))


def recovered_in_end_zone(
    game: GameState, call: Call, clauses: tuple[str, ...], side: Side, x_yd: float
) -> tuple[Finding, ...]:
    """Return the touchdown of a fumble recovered in the end zone that its side attacks; none anywhere else."""
    if game.progress_yd(x_yd, game.direction_of(side)) < game.length_yd or ends_try(game, side):
        return ()
    text = f"touchdown, {game.team(side).name}"
    return (Finding(TOLD, "touchdown", call.t_ns, text, clauses, "recovered", call.players, side=side),)


def _players(game: GameState, body: PlayEnded) -> tuple[str, ...]:
    carrier = game.play.carrier
    if body.kind == "fumble":
        named = (carrier, body.player) if carrier is not None else ()
        return tuple(name for name in named if name is not None)
    return (body.player,) if body.player is not None else () if carrier is None else (carrier,)


def _text(game: GameState, body: PlayEnded, favored: Side, name: str) -> str:
    where = "" if body.spot_yd is None else f" at {game.spot_text(body.spot_yd[0])}"
    who = f", {body.player}" if body.player is not None else ""
    team = f", {game.team(favored).name}" if body.kind in WITHOUT_SPOT - {"incomplete"} else ""
    return f"{name}{who}{team}{where}"
