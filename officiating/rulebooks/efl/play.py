"""The EFL's plays from scrimmage: the ball carrier, the line of scrimmage, time-outs."""

from __future__ import annotations

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs, told_plays
from downfield.officiating.consequences.declaration_handlers import AT_REST, body_of, name_carrier, refuse_unless
from downfield.officiating.consequences.periods import stop_clock
from downfield.officiating.declarations import Carrier, Claim, PlayEnded
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.efl.play_calls import (
    current_situation,
    report_play_call,
    required_play,
    time_left_s,
    time_out_refusal,
)
from downfield.officiating.sides import canonical_role
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import Stoppage


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


def fumble_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Leave the ball free until somebody is told to have it; the book says nothing of fumbles (EFL-G1)."""
    play = downs.held_by_fumbler(game.play, call).lost(call.t_ns, call.spot_yd)
    play = replace(play, fumble_yd=call.spot_yd or (game.los_yd, game.width_yd / 2))
    stoppage = play.stoppage or Stoppage(number=0, since_ns=context.t_ns)
    play = replace(play, stoppage=replace(stoppage, reason="fumble", number=0))
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
