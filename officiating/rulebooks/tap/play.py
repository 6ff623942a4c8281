"""TAP's play with the ball in hand: the line of scrimmage, fumbles and their coin, stopping a runner."""

from __future__ import annotations

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import refuse_unless, refuse_with_ball_free
from downfield.officiating.consequences.rolls_and_choices import wait_for_coin
from downfield.officiating.consequences.told_plays import recovered_in_end_zone
from downfield.officiating.declarations import ChoiceMade, Coin
from downfield.officiating.rulebooks.tap.clock import in_overtime
from downfield.officiating.rules.lines import spot_at
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext


def reach_line(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Stop the board at the line of scrimmage and give the defense the switch (TAP-087)."""
    play = replace(game.play, line_reached_ns=call.t_ns, switch=opponent(game.offense))
    return Outcome(replace(game, play=play.forced_to_stop("line")))


def fumble_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Wait for the coin after a defender who stays up has knocked the carrier down (TAP-034)."""
    spot = call.spot_yd or (game.los_yd, game.width_yd / 2)
    tackler = call.players[1] if len(call.players) > 1 else game.play.tackler
    play = replace(
        game.play,
        fumble_yd=spot,
        tackler=tackler,
        stoppage=game.play.forced_stoppage("fumble", context.t_ns),
        forced_stop="",
    )
    play = downs.held_by_fumbler(play, call)
    return Outcome(wait_for_coin(replace(game, play=play), "fumble", play.ball_side))


def flip_fumble(game: GameState, coin: Coin, context: RuleContext) -> Outcome:
    """Handle the coin after a fumble: heads for the side that had the ball."""
    holder = game.play.ball_side
    keeps = coin.heads
    side = holder if keeps else opponent(holder)
    players = () if keeps or game.play.tackler is None else (game.play.tackler,)
    found = Finding(
        "fumble",
        "fumble_recovery",
        context.t_ns,
        f"{'heads' if coin.heads else 'tails'}: {game.team(side).name} {'keeps' if keeps else 'takes'} the ball",
        ("TAP-034",) if keeps else ("TAP-034", "TAP-035"),
        players=players,
        spot_yd=game.play.fumble_yd,
        side=side,
        detail="kept" if keeps else "lost",
    )
    return Outcome(game, (found,))


def recover_fumble(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the fumble to the side the coin chose: kept, it is dead there; lost, it may be returned (TAP-035)."""
    x_yd, y_yd = call.spot_yd or game.play.fumble_yd or (game.los_yd, game.width_yd / 2)
    side = call.side or game.play.ball_side
    if scored := recovered_in_end_zone(game, call, ("TAP-034", "TAP-G1"), side, x_yd):
        return Outcome(replace(game, wait=None, play=replace(game.play, ball_side=side)), scored)
    if side == game.play.ball_side:
        return in_overtime(downs.spot_dead_ball)(game, replace(call, spot_yd=(x_yd, y_yd)), context)
    if downs.ends_try(game, side):
        return downs.fail_try(game, context)
    play = replace(game.play, switch=game.play.ball_side, forced_stop="")
    play = downs.gain_ball(play, replace(call, spot_yd=(x_yd, y_yd)), side)
    running = game.board == "on"
    game = replace(game, phase=Phase.LIVE if running else Phase.STOPPED, wait=None)
    return Outcome(replace(game, play=play.forced_to_stop("fumble") if running else play))


def stop_runner(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle a coach's stopping his runner: dead at the foremost part of the base (TAP-031)."""
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED} and game.play.snap_ns is not None, "stop here", game)
    refuse_with_ball_free(game, "stop here")
    facts = context.facts
    carrier = facts.figures.get(game.play.carrier or "") if facts else None
    if facts is None or carrier is None:
        raise RefusedError(
            "stop here: the ball carrier is not in view, so the ball can't be spotted; declare where the play ended"
        )
    spot = spot_at(facts, carrier, context.params.choice("tackle.spot"), facts.t_ns)
    found = Finding(
        "stop",
        "stopped",
        context.t_ns,
        f"{carrier.id} stopped by his coach",
        ("TAP-031", "TAP-032", "TAP-033"),
        players=(carrier.id,),
        spot_yd=spot.yd,
        spot_sigma_yd=spot.sigma_yd,
    )
    return Outcome(game, (found,))


def keep_running(game: GameState, _choice: ChoiceMade, _context: RuleContext) -> Outcome:
    """Handle a coach's letting his runner run on, giving up the progress made so far (TAP-031, TAP-032)."""
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "let run", game)
    refuse_with_ball_free(game, "let run")
    return Outcome(game)
