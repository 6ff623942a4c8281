"""Handlers of the declarations that every rulebook shares: line-ups, the carrier, the switch, the clock.

A handler refuses a declaration that the state does not allow, with the reason; a refused declaration changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from downfield.core.errors import RefusedError
from downfield.officiating import declarations as d
from downfield.officiating.consequences.board import power_finding
from downfield.officiating.events import Event
from downfield.officiating.params import Params, read_params
from downfield.officiating.sides import ELIGIBLE, canonical_role
from downfield.officiating.state.game_state import Clock, GameState, Phase
from downfield.officiating.state.interfaces import Handler, Outcome, RuleContext
from downfield.officiating.state.play_state import Pose, poses_of

DeclarationT = TypeVar("DeclarationT")

LONGEST_CLOCK_S: Final = 4 * 3600.0  # longer than a game played on one clock

LINE_UP_PARAMS: Final = read_params("downfield.officiating.consequences", "line_up")
FULL_TURN_DEG: Final = 360.0
AT_REST: Final = frozenset({Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.SET})  # phases before the snap

SWITCHED_ON: Final = frozenset({Phase.LINE_UP, Phase.SET, Phase.STOPPED, Phase.PASS})
"""Phases that the board's coming on ends: a snap or a restart."""

BALL_LIVE: Final = frozenset({Phase.LIVE, Phase.IN_AIR, Phase.KICK})  # phases in which the board runs


def body_of(event: Event, kind: type[DeclarationT]) -> DeclarationT:
    """Return an event's declaration, whose class the table of handlers has matched already."""
    if not isinstance(event.body, kind):
        raise TypeError(f"{kind.__name__} expected, not {type(event.body).__name__}")
    return event.body


def refuse_unless(allowed: bool, name: str, game: GameState) -> None:
    """Refuse a declaration unless it is allowed now. Raises RefusedError: it is not allowed now."""
    if not allowed:
        waiting = f", waiting for {game.wait.purpose.replace('_', ' ')}" if game.wait else ""
        raise RefusedError(f"{name}: not now, the game is {game.phase.value.replace('_', ' ')}{waiting}")


def may_kick_off(game: GameState, kick: str) -> bool:
    """Return whether a kick of this name may be declared: when it is due, and again until its ball is held."""
    due = "free_kick" if game.due == "free_kick" else "kickoff" if game.due in {"kickoff", "onside"} else ""
    if ("kickoff" if kick == "onside" else kick) != due or (
        game.play.hold is not None and game.play.hold.how != "snap"
    ):
        return False
    if game.wait is not None:
        return game.wait.purpose in {"kickoff", "onside_length", "onside_place"}
    return game.phase in AT_REST or game.phase is Phase.KICK


def refuse_with_ball_free(game: GameState, name: str) -> None:
    """Refuse what needs the ball in hand, by a RefusedError, while a stopped board has a pass in the air."""
    stoppage = game.play.stoppage
    if stoppage is not None and stoppage.reason == "air":
        raise RefusedError(f"{name}: the pass is in the air, so nobody has the ball")


def apply_line_up(game: GameState, event: Event, _context: RuleContext) -> Outcome:
    """Set the roster on the board."""
    body = body_of(event, d.LineUpDeclared)
    refuse_unless(game.phase not in BALL_LIVE, "line-up", game)
    ids = [player.id for player in body.players]
    duplicate = next((name for name in ids if ids.count(name) > 1), None)
    if duplicate is not None:
        raise RefusedError(f"line-up: {duplicate} is on the board twice")
    game = replace(game, players=body.players)
    if body.offense is not None:
        game = replace(game, dark=game.offense if body.offense == "dark" else game.defense)
    return Outcome(game)


def period_s(params: Params, *, overtime: bool) -> float | None:
    """Return how long a period is, seconds; None where the rulebook does not say."""
    if "clock.line_s" in params.definitions:
        lines = params.count("clock.overtime_lines" if overtime else "clock.lines")
        return lines * params.real("clock.line_s")
    name = "overtime.period_s" if overtime else "clock.period_s"
    return params.real(name) if name in params.definitions else None


def check_time_left(left_s: float, name: str, period: int, params: Params) -> None:
    """Refuse a time that no period's clock shows, negative or longer than it, by a RefusedError."""
    if left_s < 0:
        raise RefusedError(f"{name}: time left can't be negative ({left_s:g} s)")
    if not left_s <= LONGEST_CLOCK_S:
        raise RefusedError(f"{name}: the clock shows 0 to {LONGEST_CLOCK_S / 60:g} minutes, not {left_s:g} s")
    length_s = period_s(params, overtime=period > params.count("clock.periods"))
    if length_s is not None and left_s > length_s:
        raise RefusedError(f"{name}: period {period} has {length_s:g} s, so {left_s:g} s can't be left")


