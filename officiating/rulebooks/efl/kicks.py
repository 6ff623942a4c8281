"""The EFL's kicks: with the ball and an envelope behind the posts, or by the source's two-dice tables.

Yard lines of the tables are in the kicking team's own frame: 0 its own goal line, 100 the opponent's.
"""

from __future__ import annotations

from typing import Final, Literal

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    body_of,
    may_kick_off,
    refuse_unless,
    require_on_field,
)
from downfield.officiating.consequences.rolls_and_choices import d66, wait_for_roll
from downfield.officiating.declarations import ChoiceMade, KickDeclared, KickEnded, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.efl.play_calls import (
    current_situation,
    is_onside_required,
    report_play_call,
    required_play,
    required_try,
    time_left_s,
)
from downfield.officiating.sides import LINEMEN, canonical_role
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState, Stoppage
from downfield.officiating.unseen_declarations import DuePlay

FIELD_GOAL: Final[tuple[tuple[int, float], ...]] = ((2, 9), (3, 19), (4, 29), (5, 39), (6, 49))
"""The tens die and the farthest line of scrimmage, yards to the goal, from which its kick is good (EFL-082)."""

KICKOFF_BONUS_YD: Final = 30
"""Added to a kickoff whose tens die is 2 or 3 (EFL-083); the source adds nothing to a 4, 5 or 6."""

PlaceKick = Literal["good", "short", "wide_left", "wide_right", "blocked"]

KICK: Final = "kick"  # rule id of findings that follow from kicks
PlacedKick = Literal["field_goal", "extra_point"]


