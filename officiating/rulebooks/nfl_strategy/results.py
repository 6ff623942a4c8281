"""What a finished card play comes to: one finding, with its spot, and what it is to the clock.

Spots are worked out in the offense's own yards and told along x of the board.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from downfield.officiating.calls import CallKind
from downfield.officiating.declarations import Side
from downfield.officiating.engine.state import GameState, opponent
from downfield.officiating.rulebooks.nfl_strategy.card_play import CardPlay
from downfield.officiating.rulebooks.nfl_strategy.clock import ClockPlay, StopReason
from downfield.officiating.rulebooks.nfl_strategy.steps import (
    PUNTS,
    TRIES,
    by_kickoff,
    kick_from_yd,
    landing_yd,
    line_yd,
    shown,
)
from downfield.officiating.rulebooks.nfl_strategy.tables import (
    Window,
    free_kick_good,
    fumble_end,
    interception_end,
    is_touchback_kick,
    kickoff_out_of_bounds,
    missed_field_goal,
    read_window,
    run_out_of_bounds,
)
from downfield.officiating.rulebooks.params import Params

KICK_REASONS: Final[dict[str, StopReason]] = {
    "kickoff": "kickoff",
    "onside": "kickoff",
    "punt": "punt",
    "touch_punt": "punt",
    "field_goal": "field_goal_try",
    "fair_catch_kick": "field_goal_try",
    "extra_point": "extra_point_try",
    "two_point": "two_point_try",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """What a play came to.

    Attributes:
        kind: of the call.
        text: as a person would say it.
        clauses: catalog ids that decided.
        spot_yd: where the ball is next, in the offense's own yards; None when that follows from the call.
        side: whose ball, or whose points.
        detail: the outcome within the kind.
        start_yd: where a return began, in the frame of the side that ran it; None without one.
        end_yd: where it ended, same frame.
        dead_kick: whether a kickoff went out of bounds or was a touchback.
        yards: of a penalty.

    """

    kind: CallKind
    text: str
    clauses: tuple[str, ...]
    spot_yd: float | None = None
    side: Side | None = None
    detail: str = ""
    start_yd: float | None = None
    end_yd: float | None = None
    dead_kick: bool = False
    yards: int | None = None


def ended(game: GameState, play: CardPlay, params: Params) -> Ended:
    """What a play came to, all its rolls made and penalties left aside."""
    kind, window = play.card.kind, shown(play)
    if kind in {"field_goal", "fair_catch_kick", "extra_point"}:
        return _place_kick(game, play, window, params)
    if by_kickoff(game, play):
        return _kickoff(game, play, window, params)
    if kind in PUNTS:
        return _punt(game, play, window, params)
    result = _scrimmage(game, play, window, params)
    return _two_point(game, result) if kind == "two_point" else result


def _scrimmage(game: GameState, play: CardPlay, window: Window, params: Params) -> Ended:
    start = line_yd(game)
    if play.card.kind == "spike":
        return Ended("incomplete", "the ball is spiked", ("NFLS-017", "NFLS-027"), start)
    if play.card.kind == "kneel":
        return Ended("stopped", "kneels with the ball", ("NFLS-014",), start - params.real("kneel.loss_yd"))
    if window.mark == "incomplete" or play.review == "overturned":
        text = "interception overturned, incomplete" if play.review else "incomplete"
        return Ended("incomplete", text, ("NFLS-060",) if play.review else ("NFLS-005",), start)
    gain = float(window.yards or 0)
    if window.mark == "fumble":
        return _fumbled(game, play, start, gain)
    if window.mark == "interception":
        return _intercepted(game, play, start, gain)
    if play.card.ran_out and play.card.dot is not None and start + gain < game.length_yd:
        gain = run_out_of_bounds(gain, play.card.dot)
        return Ended("stopped", f"gain of {gain:g}, out of bounds", ("NFLS-026", "NFLS-090"), start + gain)
    if start + gain >= game.length_yd:
        return _touchdown(game, game.offense, ("NFLS-086",))
    return Ended("stopped", f"gain of {gain:g}", ("NFLS-090",), start + gain)


def _fumbled(game: GameState, play: CardPlay, start: float, gain: float) -> Ended:
    end = fumble_end(start, gain, play.recovered, game.length_yd)
    if end == "touchdown":
        return _touchdown(game, game.offense, ("NFLS-048",))
    if end == "safety":
        return Ended("safety", f"safety, {game.team(game.defense).name}", ("NFLS-049",), side=game.defense)
    if end == "defense_touchdown":
        return _touchdown(game, game.defense, ("NFLS-049",))
    if play.run_back:
        return _touchdown(game, game.defense, ("NFLS-050",))
    side = game.offense if end == "offense" else game.defense
    text = f"fumble, {game.team(side).name} recovers"
    return Ended("fumble_recovery", text, ("NFLS-047", "NFLS-051"), start + gain, side)


def _intercepted(game: GameState, play: CardPlay, start: float, yards: float) -> Ended:
    end = interception_end(start, yards, length_yd=game.length_yd, end_zone_yd=game.end_zone_yd)
    if end == "incomplete":
        return Ended("incomplete", "intercepted out of the end zone: incomplete", ("NFLS-053",), start)
    if end == "touchdown" or play.run_back:
        return _touchdown(game, game.defense, ("NFLS-052",) if end == "touchdown" else ("NFLS-054",))
    name = game.team(game.defense).name
    if end == "touchback":
        return Ended("touchback", f"intercepted in the end zone, touchback {name}", ("NFLS-052",), side=game.defense)
    return Ended("interception", f"intercepted, {name} ball", ("NFLS-052",), start + yards, game.defense)


def _two_point(game: GameState, result: Ended) -> Ended:
    scored = result.kind == "touchdown" and result.side is not None
    side = result.side if scored and result.side else game.offense
    clauses = ("NFLS-039",) if side == game.defense else ("NFLS-038",)
    text = f"two points, {game.team(side).name}" if scored else "two-point try fails"
    return Ended("two_point", text, clauses, side=side, detail="good" if scored else "no_good")


def _place_kick(game: GameState, play: CardPlay, window: Window, params: Params) -> Ended:
    extra = play.card.kind == "extra_point"
    kind: CallKind = "extra_point" if extra else "field_goal"
    name = "extra point" if extra else "field goal"
    if _is_good(play, window, params):
        return Ended(kind, f"{name} good", ("NFLS-036",) if extra else ("NFLS-040",), side=game.offense, detail="good")
    if window.mark == "blocked":
        return _blocked(game, play, params)
    if extra:
        return Ended(kind, "extra point no good", ("NFLS-036",), side=game.offense, detail="no_good")
    free = play.card.kind == "fair_catch_kick"
    spot = missed_field_goal(line_yd(game), after_fair_catch=free, back_yd=params.real("missed.back_yd"))
    clauses = ("NFLS-044",) if free else ("NFLS-041", "NFLS-040")
    return Ended(kind, "field goal no good", clauses, spot, game.defense, "no_good")


def _is_good(play: CardPlay, window: Window, params: Params) -> bool:
    """Whether a kick is good: as its card says, or for one after a fair catch by its roll against the card's number."""
    if play.card.kind == "fair_catch_kick" and window.mark == "gain" and play.card.roll is not None:
        return free_kick_good(play.card.roll, window.yards or 0, params.count("free_kick.margin"))
    return window.mark == "good"


