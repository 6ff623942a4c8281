"""Lion's Den's kicks, all by dice: 3d10 + 20 + the kicker's bonus, 1d10 for the side, percentile at goal."""

from __future__ import annotations

from typing import Final, cast

from downfield.core.errors import RefusedError
from downfield.core.footprint import signed_gap
from downfield.core.records import replace
from downfield.core.scene import Figure
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    body_of,
    may_kick_off,
    refuse_unless,
    require_on_side,
)
from downfield.officiating.consequences.rolls_and_choices import d10, percentile, wait_for_roll
from downfield.officiating.declarations import KickDeclared, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.lions_den import tables
from downfield.officiating.rulebooks.lions_den.penalties import after_down
from downfield.officiating.rulebooks.lions_den.play import resume_play
from downfield.officiating.rulebooks.lions_den.skilled_players import kick_modifier, rating_of
from downfield.officiating.sides import canonical_role
from downfield.officiating.state.facts import outermost_x
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState, Stoppage
from downfield.officiating.unseen_declarations import DuePlay

KICK: Final = "kick"  # rule id of findings that follow from kicks


def declare_kick(game: GameState, event: Event, _context: RuleContext) -> Outcome:
    """Handle a declared kick: the game waits for its dice. A coin has decided which side kicks off first (LD-029)."""
    body = body_of(event, KickDeclared)
    if body.kick == "extra_point":
        refuse_unless(game.wait is not None and game.wait.purpose == "extra_point", "extra point", game)
        return Outcome(game)
    if body.kick == "onside":
        raise RefusedError("onside kick: this rulebook has no onside kicks")
    punted = body.kick == "punt" and game.due == "free_kick"  # after a safety the kick is a punt (LD-026)
    if may_kick_off(game, "free_kick" if punted else body.kick):
        return _declare_kickoff(game, body)
    refuse_unless(game.phase in AT_REST, body.kick.replace("_", " "), game)
    refuse_unless(game.due == "scrimmage" and body.kick in {"punt", "field_goal"}, body.kick, game)
    rating_of(game, "punter" if body.kick == "punt" else "kicker", game.offense)  # refuses while it is not rolled
    if body.returner is not None:
        require_on_side(game, body.returner, game.defense, "returner")
    play = replace(game.play, kind=body.kick, returner=body.returner, ball_side=game.offense)
    return Outcome(wait_for_roll(replace(game, play=play), body.kick, game.offense))


def _declare_kickoff(game: GameState, body: KickDeclared) -> Outcome:
    """Handle a kickoff, or the punt after a safety (LD-026)."""
    kicking: Side = game.kicking or game.defense
    rating_of(game, "kicker" if game.due == "kickoff" else "punter", kicking)  # refuses while it is not rolled
    if body.returner is not None:
        require_on_side(game, body.returner, game.offense, "returner")
    game = replace(  # the ball lies where the kick is due, moved by any penalty before it
        downs.with_kicker(game),
        play=PlayState(kind=game.due, ball_side=game.offense, returner=body.returner, switch=kicking),
    )
    return Outcome(wait_for_roll(game, "kickoff", kicking))


