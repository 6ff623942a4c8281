"""Periods of a game played on seconds: their ends, half-time, overtime, the end of the game.

Overtime as colleges play it, where a league sets it: a series for each side from a yard line, until a round decides. A
possession is over as soon as the ball is dead and a kick is due, or the other side's down is. The game is over as soon
as who has the last series of a round leads, also by what he scored on defense. No clock runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.declarations import Side
from downfield.officiating.events import Event
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.state.game_state import Clock, GameState, Overtime, Phase, opponent
from downfield.officiating.state.interfaces import Consequence, Handler, Outcome, RuleContext

TOUCHDOWN_GAIN_YD: Final = 1000.0  # a touchdown beats any number of yards (TAP-132, by the clause on ties)


def yards_winner(first: Side, gains_yd: tuple[float, float]) -> Side | None:
    """Return the winner of a round of one play each by their yards, None when another follows (TAP-132, TAP-134).

    A turnover counts as 0 and a touchdown as `TOUCHDOWN_GAIN_YD`.
    """
    first_yd, second_yd = gains_yd
    if first_yd == second_yd or max(gains_yd) <= 0:
        return None
    return first if first_yd > second_yd else opponent(first)


def clock_overtime_over(ended: Sequence[float], lead: int, left_s: float) -> tuple[bool, tuple[str, ...]]:
    """Return whether an overtime on the clock is over, and by which clauses (EFL-071, EFL-073..076).

    It goes on while the score is tied. Only after a field goal on the very first possession does the other team get a
    possession to answer it. `ended` are the points scored in each possession that is over, in order, `lead` is either
    team's.
    """
    if lead == 0:
        return left_s <= 0, ("EFL-076",) if left_s <= 0 else ("EFL-071",)
    if ended and ended[0] == downs.FIELD_GOAL:
        return len(ended) > 1 or left_s <= 0, ("EFL-074",)
    return True, ("EFL-073",) if len(ended) <= 1 else ("EFL-075",)


FIRST_KICKER: Final[Side] = "away"
CLOCK: Final = "clock"  # rule id of findings that follow from the clock


def period_params(periods: int, period_s: float, reason: str) -> tuple[Param, ...]:
    """Return the parameters of a game's periods with a rulebook's defaults."""
    return (
        Param("clock.periods", periods, "count", reason, low=2, high=8),
        Param("clock.period_s", period_s, "s", reason, low=1),
    )


def begin_first_period(game: GameState, params: Params) -> GameState:
    """Return a game with its first period on the clock, stopped."""
    return replace(game, clock=Clock(params.real("clock.period_s"), False, game.now_ns))


def is_time_up(game: GameState, t_ns: int) -> bool:
    """Return whether the period is over: its time is up, the ball is dead and no try is due."""
    return game.phase in AT_REST and game.try_for is None and game.clock.left_at_s(t_ns) == 0


def end_period_in_time(game: GameState, context: RuleContext) -> Outcome:
    """End the period once its time is up and the ball is dead."""
    if not is_time_up(game, context.t_ns):
        return Outcome(game)
    text = f"end of period {game.period}"
    over = Finding(CLOCK, "period", context.t_ns, text, context.clauses("period"), "end", detail="end")
    return Outcome(game, (over,))


def unless_time_is_up(handler: Handler) -> Handler:
    """Return a handler of what begins a play: where the time is already up, the period ends instead."""

    def handle(game: GameState, event: Event, context: RuleContext) -> Outcome:
        return end_period_in_time(game, context) if is_time_up(game, context.t_ns) else handler(game, event, context)

    return handle


def make_period_end(after_last: Consequence) -> Consequence:
    """Return the consequence of a period's end: the next one, the second half's kickoff, or what follows the last."""

    def period(game: GameState, call: Call, context: RuleContext) -> Outcome:
        last, periods = game.period, context.params.count("clock.periods")
        if last > periods or (last == periods and game.leader):
            return Outcome(game, (game_over_finding(game, context),))
        if last == periods:
            return after_last(game, call, context)
        clock = Clock(context.params.real("clock.period_s"), False, context.t_ns)
        game = replace(game, period=last + 1, clock=clock)
        if last == periods // 2:
            game = kick_off_half(game, context)
        return Outcome(game)

    return period


def end_in_tie(game: GameState, _call: Call, context: RuleContext) -> Outcome:
    """End the game in a tie, under a rulebook without overtime."""
    return Outcome(game, (game_over_finding(game, context),))


def game_over_finding(game: GameState, context: RuleContext, clauses: tuple[str, ...] = ()) -> Finding:
    """Return the finding that the game is over, with its result."""
    winner, (home, away) = game.leader, game.score
    text = f"the game ends in a tie, {home}-{away}" if winner is None else f"{game.team(winner).name} wins"
    cited = clauses or context.clauses("game_over")
    return Finding(CLOCK, "game_over", context.t_ns, text, cited, "over", side=winner)


def end_game(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """End the game; the call's side has won it, whatever the score, and without one whoever leads."""
    return Outcome(replace(game, phase=Phase.OVER, wait=None, winner=call.side or game.leader))