def _blocked(game: GameState, play: CardPlay, params: Params) -> Ended:
    """A blocked kick, returned by the other side."""
    start = game.length_yd - landing_yd(game, play, params)
    side, end, _ = _returned(game, play, start, game.defense)
    clause = "NFLS-046" if play.card.kind in PUNTS else "NFLS-045"
    if play.card.kind == "extra_point":
        if end >= game.length_yd:
            name = game.team(game.defense).name
            return Ended(
                "two_point", f"blocked and returned, two points {name}", ("NFLS-037",), None, game.defense, "good"
            )
        return Ended("extra_point", "extra point blocked", ("NFLS-037",), side=game.offense, detail="blocked")
    if end >= game.length_yd:
        return _touchdown(game, game.defense, (clause,))
    text = f"kick blocked, {game.team(side).name} ball"
    return Ended("kick", text, (clause,), game.length_yd - end, side, "blocked", start, end)


def _kickoff(game: GameState, play: CardPlay, window: Window, params: Params) -> Ended:
    name = game.team(game.offense).name
    from_yd = kick_from_yd(game, params)
    if window.mark == "out_of_bounds":
        # An onside kick's yards say where it went out; a plain one's spot does not depend on them.
        onside = play.card.kind == "onside" and window.yards is not None
        at = from_yd + (window.yards or 0) if onside else kickoff_out_of_bounds(from_yd, params.real("kickoff.out_yd"))
        clauses = ("NFLS-031",) if onside else ("NFLS-029",)
        return Ended("kick", f"out of bounds, {name} ball", clauses, game.length_yd - at, game.offense, dead_kick=True)
    landed = landing_yd(game, play, params)
    if window.mark == "touchback" or is_touchback_kick(landed, length_yd=game.length_yd, end_zone_yd=game.end_zone_yd):
        return Ended("touchback", f"touchback, {name}", ("NFLS-030",), side=game.offense, dead_kick=True)
    if window.mark in {"fair_catch", "downed"}:
        word = "fair catch" if window.mark == "fair_catch" else "downed"
        return Ended("kick", f"{word}, {name} ball", ("NFLS-042",), game.length_yd - landed, game.offense, window.mark)
    start = game.length_yd - landed
    if play.onside:
        text = f"onside kick recovered by {game.team(game.defense).name}"
        return Ended("kick", text, ("NFLS-032",), start, game.defense, "onside_recovered")
    side, end, start = _returned(game, play, start, game.offense)
    return _run(game, game.offense, side, start, end, ("NFLS-028",), own_frame=True)


