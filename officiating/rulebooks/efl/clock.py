"""The EFL's clock: quarters, the time-out everybody gets at two minutes, the time-outs of a half."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.consequences.periods import clock_stopped, first_period, period_ends
from downfield.officiating.engine.interfaces import Handler, Outcome, RuleContext
from downfield.officiating.engine.state import GameState
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.efl.overtime import begins
from downfield.officiating.rulebooks.params import Param, Params

TIMING_PARAMS: Final = (Param("clock.two_minutes_s", 120.0, "s", "EFL-047", low=0),)

_period = period_ends(begins)


def begin(game: GameState, params: Params) -> GameState:
    """Before the first kickoff: the visitors kick to the home team (EFL-009)."""
    game = first_period(_with_time_outs(game, params), params)
    return replace(game, kicking="away", offense="home")


def halves(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """The end of a period; a half has its own time-outs."""
    outcome = _period(game, call, context)
    new_half = outcome.state.period != game.period and outcome.state.period in {3, 5}
    return replace(outcome, state=_with_time_outs(outcome.state, context.params)) if new_half else outcome


def two_minutes(handler: Handler) -> Handler:
    """A handler before which the two-minute time-out may have come, the ball being dead (EFL-047)."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        outcome = handler(game, event, context)
        state = outcome.state
        left = state.clock.left_at_s(event.t_ns)
        name = f"two_minutes_{state.period}"
        due = state.period in {2, 4} and left is not None and left <= context.params.real("clock.two_minutes_s")
        if not due or state.phase not in AT_REST or state.note(name) is not None:
            return outcome
        found = Finding(
            "clock", "timing", event.t_ns, "two-minute time-out", ("EFL-047",), "two_minutes", reported=True
        )
        return Outcome(clock_stopped(state, event.t_ns).with_note(name, 1.0), (*outcome.findings, found))

    return handle


def _with_time_outs(game: GameState, params: Params) -> GameState:
    each = params.count("time_out.per_half")
    return replace(game, time_outs=(each, each))
