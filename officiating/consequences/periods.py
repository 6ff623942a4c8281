"""Periods of a game played on seconds: their ends, half-time, the end of the game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from downfield.officiating.calls import Call
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declared import AT_REST
from downfield.officiating.declarations import Side
from downfield.officiating.engine.findings import Finding
from downfield.officiating.engine.seams import Consequence, Handler, Outcome, View
from downfield.officiating.engine.state import Clock, GameState, Phase, other
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.params import Param, Params

CLOCK = "clock"
"""Rule id of what follows from the clock."""


def period_params(periods: int, period_s: float, reason: str) -> tuple[Param, ...]:
    """How a game is divided, with a rulebook's defaults."""
    return (
        Param("clock.periods", periods, "count", reason, low=2, high=8),
        Param("clock.period_s", period_s, "s", reason, low=1),
    )


def first_period(game: GameState, params: Params) -> GameState:
    """A game with its first period on the clock, stopped."""
    return replace(game, clock=Clock(params.real("clock.period_s"), False, game.now_ns))


def ends_on_time(handler: Handler) -> Handler:
    """A handler after which a period may be found to be over, the ball being dead."""

    def handle(game: GameState, event: Event, view: View) -> Outcome:
        outcome = handler(game, event, view)
        state = outcome.state
        if state.phase not in AT_REST or state.try_for is not None or state.clock.left_at_s(event.t_ns) != 0:
            return outcome
        text = f"end of period {state.period}"
        over = Finding(CLOCK, "period", view.t_ns, text, view.clauses("period"), "end", detail="end")
        return Outcome(state, (*outcome.findings, over))

    return handle


def period_ends(after_last: Callable[[GameState, Call, View], Outcome]) -> Consequence:
    """What the end of a period leads to: the next one, the second half's kickoff, or what follows the last.

    Args:
        after_last: what follows a last period that ends level.

    """

    def period(game: GameState, call: Call, view: View) -> Outcome:
        last, periods = game.period, view.params.count("clock.periods")
        home, away = game.score
        if last > periods or (last == periods and home != away):
            return Outcome(game, (game_over_finding(game, view),))
        if last == periods:
            return after_last(game, call, view)
        clock = Clock(view.params.real("clock.period_s"), False, view.t_ns)
        game = replace(game, period=last + 1, clock=clock)
        if last == periods // 2:
            game = downs.kick_due(game, other(game.opened or game.defense), "kickoff", call.t_ns)
        return Outcome(game)

    return period


def ends_level(game: GameState, _call: Call, view: View) -> Outcome:
    """A rulebook without overtime: the game is a tie."""
    return Outcome(game, (game_over_finding(game, view),))


def game_over_finding(game: GameState, view: View, clauses: tuple[str, ...] = ()) -> Finding:
    """The game is over, with its result."""
    home, away = game.score
    winner: Side | None = None if home == away else "home" if home > away else "away"
    text = f"the game ends level, {home} all" if winner is None else f"{game.team(winner).name} wins"
    cited = clauses or view.clauses("game_over")
    return Finding(CLOCK, "game_over", view.t_ns, text, cited, "over", side=winner)


def game_over(game: GameState, _call: Call, _view: View) -> Outcome:
    """Nothing more is played."""
    return Outcome(replace(game, phase=Phase.OVER, wait=None))


def clock_stopped(game: GameState, t_ns: int) -> GameState:
    """The game with its clock stopped."""
    return replace(game, clock=Clock(game.clock.left_at_s(t_ns), False, t_ns))
