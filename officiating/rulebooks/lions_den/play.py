"""Lion's Den's play from scrimmage: turning back, loose balls, and pitches and passes by dice."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.errors import RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.records import replace
from downfield.core.scene import Figure
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    body_of,
    refuse_unless,
    require_on_side,
    require_receiver,
)
from downfield.officiating.consequences.measured_places import PastLine, decide
from downfield.officiating.consequences.rolls_and_choices import d10, percentile, wait_for_roll
from downfield.officiating.declarations import ChoiceMade, PassDeclared, Pitch, Roll, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.lions_den import tables
from downfield.officiating.rulebooks.lions_den.penalties import after_down
from downfield.officiating.rulebooks.lions_den.skilled_players import rating_of
from downfield.officiating.rules.lines import Spot, reference_point
from downfield.officiating.rules.passer import may_still_pass, rush_refusal
from downfield.officiating.state.facts import EVEN_ODDS, Facts, MeasuredPoint, outermost_x
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.over_fronts import over_fronts

RULE: Final = "pass"  # rule id of findings that follow from passes
_NEAR_NOTE: Final = "near:"  # prefix of the play's notes on defenders near enough to intercept
_SHOWN_ERROR_YD: Final = 0.05  # lengths are shown to a tenth of a yard

_TURN: Final = np.radians(np.arange(32) * 11.25)
"""Ways out of a base from its heading: of its corners, taken as polygons of every second one, and of the sides between.
A polygon is less than 0.1 mm inside a corner of 5 mm."""


def base_gap_yd(a: Figure, b: Figure, field: FieldModel) -> float:
    """Return the shortest distance between two bases in field yards; 0 where they touch or overlap."""
    (one, out), (other, away) = (_outline_yd(figure, field) for figure in (a, b))
    # Convex outlines are as far apart as along the best of the ways from corner to corner and across the sides.
    ways = np.concatenate([(other[:, None] - one).reshape(-1, 2), out, -away])
    ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
    return max(float(((other @ ways.T).min(axis=0) - (one @ ways.T).max(axis=0)).max()), 0.0)


def _outline_yd(figure: Figure, field: FieldModel) -> tuple[Array, Array]:
    """Return points about a base, the corners of its outline among them, and ways across its sides, field yards."""
    turn = math.radians(figure.heading_deg) + _TURN
    out = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = figure.footprint.core_mm()[:, None] + figure.corner_mm * out[::2]
    return points.reshape(-1, 2) / field.mm_per_yd, out * field.mm_per_yd


def declare_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle ``PASS``: measure the distance, and find the defenders near enough to intercept."""
    body = body_of(event, PassDeclared)
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "pass", game)
    if not may_still_pass(game):
        raise RefusedError("pass: only the quarterback may pass, until his base crosses the line (LD-040)")
    if late := rush_refusal(game, context.params, event.t_ns):
        raise RefusedError(late)
    if body.receiver is None and game.players:
        raise RefusedError("pass: name the receiver")
    rating = rating_of(game, "quarterback", game.offense)
    if body.receiver is not None:
        require_receiver(game, body.receiver, "pass", "LD-046")
    distance, sigma, near = _declared_pass(game, body) or _measured_pass(game, body, context)
    notes = tuple(pair for pair in game.play.notes if not pair[0].startswith(_NEAR_NOTE) and pair[0] != "pass_yd")
    near_notes = ((f"{_NEAR_NOTE}{defender}", float(touching)) for defender, touching in near)
    notes = (*notes, ("pass_yd", distance), *near_notes)
    play = replace(game.play, pass_attempts=game.play.pass_attempts + 1, receiver=body.receiver, notes=notes)
    if play.stoppage is not None:
        play = replace(play, stoppage=replace(play.stoppage, pass_ns=event.t_ns))
    needed = tables.success_percent(rating, distance, round(context.params.real("pass.free_yd")))
    names = ", ".join(f"{name}{' (touching)' if touching else ''}" for name, touching in near) or "none"
    to = "" if body.receiver is None else f" to {body.receiver}"
    error = f" ± {sigma:.1f}" if sigma and sigma >= _SHOWN_ERROR_YD else ""
    text = f"pass of {distance:.1f}{error} yards{to}: caught on {needed} or less; may intercept: {names}"
    clauses, key = ("LD-045", "LD-048", "LD-049", "LD-050"), f"pass{play.pass_attempts}"
    players = tuple(name for name in (game.play.carrier, body.receiver) if name is not None)
    found = Finding(RULE, "info", event.t_ns, text, clauses, key, players, reported=True, detail="pass")
    found = replace(found, numbers=CallNumbers(pass_yd=distance, needed=needed))
    return Outcome(wait_for_roll(replace(game, play=play), "pass", game.offense), (found,))