def roll_kickoff(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle three dice for the length and one for the side (LD-032..034); after a safety they are the punter's."""
    kicking: Side = game.kicking or game.defense
    position = "kicker" if game.play.kind == "kickoff" else "punter"
    length, direction = _read_kick(roll, kick_modifier(game, position, kicking, context), context)
    own = game.line_yd - length
    if direction == "out_of_bounds" and position == "punter" and own <= 0:
        return _touchback(game, length, game.offense, context)
    if direction == "out_of_bounds":
        x_yd = game.board_x_yd(context.params.real("kickoff.out_yd") if position == "kicker" else own)
        text = f"kick out of bounds, {game.team(game.offense).name} ball at {game.spot_text(x_yd)}"
        spot = (x_yd, _across_yd(game, direction, context))
        return Outcome(game, (_dead_kick(context, text, ("LD-034",), spot, game.offense, length),))
    return _land_in_bounds(game, own, length, direction, game.offense, context, ("LD-032", "LD-034"))


def roll_punt(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for a blocked punt (LD-057), which the receiver nearest to the punter picks up."""
    rating = rating_of(game, "punter", game.offense)
    number = percentile(roll.dice, "punt")
    if number <= rating:
        return Outcome(wait_for_roll(game, "punt_length", game.offense))
    nearest = _nearest_to_punter(game, context)
    receiver = nearest.id if nearest is not None else "the receiver nearest to the punter"
    text = f"punt blocked ({number} against {rating}), {receiver} has the ball"
    spot = context.facts.spot_yd(nearest.x_mm, nearest.y_mm) if nearest is not None and context.facts else None
    players = (nearest.id,) if nearest is not None else ()
    found = Finding(KICK, "kick", context.t_ns, text, ("LD-057",), "blocked", players, spot, side=game.defense)
    found = replace(found, detail="returned", numbers=CallNumbers(needed=rating, rolled=number, caught_yd=spot))
    return Outcome(resume_play(game), (found,))


def roll_punt_length(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the roll for where a punt comes down, measured from the front of the punter's base (LD-054, LD-055)."""
    length, direction = _read_kick(roll, kick_modifier(game, "punter", game.offense, context), context)
    end = _punt_from_yd(game, context) + length
    own = game.length_yd - end
    if direction == "out_of_bounds" and own <= 0:
        return _touchback(game, length, game.defense, context)
    if direction == "out_of_bounds":
        x_yd = game.board_x_yd(end)
        text = f"punt out of bounds, {game.team(game.defense).name} ball at {game.spot_text(x_yd)}"
        spot = (x_yd, _across_yd(game, direction, context))
        return Outcome(game, (_dead_kick(context, text, ("LD-055",), spot, game.defense, length),))
    return _land_in_bounds(game, own, length, direction, game.defense, context, ("LD-054", "LD-056"))


def roll_field_goal(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a percentile roll against the kicker's chance from the line of scrimmage (LD-058, LD-059)."""
    to_goal = game.to_goal_yd
    rating = rating_of(game, "kicker", game.offense)
    needed = tables.success_percent(rating, to_goal, round(context.params.real("field_goal.free_yd")))
    numbers = CallNumbers(to_goal_yd=to_goal, needed=needed, rolled=percentile(roll.dice, "field goal"))
    return _kick_at_goal(game, "field_goal", numbers, ("LD-058", "LD-059"), context)


def roll_extra_point(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a percentile roll against the kicker's rating (LD-071)."""
    needed = rating_of(game, "kicker", game.offense)
    numbers = CallNumbers(needed=needed, rolled=percentile(roll.dice, "extra point"))
    return _kick_at_goal(game, "extra_point", numbers, ("LD-071",), context)


def _kick_at_goal(
    game: GameState, kick: str, numbers: CallNumbers, clauses: tuple[str, ...], context: RuleContext
) -> Outcome:
    number, needed = numbers.rolled or 0, numbers.needed or 0
    good = number <= needed
    text = f"{kick.replace('_', ' ')} {'good' if good else 'no good'}: {number} against {needed}"
    kind: CallKind = "field_goal" if kick == "field_goal" else "extra_point"
    detail, margin = "good" if good else "missed", float(abs(needed - number))
    found = Finding(KICK, kind, context.t_ns, text, clauses, kick, side=game.offense, detail=detail)
    return Outcome(game, (replace(found, margin=margin, unit="count", numbers=numbers),))


def _read_kick(roll: Roll, modifier: int, context: RuleContext) -> tuple[int, tables.KickDirection]:
    first_row = cast("tables.KickDirection", context.params.choice("kick.first_row"))
    return (
        sum(d10(roll.dice[:3], 3, "kick")) + tables.KICK_BASE_YD + modifier,
        tables.kick_direction(d10(roll.dice[3:], 1, "kick")[0], first_row),
    )


def _land_in_bounds(
    game: GameState,
    own_yd: float,
    length: int,
    direction: tables.KickDirection,
    side: Side,
    context: RuleContext,
    clauses: tuple[str, ...],
) -> Outcome:
    """Land a kick in its receivers' yards: through the end zone a touchback, else the returner's ball."""
    if own_yd < -game.end_zone_yd:
        return _touchback(game, length, side, context)
    spot = (game.board_x_yd(own_yd, game.direction_of(side)), _across_yd(game, direction, context))
    text = f"kick of {length} yards to {game.spot_text(spot[0])}, {direction.replace('_', ' ')}"
    players = (game.play.returner,) if game.play.returner else ()
    found = Finding(
        KICK, "kick", context.t_ns, text, clauses, "down", players, spot_yd=spot, side=side, detail="returned"
    )
    return Outcome(game, (replace(found, numbers=CallNumbers(kick_yd=length, landing_yd=spot)),))


def _touchback(game: GameState, length: int, side: Side, context: RuleContext) -> Outcome:
    """End a kick through the end zone, or out of bounds in it, where it can't be returned (LD-056)."""
    x_yd = game.board_x_yd(context.params.real("kickoff.touchback_yd"), game.direction_of(side))
    text, spot = f"kick of {length} yards, touchback {game.team(side).name}", (x_yd, game.width_yd / 2)
    found = Finding(KICK, "touchback", context.t_ns, text, ("LD-G1",), "down", spot_yd=spot, side=side, detail="dead")
    return Outcome(game, (replace(found, numbers=CallNumbers(kick_yd=length)),))


def _dead_kick(
    context: RuleContext, text: str, clauses: tuple[str, ...], spot_yd: tuple[float, float], side: Side, length: int
) -> Finding:
    found = Finding(KICK, "kick", context.t_ns, text, clauses, "down", spot_yd=spot_yd, side=side, detail="dead")
    return replace(found, numbers=CallNumbers(kick_yd=length))


def _across_yd(game: GameState, direction: tables.KickDirection, context: RuleContext) -> float:
    """Return where across the field a kick comes down: left and right as its kickers see them."""
    marks = context.field.hash_rows_y_yd
    if direction == "middle" or direction == "out_of_bounds" or not marks:
        return game.width_yd / 2
    kickers = -game.direction if game.play.kind in {"kickoff", "free_kick"} else game.direction
    # Left is left to the kickers: the upper row of marks when they kick toward larger x.
    upper = (direction == "left_mark") == (kickers > 0)
    return max(marks) if upper else min(marks)


def _punter(game: GameState, context: RuleContext) -> Figure | None:
    if context.facts is None:
        return None
    punters = [entry.id for entry in game.players if canonical_role(entry.role) == "P"]
    punter = punters[0] if punters else game.play.carrier
    return context.facts.figures.get(punter or "")


def _punt_from_yd(game: GameState, context: RuleContext) -> float:
    punter = _punter(game, context)
    if punter is None or context.facts is None:
        return game.line_yd - context.params.real("punt.behind_yd")
    return game.progress_yd(context.facts.spot_yd(outermost_x(punter, game.direction).x_mm, 0.0)[0])


def _nearest_to_punter(game: GameState, context: RuleContext) -> Figure | None:
    punter = _punter(game, context)
    if punter is None or context.facts is None:
        return None
    rivals = [
        figure
        for figure in context.facts.scene.figures
        if figure.jersey != punter.jersey and figure.posture != "lifted"
    ]
    return min(rivals, key=lambda rival: signed_gap(rival.footprint, punter.footprint).gap_mm, default=None)


def land_kick(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Spot the ball where a kick came down: dead, first and ten there; else live with the returner."""
    side = call.side or game.offense
    if call.detail == "dead":
        return after_down(_give_dead_ball)(game, call, context)
    x_yd = call.spot_yd[0] if call.spot_yd else game.los_yd
    play = replace(
        downs.gain_ball(game.play, call, side),
        landed_yd=x_yd,
        stoppage=game.play.stoppage or Stoppage(number=0, since_ns=context.t_ns, reason="kick"),
    )
    game = replace(resume_play(game), wait=None, play=play)
    return Outcome(game, downs.gained_in_end_zone(game, call, context, ("LD-021", "LD-057")))


def _give_dead_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    x_yd, y_yd = call.spot_yd or (game.los_yd, game.width_yd / 2)
    return Outcome(downs.give_ball_to(game, call.side or game.offense, x_yd, y_yd, call.t_ns, context))


def begin_try(game: GameState, kind: DuePlay, _context: RuleContext) -> Outcome:
    """Wait for the extra point's dice; the rulebook has no other try (LD-071)."""
    if kind == "two_point":
        raise RefusedError("set-up: this rulebook has no two-point try")
    return Outcome(wait_for_roll(game, "extra_point", game.offense))
