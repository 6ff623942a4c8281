"""Lion's Den's passes: measured, rolled against the quarterback's rating, and for every defender near enough."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.footprint import signed_gap
from downfield.core.scene import Figure
from downfield.officiating.calls import Finding
from downfield.officiating.checks.roles import ELIGIBLE, canonical_role
from downfield.officiating.consequences.declaration_handlers import body_of, refuse_unless, require_on_side
from downfield.officiating.consequences.rolls_and_choices import d10, percentile, wait_for_roll
from downfield.officiating.declarations import PassDeclared, Roll
from downfield.officiating.engine.facts import Facts, outermost_x
from downfield.officiating.engine.facts import exceedance_probability as likely
from downfield.officiating.engine.interfaces import Outcome, RuleContext
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.lions_den import tables
from downfield.officiating.rulebooks.lions_den.skilled_players import rating_of
from downfield.officiating.rulebooks.params import Param
from downfield.officiating.rules.lines import reference_point
from downfield.officiating.rules.passer import may_still_pass

PASS_PARAMS: Final = (
    Param("pass.free_yd", tables.FREE_YD, "yd", "LD-049", low=0, high=100),
    Param("pass.intercept_within_yd", 5.0, "yd", "LD-050, base to base", low=0, high=50),
    Param("pass.touching_from", tables.INTERCEPT_TOUCHING, "", "LD-051: the text's 7-10, not its 3 in 10", 1, 10),
    Param(
        "field_goal.free_yd", tables.FREE_YD, "yd", "LD-058: the yard line of the line of scrimmage", low=0, high=100
    ),
)
RULE: Final = "pass"
NEAR: Final = "near:"


def declare_pass(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """``PASS``: the distance is measured, and whoever is near enough to intercept."""
    body = body_of(event, PassDeclared)
    refuse_unless(game.phase in {Phase.LIVE, Phase.STOPPED}, "pass", game)
    if not may_still_pass(game):
        raise RefusedError("pass: only the quarterback may pass, until his base crosses the line (LD-040)")
    if body.receiver is None:
        raise RefusedError("pass: name the receiver")
    rating_of(game, "quarterback", game.offense)
    if context.facts is None:
        raise RefusedError("pass: nothing is seen of the board, so the distance can't be measured")
    passer, receiver = _passer_and_receiver(game, body.receiver, context, context.facts)
    distance = _distance_yd(game, passer, receiver, context)
    near = _near(passer, receiver, context.facts, context)
    notes = tuple(pair for pair in game.play.notes if not pair[0].startswith(NEAR) and pair[0] != "pass_yd")
    notes = (*notes, ("pass_yd", distance), *((f"{NEAR}{name}", float(touching)) for name, touching in near))
    play = replace(game.play, pass_attempts=game.play.pass_attempts + 1, receiver=body.receiver, notes=notes)
    if play.stoppage is not None:
        play = replace(play, stoppage=replace(play.stoppage, pass_ns=event.t_ns))
    rating = rating_of(game, "quarterback", game.offense)
    needed = tables.chance(rating, distance, round(context.params.real("pass.free_yd")))
    who = ", ".join(f"{name}{' (touching)' if touching else ''}" for name, touching in near) or "nobody"
    text = f"pass of {distance:.1f} yards to {body.receiver}: caught at {needed} or less; may intercept: {who}"
    told = Finding(
        RULE,
        "info",
        event.t_ns,
        text,
        ("LD-045", "LD-048", "LD-049", "LD-050"),
        f"pass{play.pass_attempts}",
        players=(passer.id, body.receiver),
        margin=distance,
        sigma=math.hypot(*passer.sigma_mm, *receiver.sigma_mm) / context.field.mm_per_yd_x,
        unit="yd",
        reported=True,
        detail="pass",
    )
    return Outcome(wait_for_roll(replace(game, play=play), "pass", game.offense), (told,))


def _passer_and_receiver(game: GameState, name: str, context: RuleContext, facts: Facts) -> tuple[Figure, Figure]:
    require_on_side(game, name, game.offense, "pass")
    entry = game.player(name)
    if entry is not None and entry.role and canonical_role(entry.role) not in ELIGIBLE:
        raise RefusedError(f"pass: {name} ({entry.role}) is not an eligible receiver (LD-046)")
    passer, receiver = facts.figures.get(game.play.carrier or ""), facts.figures.get(name)
    if passer is None or receiver is None:
        raise RefusedError("pass: the passer or the receiver is not in view, so the distance can't be measured")
    off = facts.heading_error_deg(receiver, game.direction) - 90.0
    if likely(off, receiver.sigma_deg) >= context.params.real("calls.confidence") and off > 0:
        raise RefusedError(f"pass: {name} points {off:.0f} degrees toward his own goal and is ineligible (LD-047)")
    return passer, receiver


def _distance_yd(game: GameState, passer: Figure, receiver: Figure, context: RuleContext) -> float:
    """From the foremost part of the passer to the rearmost of the receiver, straight, in yards (LD-049)."""
    front, back = outermost_x(passer, game.direction), outermost_x(receiver, -game.direction)
    along = (back.x_mm - front.x_mm) / context.field.mm_per_yd_x
    across = (back.y_mm - front.y_mm) / context.field.mm_per_yd_y
    return math.hypot(along, across)


def _near(passer: Figure, receiver: Figure, facts: Facts, context: RuleContext) -> tuple[tuple[str, bool], ...]:
    """The defenders near the passer or receiver, and whether they touch either."""
    reach = context.params.real("pass.intercept_within_yd") * min(context.field.mm_per_yd_x, context.field.mm_per_yd_y)
    out = []
    for figure in facts.scene.figures:
        if figure.jersey == passer.jersey or figure.posture == "lifted":
            continue
        gap = min(signed_gap(figure.footprint, one.footprint).gap_mm for one in (passer, receiver))
        if gap <= reach:
            touching = any(
                touch.other == figure.id and touch.probability > 0.5
                for name in (passer.id, receiver.id)
                for touch in facts.opponent_contacts(name)
            )
            out.append((figure.id, touching))
    return tuple(out)


def pass_rolled(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """The percentile roll; then the defense rolls for whoever is near enough (LD-048)."""
    number = percentile(roll.dice, "pass")
    notes = (*(pair for pair in game.play.notes if pair[0] != "pass_roll"), ("pass_roll", float(number)))
    game = replace(game, play=replace(game.play, notes=notes))
    if _interceptors(game):
        return Outcome(wait_for_roll(game, "interception", game.defense))
    return _thrown(game, context)


def interception_rolled(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """A die for each defender near enough, in the order they were named; the first to hit has the ball (LD-050)."""
    near = _interceptors(game)
    from_ = context.params.count("pass.touching_from")
    for (name, touching), die in zip(near, d10(roll.dice, len(near), "interception"), strict=True):
        if tables.intercepts(die, touching, from_):
            clauses = ("LD-051", "LD-052") if touching else ("LD-050", "LD-052")
            found = Finding(
                RULE,
                "interception",
                context.t_ns,
                f"intercepted by {name} on {die}",
                clauses,
                "intercepted",
                players=(name,),
                spot_yd=_spot(game, name, context),
                side=game.defense,
            )
            return Outcome(resumed(game), (found,))
    return _thrown(game, context)


def _interceptors(game: GameState) -> tuple[tuple[str, bool], ...]:
    return tuple((name[len(NEAR) :], value > 0) for name, value in game.play.notes if name.startswith(NEAR))


def _thrown(game: GameState, context: RuleContext) -> Outcome:
    """Caught or not, by the roll against the quarterback's chance."""
    distance, number = game.play.note("pass_yd") or 0.0, round(game.play.note("pass_roll") or 100)
    free = round(context.params.real("pass.free_yd"))
    needed = tables.chance(rating_of(game, "quarterback", game.offense), distance, free)
    receiver = game.play.receiver or ""
    caught = tables.succeeds(number, needed)
    text = f"{number} against {needed}: {'caught by ' + receiver if caught else 'incomplete'}"
    found = Finding(
        RULE,
        "reception" if caught else "incomplete",
        context.t_ns,
        text,
        ("LD-048",),
        "thrown",
        players=(receiver,) if caught else (),
        spot_yd=_spot(game, receiver, context) if caught else None,
        margin=float(needed - number),
        unit="count",
        side=game.offense if caught else None,
    )
    return Outcome(resumed(game), (found,))


def _spot(game: GameState, name: str, context: RuleContext) -> tuple[float, float] | None:
    facts = context.facts
    figure = facts.figures.get(name) if facts else None
    if facts is None or figure is None:
        return None
    entry = game.player(name)
    if entry is None or entry.hand_mm is None:
        return facts.spot_yd(figure.x_mm, figure.y_mm)
    point = reference_point(facts, figure, "hand")
    return facts.spot_yd(point.x_mm, figure.y_mm)


def resumed(game: GameState) -> GameState:
    """The play going on: as the board runs, or stopped until it does."""
    return replace(game, phase=Phase.LIVE if game.board == "on" else Phase.STOPPED)
