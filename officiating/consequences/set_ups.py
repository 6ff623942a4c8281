"""Setting a game up as it stands, before any kind of play; what no game under the rulebook can be is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from downfield.core.errors import RefusedError
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.declaration_handlers import (
    BALL_LIVE,
    body_of,
    check_time_left,
    refuse_unless,
    with_jerseys,
)
from downfield.officiating.consequences.periods import is_college, series_holder
from downfield.officiating.declarations import SetUp
from downfield.officiating.events import Event
from downfield.officiating.sides import SIDES
from downfield.officiating.state.game_state import Clock, GameState, Overtime, Phase, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import PlayKind, PlayState
from downfield.officiating.unseen_declarations import DuePlay, OvertimeSetUp

KICKS: Final = frozenset({"kickoff", "free_kick"})
TRIES: Final = frozenset({"try", "extra_point", "two_point"})
POSSESSION_POINTS: Final = frozenset({0.0, 2.0, 3.0, 6.0})  # that may be scored in a possession of an overtime


@dataclass(frozen=True, slots=True)
class SetUpLimits:
    """Ranges of set-ups that no rulebook states."""

    score: int = 255  # more points than any football game has seen (222); beyond it is a slip of the finger
    spot_yd: float = 0.05  # a spot this near to the rulebook's own is that spot


_LIMITS: Final = SetUpLimits()


def as_it_stands(game: GameState) -> SetUp:
    """Return the set-up of a game as it stands now, so that a correction, or another rulebook, starts from it."""
    due: dict[PlayKind, DuePlay] = {"onside": "kickoff", "punt": "scrimmage", "field_goal": "scrimmage"}
    next_play = due.get(game.due) or game.due
    scrimmage = next_play == "scrimmage"
    return SetUp(
        game.try_for or game.offense,
        game.direction,
        game.los_yd if scrimmage else None,
        game.down if scrimmage else 1,
        0.0 if game.goal_to_go or not scrimmage else game.distance_yd,
        game.period,
        game.clock.left_at_s(game.now_ns),
        game.score,
        game.hash,
        next_play,  # type: ignore[arg-type]
        game.time_outs,
        opening_kicker=game.opening_kicker,
    )


def apply_set_up(game: GameState, event: Event, context: RuleContext) -> Outcome:
    """Set the state of the game before a play."""
    body = body_of(event, SetUp)
    refuse_unless(game.phase not in BALL_LIVE, "set-up", game)
    # Everything is checked before anything is set: what a person mistypes must not stand for half a game.
    _check_numbers(body, game, context)
    _check_play(body, game, context)
    overtime = checked_overtime(body, game, context)
    game = replace(_with_standing(game, body, event.t_ns, context.system.series_notes), overtime=overtime)
    if body.due in KICKS:
        game = downs.schedule_kick(game, opponent(body.offense), body.due, context)
        _refuse_other_spot(body, game)
        return Outcome(with_jerseys(game, context))
    if body.due in TRIES:
        if context.system.begin_try is None:
            raise RefusedError("set-up: this rulebook has no tries")
        game = replace(game, try_for=body.offense, due="extra_point", down=1, phase=Phase.BETWEEN_PLAYS)
        outcome = context.system.begin_try(game, body.due, context)
        _refuse_other_spot(body, outcome.state)
        return replace(outcome, state=with_jerseys(outcome.state, context))
    spot_yd = game.length_yd / 2 if body.spot_yd is None else body.spot_yd  # the spot of every overtime play
    game = replace(game, phase=Phase.LINE_UP, los_yd=spot_yd, down=body.down)
    start = game.progress_yd(spot_yd)
    line = game.length_yd if body.distance_yd == 0 else min(game.length_yd, start + body.distance_yd)
    return Outcome(with_jerseys(replace(game, to_gain_yd=game.board_x_yd(line)), context))


def _with_standing(game: GameState, body: SetUp, t_ns: int, series_notes: tuple[str, ...]) -> GameState:
    """Return the game with everything of a set-up that does not depend on the kind of play."""
    notes = [pair for pair in game.notes if not pair[0].startswith(series_notes)]
    if body.spiked is not None:
        notes = [pair for pair in notes if not pair[0].startswith("spiked_")]
        notes += [(f"spiked_{side}", 1.0) for side, done in zip(SIDES, body.spiked, strict=True) if done]
    if body.reviews_used is not None:
        notes = [pair for pair in notes if not pair[0].startswith("reviews_")]
        for side, used in zip(SIDES, body.reviews_used, strict=True):
            notes += [(f"reviews_{period}_{side}", float(used)) for period in ("game", "overtime")]
    game = replace(
        game,
        wait=None,
        offense=body.offense,
        direction=body.direction,
        period=body.period,
        score=body.score,
        hash=body.hash,
        due="scrimmage",
        try_for=None,
        kicking=None,
        opening_kicker=body.opening_kicker or game.opening_kicker,
        play=PlayState(ball_side=body.offense),
        time_outs=game.time_outs if body.time_outs is None else body.time_outs,
        overtime=None,
        gain_yd=None,
        set_ns=None,
        proposals=(),
        notes=tuple(notes),
    )
    if body.clock_s is None:
        return game
    return replace(game, clock=Clock(body.clock_s, game.clock.running, t_ns))


def _check_numbers(body: SetUp, game: GameState, context: RuleContext) -> None:
    params = context.params
    nearest = downs.SHORT_OF_GOAL_YD
    if body.spot_yd is not None and not nearest <= body.spot_yd <= game.length_yd - nearest:
        raise RefusedError(f"set-up: the line of scrimmage must be on the field, not at {body.spot_yd:g} yd")
    if not 1 <= body.down <= params.count("downs.allowed"):
        raise RefusedError(f"set-up: there is no down {body.down}")
    if not 0 <= body.distance_yd <= game.length_yd:
        raise RefusedError(f"set-up: the distance is 0 to {game.length_yd:g} yd, not {body.distance_yd:g}")
    periods = params.count("clock.periods") + (context.system.overtime != "none" or is_college(params))
    if not 1 <= body.period <= periods:
        raise RefusedError(f"set-up: the period is 1 to {periods}, not {body.period}")
    if not 0 <= min(body.score) <= max(body.score) <= _LIMITS.score:
        raise RefusedError(f"set-up: a score is 0 to {_LIMITS.score}, not {max(body.score, key=abs)}")
    if 1 in body.score:
        raise RefusedError("set-up: the score can't be 1, since nothing scores a single point without a touchdown")
    if body.clock_s is not None:
        check_time_left(body.clock_s, "set-up", body.period, params)
    _check_count(body.time_outs, "time_out.per_half", "time-outs left", context)
    reviews = "review.per_overtime" if body.period > params.count("clock.periods") else "review.per_game"
    _check_count(body.reviews_used, reviews, "reviews used", context)
    if body.spiked is not None and "kneel.loss_yd" not in params.definitions:
        raise RefusedError("set-up: this rulebook has no spikes")


def _check_count(given: tuple[int, int] | None, param: str, name: str, context: RuleContext) -> None:
    if given is None:
        return
    if param not in context.params.definitions or not context.params.count(param):
        raise RefusedError(f"set-up: this rulebook has no {name.split()[0]}")
    most = context.params.count(param)
    if not 0 <= min(given) <= max(given) <= most:
        raise RefusedError(f"set-up: {name} are 0 to {most}, not {max(given, key=abs)}")


def _check_play(body: SetUp, game: GameState, context: RuleContext) -> None:
    name = {"free_kick": "free kick", "extra_point": "extra point", "two_point": "two-point try"}.get(
        body.due, body.due
    )
    if body.due == "scrimmage":
        if body.spot_yd is None and not (body.overtime is not None and context.system.overtime == "plays"):
            raise RefusedError("set-up: a play from scrimmage needs its line (spot_yd)")
        return
    if body.down != 1:
        raise RefusedError(f"set-up: before a {name} there is no down {body.down}; leave it out")
    points = body.score[0 if body.offense == "home" else 1]
    team = game.team(body.offense).name
    if body.due in TRIES and points < downs.TOUCHDOWN:
        raise RefusedError(
            f"set-up: a {name} follows a touchdown of {team}, which then has {downs.TOUCHDOWN} points or more"
        )
    if body.due == "free_kick" and points < downs.SAFETY:
        raise RefusedError(
            f"set-up: a free kick follows a safety for {team}, which then has {downs.SAFETY} points or more"
        )


def checked_overtime(body: SetUp, game: GameState, context: RuleContext) -> Overtime | None:
    """Return a set-up's overtime; None for none. Raises RefusedError: no overtime under the rulebook can be so."""
    kind, periods, given = context.system.overtime, context.params.count("clock.periods"), body.overtime
    tied = body.score[0] == body.score[1]
    if is_college(context.params):
        return _series(body, game) if body.period > periods else None
    if kind in {"none", "period"} and given is not None:
        raise RefusedError("set-up: this rulebook's overtime counts no possessions; leave it out (overtime)")
    if kind == "period":
        if body.period > periods and not tied and context.params.flag("overtime.first_score_wins"):
            raise RefusedError("set-up: an overtime ends with the first score, so the score is tied in it")
        return None
    if kind == "possessions" and body.period > periods:
        return _possessions(body, game)
    if given is None:
        return None
    if body.period < periods or kind == "possessions":
        raise RefusedError(f"set-up: period {body.period} is no overtime; leave it out (overtime)")
    return _plays(body, given, game)


