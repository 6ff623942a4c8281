"""TAP's kicks: kickoff, onside kick, punt, field goal and the tries after a touchdown."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    AT_REST,
    body_of,
    may_kick_off,
    refuse_unless,
    refuse_with_ball_free,
    require_on_side,
    with_jerseys,
)
from downfield.officiating.consequences.measured_places import PastLine, decide
from downfield.officiating.consequences.periods import stop_clock
from downfield.officiating.consequences.rolls_and_choices import two_dice, wait_for_choice, wait_for_roll
from downfield.officiating.declarations import ChoiceMade, KickDeclared, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.params import Params
from downfield.officiating.state.facts import outermost_x
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import PlayState
from downfield.officiating.unseen_declarations import DuePlay

IN_END_ZONE: Final = "end_zone"
"""Detail of the call that a punt came down in the end zone, where its returner may take a touchback."""

EXTRA_POINT_FROM: Final = 3  # least sum of two dice that makes an extra point good (TAP-126)
ONSIDE_IN_PLAY_FROM: Final = 10  # least first roll that keeps an onside kick in play
DEAD_KICKS: Final = frozenset({"failed", "recovered", "dead"})  # details of kicks whose ball is dead where it came down


def declare_kick(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a kick declared before its play; onside kicks (TAP-059) and punts (TAP-113) must be.

    A punt's gunners are named with it (TAP-115, TAP-117), where there is a line-up. A fake needs no declaration:
    the play goes on, and the gunners stay ineligible (TAP-121).
    """
    body = body_of(event, KickDeclared)
    if game.overtime is not None and game.overtime.for_yards:
        raise RefusedError(
            f"{body.kick.replace('_', ' ')}: in overtime each team has one play for yards and does not kick (TAP-131)"
        )
    if body.kick in {"kickoff", "free_kick"}:
        return _declare_kickoff(game, body, context)
    if body.kick == "onside":
        return _declare_onside(game, context)
    if body.kick == "punt":
        return _declare_punt(game, body, context)
    if body.kick == "field_goal":
        refuse_unless(game.phase in AT_REST and game.due == "scrimmage", "field goal", game)
        highest_good(game.to_goal_yd, context.params)  # refuses a kick from too far out
        return Outcome(wait_for_roll(game, "field_goal", game.offense))
    refuse_unless(game.due == "extra_point", "extra point", game)
    return choose_try(game, ChoiceMade("extra_point"), context)


def _declare_kickoff(game: GameState, body: KickDeclared, context: RuleContext) -> Outcome:
    refuse_unless(may_kick_off(game, body.kick), body.kick.replace("_", " "), game)
    again = game.due == "onside"  # else the ball lies where the kick is due, moved by any penalty before it
    game = with_jerseys(downs.with_kicker(_before_kick(game)), context)
    if body.returner is not None:
        require_on_side(game, body.returner, game.offense, "returner")
    play = PlayState(kind=game.due, ball_side=game.offense, returner=body.returner, switch=game.kicking)
    game = replace(game, phase=Phase.LINE_UP, play=play)
    return Outcome(downs.at_kick_spot(game, context.system, context.params) if again else game)


def _before_kick(game: GameState) -> GameState:
    """Return the game before its kick, once more after one that has to be kicked again."""
    return replace(game, due="kickoff" if game.due == "onside" else game.due, wait=None)


def _declare_onside(game: GameState, context: RuleContext) -> Outcome:
    refuse_unless(may_kick_off(game, "onside"), "onside kick", game)
    again = game.due == "onside"
    game = downs.with_kicker(_before_kick(game))
    if again:
        game = downs.at_kick_spot(game, context.system, context.params)
    kicking: Side = game.kicking or game.defense
    if context.params.flag("kickoff.onside_trailing_only") and game.points(kicking) >= game.points(opponent(kicking)):
        raise RefusedError(f"onside kick: {game.team(kicking).name} is not trailing (TAP-058)")
    if context.params.flag("kickoff.kicked"):
        play = PlayState(kind="onside", ball_side=game.offense, switch=kicking)
        return Outcome(with_jerseys(replace(game, phase=Phase.LINE_UP, due="onside", play=play), context))
    return Outcome(wait_for_roll(with_jerseys(game, context), "onside_length", kicking))


