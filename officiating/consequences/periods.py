"""Periods and overtimes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.declarations import Side
from downfield.officiating.engine.interfaces import Consequence, Handler, Outcome, RuleContext
from downfield.officiating.engine.state import Clock, GameState, Phase, opponent
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.params import Param, Params

TOUCHDOWN_GAIN_YD: Final = 1000.0
"""A touchdown beats any number of yards (TAP-132, by the clause on ties)."""

PossessionEnd = Literal["touchdown", "safety", "field_goal", "nothing"]


@dataclass(frozen=True, slots=True)
class Possession:
    """One possession of an overtime played on the clock.

    Attributes:
        side: who had the ball.
        end: what it came to; ``"nothing"`` for a turnover, a punt, a miss or lost downs.

    """

    side: Side
    end: PossessionEnd


def yards_winner(first: Side, gains_yd: tuple[float, float]) -> Side | None:
    """The winner of a round of one play each, None when another round follows (TAP-132, TAP-134).

    Args:
        first: who went first.
        gains_yd: his and the other's yards; a turnover counts as 0 and a touchdown as `TOUCHDOWN_GAIN_YD`.

    """
    mine, theirs = gains_yd
    if mine == theirs or max(gains_yd) <= 0:
        return None
    return first if mine > theirs else opponent(first)


def clock_overtime_over(ended: tuple[Possession, ...], lead: int, left_s: float) -> tuple[bool, tuple[str, ...]]:
    """Whether an overtime on the clock is over, and by which clauses (EFL-071, EFL-073..076).

    It goes on while the score is tied; only after a field goal on the very first possession does the other team
    have one of its own to answer it.

    Args:
        ended: the possessions so far, in order.
        lead: either team's points less the other's.
        left_s: time left.

    """
    if lead == 0:
        return left_s <= 0, ("EFL-076",) if left_s <= 0 else ("EFL-071",)
    if ended and ended[0].end == "field_goal":
        return (True, ("EFL-074",)) if len(ended) > 1 or left_s <= 0 else (False, ("EFL-074",))
    if len(ended) <= 1:
        return True, ("EFL-073",)
    return True, ("EFL-075",)


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

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        outcome = handler(game, event, context)
        state = outcome.state
        if state.phase not in AT_REST or state.try_for is not None or state.clock.left_at_s(event.t_ns) != 0:
            return outcome
        text = f"end of period {state.period}"
        over = Finding(CLOCK, "period", context.t_ns, text, context.clauses("period"), "end", detail="end")
        return Outcome(state, (*outcome.findings, over))

    return handle


def period_ends(after_last: Callable[[GameState, Call, RuleContext], Outcome]) -> Consequence:
    """What the end of a period leads to: the next one, the second half's kickoff, or what follows the last.

    Args:
        after_last: what follows a last period that ends level.

    """

    def period(game: GameState, call: Call, context: RuleContext) -> Outcome:
        last, periods = game.period, context.params.count("clock.periods")
        home, away = game.score
        if last > periods or (last == periods and home != away):
            return Outcome(game, (game_over_finding(game, context),))
        if last == periods:
            return after_last(game, call, context)
        clock = Clock(context.params.real("clock.period_s"), False, context.t_ns)
        game = replace(game, period=last + 1, clock=clock)
        if last == periods // 2:
            game = downs.schedule_kick(game, opponent(game.opening_kicker or game.defense), "kickoff", call.t_ns)
        return Outcome(game)

    return period


def ends_level(game: GameState, _call: Call, context: RuleContext) -> Outcome:
    """A rulebook without overtime: the game is a tie."""
    return Outcome(game, (game_over_finding(game, context),))


def game_over_finding(game: GameState, context: RuleContext, clauses: tuple[str, ...] = ()) -> Finding:
    """The game is over, with its result."""
    home, away = game.score
    winner: Side | None = None if home == away else "home" if home > away else "away"
    text = f"the game ends level, {home} all" if winner is None else f"{game.team(winner).name} wins"
    cited = clauses or context.clauses("game_over")
    return Finding(CLOCK, "game_over", context.t_ns, text, cited, "over", side=winner)


def game_over(game: GameState, _call: Call, _context: RuleContext) -> Outcome:
    """Nothing more is played."""
    return Outcome(replace(game, phase=Phase.OVER, wait=None))


def clock_stopped(game: GameState, t_ns: int) -> GameState:
    """The game with its clock stopped."""
    return replace(game, clock=Clock(game.clock.left_at_s(t_ns), False, t_ns))
