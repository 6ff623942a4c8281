"""The EFL's plays from scrimmage: run or pass as obliged, up to three tries to complete a pass, the late clock."""

from __future__ import annotations

from dataclasses import replace

from downfield.core.errors import RefusedError
from downfield.officiating.calls import Call, Finding
from downfield.officiating.checks.roles import ELIGIBLE, canonical_role
from downfield.officiating.consequences.declaration_handlers import AT_REST, body_of, refuse_unless, require_on_side
from downfield.officiating.consequences.declaration_handlers import carrier as shared_carrier
from downfield.officiating.consequences.periods import clock_stopped
from downfield.officiating.declarations import Carrier, Claim, PassDeclared, PassEnded
from downfield.officiating.engine.interfaces import Consequence, Outcome, RuleContext
from downfield.officiating.engine.state import GameState, Phase, opponent
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.efl.play_calls import Duty, Situation, is_late, play_duty, time_out_refusal
from downfield.officiating.rules.passer import may_still_pass

DUTY = "duty"
"""Rule id of what the EFL obliges a coach to and what is told about it."""


def play_noted(game: GameState, name: str, value: float) -> GameState:
    """The game with something noted for this play."""
    notes = (*(pair for pair in game.play.notes if pair[0] != name), (name, value))
    return replace(game, play=replace(game.play, notes=notes))


def situation(game: GameState, context: RuleContext) -> Situation:
    """What the duties depend on, as the game stands."""
    first = game.down == 1 or game.note("style") is None
    return Situation(
        lead=game.points(game.offense) - game.points(game.defense),
        period=game.period,
        left_s=left_s(game, context),
        down=game.down,
        distance_yd=game.distance_yd,
        spot_yd=game.progress_yd(game.los_yd),
        style=None if first else "pass" if game.note("style") == 1.0 else "run",
        gain_yd=None if first else game.gain_yd,
    )


def left_s(game: GameState, context: RuleContext) -> float:
    """Time left in the period; a full one while no clock has been set."""
    left = game.clock.left_at_s(context.t_ns)
    return context.params.real("clock.period_s") if left is None else left


def told(game: GameState, duty: Duty, played: str, context: RuleContext) -> tuple[Finding, ...]:
    """A report when what is played is not what must be."""
    if duty.must in {"either", played}:
        return ()
    must = {"pass": "a play with the passing quarterback", "run": "a run"}.get(duty.must, duty.must.replace("_", " "))
    text = f"{game.team(game.offense).name} plays {played.replace('_', ' ')} and must play {must}"
    return (Finding(DUTY, "info", context.t_ns, text, duty.clauses, played, reported=True, detail="duty"),)