def _possessions(body: SetUp, game: GameState) -> Overtime:
    """Return an overtime on the clock: tied but for the answer to a field goal on the first possession."""
    overtime = body.overtime or OvertimeSetUp("home")
    if not set(overtime.gains_yd) <= POSSESSION_POINTS:
        raise RefusedError("set-up: a possession in overtime scores 0, 2, 3 or 6 points (overtime.gains_yd)")
    lead = body.score[0] - body.score[1] if overtime.first == "home" else body.score[1] - body.score[0]
    needed = downs.FIELD_GOAL if overtime.gains_yd == (downs.FIELD_GOAL,) else 0
    if lead != needed:
        first = game.team(overtime.first).name
        text = f"{first} leads by {needed} after its field goal" if needed else "the score is tied in it"
        raise RefusedError(f"set-up: this overtime would be over; {text}")
    return Overtime(overtime.number, overtime.first, overtime.gains_yd)


def _series(body: SetUp, game: GameState) -> Overtime:
    """Return an overtime of series: tied as a round begins, and not yet won."""
    overtime = body.overtime or OvertimeSetUp(body.offense)
    if overtime.number < 1 or len(overtime.gains_yd) > 1:
        raise RefusedError("set-up: an overtime is counted from 1, with one series of each side")
    side = series_holder(Overtime(overtime.number, overtime.first, overtime.gains_yd))
    home, away = body.score
    lead = home - away if overtime.first == "home" else away - home
    is_try = body.due in TRIES
    if body.due in KICKS or (body.offense != side and not is_try):
        raise RefusedError(f"set-up: the next series of this overtime is {game.team(side).name}'s")
    if lead < 0 or (lead and not overtime.gains_yd and not is_try):
        raise RefusedError("set-up: this overtime would be over; the score is tied as a round begins")
    return Overtime(overtime.number, overtime.first, overtime.gains_yd)