def _punt(game: GameState, play: CardPlay, window: Window, params: Params) -> Ended:
    name = game.team(game.defense).name
    if window.mark == "blocked":
        return _blocked(game, play, params)
    landed = landing_yd(game, play, params)
    if window.mark == "touchback" or (window.mark != "gain" and landed >= game.length_yd):
        return Ended("touchback", f"touchback, {name}", ("NFLS-033",), side=game.defense)
    if window.mark != "gain":
        word = {"fair_catch": "fair catch", "downed": "downed"}.get(window.mark, "out of bounds")
        detail = "fair_catch" if window.mark == "fair_catch" else ""
        return Ended("kick", f"punt, {word}, {name} ball", ("NFLS-033", "NFLS-035"), landed, game.defense, detail)
    if is_touchback_kick(landed, length_yd=game.length_yd, end_zone_yd=game.end_zone_yd):
        return Ended("touchback", f"touchback, {name}", ("NFLS-033",), side=game.defense)
    side, end, start = _returned(game, play, game.length_yd - landed, game.defense)
    return _run(game, game.defense, side, start, end, ("NFLS-033",), own_frame=False)


def _returned(game: GameState, play: CardPlay, start: float, by: Side) -> tuple[Side, float, float]:
    """Whose ball a return ends with, where, and where it began: in the returning side's own yards."""
    window = read_window(play.back.shown) if play.back else Window(0, "gain")
    end = start + float(window.yards or 0)
    if window.mark == "fumble" and end < game.length_yd and play.recovered == "defense":
        return opponent(by), end, start
    return by, end, start


def _run(
    game: GameState, by: Side, holds: Side, start: float, end: float, clauses: tuple[str, ...], *, own_frame: bool
) -> Ended:
    """A returned kick: a touchdown, a touchback, or the ball where the return ended."""
    name = game.team(holds).name
    if end >= game.length_yd:
        return replace(_touchdown(game, by, clauses), start_yd=start, end_yd=end)
    if end <= 0:
        if holds != by:
            return _touchdown(game, holds, clauses)
        return Ended("touchback", f"touchback, {name}", clauses, side=by, start_yd=start, end_yd=end)
    text = f"returned to {game.spot_text(game.board_x_yd(end if own_frame else game.length_yd - end))}, {name} ball"
    spot = end if own_frame else game.length_yd - end
    return Ended("kick", text, clauses, spot, holds, "returned", start, end)


def _touchdown(game: GameState, side: Side, clauses: tuple[str, ...]) -> Ended:
    return Ended("touchdown", f"touchdown, {game.team(side).name}", clauses, side=side)


def clock_play(play: CardPlay, result: Ended, game: GameState) -> ClockPlay:
    """What the play is to the clock."""
    if play.foul is not None and play.foul.automatic:
        return "auto_5"
    if play.card.kind in TRIES:
        return "try"
    if by_kickoff(game, play):
        return "kickoff_dead" if result.dead_kick else "kickoff_returned"
    if play.card.kind in {"kneel", "spike"}:
        return "kneel" if play.card.kind == "kneel" else "spike"
    return "ordinary"


def stop_reasons(game: GameState, play: CardPlay, result: Ended) -> frozenset[StopReason]:
    """What in the play stops the clock (NFLS-005..013)."""
    reasons: set[StopReason] = set()
    if play.card.kind in KICK_REASONS:
        reasons.add(KICK_REASONS[play.card.kind])
    if game.due == "free_kick":
        reasons.add("kickoff")
    if play.foul is not None:
        reasons.add("penalty")
    if result.kind == "incomplete":
        reasons.add("spike" if play.card.kind == "spike" else "incomplete")
    if play.card.ran_out:
        reasons.add("ran_out_of_bounds")
    short = result.spot_yd is not None and result.spot_yd < game.progress_yd(game.to_gain_yd)
    lost = game.down == 4 and short and result.side in {None, game.offense} and game.due == "scrimmage"
    if lost or result.side == game.defense:
        reasons.add("change_of_possession")
    if result.kind == "touchdown":
        reasons.add("touchdown")
    if result.kind == "safety" or (result.kind == "stopped" and (result.spot_yd or 0) <= 0):
        reasons.add("safety")
    return frozenset(reasons)