Near = tuple[tuple[str, bool], ...]
"""Defenders near enough to intercept, and whether each touches the passer or the receiver."""


def _declared_pass(game: GameState, body: PassDeclared) -> tuple[float, float | None, Near] | None:
    """Return the distance and the defenders near enough as a person measured them, None where nobody did."""
    if body.distance_yd is None:
        if body.near or body.touching:
            raise RefusedError("pass: with the defenders near, enter the distance too (distance_yd)")
        return None
    longest = math.hypot(game.length_yd + 2 * game.end_zone_yd, game.width_yd)
    if not 0 <= body.distance_yd <= longest:
        raise RefusedError(f"pass: its length is 0 to {longest:.0f} yd, not {body.distance_yd:g}")
    if not set(body.touching) <= set(body.near):
        raise RefusedError("pass: a defender who touches is also near; name him in both (near, touching)")
    if len(set(body.near)) < len(body.near):
        raise RefusedError("pass: a defender is named twice (near)")
    for name in body.near if game.players else ():
        require_on_side(game, name, game.defense, "pass")
    return body.distance_yd, None, tuple((name, name in body.touching) for name in body.near)


def _measured_pass(game: GameState, body: PassDeclared, context: RuleContext) -> tuple[float, float | None, Near]:
    if context.facts is None or body.receiver is None:
        raise RefusedError("pass: no camera measures its length; enter it (distance_yd)")
    passer, receiver = _passer_and_receiver(game, body.receiver, context, context.facts)
    sigma = math.hypot(*passer.sigma_mm, *receiver.sigma_mm) / context.field.mm_per_yd_x
    # The straight distance from the passer's foremost part to the receiver's rearmost (LD-049).
    front, rear = outermost_x(passer, game.direction), outermost_x(receiver, -game.direction)
    along = (rear.x_mm - front.x_mm) / context.field.mm_per_yd_x
    distance = math.hypot(along, (rear.y_mm - front.y_mm) / context.field.mm_per_yd_y)
    return distance, sigma, _defenders_near(passer, receiver, context.facts, context)


def _passer_and_receiver(game: GameState, name: str, context: RuleContext, facts: Facts) -> tuple[Figure, Figure]:
    """Return both figures; refuses a receiver who points backward (LD-047) and figures out of view."""
    passer, receiver = facts.figures.get(game.play.carrier or ""), facts.figures.get(name)
    if passer is None or receiver is None:
        raise RefusedError("pass: the passer or the receiver is not in view; enter its length (distance_yd)")
    backward = facts.heading_error_deg(receiver, game.direction) - 90.0
    faces_back = over_fronts(
        receiver, lambda figure: (facts.heading_error_deg(figure, game.direction) - 90.0, figure.sigma_deg)
    )
    if faces_back.probability >= context.params.real("calls.confidence") and backward > 0:
        raise RefusedError(f"pass: {name} points {backward:.0f}° toward his own goal and is ineligible (LD-047)")
    return passer, receiver


def _defenders_near(
    passer: Figure, receiver: Figure, facts: Facts, context: RuleContext
) -> tuple[tuple[str, bool], ...]:
    reach_yd = context.params.real("pass.intercept_within_yd")
    near = []
    for figure in facts.scene.figures:
        if figure.jersey == passer.jersey or figure.posture == "lifted":
            continue
        if min(base_gap_yd(figure, target, context.field) for target in (passer, receiver)) <= reach_yd:
            touching = any(
                contact.opponent == figure.id and contact.probability > EVEN_ODDS
                for target in (passer, receiver)
                for contact in facts.opponent_contacts(target.id)
            )
            near.append((figure.id, touching))
    return tuple(near)