def carrier(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Who has the ball: with the passing quarterback it is a passing play, with anybody else a run."""
    at_snap = game.phase in AT_REST and game.due == "scrimmage"
    game = shared_carrier(game, event, context).state
    if not at_snap:
        return Outcome(game)
    entry = game.player(body_of(event, Carrier).player)
    passing = entry is not None and canonical_role(entry.role) == "QB"
    now = situation(game, context)
    found = told(game, play_duty(now, context.params), "pass" if passing else "run", context)
    # A passing series stays one until the first down; a running one becomes one with its first passing play.
    sticky = passing or now.style == "pass"
    return Outcome(game.with_note("style", 1.0 if sticky else 0.0), found)


def declare_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """The passer throws at a receiver: while he may, at somebody no defender touches, three times at most.

    The board comes on to see what comes of it (EFL-046).
    """
    body = body_of(event, PassDeclared)
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "pass", game)
    if not may_still_pass(game):
        raise RefusedError("pass: only the passing quarterback may throw, short of the line (EFL-028, EFL-029)")
    if game.play.note("pass_over") is not None:
        raise RefusedError("pass: a defender has touched the passer's base (EFL-029)")
    tries = context.params.count("pass.tries")
    if game.play.pass_attempts >= tries:
        raise RefusedError(f"pass: {tries} tries have been made (EFL-037)")
    if body.receiver is not None:
        _may_receive(game, body.receiver, context)
    play = replace(game.play, pass_attempts=game.play.pass_attempts + 1, receiver=body.receiver)
    stoppage = play.stoppage
    if stoppage is not None:
        play = replace(play, stoppage=replace(stoppage, pass_ns=event.t_ns))
    return Outcome(play_noted(replace(game, play=play), "aloft", 1.0))


def _may_receive(game: GameState, receiver: str, context: RuleContext) -> None:
    require_on_side(game, receiver, game.offense, "pass")
    entry = game.player(receiver)
    if entry is not None and entry.role and canonical_role(entry.role) not in ELIGIBLE:
        raise RefusedError(f"pass: {receiver} ({entry.role}) is not an eligible receiver (EFL-030)")
    sure = context.params.real("calls.confidence")
    touching = (
        [touch for touch in context.facts.opponent_contacts(receiver) if touch.probability >= sure]
        if context.facts
        else []
    )
    if touching:
        raise RefusedError(f"pass: {receiver} is in contact with {touching[0].other} (EFL-030)")


def pass_ended(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """What became of the throw."""
    body = body_of(event, PassEnded)
    if not game.play.note("aloft"):
        raise RefusedError("pass ended: no pass has been declared")
    game = play_noted(game, "aloft", 0.0)
    if body.end == "incomplete":
        return _missed(game, context)
    side = game.offense if body.end == "complete" else game.defense
    player = body.player or (game.play.receiver if body.end == "complete" else None)
    if player is None:
        raise RefusedError("pass ended: say who caught it")
    require_on_side(game, player, side, "pass ended")
    figure = context.facts.figures.get(player) if context.facts else None
    spot = context.facts.spot_yd(figure.x_mm, figure.y_mm) if context.facts and figure else None
    complete = body.end == "complete"
    found = Finding(
        "pass",
        "reception" if complete else "interception",
        event.t_ns,
        f"{'caught' if complete else 'intercepted'} by {player}",
        ("EFL-038",) if complete else ("EFL-040", "EFL-041"),
        "caught",
        players=(player,),
        spot_yd=spot,
        side=side,
    )
    return Outcome(game, (found,))


def _missed(game: GameState, context: RuleContext) -> Outcome:
    made, tries = game.play.pass_attempts, context.params.count("pass.tries")
    text, key = f"incomplete, try {made} of {tries}", f"missed{made}"
    last = made >= tries
    found = Finding(
        "pass", "incomplete", context.t_ns, text, ("EFL-037",), key, reported=not last, detail=f"try_{made}"
    )
    return Outcome(game, (found,))


def caught(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """The catcher has the ball and the play goes on."""
    side = call.side or (game.offense if call.kind == "reception" else game.defense)
    play = replace(
        game.play,
        carrier=call.players[0] if call.players else None,
        possession_ns=call.t_ns,
        ball_side=side,
        pass_caught=True,
        switch=opponent(side) if side != game.offense else game.play.switch,
        start_yd=call.spot_yd[0] if call.spot_yd else None,
    )
    if call.kind == "interception" and play.stoppage is not None:
        play = replace(play, stoppage=replace(play.stoppage, reason="interception"))
    return Outcome(replace(game, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED, play=play))


def stops_late(consequence: Consequence) -> Consequence:
    """A consequence that also stops the clock in a half's last minutes (EFL-007, EFL-008, EFL-045)."""

    def apply(game: GameState, call: Call, context: RuleContext) -> Outcome:
        late = is_late(game.period, left_s(game, context), context.params)
        return consequence(clock_stopped(game, call.t_ns) if late else game, call, context)

    return apply


def line_reached(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Past the line the passer must run (EFL-028); nobody stops the board for it."""
    return Outcome(replace(game, play=replace(game.play, line_reached_ns=call.t_ns)))


def passer_touched(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """The right to pass is gone."""
    return Outcome(play_noted(game, "pass_over", 1.0) if call.detail == "pass_over" else game)


def claim(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """A time-out (EFL-006, 048, 049)."""
    body = body_of(event, Claim)
    if body.claim != "time_out":
        raise RefusedError(f"{body.claim.replace('_', ' ')}: this rulebook does not know such a claim")
    refuse_unless(game.phase in AT_REST, "time-out", game)
    home, away = game.time_outs or (0, 0)
    refusal = time_out_refusal(game.period, left_s(game, context), home if body.by == "home" else away, context.params)
    if refusal is not None:
        raise RefusedError(f"time-out: {refusal}")
    game = replace(game, time_outs=(home - 1, away) if body.by == "home" else (home, away - 1))
    text = f"time-out, {game.team(body.by).name}"
    found = Finding("clock", "timing", event.t_ns, text, ("EFL-006", "EFL-048"), body.by, side=body.by, reported=True)
    return Outcome(clock_stopped(game, event.t_ns), (found,))
