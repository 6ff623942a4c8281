"""TAP's penalties, and the claims a coach may make; the list is closed (TAP-G5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from downfield.core.errors import RefusedError
from downfield.officiating.calls import Call, CallNumbers, Finding
from downfield.officiating.checks.alignment import men_on_field
from downfield.officiating.checks.check import ClauseResult
from downfield.officiating.checks.rulebook_checks import current_formation
from downfield.officiating.checks.timing import (
    Timeline,
    defense_set_time,
    field_goal_time,
    kick_ready_time,
    line_up_time,
)
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import body_of, require_on_board
from downfield.officiating.consequences.enforcement import automatic_first_down, move_line, walk_off
from downfield.officiating.consequences.periods import stop_clock
from downfield.officiating.declarations import Claim, Side
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.tap.clock import end_overtime_play
from downfield.officiating.state.game_state import GameState, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext

BEFORE_SNAP: Final = frozenset({Phase.LINE_UP, Phase.SET})


@dataclass(frozen=True, slots=True)
class PenaltyRule:
    """One penalty of TAP."""

    clauses: tuple[str, ...]  # ids of the clauses that its calls cite
    param: str  # name of the parameter with its yards; empty for a spot foul
    first_down: bool = False  # whether it gives an automatic first down
    loss_of_down: bool = False  # whether it costs the down


PENALTIES: Final = {
    "too_many_men": PenaltyRule(("TAP-042",), "penalty.too_many_men_yd"),
    "delay_of_game": PenaltyRule(("TAP-043",), "penalty.delay_yd"),
    "offensive_pass_interference": PenaltyRule(("TAP-044", "TAP-111"), "penalty.offensive_pi_yd", loss_of_down=True),
    "defensive_pass_interference": PenaltyRule(("TAP-045", "TAP-111"), "", first_down=True),
    "gunner_interference": PenaltyRule(("TAP-046",), "penalty.gunner_yd", first_down=True),
}
IN_PLAY: Final = frozenset({"offensive_pass_interference", "defensive_pass_interference", "gunner_interference"})
"""Fouls in a play; they may also be claimed when it is over, until the next one begins."""
PLAYED_FROM: Final = (
    "offense",
    "direction",
    "dark",
    "los_yd",
    "to_gain_yd",
    "lateral_yd",
    "down",
    "gain_yd",
    "score",
    "due",
    "try_for",
    "kicking",
    "overtime",
    "play",
)
"""What a play can change; a penalty after it is enforced from what there was before."""
CLAIM_PARAMS: Final = (*men_on_field.params, *line_up_time.params, *defense_set_time.params)


def handle_claim(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Handle a coach's claim of a penalty that only he may claim."""
    body = body_of(event, Claim)
    if body.player is not None:
        require_on_board(game, body.player, "claim")
    if body.claim == "too_many_men":
        return _claim_too_many_men(game, body, context)
    if body.claim == "delay_of_game":
        return _claim_delay(game, body, event.t_ns, context)
    if body.claim == "time_out":
        return _claim_time_out(game, body.by, context)
    if body.claim == "review":
        raise RefusedError("review: this rulebook has no reviews")
    return _claim_interference(game, body, context)


