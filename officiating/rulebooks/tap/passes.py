"""TAP's passes and pitches: what may be declared in a stoppage, and what a catch, a turnover or a miss leads to."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from downfield.core.errors import RefusedError
from downfield.officiating.calls import Call, Finding
from downfield.officiating.checks.roles import LINEMEN, canonical_role
from downfield.officiating.consequences.declaration_handlers import body_of, refuse_unless, require_on_side
from downfield.officiating.declarations import ChoiceMade, PassDeclared, Pitch
from downfield.officiating.engine.facts import exceedance_probability, outermost_x, segment_meets_base
from downfield.officiating.engine.interfaces import Outcome, RuleContext
from downfield.officiating.engine.state import GameState, Phase, opponent
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.params import Param
from downfield.officiating.rules.ball import ball_position, overrun_mm

STICKS: Final = "the book gives no lengths; measure the sticks on the table"

PASS_PARAMS: Final = (
    Param("pass.short_stick_mm", 75.0, "mm", STICKS, low=10, high=1000),
    Param("pass.medium_stick_mm", 125.0, "mm", STICKS, low=10, high=1000),
    Param("pass.long_stick_mm", 175.0, "mm", STICKS, low=10, high=1000),
    Param("pass.overrun_base_lengths", 1.0, "", "past the ball by more than one base length", low=0, high=5),
)


def declare_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """``PASS``: in a stoppage, by the quarterback, behind the line, to somebody who may catch it.

    It goes by the passing sticks (TAP-020), whose length the coach measures (TAP-097).
    """
    body = body_of(event, PassDeclared)
    play, stoppage = game.play, game.play.stoppage
    refuse_unless(game.phase is Phase.STOPPED and stoppage is not None, "pass", game)
    assert stoppage is not None
    if stoppage.pass_ns is not None:
        raise RefusedError("pass: it has been declared in this stoppage already")
    if play.ball_side != game.offense or play.kind not in {"scrimmage", "punt", "two_point"}:
        raise RefusedError("pass: only the offense of a play from scrimmage may pass")
    if play.pass_caught:
        raise RefusedError("pass: the ball has been passed in this play already")
    if play.line_reached_ns is not None:
        raise RefusedError("pass: the line of scrimmage has been reached (TAP-096)")
    _may_throw(game)
    _behind_line(game, context)
    if body.receiver is not None:
        _may_receive(game, body.receiver, context)
    stoppage = replace(stoppage, pass_ns=event.t_ns)
    play = replace(play, stoppage=stoppage, receiver=body.receiver, pass_attempts=play.pass_attempts + 1, ball_mm=None)
    return Outcome(replace(game, phase=Phase.PASS, play=play))


def declare_pitch(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """A pitch: back to a running back within the short stick, nobody in between."""
    body = body_of(event, Pitch)
    play = game.play
    refuse_unless(game.phase is Phase.STOPPED and play.stoppage is not None, "pitch", game)
    if play.line_reached_ns is not None:
        raise RefusedError("pitch: the line of scrimmage has been reached (TAP-088)")
    require_on_side(game, body.to, play.ball_side, "pitch")
    if body.to == play.carrier:
        raise RefusedError(f"pitch: {body.to} has the ball already")
    if _direct_snap(game):
        raise RefusedError("pitch: a running back who took the snap may not pitch (TAP-084)")
    entry = game.player(body.to)
    if entry is not None and entry.role and canonical_role(entry.role) != "RB":
        raise RefusedError(f"pitch: only to a running back, not to {body.to} ({entry.role}) (TAP-094)")
    if play.fallen_ns(body.to) is not None:
        raise RefusedError(f"pitch: {body.to} has fallen and is out of the play (TAP-028)")
    doubts = _pitch_geometry(game, body.to, context)
    return Outcome(replace(game, play=replace(play, carrier=body.to)), doubts)


def _pitch_geometry(game: GameState, to: str, context: RuleContext) -> tuple[Finding, ...]:
    """Refuse a pitch that is surely illegal; report one that is too close to tell."""
    facts = context.facts
    carrier = facts.figures.get(game.play.carrier or "") if facts else None
    back = facts.figures.get(to) if facts else None
    if facts is None or carrier is None or back is None:
        return ()
    distance = math.hypot(back.x_mm - carrier.x_mm, back.y_mm - carrier.y_mm)
    sigma = math.hypot(*carrier.sigma_mm, *back.sigma_mm)
    behind = (carrier.x_mm - back.x_mm) * game.ball_direction
    measured = (
        (behind, f"{to} is {behind:.0f} mm behind the carrier"),
        (
            context.params.real("pass.short_stick_mm") - distance,
            f"{to} is {distance:.0f} mm away, the short stick is {context.params.real('pass.short_stick_mm'):.0f} mm",
        ),
    )
    sure = context.params.real("calls.confidence")
    doubts = []
    for margin, text in measured:
        probability = exceedance_probability(margin, sigma)
        if probability <= 1 - sure:
            raise RefusedError(f"pitch: {text} (TAP-094)")
        if probability < sure:
            doubts.append(
                _doubt(context, f"pitch: {text}: too close to tell", (carrier.id, to), margin, sigma, probability)
            )
    for figure in facts.scene.figures:
        if figure.jersey != carrier.jersey and segment_meets_base(figure, carrier, back):
            raise RefusedError(f"pitch: {figure.id} stands in between (TAP-094)")
    return tuple(doubts)


def overrun_stop(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """The offense stops a pass its receiver has run past: dead, no interception (TAP-104)."""
    refuse_unless(game.phase is Phase.IN_AIR or _in_air_stop(game), "overrun", game)
    facts, receiver = context.facts, game.play.receiver
    place = ball_position(facts.scene, game) if facts else None
    figure = facts.figures.get(receiver) if facts and receiver else None
    text = "receiver past the ball: the play is dead, no interception"
    if figure is None or place is None:
        return Outcome(game, (_overrun(context, text, None, None, 1.0, receiver),))
    past = overrun_mm(figure, *place)
    margin = past - context.params.real("pass.overrun_base_lengths") * figure.length_mm
    sigma = math.hypot(*figure.sigma_mm)
    probability = exceedance_probability(margin, sigma)
    if probability <= 1 - context.params.real("calls.confidence"):
        raise RefusedError(f"overrun: the whole of {figure.id} is only {past:.0f} mm past the ball (TAP-104)")
    return Outcome(game, (_overrun(context, text, margin, sigma, probability, receiver),))


def reception(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Caught: the catcher has the ball; the board stops, and that stop is nobody's (TAP-102)."""
    play = replace(
        game.play, carrier=_first(call), possession_ns=call.t_ns, pass_caught=True, ball_mm=None, forced_stop="catch"
    )
    return Outcome(replace(game, phase=Phase.LIVE, play=play))