def begin_line_up(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Begin the line-up: the figures of the last play are apart (TAP-074)."""
    refuse_unless(game.phase is Phase.BETWEEN_PLAYS, "separated", game)
    return Outcome(with_jerseys(replace(game, phase=Phase.LINE_UP, separated_ns=event.t_ns, set_ns=None), context))


def declare_set(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Record that the offense is set."""
    if game.phase is Phase.SET:
        raise RefusedError("set: the offense has already declared itself set")
    refuse_unless(game.phase in AT_REST, "set", game)
    return Outcome(replace(game, phase=Phase.SET, set_ns=event.t_ns, set_poses=_poses(context), ready_poses=()))


def settle_front(game: GameState, event: Event, _context: RuleContext) -> Outcome:
    """Accept where a figure faces; the tracker, which measures headings, takes it from the game's record."""
    body = body_of(event, d.FrontDeclared)
    require_on_board(game, body.player, "front")
    if not abs(body.heading_deg) <= FULL_TURN_DEG:
        raise RefusedError(f"front: a heading is -360 to 360 degrees, not {body.heading_deg:g}")
    return Outcome(game)


def settle_identities(game: GameState, event: Event, _context: RuleContext) -> Outcome:
    """Accept who is who; the tracker takes it from the game's record."""
    for spot in body_of(event, d.IdentitiesDeclared).places:
        require_on_board(game, spot.id, "identities")
    return Outcome(game)


def name_carrier(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Record the announced ball carrier (TAP-082, LD-037)."""
    body = body_of(event, d.Carrier)
    at_snap = game.phase in AT_REST
    # A carrier named late is better than none: the rules have watched nobody so far.
    late = game.phase in {Phase.LIVE, Phase.STOPPED} and game.play.carrier is None
    refuse_unless(at_snap or late, "carrier", game)
    if game.phase is Phase.BETWEEN_PLAYS:
        game = with_jerseys(replace(game, phase=Phase.LINE_UP), context)
    require_on_side(game, body.player, game.play.ball_side if late else game.offense, "carrier")
    play = replace(game.play, carrier=body.player, snapped_to=game.play.snapped_to or body.player)
    if late:
        play = play.with_hold(player=body.player)
    return Outcome(replace(game, play=play))


def turn_switch(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Accept a declared turn of the switch before it is measured (TAP-085), also on where off was never declared."""
    body = body_of(event, d.Switch)
    power = "on" if body.on else "off"
    acts = game.phase in (SWITCHED_ON if body.on else BALL_LIVE)
    if game.board == power and not acts:
        raise RefusedError(f"switch: the board is {power} already")
    owner = game.play.switch or (game.offense if game.phase in SWITCHED_ON else None)
    clauses = context.clauses("switch")
    if clauses and body.on and acts and owner is not None and body.by not in {None, owner}:
        raise RefusedError(f"switch: {game.team(owner).name} starts the board now ({clauses[0]})")
    return Outcome(
        replace(game, board="on" if body.on else "off"), (power_finding(event.t_ns, on=body.on, by=body.by),)
    )


def finish_pivots(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Note that a coach has finished his pivots; between "set" and the snap, the defense its line-up."""
    body = body_of(event, d.PivotsDone)
    stoppage = game.play.stoppage
    if game.phase is Phase.SET and body.by == game.defense:
        return Outcome(replace(game, ready_poses=_poses(context)))
    if stoppage is None:
        raise RefusedError("pivots done: the board is not stopped in mid-play")
    has_ball = body.by == game.play.ball_side
    if (stoppage.offense_done_ns if has_ball else stoppage.defense_done_ns) is not None:
        raise RefusedError("pivots done: that coach has declared it already")
    t_ns = event.t_ns
    stoppage = replace(stoppage, offense_done_ns=t_ns) if has_ball else replace(stoppage, defense_done_ns=t_ns)
    return Outcome(replace(game, play=replace(game.play, stoppage=stoppage)))


def _poses(context: RuleContext) -> tuple[Pose, ...]:
    return poses_of(context.facts.scene) if context.facts is not None else ()


def swap_base(game: GameState, event: Event, _context: RuleContext) -> Outcome:
    """Record that a figure was put onto another base, or that a passer in the pocket lost his base (LD-041)."""
    body = body_of(event, d.BaseSwap)
    require_on_board(game, body.player, "base swap")
    stoppage = game.play.stoppage
    if stoppage is None:
        refuse_unless(game.phase in AT_REST, "base swap", game)
        return Outcome(game)
    if body.player in stoppage.swaps:
        raise RefusedError(f"base swap: {body.player} has been swapped in this stoppage already")
    stoppage = replace(stoppage, swaps=(*stoppage.swaps, body.player))
    return Outcome(replace(game, play=replace(game.play, stoppage=stoppage)))


def set_clock(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Start, stop or set the game clock by the one clock of the table (TAP-018, EFL-004, EFL-005, EFL-044)."""
    body = body_of(event, d.ClockSet)
    refuse_unless(game.phase is not Phase.OVER, "clock", game)
    left_s = body.left_s if body.left_s is not None else game.clock.left_at_s(event.t_ns)
    if left_s is None:
        raise RefusedError("clock: it has no time yet; enter how much is left")
    check_time_left(left_s, "clock", game.period, context.params)
    return Outcome(replace(game, clock=Clock(left_s, body.running, event.t_ns)))


def place_ball(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Put the magnetic ball on the field or take it away."""
    body = body_of(event, d.BallPlaced)
    if body.x_yd is None and body.y_yd is None:
        return Outcome(replace(game, play=replace(game.play, ball_mm=None)))
    if body.x_yd is None or body.y_yd is None:
        raise RefusedError("ball placed: enter both places, along and across the field (x_yd, y_yd)")
    require_on_field(game, (body.x_yd, body.y_yd), "ball placed")
    position_mm = (body.x_yd * context.field.mm_per_yd_x, body.y_yd * context.field.mm_per_yd_y)
    return Outcome(replace(game, play=replace(game.play, ball_mm=position_mm)))


def require_on_field(game: GameState, spot_yd: tuple[float, float], name: str) -> None:
    """Refuse a place that is not on the field or in an end zone. Raises RefusedError: it is beside or beyond it."""
    x_yd, y_yd = spot_yd
    if not (-game.end_zone_yd <= x_yd <= game.length_yd + game.end_zone_yd and 0 <= y_yd <= game.width_yd):
        raise RefusedError(f"{name}: {x_yd:g}, {y_yd:g} yd is not on the field")


def require_on_board(game: GameState, player: str, name: str) -> None:
    """Refuse a declaration about a figure that is not on the board. Raises RefusedError: no such figure."""
    if game.player(player) is None:
        raise RefusedError(f"{name}: there is no figure {player!r} on the board")


def require_on_side(game: GameState, player: str, side: d.Side, name: str) -> None:
    """Refuse a declaration about a figure of the wrong team. Raises RefusedError: unknown, or the other team's."""
    require_on_board(game, player, name)
    entry = game.player(player)
    if entry is not None and game.side_of(entry.jersey) != side:
        raise RefusedError(f"{name}: {player} does not play for {game.team(side).name}")


def require_receiver(game: GameState, player: str, name: str, clause: str) -> None:
    """Refuse who may not catch a pass wherever he stands. Raises RefusedError: no teammate, the passer, a lineman."""
    require_on_side(game, player, game.offense, name)
    if player == game.play.carrier:
        raise RefusedError(f"{name}: the passer can't be his own receiver")
    entry = game.player(player)
    if entry is not None and entry.role and canonical_role(entry.role) not in ELIGIBLE:
        raise RefusedError(f"{name}: {player} ({entry.role}) is not an eligible receiver ({clause})")


def with_jerseys(game: GameState, context: RuleContext) -> GameState:
    """Return the game with the jerseys of the next play, where the rulebook gives the dark one to the offense."""
    if context.params.flag("line_up.jersey_by_role"):
        return replace(game, dark=game.offense)
    return game


SHARED: Final[Mapping[type[Any], Handler]] = {
    d.LineUpDeclared: apply_line_up,
    d.Separated: begin_line_up,
    d.OffenseSet: declare_set,
    d.FrontDeclared: settle_front,
    d.IdentitiesDeclared: settle_identities,
    d.Carrier: name_carrier,
    d.Switch: turn_switch,
    d.PivotsDone: finish_pivots,
    d.BaseSwap: swap_base,
    d.ClockSet: set_clock,
    d.BallPlaced: place_ball,
}
"""Handlers that every rulebook shares, by declaration class; a system adds its own."""