def roll_onside_length(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the first onside roll: the kick's length, and whether the ball is in play (TAP-060..062)."""
    total = two_dice(roll.dice, "onside kick")
    # The source gives 40, 41 and 42 for 10, 11 and 12: the roll counts from the kicking line, for failed kicks too.
    x_yd = game.board_x_yd(game.length_yd - (game.to_goal_yd + total))
    if total < ONSIDE_IN_PLAY_FROM:
        text, spot = f"onside kick to {game.spot_text(x_yd)}: fails", (x_yd, game.width_yd / 2)
        failed = Finding("kick", "kick", context.t_ns, text, ("TAP-060",), spot_yd=spot, side=game.offense)
        numbers = CallNumbers(kick_yd=float(total), landing_yd=spot, at_least=ONSIDE_IN_PLAY_FROM, rolled=total)
        return Outcome(game, (replace(failed, detail="failed", numbers=numbers),))
    play = PlayState(kind="onside", ball_side=game.offense, landed_yd=x_yd, switch=game.kicking)
    game = replace(game, due="onside", play=play, los_yd=x_yd)
    return Outcome(wait_for_roll(game, "onside_place", game.kicking))


def roll_onside_place(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the second onside roll: where across the field the ball goes (TAP-063), if the league has the chart.

    The illustration in the source is lost, so a league sets eleven places, for 2 to 12; else the operator places it.
    """
    total = two_dice(roll.dice, "onside kick")
    rows = context.params.table("kickoff.onside_places_yd")
    across = rows[0][total - 2] if rows else None
    play = game.play
    if across is not None and play.landed_yd is not None:
        ball_mm = (play.landed_yd * context.field.mm_per_yd_x, across * context.field.mm_per_yd_y)
        play = replace(play, ball_mm=ball_mm)
    return Outcome(replace(game, phase=Phase.LINE_UP, play=play))


def offer_return(game: GameState, _t_ns: int, context: RuleContext) -> Outcome:
    """Wait for the choice after a kickoff has run: touchback, or a return from the goal line (TAP-052)."""
    if context.params.flag("kickoff.kicked"):
        return Outcome(game)  # it is told where the ball came down
    return Outcome(wait_for_choice(game, "kickoff", ("touchback", "return"), game.offense))


def choose_return(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the receivers' choice after a kickoff has run (TAP-052), or a punt into the end zone (TAP-125).

    The kicking coach works the switch during a return (TAP-056).
    """
    if choice.choice == "touchback":
        name = "punt.touchback_yd" if game.play.kind == "punt" else "kickoff.touchback_after_yd"
        return Outcome(game, (_touchback(game, context, context.params.real(name), ("TAP-052",)),))
    play = replace(game.play, stoppage=game.play.forced_stoppage("kick", context.t_ns))
    if play.hold is None:  # the returner is put on the goal line, in the middle (TAP-053)
        goal_line = (game.board_x_yd(0.0), game.width_yd / 2)
        play = play.gained(game.offense, play.returner, "kick", context.t_ns, goal_line)
    return Outcome(replace(game, phase=Phase.STOPPED, play=play))


def choose_touchback_before(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle a touchback chosen before the kickoff (TAP-057)."""
    refuse_unless(game.phase in AT_REST and game.due == "kickoff", "touchback", game)
    game = downs.with_kicker(game)
    found = _touchback(game, context, context.params.real("kickoff.touchback_before_yd"), ("TAP-057",))
    return Outcome(game, (found,))


def _touchback(game: GameState, context: RuleContext, own_yd: float, clauses: tuple[str, ...]) -> Finding:
    side = game.offense if game.play.kind != "punt" else game.play.ball_side
    direction = game.direction_of(side)
    x_yd = game.board_x_yd(own_yd, direction)
    text = f"touchback, {game.team(side).name} ball at {game.spot_text(x_yd)}"
    return Finding(
        "kick", "touchback", context.t_ns, text, clauses, spot_yd=(x_yd, game.width_yd / 2), side=side, unit=""
    )


def _declare_punt(game: GameState, body: KickDeclared, context: RuleContext) -> Outcome:
    refuse_unless(game.phase in AT_REST and game.due == "scrimmage", "punt", game)
    if game.players and not 1 <= len(set(body.gunners)) <= 2:
        raise RefusedError(f"punt: name one or two gunners, not {len(set(body.gunners))} (TAP-115)")
    game = with_jerseys(game, context)
    for gunner in body.gunners:
        require_on_side(game, gunner, game.offense, "gunner")
    if body.returner is not None:
        require_on_side(game, body.returner, game.defense, "returner")
    play = replace(game.play, kind="punt", gunners=body.gunners, returner=body.returner, ball_side=game.offense)
    phase = Phase.LINE_UP if game.phase is Phase.BETWEEN_PLAYS else game.phase
    return Outcome(replace(game, phase=phase, due="punt", play=play))


def choose_punt(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the punt, kicked in a stoppage: it comes down beyond the deepest gunner (TAP-122, TAP-123)."""
    play = game.play
    refuse_unless(game.phase is Phase.STOPPED and play.kind == "punt" and play.line_reached_ns is None, "punt", game)
    require_punter(game)
    if context.params.flag("punt.kicked"):
        raise RefusedError("punt: here it is really kicked; declare where it came down (kick ended)")
    facts = context.facts
    gunners = [facts.figures[name] for name in play.gunners if name in facts.figures] if facts else []
    if facts is None or not gunners:
        raise RefusedError("punt: no gunner is in view, so the landing spot can't be measured; declare how it ended")
    fronts = [(outermost_x(gunner, game.direction), gunner) for gunner in gunners]
    deepest, gunner = max(fronts, key=lambda pair: pair[0].x_mm * game.direction)
    own = game.progress_yd(facts.spot_yd(deepest.x_mm, 0)[0])
    landing = own + context.params.real("punt.beyond_gunner_yd")
    spot = (game.board_x_yd(landing), facts.spot_yd(0, gunner.y_mm)[1])
    text = f"punt to {game.spot_text(spot[0])}, {context.params.real('punt.beyond_gunner_yd'):g} yards past {gunner.id}"
    sigma_yd = (deepest.sigma_mm / context.field.mm_per_yd_x, gunner.sigma_mm[1] / context.field.mm_per_yd_y)
    found = Finding("kick", "kick", context.t_ns, text, ("TAP-123",), "", (gunner.id,), spot, sigma_yd)
    numbers = CallNumbers(kick_yd=landing - game.line_yd, landing_yd=spot)
    return Outcome(game, (replace(found, side=game.defense, detail="punt", numbers=numbers),))


def require_punter(game: GameState) -> None:
    """Refuse a punt once the punter no longer has the ball."""
    refuse_with_ball_free(game, "punt")
    if game.play.ball_side != game.offense or game.play.pass_caught:
        raise RefusedError("punt: the punter no longer has the ball")


def land_kick(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Spot the ball where a kick came down: dead, as a failed or recovered onside kick, or to return (TAP-124)."""
    if call.detail in DEAD_KICKS:
        side = call.side or game.offense
        x_yd, y_yd = call.spot_yd or (game.los_yd, game.width_yd / 2)
        return Outcome(downs.give_ball_to(game, side, x_yd, y_yd, call.t_ns, context))
    landed = call.spot_yd[0] if call.spot_yd else game.los_yd
    side = call.side or game.defense
    play = replace(
        game.play, landed_yd=landed, switch=opponent(side), stoppage=game.play.forced_stoppage("kick", context.t_ns)
    )
    returner = () if play.returner is None else (play.returner,)
    catcher = returner if call.detail == "punt" else call.players or returner
    play = downs.gain_ball(play, replace(call, players=catcher), side)
    game = replace(game, phase=Phase.STOPPED, play=play)
    past = PastLine(-game.progress_yd(landed, game.direction_of(side)), call.spot_sigma_yd[0], call.spot_yd)
    if past.probability >= context.params.real("calls.confidence"):
        return offer_touchback(game, replace(call, detail=IN_END_ZONE), context)
    text = f"the kick is in the end zone, so {game.team(side).name} may take a touchback"
    against = "the kick is in front of the goal line and must be returned"
    over = Finding("kick", "info", call.t_ns, text, ("TAP-125",), against=against, detail=IN_END_ZONE)
    return decide(game, over, (), past, context)


def offer_touchback(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Wait for the choice of a returner whose kick has come down in the end zone (TAP-125)."""
    if call.detail != IN_END_ZONE:
        return Outcome(game)
    kick = "punt" if game.play.kind == "punt" else "kickoff"
    return Outcome(wait_for_choice(game, kick, ("touchback", "return"), game.play.ball_side))


def roll_field_goal(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the dice of a field goal (TAP-130)."""
    total = two_dice(roll.dice, "field goal")
    to_goal = game.to_goal_yd
    needed = highest_good(to_goal, context.params)
    good = total <= needed
    yards = "1 yard" if to_goal == 1 else f"{to_goal:.4g} yards"
    text = f"field goal from {yards} out {'good' if good else 'missed'} on {total}"
    detail = "good" if good else "missed"
    found = Finding("kick", "field_goal", context.t_ns, text, ("TAP-021", "TAP-130"), side=game.offense, detail=detail)
    return Outcome(game, (replace(found, numbers=CallNumbers(to_goal_yd=to_goal, needed=needed, rolled=total)),))


def highest_good(yards_to_goal: float, params: Params) -> int:
    """Return the highest sum of two dice with which a field goal from a line of scrimmage is good (TAP-129, TAP-130).

    A line between two rows (15.4) belongs to the farther one: the source's rows are whole yards. Raises RefusedError:
    too far out for any row.
    """
    table = params.table("field_goal.table")
    for farthest, highest in table:
        if yards_to_goal <= farthest:
            return int(highest)
    farthest = table[-1][0]
    raise RefusedError(f"no field goal from {yards_to_goal:.1f} yards out: the chart ends at {farthest:g} (TAP-129)")


def begin_try(game: GameState, kind: DuePlay, context: RuleContext) -> Outcome:
    """Offer the choice of a try, or begin the one named (TAP-126, TAP-127)."""
    if kind == "try":
        return downs.offer_try(game)
    return choose_try(game, ChoiceMade("two_point" if kind == "two_point" else "extra_point"), context)


def choose_try(game: GameState, choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle the choice of try: a kick, or two points from the five with the clock stopped (TAP-127, TAP-128)."""
    if choice.choice == "extra_point":
        return Outcome(wait_for_roll(game, "extra_point", game.offense))
    game = downs.line_up_try(game, "two_point", context.params.real("two_point.from_yd"))
    return Outcome(with_jerseys(stop_clock(game, context.t_ns), context))


def roll_extra_point(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the dice of an extra point (TAP-126)."""
    total = two_dice(roll.dice, "extra point")
    good = total >= EXTRA_POINT_FROM
    text = f"extra point {'good' if good else 'no good'} on {total}"
    detail = "good" if good else "failed"
    found = Finding("kick", "extra_point", context.t_ns, text, ("TAP-126",), side=game.offense, detail=detail)
    return Outcome(game, (replace(found, numbers=CallNumbers(at_least=EXTRA_POINT_FROM, rolled=total)),))
