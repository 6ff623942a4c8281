"""TAP's play from scrimmage: the line, passes and pitches declared in stoppages, fumbles and their coin."""

from __future__ import annotations

import math
from typing import Any

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    body_of,
    refuse_unless,
    refuse_with_ball_free,
    require_on_field,
    require_on_side,
)
from downfield.officiating.consequences.rolls_and_choices import wait_for_coin
from downfield.officiating.consequences.told_plays import recovered_in_end_zone, told_catch
from downfield.officiating.declarations import ChoiceMade, Coin, PassDeclared, PassEnded, Pitch, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.tap.clock import in_overtime
from downfield.officiating.rules.ball import ball_position, overrun_mm
from downfield.officiating.rules.lines import spot_at
from downfield.officiating.rules.passer import rush_refusal
from downfield.officiating.sides import LINEMEN, canonical_role
from downfield.officiating.state.facts import exceedance_probability, outermost_x, segment_meets_base
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.over_fronts import over_fronts
from downfield.officiating.state.play_state import PlayState


def declare_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle ``PASS`` in a stoppage, behind the line, to an eligible man, by passing sticks (TAP-020, TAP-097)."""
    body = body_of(event, PassDeclared)
    play, stoppage = game.play, game.play.stoppage
    refuse_unless(game.phase is Phase.STOPPED and stoppage is not None, "pass", game)
    refuse_with_ball_free(game, "pass")
    assert stoppage is not None
    if stoppage.pass_ns is not None:
        raise RefusedError("pass: already declared in this stoppage")
    if play.ball_side != game.offense or play.kind not in {"scrimmage", "punt", "two_point"}:
        raise RefusedError("pass: only the offense on a play from scrimmage may pass")
    if play.pass_caught:
        raise RefusedError("pass: the ball has already been passed in this play")
    if play.line_reached_ns is not None:
        raise RefusedError("pass: the carrier has reached the line of scrimmage (TAP-096)")
    _require_passer(game)
    if late := rush_refusal(game, context.params, event.t_ns):
        raise RefusedError(late)
    _require_behind_line(game, context)
    if body.receiver is not None:
        _require_eligible(game, body.receiver, context)
    stoppage = replace(stoppage, pass_ns=event.t_ns)
    play = replace(play, stoppage=stoppage, receiver=body.receiver, pass_attempts=play.pass_attempts + 1, ball_mm=None)
    return Outcome(replace(game, phase=Phase.PASS, play=play))


def declare_pitch(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a pitch: back to a running back within the short stick, no defender in between."""
    body = body_of(event, Pitch)
    play = game.play
    refuse_unless(game.phase is Phase.STOPPED and play.stoppage is not None, "pitch", game)
    refuse_with_ball_free(game, "pitch")
    if play.line_reached_ns is not None:
        raise RefusedError("pitch: the carrier has reached the line of scrimmage (TAP-088)")
    require_on_side(game, body.to, play.ball_side, "pitch")
    if body.to == play.carrier:
        raise RefusedError(f"pitch: {body.to} already has the ball")
    if _took_direct_snap(game):
        raise RefusedError("pitch: a running back who took the snap may not pitch (TAP-084)")
    entry = game.player(body.to)
    if entry is not None and entry.role and canonical_role(entry.role) != "RB":
        raise RefusedError(f"pitch: only to a running back, not to {body.to} ({entry.role}) (TAP-094)")
    if play.fallen_ns(body.to) is not None:
        raise RefusedError(f"pitch: {body.to} has fallen and is out of the play (TAP-028)")
    too_close = _measure_pitch(game, body.to, context)
    play = play.gained(play.ball_side, body.to, "pitch", event.t_ns)
    return Outcome(replace(game, play=play), too_close)