def place_kick(roll: int, yards_to_goal: float) -> PlaceKick:
    """Return the result of a kick at goal by dice, as tens and units, from a line of scrimmage (EFL-082)."""
    if roll <= 12:
        return "blocked"
    if roll <= 14:
        return "wide_left"
    if roll <= 16:
        return "wide_right"
    return "good" if yards_to_goal <= dict(FIELD_GOAL)[roll // 10] else "short"


def place_kick_from(yards_to_goal: float) -> int | None:
    """Return the least good roll from a line of scrimmage (EFL-082); None beyond the table. Below 17 none is."""
    tens = next((tens for tens, farthest in FIELD_GOAL if yards_to_goal <= farthest), None)
    return None if tens is None else 10 * tens + 1


def punt(roll: int) -> tuple[bool, int]:
    """Return whether a punt is blocked by dice, as tens and units, and its yards forward from the line (EFL-083)."""
    return roll <= 16, -roll if 12 < roll <= 16 else roll


def kickoff(roll: int) -> int | None:
    """Return the length of a kickoff by dice, as tens and units; None for out of bounds (EFL-083)."""
    if roll <= 16:
        return None
    return roll + KICKOFF_BONUS_YD if roll <= 36 else roll


def declare_kick(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a declared kick: the game then waits for its result, declared or rolled.

    An onside kick is handled like a kickoff (EFL-069); a field goal is kicked without a lineup (EFL-060).
    """
    kick = body_of(event, KickDeclared).kick
    if kick in {"kickoff", "onside", "free_kick"}:
        return _declare_kickoff(game, kick, context)
    if kick == "extra_point":
        refuse_unless(game.wait is not None and game.wait.purpose == "extra_point", "extra point", game)
        return Outcome(game)
    refuse_unless(game.phase in AT_REST and game.due == "scrimmage", kick.replace("_", " "), game)
    found = report_play_call(game, required_play(current_situation(game, context), context.params), kick, context)
    limit = context.params.real("field_goal.from_yd")
    if kick == "field_goal" and game.line_yd < limit:
        raise RefusedError(f"field goal: not allowed from beyond the {limit:g} yd line (EFL-059)")
    game = replace(game, play=replace(game.play, kind=kick, ball_side=game.offense))
    return Outcome(wait_for_roll(game, kick, game.offense), found)


def _declare_kickoff(game: GameState, kick: str, context: RuleContext) -> Outcome:
    refuse_unless(may_kick_off(game, kick), kick.replace("_", " "), game)
    kicking: Side = game.kicking or game.defense
    lead = game.points(kicking) - game.points(opponent(kicking))
    onside = is_onside_required(game.period, time_left_s(game, context), lead, context.params)
    free = context.params.flag("onside.free_choice")
    if kick == "onside" and not onside and not free:
        raise RefusedError("onside kick: only when trailing with under five minutes left in the game (EFL-068)")
    found: tuple[Finding, ...] = ()
    if onside and kick == "kickoff" and not free:
        text = f"{game.team(kicking).name} kicks off but must kick onside"
        found = (Finding(KICK, "info", context.t_ns, text, ("EFL-068",), "onside", reported=True, detail="duty"),)
    game = replace(  # the ball lies where the kick is due, moved by any penalty before it
        downs.with_kicker(game),
        play=PlayState(kind="onside" if kick == "onside" else game.due, ball_side=game.offense, switch=kicking),
    )
    return Outcome(wait_for_roll(game, "kickoff", kicking), found)


def roll_kickoff(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a kickoff by dice (EFL-083): the receivers start where it comes down, or at the 25."""
    rolled = d66(roll.dice, "kickoff")
    length = kickoff(rolled)
    if length is None:
        return _kickoff_out_of_bounds(game, context, CallNumbers(rolled=rolled))
    own = game.line_yd - length
    found = _dead_finding(game, own, context, ("EFL-083", "EFL-053"), f"kickoff of {length} yards")
    landing = (game.board_x_yd(own), game.width_yd / 2)
    return Outcome(game, (replace(found, numbers=CallNumbers(kick_yd=length, landing_yd=landing, rolled=rolled)),))


def roll_punt(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a punt by dice (EFL-083); a blocked one is the receivers' where it lies, which is not stated."""
    rolled = d66(roll.dice, "punt")
    blocked, yards = punt(rolled)
    end = game.line_yd + yards
    text = f"punt blocked, {yards:+d} yards" if blocked else f"punt of {yards} yards"
    found = _punt_finding(game, end, game.width_yd / 2, context, ("EFL-083",), text)
    landing = (game.board_x_yd(end), game.width_yd / 2)
    return Outcome(game, (replace(found, numbers=CallNumbers(kick_yd=yards, landing_yd=landing, rolled=rolled)),))


def roll_field_goal(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a field goal by dice (EFL-082)."""
    to_goal = game.to_goal_yd
    rolled = d66(roll.dice, "field goal")
    numbers = CallNumbers(to_goal_yd=to_goal, at_least=place_kick_from(to_goal), rolled=rolled)
    return _end_placed_kick(game, "field_goal", place_kick(rolled, to_goal), "EFL-082", context, numbers)


def roll_extra_point(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle an extra point by dice (EFL-082)."""
    rolled, to_goal = d66(roll.dice, "extra point"), context.params.real("extra_point.line_yd")
    numbers = CallNumbers(to_goal_yd=to_goal, at_least=place_kick_from(to_goal), rolled=rolled)
    return _end_placed_kick(game, "extra_point", place_kick(rolled, to_goal), "EFL-082", context, numbers)


def end_kick(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle the result of a kick with the ball."""
    body = body_of(event, KickEnded)
    purpose = game.wait.purpose if game.wait is not None else ""
    if purpose not in {"kickoff", "punt", "field_goal", "extra_point"}:
        raise RefusedError("kick ended: no kick has been declared")
    game = replace(game, wait=None)
    if purpose in {"field_goal", "extra_point"}:
        if body.end in {"out_of_bounds", "touched"}:
            raise RefusedError("kick ended: a kick at the posts is good, no good or blocked")
        kick: PlacedKick = "field_goal" if purpose == "field_goal" else "extra_point"
        clause = "EFL-061" if kick == "field_goal" else "EFL-066"
        to_goal = game.to_goal_yd if kick == "field_goal" else None
        return _end_placed_kick(game, kick, body.end, clause, context, CallNumbers(to_goal_yd=to_goal))
    if body.end in {"good", "no_good"} or (body.end == "blocked" and purpose == "kickoff"):
        or_blocked = ", out of bounds or blocked" if purpose == "punt" else " or out of bounds"
        raise RefusedError(f"kick ended: a {purpose} is touched{or_blocked}")
    if body.end == "out_of_bounds" and purpose == "kickoff":
        return _kickoff_out_of_bounds(game, context)
    if body.end == "blocked":
        line = game.line_yd
        return Outcome(game, (_punt_finding(game, line, 0.0, context, ("EFL-057",), "punt blocked"),))
    if body.x_yd is None:
        raise RefusedError("kick ended: enter the place (x_yd)")
    require_on_field(game, (body.x_yd, game.width_yd / 2 if body.y_yd is None else body.y_yd), "kick ended")
    if purpose == "punt":
        text = "punt, out of bounds" if body.end == "out_of_bounds" else "punt, fair catch"
        lateral = game.width_yd / 2 if body.y_yd is None else body.y_yd
        end_yd = game.progress_yd(body.x_yd)
        found = _punt_finding(game, end_yd, lateral, context, ("EFL-058",), text)
        length = end_yd - game.line_yd
        return Outcome(game, (replace(found, numbers=CallNumbers(kick_yd=length, landing_yd=(body.x_yd, lateral))),))
    return _touch_kickoff(game, body, context)


def _touch_kickoff(game: GameState, body: KickEnded, context: RuleContext) -> Outcome:
    """End a touched kickoff: a fair catch by a deep receiver, else a live ball for the player who touched it."""
    entry = game.player(body.player)
    if body.player is not None and entry is None:
        raise RefusedError(f"kick ended: there is no figure {body.player!r} on the board")
    side = game.side_of(entry.jersey) if entry is not None else body.by
    if side is None or body.x_yd is None:
        raise RefusedError("kick ended: name the player who touched it (player), or his side (by)")
    players = () if entry is None else (entry.id,)
    spot = (body.x_yd, game.width_yd / 2 if body.y_yd is None else body.y_yd)
    length = game.line_yd - game.progress_yd(body.x_yd)
    numbers = CallNumbers(kick_yd=length, landing_yd=spot, caught_yd=spot)
    name = game.team(side).name if entry is None else entry.id
    if side == game.offense and (entry is None or canonical_role(entry.role) not in LINEMEN):
        found = _dead_finding(
            game, game.progress_yd(body.x_yd), context, ("EFL-052", "EFL-053"), f"fair catch by {name}"
        )
        return Outcome(game, (replace(found, players=players, numbers=numbers),))
    text = f"kick touched by {name}, live ball"
    live = Finding(KICK, "kick", context.t_ns, text, ("EFL-056",), "live", players, spot, side=side, detail="live")
    return Outcome(game, (replace(live, numbers=numbers),))


def _kickoff_out_of_bounds(game: GameState, context: RuleContext, numbers: CallNumbers | None = None) -> Outcome:
    found = _dead_finding(game, 0.0, context, ("EFL-054",), "kickoff out of bounds")
    return Outcome(game, (replace(found, numbers=numbers),))


def _dead_finding(
    game: GameState, own_yd: float, context: RuleContext, clauses: tuple[str, ...], prefix: str
) -> Finding:
    """Return the finding of a dead ball for the receivers, never behind their own 25."""
    x_yd = game.board_x_yd(max(own_yd, context.params.real("kickoff.least_yd")))
    text = f"{prefix}, {game.team(game.offense).name} ball at {game.spot_text(x_yd)}"
    spot = (x_yd, game.width_yd / 2)
    return Finding(
        KICK, "kick", context.t_ns, text, clauses, "received", spot_yd=spot, side=game.offense, detail="dead"
    )


def _punt_finding(
    game: GameState, end_yd: float, lateral_yd: float, context: RuleContext, clauses: tuple[str, ...], prefix: str
) -> Finding:
    """Return a punt's finding: the receivers' ball, past their goal line a touchback, behind the kickers' a safety."""
    if end_yd <= 0:
        return Finding(KICK, "safety", context.t_ns, f"{prefix}, safety", clauses, "safety", side=game.defense)
    touchback_yd = game.length_yd - context.params.real("punt.touchback_yd")
    kind: CallKind = "touchback" if end_yd >= game.length_yd else "kick"
    x_yd = game.board_x_yd(touchback_yd if kind == "touchback" else end_yd)
    text = f"{prefix}, {game.team(game.defense).name} ball at {game.spot_text(x_yd)}"
    spot = (x_yd, lateral_yd)
    return Finding(KICK, kind, context.t_ns, text, clauses, "punted", spot_yd=spot, side=game.defense, detail="dead")


def _end_placed_kick(
    game: GameState, kick: PlacedKick, end: str, clause: str, context: RuleContext, numbers: CallNumbers
) -> Outcome:
    good = end == "good"
    how = {"good": "good", "no_good": "no good"}.get(end, f"no good, {end.replace('_', ' ')}")
    text = f"{kick.replace('_', ' ')} {how}"
    clauses = (clause,) if good or kick == "extra_point" else (clause, "EFL-062", "EFL-063")
    detail = "good" if good else end
    found = Finding(KICK, kick, context.t_ns, text, clauses, kick, side=game.offense, detail=detail)
    return Outcome(game, (replace(found, numbers=numbers),))


def land_kick(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Spot the ball where a kick came down: dead, first and ten there; live, with the player who touched it."""
    side = call.side or game.offense
    x_yd, y_yd = call.spot_yd or (game.los_yd, game.width_yd / 2)
    if call.detail != "live":
        return Outcome(downs.give_ball_to(game, side, x_yd, y_yd, call.t_ns, context))
    play = replace(
        downs.gain_ball(game.play, call, side),
        landed_yd=x_yd,
        stoppage=game.play.stoppage or Stoppage(number=0, since_ns=call.t_ns, reason="kick"),
    )
    return Outcome(replace(game, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED, wait=None, play=play))


def choose_try(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the scorer's choice of a try, where the league leaves it to him."""
    return begin_try(game, "two_point" if choice.choice == "two_point" else "extra_point", context)


def award_touchback(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the receivers the ball: after a kickoff at the 25 (EFL-053, EFL-054), after a punt at its own line."""
    kicked_off = game.play.kind in {"kickoff", "onside", "free_kick"}
    return downs.award_touchback_at("kickoff.least_yd" if kicked_off else "punt.touchback_yd")(game, call, context)


def begin_try(game: GameState, kind: DuePlay, context: RuleContext) -> Outcome:
    """Begin the try (EFL-025): a kick, but for two from the 2 when trailing by two late (EFL-064, EFL-067)."""
    scorer = game.offense
    lead = game.points(scorer) - game.points(opponent(scorer))
    if kind == "try" and context.params.flag("try.free_choice"):
        return downs.offer_try(game)
    prescribed = required_try(game.period, time_left_s(game, context), lead, context.params)
    if (prescribed if kind == "try" else kind) == "extra_point":
        return Outcome(wait_for_roll(game, "extra_point", scorer))
    game = downs.line_up_try(game, "two_point", context.params.real("two_point.from_yd"))
    if prescribed != "two_point" or context.params.flag("try.free_choice"):
        return Outcome(game)
    text = f"{game.team(scorer).name} must go for two"
    found = Finding(KICK, "info", context.t_ns, text, ("EFL-064",), "try", reported=True, detail="duty")
    return Outcome(game, (found,))
