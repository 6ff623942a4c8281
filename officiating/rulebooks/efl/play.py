"""The EFL's plays from scrimmage: the ball carrier, up to three attempts at a pass, loose balls, time-outs."""

from __future__ import annotations

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs, told_plays
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    body_of,
    name_carrier,
    refuse_unless,
    require_on_field,
    require_on_side,
    require_receiver,
)
from downfield.officiating.consequences.periods import stop_clock
from downfield.officiating.declarations import Carrier, Claim, PassDeclared, PassEnded, PlayEnded
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.efl.play_calls import (
    current_situation,
    report_play_call,
    required_play,
    time_left_s,
    time_out_refusal,
)
from downfield.officiating.rules.passer import may_still_pass, rush_refusal
from downfield.officiating.sides import canonical_role
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext


def declare_carrier(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the declared carrier: the passing quarterback makes it a passing play, any other player a run."""
    at_snap = game.phase in AT_REST and game.due == "scrimmage"
    game = name_carrier(game, event, context).state
    if not at_snap:
        return Outcome(game)
    entry = game.player(body_of(event, Carrier).player)
    passing = entry is not None and canonical_role(entry.role) == "QB"
    situation = current_situation(game, context)
    played = "pass" if passing else "run"
    found = report_play_call(game, required_play(situation, context.params), played, context)
    # A passing series stays one until the first down; a running one becomes one with its first passing play.
    passing_series = passing or situation.style == "pass"
    return Outcome(game.with_note("style", 1.0 if passing_series else 0.0), found)


def declare_play_ended(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a play told by its end; told as a whole it is compared with the play call that the book prescribes.

    A tackle does not say whether it followed a run or a catch: only what neither may be is reported of it.
    """
    body = body_of(event, PlayEnded)
    whole = game.phase in AT_REST and game.due == "scrimmage" and game.play.carrier is None
    required = required_play(current_situation(game, context), context.params)
    passed = body.kind in {"incomplete", "sack"}
    outcome = told_plays.declare_play_ended(game, event, context)
    if not whole:
        return outcome
    found = outcome.findings
    if passed or required.call in {"punt", "field_goal"}:
        played = "pass" if passed else "on"
        found = (*found, *report_play_call(game, required, played, context))
    state = outcome.state.with_note("style", 1.0) if passed else outcome.state
    return Outcome(state, found)


def declare_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a throw to a receiver whom no defender touches, at most three times while the passer may throw.

    The board comes on again to show the result (EFL-046). Until its end is told nobody has the ball.
    """
    body = body_of(event, PassDeclared)
    if game.play.note("aloft"):
        raise RefusedError("pass: one is in the air; declare how it ended first (pass ended)")
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "pass", game)
    if not may_still_pass(game):
        raise RefusedError("pass: only the passing quarterback may throw, short of the line (EFL-028, EFL-029)")
    if late := rush_refusal(game, context.params, event.t_ns):
        raise RefusedError(late)
    if game.play.note("pass_over") is not None:
        raise RefusedError("pass: a defender has touched the passer's base (EFL-029)")
    attempts = context.params.count("pass.tries")
    if game.play.pass_attempts >= attempts:
        raise RefusedError(f"pass: all {attempts} attempts are used up (EFL-037)")
    if body.receiver is not None:
        _require_eligible(game, body.receiver, context)
    play = replace(game.play, pass_attempts=game.play.pass_attempts + 1, receiver=body.receiver)
    stoppage = play.stoppage
    if stoppage is not None:
        play = replace(play, stoppage=replace(stoppage, pass_ns=event.t_ns, reason="air"))
    phase = Phase.IN_AIR if game.phase is Phase.LIVE else game.phase
    return Outcome(replace(game, phase=phase, play=play.with_note("aloft", 1.0)))


def _require_standing(game: GameState, player: str, name: str, context: RuleContext) -> None:
    if game.play.fallen_ns(player) is not None and not context.params.flag("tackle.fallen_tackles"):
        raise RefusedError(f"{name}: {player} has fallen and is out of the play")


def _require_eligible(game: GameState, receiver: str, context: RuleContext) -> None:
    require_receiver(game, receiver, "pass", "EFL-030")
    _require_standing(game, receiver, "pass", context)
    confidence = context.params.real("calls.confidence")
    contacts = (
        [contact for contact in context.facts.opponent_contacts(receiver) if contact.probability >= confidence]
        if context.facts
        else []
    )
    if contacts:
        raise RefusedError(f"pass: {receiver} is in contact with {contacts[0].opponent} (EFL-030)")


def end_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the result of a throw: complete, incomplete or intercepted."""
    body = body_of(event, PassEnded)
    if not game.play.note("aloft"):
        raise RefusedError("pass ended: no pass has been declared")
    game = _landed(replace(game, play=game.play.with_note("aloft", 0.0)))
    if body.end == "incomplete":
        attempt, attempts = game.play.pass_attempts, context.params.count("pass.tries")
        text, key = f"incomplete, attempt {attempt} of {attempts}", f"missed{attempt}"
        missed = Finding("pass", "incomplete", context.t_ns, text, ("EFL-037",), key, detail=f"try_{attempt}")
        numbers = CallNumbers(attempt=attempt, attempts=attempts)
        return Outcome(game, (replace(missed, reported=attempt < attempts, numbers=numbers),))
    side = game.offense if body.end == "complete" else game.defense
    player = body.player or (game.play.receiver if body.end == "complete" else None)
    if player is None and game.players:
        raise RefusedError("pass ended: name the player who caught it (player)")
    if player is not None and body.end == "complete":
        require_receiver(game, player, "pass ended", "EFL-030")
    elif player is not None:
        require_on_side(game, player, side, "pass ended")
    if player is not None:
        _require_standing(game, player, "pass ended", context)
    if body.spot_yd is not None:
        require_on_field(game, body.spot_yd, "pass ended")
    clauses = ("EFL-038",) if body.end == "complete" else ("EFL-040", "EFL-041")
    return Outcome(game, (told_plays.told_catch(game, body, clauses, event.t_ns, context),))


def _landed(game: GameState) -> GameState:
    """Return the game with the ball no longer in the air: live while the board runs, else stopped as before."""
    stoppage = game.play.stoppage
    if game.phase is Phase.IN_AIR:
        game = replace(game, phase=Phase.LIVE)
    if stoppage is not None and stoppage.reason == "air":
        game = replace(game, play=replace(game.play, stoppage=replace(stoppage, reason="coach")))
    return game


def catch_pass(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the ball to the player who caught or intercepted the pass; the play goes on."""
    side = call.side or (game.offense if call.kind == "reception" else game.defense)
    if downs.ends_try(game, side):
        return downs.fail_try(game, context)
    play = replace(
        downs.gain_ball(game.play, call, side),
        pass_caught=True,
        switch=opponent(side) if side != game.offense else game.play.switch,
    )
    if call.kind == "interception" and play.stoppage is not None:
        play = replace(play, stoppage=replace(play.stoppage, reason="interception"))
    if call.kind == "interception" and game.board == "on":
        play = play.forced_to_stop("interception")  # so that its pivots are checked (EFL-042)
    game = replace(game, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED, play=play)
    return Outcome(game, downs.gained_in_end_zone(game, call, context, ("EFL-G1",)))


def end_right_to_pass(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """End the right to pass of a passer whom a defender has touched."""
    over = call.detail == "pass_over"
    return Outcome(replace(game, play=game.play.with_note("pass_over", 1.0)) if over else game)


def fumble_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Leave the ball free until somebody is told to have it; the book says nothing of fumbles (EFL-G1)."""
    play = downs.held_by_fumbler(game.play, call).lost(call.t_ns, call.spot_yd)
    play = replace(play, fumble_yd=call.spot_yd or (game.los_yd, game.width_yd / 2))
    play = replace(play, stoppage=play.forced_stoppage("fumble", context.t_ns))
    return Outcome(replace(game, phase=Phase.STOPPED, wait=None, play=play))


def recover_fumble(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give a free ball to the side that has it, live; in the end zone that it attacks it has scored."""
    spot_yd = call.spot_yd or game.play.fumble_yd or (game.los_yd, game.width_yd / 2)
    side = call.side or game.play.ball_side
    if downs.ends_try(game, side):
        return downs.fail_try(game, context)
    play = replace(downs.gain_ball(game.play, replace(call, spot_yd=spot_yd), side), fumble_yd=None)
    game = replace(game, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED, play=play)
    return Outcome(game, told_plays.recovered_in_end_zone(game, call, ("EFL-025", "EFL-G1"), side, spot_yd[0]))


def handle_claim(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a time-out (EFL-006, 048, 049)."""
    body = body_of(event, Claim)
    if body.claim != "time_out":
        raise RefusedError(f"{body.claim.replace('_', ' ')}: this rulebook has no such claim")
    refuse_unless(game.phase in AT_REST or game.wait is not None, "time-out", game)
    home, away = game.time_outs or (0, 0)
    left = home if body.by == "home" else away
    refusal = time_out_refusal(game.period, time_left_s(game, context), left, context.params)
    if refusal is not None:
        raise RefusedError(f"time-out: {refusal}")
    game = replace(game, time_outs=(home - 1, away) if body.by == "home" else (home, away - 1))
    text = f"time-out, {game.team(body.by).name}"
    found = Finding("clock", "timing", event.t_ns, text, ("EFL-006", "EFL-048"), body.by, side=body.by, reported=True)
    return Outcome(stop_clock(game, event.t_ns), (found,))
