"""Lion's Den with the ball in hand: the line, turning back, fumbles and their recovery, pitches by dice."""

from __future__ import annotations

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import body_of, refuse_unless, require_on_side
from downfield.officiating.consequences.measured_places import PastLine, decide
from downfield.officiating.consequences.rolls_and_choices import percentile, wait_for_roll
from downfield.officiating.declarations import Pitch, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.lions_den.penalties import after_down
from downfield.officiating.rulebooks.lions_den.skilled_players import rating_of
from downfield.officiating.rules.passer import may_still_pass
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext


def resume_play(game: GameState) -> GameState:
    """Return the game with the play resumed: live while the board runs, else stopped until it does."""
    return replace(game, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED)


def turn_back(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Count a turn back: the first may be corrected, the second ends the play (LD-012, LD-014)."""
    turns = 0 if game.play.hold is None else game.play.hold.turns
    game = replace(game, play=game.play.with_hold(turns=turns + 1))
    return after_down(downs.spot_dead_ball)(game, call, context) if call.detail == "second" else Outcome(game)


def go_out_of_bounds(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Spot the ball at the inbounds mark on the yard line where it went out (LD-016)."""
    if call.spot_yd is None:
        return downs.spot_dead_ball(game, call, context)
    x_yd, y_yd = call.spot_yd
    marks = context.field.hash_rows_y_yd or (game.width_yd / 2,)
    nearest = min(marks, key=lambda mark: abs(mark - y_yd))
    return downs.spot_dead_ball(game, replace(call, spot_yd=(x_yd, nearest)), context)


def fumble_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Stop play for a loose ball: each coach turns three, and the first to touch it has it (LD-017..019)."""
    play = downs.held_by_fumbler(game.play, call).lost(call.t_ns, call.spot_yd)
    play = replace(play, fumble_yd=call.spot_yd).forced_to_stop("fumble")
    if game.board != "on":
        play = replace(play, forced_stop="", stoppage=play.forced_stoppage("fumble", context.t_ns))
        return Outcome(replace(game, phase=Phase.STOPPED, wait=None, play=play))
    return Outcome(replace(game, play=play))


def recover_fumble(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the ball to the recoverer, live; a safety behind his goal line, a touchdown in the other end zone."""
    side = call.side or game.play.ball_side
    spot_yd = call.spot_yd or (game.los_yd, game.width_yd / 2)
    x_yd = spot_yd[0]
    own = game.progress_yd(x_yd, game.direction_of(side))
    play = replace(downs.gain_ball(game.play, replace(call, spot_yd=spot_yd), side), fumble_yd=None)
    game = replace(resume_play(game), play=play)
    sigma_yd = call.spot_sigma_yd[0]
    if own < game.length_yd / 2:
        text = f"safety: {game.team(side).name} recovers behind its own goal line"
        safety = Finding("play", "safety", call.t_ns, text, ("LD-025",), "safety", side=opponent(side))
        return decide(game, safety, (), PastLine(-own, sigma_yd, spot_yd), context)
    clauses = ("LD-023",) if side == game.offense else ("LD-021", "LD-023")
    score = touchdown_finding(game, side, call.t_ns, clauses)
    return decide(game, score, (), PastLine(own - game.length_yd, sigma_yd, spot_yd), context)


def declare_pitch(game: GameState, event: Event, _context: RuleContext) -> Outcome:
    """Handle a pitch-out, rolled against the quarterback's rating (LD-070)."""
    body = body_of(event, Pitch)
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "pitch", game)
    if not may_still_pass(game):
        raise RefusedError("pitch: only the quarterback may pitch, short of the line (LD-070)")
    require_on_side(game, body.to, game.offense, "pitch")
    if body.to == game.play.carrier:
        raise RefusedError(f"pitch: {body.to} already has the ball")
    rating_of(game, "quarterback", game.offense)  # refuses while it has not been rolled
    game = replace(game, play=replace(game.play, receiver=body.to))
    return Outcome(wait_for_roll(game, "pitch", game.offense))


def roll_pitch(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the pitch's roll; a failed pitch is a loose ball, since the source does not state its result."""
    complete = percentile(roll.dice, "pitch") <= rating_of(game, "quarterback", game.offense)
    game = resume_play(game)
    if complete:
        play = replace(game.play, pass_caught=True)
        play = play.gained(play.ball_side, play.receiver, "pitch", context.t_ns)
        return Outcome(replace(game, play=play))
    figure = context.facts.figures.get(game.play.receiver or "") if context.facts else None
    spot = context.facts.spot_yd(figure.x_mm, figure.y_mm) if context.facts and figure else None
    text = "the pitch fails: a loose ball"
    found = Finding("play", "fumble", context.t_ns, text, ("LD-070",), "pitch", spot_yd=spot, proposed=True)
    return Outcome(game, (found,))


def touchdown_finding(game: GameState, side: Side, t_ns: int, clauses: tuple[str, ...]) -> Finding:
    """Return the finding of a touchdown."""
    text = f"touchdown, {game.team(side).name}"
    return Finding("play", "touchdown", t_ns, text, clauses, "touchdown", side=side)