def kick_off_half(game: GameState, context: RuleContext) -> GameState:
    """Return the game with the second half's kickoff due, by who received first: home if not told (EFL-009)."""
    return downs.schedule_kick(game, opponent(game.opening_kicker or FIRST_KICKER), "kickoff", context)


def stop_clock(game: GameState, t_ns: int) -> GameState:
    """Return the game with its clock stopped."""
    return replace(game, clock=Clock(game.clock.left_at_s(t_ns), False, t_ns))


BallDead = Callable[[GameState, RuleContext], Outcome]

COLLEGE_PARAMS: Final = read_params("downfield.officiating.consequences", "college")


def is_college(params: Params) -> bool:
    """Return whether overtime is played in series."""
    name = "overtime.series_from_yd"
    return name in params.definitions and params.real(name) > 0


def or_series(after_tie: Consequence) -> Consequence:
    """Return what follows a tie after the last period: series, where the league plays them; else as the book says.

    The side that kicked off the game has the ball first.
    """

    def after(game: GameState, call: Call, context: RuleContext) -> Outcome:
        if not is_college(context.params):
            return after_tie(game, call, context)
        game = replace(game, period=game.period + 1, clock=Clock(None, False, context.t_ns))
        return Outcome(_series(game, Overtime(1, game.opening_kicker or FIRST_KICKER), context))

    return after


def or_next_series(ball_dead: BallDead) -> BallDead:
    """Return what follows while the ball is dead: the other side's series once one is over, or the end of the game."""

    def dead(game: GameState, context: RuleContext) -> Outcome:
        overtime = game.overtime
        if overtime is None or not is_college(context.params):
            return ball_dead(game, context)
        side, last = series_holder(overtime), opponent(overtime.first)
        if game.phase is not Phase.OVER and game.points(last) > game.points(overtime.first):
            return Outcome(game, (game_over_finding(game, context),))
        is_over = game.due in {"kickoff", "free_kick"} or (game.due == "scrimmage" and game.offense != side)
        if game.phase not in AT_REST or not is_over:
            return Outcome(game)
        if not overtime.gains_yd:
            return Outcome(_series(game, replace(overtime, gains_yd=(0.0,)), context))
        if game.leader:
            return Outcome(game, (game_over_finding(game, context),))
        again = Overtime(overtime.number + 1, opponent(overtime.first))
        text = f"overtime {overtime.number} ends tied: another follows"
        tied = Finding("overtime", "info", context.t_ns, text, (), str(overtime.number), reported=True)
        return Outcome(_series(game, again, context), (tied,))

    return dead


def series_holder(overtime: Overtime) -> Side:
    """Return whose series it is."""
    return opponent(overtime.first) if overtime.gains_yd else overtime.first


def _series(game: GameState, overtime: Overtime, context: RuleContext) -> GameState:
    """Return the game with the next side's series of an overtime; both keep the goals that they attack."""
    side = series_holder(overtime)
    direction = game.direction_of(side)
    own = game.length_yd - context.params.real("overtime.series_from_yd")
    game = replace(downs.end_play(game), overtime=overtime, kicking=None)
    x_yd = game.board_x_yd(own, direction)
    return downs.start_series(game, side, direction, x_yd, game.width_yd / 2, context.t_ns, context)