def roll_pass(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle the percentile roll; then the defense rolls for each defender near enough (LD-048)."""
    number = percentile(roll.dice, "pass")
    game = replace(game, play=game.play.with_note("pass_roll", float(number)))
    if _noted_defenders(game):
        return Outcome(wait_for_roll(game, "interception", game.defense, ("decline",)))  # "may roll" (LD-050)
    return _throw(game, context)


def roll_interception(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a die for each defender near enough, in the order named; the first to hit has the ball (LD-050)."""
    near = _noted_defenders(game)
    touching_from = context.params.count("pass.touching_from")
    for (name, touching), die in zip(near, d10(roll.dice, len(near), "interception"), strict=True):
        at_least = touching_from if touching else tables.INTERCEPT_NEAR
        if die >= at_least:
            clauses = ("LD-051", "LD-052") if touching else ("LD-050", "LD-052")
            text = f"intercepted by {name} on {die}"
            numbers = CallNumbers(pass_yd=game.play.note("pass_yd"), at_least=at_least, rolled=die)
            found = Finding(RULE, "interception", context.t_ns, text, clauses, "intercepted", (name,))
            found = replace(found, side=game.defense, numbers=numbers)
            return Outcome(resume_play(game), (_caught_at(found, _spot(game, name, context)),))
    return _throw(game, context)


def decline_interception(game: GameState, _choice: ChoiceMade, context: RuleContext) -> Outcome:
    """Handle a defense that does not roll for an interception, which it may but need not (LD-050)."""
    return _throw(game, context)


def _noted_defenders(game: GameState) -> tuple[tuple[str, bool], ...]:
    return tuple((name[len(_NEAR_NOTE) :], value > 0) for name, value in game.play.notes if name.startswith(_NEAR_NOTE))


def count_defenders_near(game: GameState) -> int:
    """Return how many defenders are near enough to intercept the pass: each has a die."""
    return len(_noted_defenders(game))


def _throw(game: GameState, context: RuleContext) -> Outcome:
    distance, number = game.play.note("pass_yd") or 0.0, round(game.play.note("pass_roll") or 100)
    free_yd = round(context.params.real("pass.free_yd"))
    needed = tables.success_percent(rating_of(game, "quarterback", game.offense), distance, free_yd)
    receiver = game.play.receiver or ""
    caught = number <= needed
    by = f" by {receiver}" if receiver else ""
    text = f"{number} against {needed}: {'caught' + by if caught else 'incomplete'}"
    players, margin = (receiver,) if caught and receiver else (), float(abs(needed - number))
    kind: CallKind = "reception" if caught else "incomplete"
    found = Finding(RULE, kind, context.t_ns, text, ("LD-048",), "thrown", players, margin=margin, unit="count")
    numbers = CallNumbers(pass_yd=distance, needed=needed, rolled=number)
    found = replace(found, side=game.offense if caught else None, numbers=numbers)
    spot = _spot(game, receiver, context) if caught else None
    return Outcome(resume_play(game), (_caught_at(found, spot),))


def _caught_at(found: Finding, spot: Spot | None) -> Finding:
    if spot is None:
        return found
    numbers = replace(found.numbers or CallNumbers(), caught_yd=spot.yd)
    return replace(found, spot_yd=spot.yd, spot_sigma_yd=spot.sigma_yd, numbers=numbers)


def _spot(game: GameState, name: str, context: RuleContext) -> Spot | None:
    """Return where a figure has the ball: at his hand, or at the middle of his base where that was never measured."""
    facts = context.facts
    figure = facts.figures.get(name) if facts else None
    if facts is None or figure is None:
        return None
    entry, field = game.player(name), context.field
    point = MeasuredPoint(figure.x_mm, figure.y_mm, figure.sigma_mm[0])
    if entry is not None and entry.hand_mm is not None:
        point = reference_point(facts, figure, "hand")
    sigma_yd = (point.sigma_mm / field.mm_per_yd_x, figure.sigma_mm[1] / field.mm_per_yd_y)
    return Spot(facts.spot_yd(point.x_mm, figure.y_mm), sigma_yd)


def catch_pass(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the ball to the catcher or interceptor, live; a catch in the end zone is a touchdown (LD-022)."""
    side = call.side or (game.offense if call.kind == "reception" else game.defense)
    play = replace(downs.gain_ball(game.play, call, side), pass_caught=True, switch=side)
    game = replace(resume_play(game), wait=None, play=play)
    if call.spot_yd is None:
        return Outcome(game)
    own_yd = game.progress_yd(call.spot_yd[0], game.direction_of(side))
    past = PastLine(own_yd - game.length_yd, call.spot_sigma_yd[0], call.spot_yd)
    clauses = ("LD-022",) if call.kind == "reception" else ("LD-021",)
    return decide(game, touchdown_finding(game, side, call.t_ns, clauses), (), past, context)


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