def _plays(body: SetUp, overtime: OvertimeSetUp, game: GameState) -> Overtime:
    """Return an overtime of one play each from the middle of the field."""
    if body.score[0] != body.score[1]:
        raise RefusedError("set-up: the score is tied in overtime")
    if overtime.number < 1 or len(overtime.gains_yd) > 1:
        raise RefusedError("set-up: an overtime is counted from 1, with one play of each side")
    side = opponent(overtime.first) if overtime.gains_yd else overtime.first
    if body.offense != side:
        raise RefusedError(f"set-up: the next play of this overtime is {game.team(side).name}'s")
    middle = game.length_yd / 2
    if body.due != "scrimmage" or body.down != 1 or body.spot_yd not in {None, middle}:
        raise RefusedError(f"set-up: a play in overtime is a first down from the {middle:g} yd line")
    return Overtime(overtime.number, overtime.first, overtime.gains_yd, for_yards=True)


def _refuse_other_spot(body: SetUp, game: GameState) -> None:
    if body.spot_yd is not None and abs(body.spot_yd - game.los_yd) > _LIMITS.spot_yd:
        name = body.due.replace("_", " ")
        raise RefusedError(
            f"set-up: the rulebook puts the {name} at {game.los_yd:g} yd, not at {body.spot_yd:g} yd; leave it out"
        )
