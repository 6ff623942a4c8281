"""TAP's kicks whose end is told: onside kicks and punts that no camera followed, and what a league really kicks."""

from __future__ import annotations

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import CallNumbers, Finding
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    body_of,
    refuse_unless,
    require_on_field,
    require_on_side,
)
from downfield.officiating.declarations import KickEnded, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.tap.kicks import require_punter
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import Outcome, RuleContext


def end_kick(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the end of a kick: at the posts, of an onside kick or punt that no camera followed, or as a league kicks.

    A ball that the receivers touch is theirs to return, an onside kick's is dead there (TAP-065), and so is one that
    the kickers touch: downed after a punt, theirs after a kickoff.
    """
    body = body_of(event, KickEnded)
    if game.wait is not None and game.wait.purpose in {"field_goal", "extra_point"}:
        return _end_kick_at_posts(game, game.wait.purpose, body, context)
    kick = _kick_under_way(game, context)
    refuse_unless(bool(kick), "kick ended", game)
    if kick == "punt":
        require_punter(game)
    if body.end == "touched":
        return Outcome(game, (_touched(game, kick, body, context),))
    kicked = context.params.flag("punt.kicked" if kick == "punt" else "kickoff.kicked")
    ends = ("out_of_bounds", "blocked") if kick == "punt" else ("out_of_bounds",)
    if not kicked or body.end not in ends:
        also = "".join(f", or {end.replace('_', ' ')}" for end in ends) if kicked else ""
        raise RefusedError(f"kick ended: a kickoff or punt comes down on the field and is touched there{also}")
    return Outcome(game, (_dead(game, kick, body, context),))


def _kick_under_way(game: GameState, context: RuleContext) -> str:
    """Return the kick whose end may be told now: ``"kickoff"``, ``"onside"`` or ``"punt"``; empty for none."""
    play, at_rest = game.play, game.phase in AT_REST
    if game.due == "onside":
        return "onside" if at_rest or game.phase in {Phase.IN_AIR, Phase.STOPPED} else ""
    if play.kind == "punt" and play.line_reached_ns is None and play.landed_yd is None:
        return "punt" if at_rest or game.phase in {Phase.LIVE, Phase.STOPPED} else ""
    kickoff = play.kind in {"kickoff", "free_kick"} and play.hold is None and context.params.flag("kickoff.kicked")
    return "kickoff" if kickoff and game.phase in {Phase.LINE_UP, Phase.SET, Phase.KICK, Phase.STOPPED} else ""


def _touched(game: GameState, kick: str, body: KickEnded, context: RuleContext) -> Finding:
    entry = game.player(body.player)
    if body.player is not None and entry is None:
        raise RefusedError(f"kick ended: there is no figure {body.player!r} on the board")
    receivers = game.defense if kick == "punt" else game.offense
    side = game.side_of(entry.jersey) if entry is not None else body.by or (None if kick == "onside" else receivers)
    x_yd = game.play.landed_yd if kick == "onside" and body.x_yd is None else body.x_yd
    if side is None or x_yd is None:
        raise RefusedError("kick ended: name the side that touched it (by), and the place (x_yd)")
    spot_yd = _place(game, body, x_yd)
    if body.player is not None:
        require_on_side(game, body.player, side, "kick ended")
    downed = kick == "punt" and side != receivers
    returned = kick != "onside" and side == receivers
    text = f"{'onside kick' if kick == 'onside' else kick} recovered, {game.team(side).name} ball"
    if returned or kick == "punt":
        text = f"{kick} {'to' if returned else 'downed at'} {game.spot_text(x_yd)}"
    clauses = {"punt": ("TAP-123",), "onside": ("TAP-065",), "kickoff": ("TAP-056",)}[kick]
    kicked_yd = abs(x_yd - game.los_yd)
    numbers = CallNumbers(kick_yd=kicked_yd, landing_yd=spot_yd) if kick != "onside" else CallNumbers(caught_yd=spot_yd)
    detail = ("punt" if kick == "punt" else "returned") if returned else "dead" if downed else "recovered"
    players = (body.player,) if body.player else ()
    taker: Side = receivers if downed else side
    found = Finding("kick", "kick", context.t_ns, text, clauses, "", players, spot_yd, side=taker, detail=detail)
    return replace(found, numbers=numbers)


def _dead(game: GameState, kick: str, body: KickEnded, context: RuleContext) -> Finding:
    """Return the end of a kick that nobody returns: out of bounds, or a punt that was blocked."""
    side = game.defense if kick == "punt" else game.offense
    direction, params = game.direction_of(side), context.params
    if kick == "kickoff":
        x_yd = game.board_x_yd(params.real("kickoff.out_yd"), direction)
    elif body.x_yd is not None:
        x_yd = body.x_yd
    elif body.end == "blocked":
        x_yd = game.los_yd
    else:
        raise RefusedError("kick ended: enter where it went out (x_yd)")
    _, y_yd = _place(game, body, x_yd)
    kind: CallKind = "kick"
    own_yd = game.progress_yd(x_yd, direction)
    name = f"{'onside kick' if kick == 'onside' else kick} {body.end.replace('_', ' ')}"
    if own_yd <= 0:
        kind, x_yd = "touchback", game.board_x_yd(params.real("punt.touchback_yd"), direction)
    elif own_yd >= game.length_yd:
        text = f"{name} in its own end zone: safety, {game.team(side).name}"
        return Finding("kick", "safety", context.t_ns, text, ("TAP-G2",), side=side)
    text = f"{name}, {game.team(side).name} ball at {game.spot_text(x_yd)}"
    spot_yd = (x_yd, y_yd)
    return Finding("kick", kind, context.t_ns, text, ("TAP-G4",), spot_yd=spot_yd, side=side, detail="dead")


def _place(game: GameState, body: KickEnded, x_yd: float) -> tuple[float, float]:
    spot_yd = (x_yd, game.width_yd / 2 if body.y_yd is None else body.y_yd)
    require_on_field(game, spot_yd, "kick ended")
    return spot_yd


def _end_kick_at_posts(game: GameState, purpose: str, body: KickEnded, context: RuleContext) -> Outcome:
    """Handle a field goal or extra point that was really kicked, where a league does so."""
    if not context.params.flag("field_goal.kicked"):
        raise RefusedError("kick ended: its dice decide this kick; a league that really kicks sets field_goal.kicked")
    if body.end not in {"good", "no_good", "blocked"}:
        raise RefusedError("kick ended: a kick at the posts is good, no good or blocked")
    good = body.end == "good"
    kind: CallKind = "field_goal" if purpose == "field_goal" else "extra_point"
    text = f"{kind.replace('_', ' ')} {body.end.replace('_', ' ')}"
    missed = "missed" if kind == "field_goal" else "failed"
    detail, clauses = "good" if good else missed, context.clauses(kind)
    return Outcome(game, (Finding("kick", kind, context.t_ns, text, clauses, side=game.offense, detail=detail),))