def interception(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Intercepted: the other side has the ball and may run it back; the passers work the switch."""
    play = replace(
        game.play,
        carrier=_first(call),
        possession_ns=call.t_ns,
        ball_side=opponent(game.play.ball_side),
        pass_caught=True,
        ball_mm=None,
        switch=game.play.ball_side,
        start_yd=call.spot_yd[0] if call.spot_yd else None,
        forced_stop="interception",
    )
    return Outcome(replace(game, phase=Phase.LIVE, play=play))


def passer_behind_ball(game: GameState, context: RuleContext) -> tuple[Finding, ...]:
    """As the board comes on for a pass: the ball must lie ahead of the passer's base (TAP-107)."""
    facts = context.facts
    carrier = facts.figures.get(game.play.carrier or "") if facts else None
    place = ball_position(facts.scene, game) if facts else None
    if game.phase is not Phase.PASS or carrier is None or place is None:
        return ()
    reach = outermost_x(carrier, game.ball_direction)
    margin = (place[0] - reach.x_mm) * game.ball_direction
    if margin >= 0:
        return ()
    text = f"the ball lies {-margin:.0f} mm behind the front of the passer's base; it must lie ahead (TAP-107)"
    found = _doubt(
        context, text, (carrier.id,), -margin, reach.sigma_mm, exceedance_probability(-margin, reach.sigma_mm)
    )
    return (replace(found, clauses=("TAP-107",), detail="ball_behind_passer"),)


def _first(call: Call) -> str | None:
    return call.players[0] if call.players else None


def _direct_snap(game: GameState) -> bool:
    entry = game.player(game.play.snapped_to)
    return entry is not None and game.play.carrier == entry.id and canonical_role(entry.role) == "RB"


def _may_throw(game: GameState) -> None:
    if _direct_snap(game):
        raise RefusedError("pass: a running back who took the snap may not pass (TAP-084)")
    entry = game.player(game.play.carrier)
    if entry is not None and entry.role and canonical_role(entry.role) not in {"QB", "P"}:
        raise RefusedError(f"pass: only the quarterback may pass, not {entry.id} ({entry.role}) (TAP-096)")


def _behind_line(game: GameState, context: RuleContext) -> None:
    carrier = context.facts.figures.get(game.play.carrier or "") if context.facts else None
    if carrier is None:
        return
    reach = outermost_x(carrier, game.ball_direction)
    short = (game.los_yd * context.field.mm_per_yd_x - reach.x_mm) * game.ball_direction
    if exceedance_probability(short, reach.sigma_mm) <= 1 - context.params.real("calls.confidence"):
        raise RefusedError(f"pass: {carrier.id} is {-short:.0f} mm past the line of scrimmage (TAP-096)")


def _may_receive(game: GameState, receiver: str, context: RuleContext) -> None:
    require_on_side(game, receiver, game.offense, "pass")
    entry = game.player(receiver)
    if receiver in game.play.gunners:
        raise RefusedError(f"pass: {receiver} is a gunner and may not catch a fake punt (TAP-116)")
    if receiver == game.play.carrier:
        raise RefusedError("pass: the passer can't be his own receiver")
    if entry is not None and canonical_role(entry.role) in LINEMEN:
        raise RefusedError(f"pass: {receiver} ({entry.role}) is a lineman, not an eligible receiver (TAP-112)")
    if game.play.fallen_ns(receiver) is not None:
        raise RefusedError(f"pass: {receiver} has fallen and is out of the play (TAP-028)")
    sure = context.params.real("calls.confidence")
    if context.facts and any(touch.probability >= sure for touch in context.facts.opponent_contacts(receiver)):
        raise RefusedError(f"pass: {receiver} is engaged and may not catch a pass (TAP-030)")


def _in_air_stop(game: GameState) -> bool:
    return game.phase is Phase.STOPPED and game.play.stoppage is not None and game.play.stoppage.reason == "air"


def _overrun(
    context: RuleContext, text: str, margin: float | None, sigma: float | None, probability: float, receiver: str | None
) -> Finding:
    return Finding(
        rule="overrun",
        kind="overrun",
        t_ns=context.t_ns,
        text=text,
        clauses=("TAP-104",),
        players=(receiver,) if receiver else (),
        margin=margin,
        sigma=sigma,
        unit="" if margin is None else "mm",
        probability=probability,
        against="the receiver is not a base length past the ball",
    )


def _doubt(
    context: RuleContext, text: str, players: tuple[str, ...], margin: float, sigma: float, probability: float
) -> Finding:
    return Finding(
        rule="pass",
        kind="info",
        t_ns=context.t_ns,
        text=text,
        clauses=("TAP-094",),
        players=players,
        margin=margin,
        sigma=sigma,
        unit="mm",
        probability=probability,
        reported=True,
    )