def _measure_pitch(game: GameState, to: str, context: RuleContext) -> tuple[Finding, ...]:
    """Refuse a pitch that is surely illegal; report a pitch that is too close to call."""
    facts = context.facts
    carrier = facts.figures.get(game.play.carrier or "") if facts else None
    back = facts.figures.get(to) if facts else None
    if facts is None or carrier is None or back is None:
        return ()
    stick = context.params.real("pass.short_stick_mm")
    distance = math.hypot(back.x_mm - carrier.x_mm, back.y_mm - carrier.y_mm)
    sigma = math.hypot(*carrier.sigma_mm, *back.sigma_mm)
    behind = (carrier.x_mm - back.x_mm) * game.ball_direction
    measured = [(behind, f"{to} is {behind:.0f} mm behind the carrier")]
    if context.lengths_known:  # else people lay the stick themselves
        measured.append((stick - distance, f"{to} is {distance:.0f} mm away, the short stick is {stick:.0f} mm"))
    confidence = context.params.real("calls.confidence")
    too_close = []
    for margin, text in measured:
        probability = exceedance_probability(margin, sigma)
        if probability <= 1 - confidence:
            raise RefusedError(f"pitch: {text} (TAP-094)")
        if probability < confidence:
            players = (carrier.id, to)
            text = f"pitch: {text}: too close to call"
            found = _report(context, text, "TAP-094", players=players, margin=margin, sigma=sigma)
            too_close.append(replace(found, probability=probability))
    for figure in facts.scene.figures:
        if figure.jersey != carrier.jersey and segment_meets_base(figure, carrier, back):
            raise RefusedError(f"pitch: {figure.id} stands in between (TAP-094)")
    return tuple(too_close)