def enforce_penalty(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Enforce a penalty: the play, if there was one, does not count."""
    rule = PENALTIES.get(call.detail)
    if rule is None:
        return Outcome(game)
    if call.detail in IN_PLAY:
        game = _in_play(game, context)
    if rule.loss_of_down and game.due == "two_point":
        return downs.fail_try(game, context)  # a try has but one down to lose
    if rule.loss_of_down and game.overtime is not None and game.overtime.for_yards:
        return end_overtime_play(game, game.overtime, -context.params.real(rule.param), context)
    lateral = game.width_yd / 2 if game.lateral_yd is None else game.lateral_yd
    if rule.param:
        x_yd = _walked_off_x_yd(game, rule, call.side or game.offense, context)
    else:
        x_yd = _spot_of_foul_yd(game, call.spot_yd, context)
    if rule.first_down:
        return automatic_first_down(game, x_yd, lateral, call, context)
    return move_line(game, x_yd, lateral, context, loss_of_down=rule.loss_of_down)


def _walked_off_x_yd(game: GameState, rule: PenaltyRule, favors: Side, context: RuleContext) -> float:
    yards = context.params.real(rule.param)
    toward = yards if favors == game.offense else -yards
    half = context.params.flag("penalty.half_the_distance")
    own = walk_off(game.line_yd, toward, length_yd=game.length_yd, half_the_distance=half)
    return game.board_x_yd(own)


def _spot_of_foul_yd(game: GameState, foul_yd: tuple[float, float] | None, context: RuleContext) -> float:
    """Return where the ball goes by a spot foul, no nearer to either goal line than the end zone's spot."""
    own = game.progress_yd(game.los_yd if foul_yd is None else foul_yd[0])
    end_zone_spot = context.params.real("penalty.end_zone_spot_yd")
    return game.board_x_yd(min(max(own, end_zone_spot), game.length_yd - end_zone_spot))


def _claim_too_many_men(game: GameState, body: Claim, context: RuleContext) -> Outcome:
    if game.phase not in BEFORE_SNAP:
        raise RefusedError("too many men: claim it before the snap (TAP-042)")
    offender = opponent(body.by)
    formation = current_formation(game, context)
    if formation is None:
        text = f"too many men claimed by {game.team(body.by).name}, no camera has counted {game.team(offender).name}"
        found = _penalty_finding(game, context, "too_many_men", text, body.by)
        return Outcome(game, (replace(found, proposed=True),))
    offense, defense = men_on_field(formation, context.params)
    counted = offense if game.side_of(formation.jersey) == offender else defense
    text = f"{game.team(offender).name} has {len(counted.players)} on the field"
    if counted.outcome == "kept":
        raise RefusedError(f"too many men: {text}")
    found = _penalty_finding(game, context, "too_many_men", f"too many men: {text}", body.by)
    margin = None if counted.margin is None else -counted.margin
    found = replace(found, margin=margin, unit="count", probability=counted.probability)
    return Outcome(game, (_with_measured(found, counted),))


def _claim_delay(game: GameState, body: Claim, t_ns: int, context: RuleContext) -> Outcome:
    offender = opponent(body.by)
    if game.phase not in BEFORE_SNAP and game.wait is None:
        raise RefusedError("delay of game: claim it during the line-up")
    delay = _measure_delay(game, offender, t_ns, context)
    if delay is None and game.separated_ns is not None:
        raise RefusedError(f"delay of game: no clock is running for {game.team(offender).name}")
    if delay is None:
        text = (
            f"delay of game claimed by {game.team(body.by).name}, nobody has started {game.team(offender).name}'s clock"
        )
        found = _penalty_finding(game, context, "delay_of_game", text, body.by)
        return Outcome(game, (replace(found, proposed=True),))
    if delay.outcome == "kept":
        raise RefusedError(f"delay of game: {delay.text}")
    text = f"delay of game, {game.team(offender).name}: {delay.text}"
    found = _penalty_finding(game, context, "delay_of_game", text, body.by)
    margin = None if delay.margin is None else -delay.margin
    found = replace(found, margin=margin, sigma=delay.sigma, unit="s", probability=delay.probability)
    return Outcome(game, (_with_measured(found, delay),))


def _with_measured(found: Finding, result: ClauseResult) -> Finding:
    numbers = replace(found.numbers or CallNumbers(), measured=result.measured, allowed=result.allowed)
    return replace(found, numbers=numbers)


def _measure_delay(game: GameState, offender: Side, t_ns: int, context: RuleContext) -> ClauseResult | None:
    """Measure the clock of a coach: a kicker's, the offense's set-up clock, or the defense's after ``set``."""
    if game.due == "kickoff" and offender == game.kicking:
        times = Timeline(changed_ns=game.changed_ns, kick_ready_ns=t_ns)
        return next(iter(kick_ready_time(times, context.params)), None)
    if game.wait is not None and game.wait.purpose == "field_goal" and offender == game.offense:
        times = Timeline(separated_ns=game.separated_ns, rolled_ns=t_ns)
        return next(iter(field_goal_time(times, context.params)), None)
    if offender == game.offense:
        changed_ns = game.changed_ns if game.separated_ns is not None else None
        times = Timeline(separated_ns=game.separated_ns, changed_ns=changed_ns, set_ns=game.set_ns or t_ns)
        return next(iter(line_up_time(times, context.params)), None)
    times = Timeline(set_ns=game.set_ns, defense_ready_ns=t_ns)
    return next(iter(defense_set_time(times, context.params)), None)


def _claim_time_out(game: GameState, by: Side, context: RuleContext) -> Outcome:
    if not context.params.flag("time_out.allowed"):
        raise RefusedError("time-out: none with a running game clock (TAP-135)")
    game = stop_clock(game, context.t_ns)
    if game.time_outs is None:
        return Outcome(game)
    home, away = game.time_outs
    if (home if by == "home" else away) < 1:
        raise RefusedError(f"time-out: {game.team(by).name} has none left in this half")
    left = (home - 1, away) if by == "home" else (home, away - 1)
    text = f"time-out, {game.team(by).name}"
    found = Finding("clock", "timing", context.t_ns, text, ("TAP-135",), side=by, detail="time_out", reported=True)
    return Outcome(replace(game, time_outs=left), (found,))


def _claim_interference(game: GameState, body: Claim, context: RuleContext) -> Outcome:
    """Propose interference that the camera has not found, where the touch was; a person decides."""
    name, stands = body.claim.replace("_", " "), game
    game = _in_play(game, context)
    if game.play.snap_ns is None:
        raise RefusedError(f"{name}: no play is on")
    unnamed = not game.play.gunners and (bool(game.players) or game.play.kind != "punt")
    if body.claim == "gunner_interference" and unnamed:
        raise RefusedError("gunner interference: no gunner has been named in this play (TAP-115)")
    if body.claim != "gunner_interference" and game.play.pass_attempts == 0:
        raise RefusedError(f"{name}: no pass has been attempted in this play (TAP-109)")
    favored: Side = game.defense if body.claim == "offensive_pass_interference" else game.offense
    if body.by != favored:
        raise RefusedError(f"{name}: only {game.team(favored).name} may claim it")
    found = _penalty_finding(game, context, body.claim, f"{name} claimed by {game.team(body.by).name}", body.by)
    text, spot_yd = found.text, _touched_at_yd(game, body.player, favored)
    if body.player is not None:
        figure = context.facts.figures.get(body.player) if context.facts else None
        if spot_yd is None and context.facts is not None and figure is not None:
            spot_yd = context.facts.spot_yd(context.facts.foremost_point(figure).x_mm, figure.y_mm)
            text += ", no touch of his was seen: spotted where he is now"
        found = replace(found, players=(body.player,))
    elif spot_yd is not None:
        text += ", spotted at the last touch of two opponents"
    if spot_yd is None and PENALTIES[body.claim].param == "":
        text += ", no touch was seen: spotted at the line of scrimmage; a call by hand may give another spot"
    found = with_numbers(game, replace(found, text=text, spot_yd=spot_yd), context)
    return Outcome(stands, (replace(found, proposed=True),))


def _in_play(game: GameState, context: RuleContext) -> GameState:
    """Return the game in the play that a foul was in: after the whistle as it was when that play ended, points too."""
    ended = context.ended
    if game.play.snap_ns is not None or ended is None or game.phase is Phase.OVER:
        return game
    return replace(game, wait=None, phase=ended.phase, **{name: getattr(ended, name) for name in PLAYED_FROM})


def _touched_at_yd(game: GameState, player: str | None, favored: Side) -> tuple[float, float] | None:
    """Return where the fouled man's front was at the last touch, of a named man or of any two (TAP-045)."""
    for touch in reversed(game.play.touches):
        if player is None or player in touch.players:
            for name, spot_yd in zip(touch.players, touch.spots_yd, strict=True):
                entry = game.player(name)
                if entry is not None and game.side_of(entry.jersey) == favored:
                    return spot_yd
    return None


def _penalty_finding(game: GameState, context: RuleContext, name: str, text: str, favors: Side) -> Finding:
    clauses = PENALTIES[name].clauses
    found = Finding("penalty", "penalty", context.t_ns, text, clauses, side=favors, detail=name)
    return with_numbers(game, found, context)


def with_numbers(game: GameState, found: Finding, context: RuleContext) -> Finding:
    """Return a penalty's finding with its yards and spots: of the foul, where it is walked off from and where to."""
    rule, favors = PENALTIES[found.detail], found.side or game.offense
    if rule.param:
        yards, ends_yd = context.params.real(rule.param), _walked_off_x_yd(game, rule, favors, context)
        numbers = CallNumbers(penalty_yd=yards, enforced_from_yd=game.los_yd, enforced_to_yd=ends_yd)
    else:
        from_yd = game.los_yd if found.spot_yd is None else found.spot_yd[0]
        to_yd = _spot_of_foul_yd(game, found.spot_yd, context)
        numbers = CallNumbers(foul_yd=found.spot_yd, enforced_from_yd=from_yd, enforced_to_yd=to_yd)
    return replace(found, numbers=numbers)