def stop_overrun_pass(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the offense's stopping a pass its receiver has run past: dead, no interception (TAP-104)."""
    refuse_unless(game.phase is Phase.IN_AIR or _stopped_in_air(game), "overrun", game)
    facts, receiver = context.facts, game.play.receiver
    ball = ball_position(facts.scene, game) if facts else None
    figure = facts.figures.get(receiver) if facts and receiver else None
    text, players = "receiver past the ball: the play is dead, no interception", (receiver,) if receiver else ()
    overrun = Finding("overrun", "overrun", context.t_ns, text, ("TAP-104",), players=players)
    overrun = replace(overrun, against="the receiver is not a base length past the ball")
    if figure is None or ball is None:
        return Outcome(game, (overrun,))
    past = overrun_mm(figure, *ball)
    limit = context.params.real("pass.overrun_base_lengths") * figure.length_mm
    margin = past - limit
    sigma = math.hypot(*figure.sigma_mm)
    ends = over_fronts(figure, lambda receiver: (overrun_mm(receiver, *ball) - limit, sigma))
    if ends.probability <= 1 - context.params.real("calls.confidence"):
        raise RefusedError(f"overrun: the whole of {figure.id} is only {past:.0f} mm past the ball (TAP-104)")
    found = replace(
        overrun,
        margin=margin,
        sigma=sigma,
        unit="mm",
        probability=ends.probability,
        front=ends.front,
        measure="excess",
        conditions=ends.conditions("excess", "mm", replace(figure, sure=True)),
    )
    return Outcome(game, (found,))


def end_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the end of a pass that no camera followed (TAP-103); one that nobody touches is incomplete."""
    body = body_of(event, PassEnded)
    refuse_unless(game.phase in {Phase.PASS, Phase.IN_AIR} or _stopped_in_air(game), "pass ended", game)
    if game.play.kind == "onside":
        raise RefusedError("pass ended: an onside kick is under way; declare how it ended (kick ended)")
    if body.end == "incomplete":
        found = Finding("pass", "incomplete", context.t_ns, "nobody catches the pass", ("TAP-103",), "incomplete")
        return Outcome(game, (found,))
    complete = body.end == "complete"
    side = game.offense if complete else game.defense
    player = body.player or (game.play.receiver if complete else None)
    if player is None and game.players:
        raise RefusedError("pass ended: name the player who caught it (player)")
    if player is not None:
        require_on_side(game, player, side, "pass ended")
        if game.play.fallen_ns(player) is not None:
            raise RefusedError(f"pass ended: {player} has fallen and is out of the play (TAP-028)")
    if complete and player is not None and player == game.play.carrier:
        raise RefusedError("pass ended: the passer can't be his own receiver")
    if body.spot_yd is not None:
        require_on_field(game, body.spot_yd, "pass ended")
    if complete and player in game.play.gunners:
        raise RefusedError(f"pass ended: {player} is a gunner and may not catch a pass from a fake punt (TAP-116)")
    return Outcome(game, (told_catch(game, body, ("TAP-103",), context.t_ns, context),))


def catch_pass(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the ball to the catcher; the board stops, and that stop uses up no stoppage (TAP-102)."""
    game = replace(game, play=_caught(game, call, game.play.ball_side))
    return Outcome(_stopping(game, "catch", context), downs.gained_in_end_zone(game, call, context, ("TAP-G1",)))


def _stopping(game: GameState, reason: str, context: RuleContext) -> GameState:
    """Return the game about to be stopped by a first touch, or stopped where the board does not run any more."""
    if game.board != "off" and game.phase not in {Phase.PASS, Phase.STOPPED}:
        return replace(game, phase=Phase.LIVE, play=game.play.forced_to_stop(reason))
    play = replace(game.play, stoppage=game.play.forced_stoppage(reason, context.t_ns))
    return replace(game, phase=Phase.STOPPED, play=play)


def intercept_pass(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the ball to the interceptor, who may return it; the passing team works the switch."""
    if downs.ends_try(game, game.defense):
        return downs.fail_try(game, context)
    play = replace(_caught(game, call, opponent(game.play.ball_side)), switch=game.play.ball_side)
    game = _stopping(replace(game, play=play), "interception", context)
    return Outcome(game, downs.gained_in_end_zone(game, call, context, ("TAP-G1",)))


def check_ball_ahead(game: GameState, context: RuleContext) -> tuple[Finding, ...]:
    """Report a ball placed behind the passer's base, as the board comes on for a pass (TAP-107)."""
    facts = context.facts
    carrier = facts.figures.get(game.play.carrier or "") if facts else None
    ball = ball_position(facts.scene, game) if facts else None
    if game.phase is not Phase.PASS or carrier is None or ball is None:
        return ()
    front = outermost_x(carrier, game.ball_direction)
    margin = (ball[0] - front.x_mm) * game.ball_direction
    if margin >= 0:
        return ()
    text = f"the ball lies {-margin:.0f} mm behind the front of the passer's base; it must lie ahead (TAP-107)"
    probability = exceedance_probability(-margin, front.sigma_mm)
    found = _report(context, text, "TAP-107", players=(carrier.id,), margin=-margin, sigma=front.sigma_mm)
    return (replace(found, probability=probability, detail="ball_behind_passer", measure="excess"),)


def _caught(game: GameState, call: Call, side: Side) -> PlayState:
    return downs.gain_ball(replace(game.play, pass_caught=True, ball_mm=None), call, side)


def _took_direct_snap(game: GameState) -> bool:
    entry = game.player(game.play.snapped_to)
    return entry is not None and game.play.carrier == entry.id and canonical_role(entry.role) == "RB"


def _require_passer(game: GameState) -> None:
    if _took_direct_snap(game):
        raise RefusedError("pass: a running back who took the snap may not pass (TAP-084)")
    entry = game.player(game.play.carrier)
    if entry is not None and entry.role and canonical_role(entry.role) not in {"QB", "P"}:
        raise RefusedError(f"pass: only the quarterback may pass, not {entry.id} ({entry.role}) (TAP-096)")


def _require_behind_line(game: GameState, context: RuleContext) -> None:
    carrier = context.facts.figures.get(game.play.carrier or "") if context.facts else None
    if carrier is None:
        return
    front = outermost_x(carrier, game.ball_direction)
    short = (game.los_yd * context.field.mm_per_yd_x - front.x_mm) * game.ball_direction
    if exceedance_probability(short, front.sigma_mm) <= 1 - context.params.real("calls.confidence"):
        raise RefusedError(f"pass: {carrier.id} is {-short:.0f} mm past the line of scrimmage (TAP-096)")


def _require_eligible(game: GameState, receiver: str, context: RuleContext) -> None:
    require_on_side(game, receiver, game.offense, "pass")
    entry = game.player(receiver)
    if receiver in game.play.gunners:
        raise RefusedError(f"pass: {receiver} is a gunner and may not catch a pass from a fake punt (TAP-116)")
    if receiver == game.play.carrier:
        raise RefusedError("pass: the passer can't be his own receiver")
    if entry is not None and canonical_role(entry.role) in LINEMEN:
        raise RefusedError(f"pass: {receiver} ({entry.role}) is a lineman, not an eligible receiver (TAP-112)")
    if game.play.fallen_ns(receiver) is not None:
        raise RefusedError(f"pass: {receiver} has fallen and is out of the play (TAP-028)")
    confidence = context.params.real("calls.confidence")
    contacts = context.facts.opponent_contacts(receiver) if context.facts else ()
    if any(contact.probability >= confidence for contact in contacts):
        raise RefusedError(f"pass: {receiver} is engaged and may not catch a pass (TAP-030)")


def _stopped_in_air(game: GameState) -> bool:
    return game.phase is Phase.STOPPED and game.play.stoppage is not None and game.play.stoppage.reason == "air"


def _report(context: RuleContext, text: str, clause: str, **measured: Any) -> Finding:
    return Finding("pass", "info", context.t_ns, text, (clause,), unit="mm", reported=True, **measured)


def reach_line(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Stop the board at the line of scrimmage and give the defense the switch (TAP-087)."""
    play = replace(game.play, line_reached_ns=call.t_ns, switch=opponent(game.offense))
    return Outcome(replace(game, play=play.forced_to_stop("line")))


def fumble_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Wait for the coin after a defender who stays up has knocked the carrier down (TAP-034)."""
    spot = call.spot_yd or (game.los_yd, game.width_yd / 2)
    tackler = call.players[1] if len(call.players) > 1 else game.play.tackler
    play = replace(
        game.play,
        fumble_yd=spot,
        tackler=tackler,
        stoppage=game.play.forced_stoppage("fumble", context.t_ns),
        forced_stop="",
    )
    play = downs.held_by_fumbler(play, call)
    return Outcome(wait_for_coin(replace(game, play=play), "fumble", play.ball_side))


def flip_fumble(game: GameState, coin: Coin, context: RuleContext) -> Outcome:
    """Handle the coin after a fumble: heads for the side that had the ball."""
    holder = game.play.ball_side
    keeps = coin.heads
    side = holder if keeps else opponent(holder)
    players = () if keeps or game.play.tackler is None else (game.play.tackler,)
    text = f"{'heads' if keeps else 'tails'}: {game.team(side).name} {'keeps' if keeps else 'takes'} the ball"
    clauses, detail = (("TAP-034",), "kept") if keeps else (("TAP-034", "TAP-035"), "lost")
    found = Finding("fumble", "fumble_recovery", context.t_ns, text, clauses, "", players, game.play.fumble_yd)
    return Outcome(game, (replace(found, side=side, detail=detail),))


def recover_fumble(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the fumble to the side the coin chose: kept, it is dead there; lost, it may be returned (TAP-035)."""
    x_yd, y_yd = call.spot_yd or game.play.fumble_yd or (game.los_yd, game.width_yd / 2)
    side = call.side or game.play.ball_side
    if scored := recovered_in_end_zone(game, call, ("TAP-034", "TAP-G1"), side, x_yd):
        return Outcome(replace(game, wait=None, play=replace(game.play, ball_side=side)), scored)
    if side == game.play.ball_side:
        return in_overtime(downs.spot_dead_ball)(game, replace(call, spot_yd=(x_yd, y_yd)), context)
    if downs.ends_try(game, side):
        return downs.fail_try(game, context)
    play = replace(game.play, switch=game.play.ball_side, forced_stop="")
    play = downs.gain_ball(play, replace(call, spot_yd=(x_yd, y_yd)), side)
    running = game.board == "on"
    game = replace(game, phase=Phase.LIVE if running else Phase.STOPPED, wait=None)
    return Outcome(replace(game, play=play.forced_to_stop("fumble") if running else play))


def stop_runner(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle a coach's stopping his runner: dead at the foremost part of the base (TAP-031)."""
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED} and game.play.snap_ns is not None, "stop here", game)
    refuse_with_ball_free(game, "stop here")
    facts = context.facts
    carrier = facts.figures.get(game.play.carrier or "") if facts else None
    if facts is None or carrier is None:
        raise RefusedError(
            "stop here: the ball carrier is not in view, so the ball can't be spotted; declare where the play ended"
        )
    spot = spot_at(facts, carrier, context.params.choice("tackle.spot"), facts.t_ns)
    text, clauses = f"{carrier.id} stopped by his coach", ("TAP-031", "TAP-032", "TAP-033")
    found = Finding("stop", "stopped", context.t_ns, text, clauses, "", (carrier.id,), spot.yd, spot.sigma_yd)
    return Outcome(game, (found,))


def keep_running(game: GameState, _choice: ChoiceMade, _context: RuleContext) -> Outcome:
    """Handle a coach's letting his runner run on, giving up the progress made so far (TAP-031, TAP-032)."""
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "let run", game)
    refuse_with_ball_free(game, "let run")
    return Outcome(game)
