"""Results of NFL Strategy's kicks: at goal, blocked, kickoffs, punts and their returns.

Spots are in the offense's own yards.
"""

from __future__ import annotations

from typing import Final

from downfield.core.records import replace
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.declarations import Side
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.nfl_strategy.play import (
    PUNTS,
    CardPlay,
    PlayResult,
    card_result,
    kick_from_yd,
    landing_yd,
    touchdown,
)
from downfield.officiating.rulebooks.nfl_strategy.tables import CardResult, read_card_result
from downfield.officiating.state.game_state import GameState, opponent

BEFORE_GOAL_YD: Final = 1.0
"""Where a kick missed from so near to the own goal line is spotted that seven yards back would lie behind that line."""


def kick_at_goal(game: GameState, play: CardPlay, params: Params) -> PlayResult:
    """Return the result of a field goal or extra point (NFLS-036, NFLS-040, NFLS-044)."""
    result = card_result(play)
    extra = play.card.kind == "extra_point"
    kind: CallKind = "extra_point" if extra else "field_goal"
    name = "extra point" if extra else "field goal"
    if _is_good(play, result, params):
        clauses = ("NFLS-036",) if extra else ("NFLS-040",)
        return PlayResult(kind, f"{name} good", clauses, side=game.offense, detail="good")
    if result.mark == "blocked":
        return _blocked_kick(game, play, params)
    if extra:
        return PlayResult(kind, "extra point no good", ("NFLS-036",), side=game.offense, detail="no_good")
    free = play.card.kind == "fair_catch_kick"
    spot = max(game.line_yd - (0.0 if free else params.real("missed.back_yd")), BEFORE_GOAL_YD)
    missed = ("NFLS-044",) if free else ("NFLS-041", "NFLS-040")
    return PlayResult(kind, "field goal no good", missed, spot, game.defense, "no_good")


def _is_good(play: CardPlay, result: CardResult, params: Params) -> bool:
    """Return whether a kick is good: by its card, or after a fair catch by its roll against the card's number."""
    if play.card.kind == "fair_catch_kick" and result.mark == "gain" and play.card.roll is not None:
        return play.card.roll <= (result.yards or 0) - params.count("free_kick.margin")
    return result.mark == "good"


def _blocked_kick(game: GameState, play: CardPlay, params: Params) -> PlayResult:
    """Return the result of a blocked kick, returned by the other side (NFLS-037, NFLS-045, NFLS-046)."""
    start = game.length_yd - landing_yd(game, play, params)
    side, end = _return(game, play, start, game.defense)
    clause = "NFLS-046" if play.card.kind in PUNTS else "NFLS-045"
    if play.card.kind == "extra_point":
        if end >= game.length_yd:
            text = f"blocked and returned, two points {game.team(game.defense).name}"
            return PlayResult("two_point", text, ("NFLS-037",), None, game.defense, "good")
        return PlayResult("extra_point", "extra point blocked", ("NFLS-037",), side=game.offense, detail="blocked")
    if end >= game.length_yd:
        return touchdown(game, game.defense, (clause,))
    text = f"kick blocked, {game.team(side).name} ball"
    return PlayResult("kick", text, (clause,), game.length_yd - end, side, "blocked", start, end)


def kick_off(game: GameState, play: CardPlay, params: Params) -> PlayResult:
    """Return the result of a kickoff or free kick (NFLS-028..032, NFLS-042)."""
    result, name = card_result(play), game.team(game.offense).name
    from_yd = kick_from_yd(game, params)
    if result.mark == "out_of_bounds":
        # An onside kick's yards give the spot where it went out; a plain kickoff's spot does not depend on them.
        onside = play.card.kind == "onside" and result.yards is not None
        at = from_yd + (result.yards or 0 if onside else params.real("kickoff.out_yd"))
        clauses = ("NFLS-031",) if onside else ("NFLS-029",)
        text = f"out of bounds, {name} ball"
        return PlayResult("kick", text, clauses, game.length_yd - at, game.offense, dead_kick=True)
    landed = landing_yd(game, play, params)
    if result.mark == "touchback" or landed >= game.length_yd + game.end_zone_yd:
        return PlayResult("touchback", f"touchback, {name}", ("NFLS-030",), side=game.offense, dead_kick=True)
    start = game.length_yd - landed
    if result.mark in {"fair_catch", "downed"}:
        how = "fair catch" if result.mark == "fair_catch" else "downed"
        return PlayResult("kick", f"{how}, {name} ball", ("NFLS-042",), start, game.offense, result.mark)
    if play.onside:
        text = f"onside kick recovered by {game.team(game.defense).name}"
        return PlayResult("kick", text, ("NFLS-032",), start, game.defense, "onside_recovered")
    side, end = _return(game, play, start, game.offense)
    return _end_return(game, game.offense, side, start, end, ("NFLS-028",), own_frame=True)


def punt_ball(game: GameState, play: CardPlay, params: Params) -> PlayResult:
    """Return the result of a punt (NFLS-033, NFLS-035, NFLS-046)."""
    result, name = card_result(play), game.team(game.defense).name
    if result.mark == "blocked":
        return _blocked_kick(game, play, params)
    landed = landing_yd(game, play, params)
    if result.mark == "touchback" or (result.mark != "gain" and landed >= game.length_yd):
        return PlayResult("touchback", f"touchback, {name}", ("NFLS-033",), side=game.defense)
    if result.mark != "gain":
        how = {"fair_catch": "fair catch", "downed": "downed"}.get(result.mark, "out of bounds")
        detail = "fair_catch" if result.mark == "fair_catch" else ""
        text = f"punt, {how}, {name} ball"
        return PlayResult("kick", text, ("NFLS-033", "NFLS-035"), landed, game.defense, detail)
    if landed >= game.length_yd + game.end_zone_yd:
        return PlayResult("touchback", f"touchback, {name}", ("NFLS-033",), side=game.defense)
    start = game.length_yd - landed
    side, end = _return(game, play, start, game.defense)
    return _end_return(game, game.defense, side, start, end, ("NFLS-033",), own_frame=False)


def _return(game: GameState, play: CardPlay, start: float, by: Side) -> tuple[Side, float]:
    """Return the side that has the ball after a return, and the spot in the returning side's own yards."""
    result = read_card_result(play.back.shown) if play.back else CardResult(0, "gain")
    end = start + float(result.yards or 0)
    if result.mark == "fumble" and end < game.length_yd and play.recovered == "defense":
        return opponent(by), end
    return by, end


def _end_return(
    game: GameState, by: Side, holder: Side, start: float, end: float, clauses: tuple[str, ...], *, own_frame: bool
) -> PlayResult:
    """Return the result of a returned kick: a touchdown, a touchback, or the ball where the return ended.

    Its start and end are in the returning side's own yards: those of spots where that side is the state's offense.
    """
    if end >= game.length_yd:
        return replace(touchdown(game, by, clauses), start_yd=start, end_yd=end)
    name = game.team(holder).name
    if end <= 0:
        if holder != by:
            return touchdown(game, holder, ("NFLS-049",))
        if start > 0:  # he had it in front of his goal line
            side = opponent(by)
            text = f"safety, {game.team(side).name}"
            return PlayResult("safety", text, ("NFLS-049",), side=side, start_yd=start, end_yd=end)
        return PlayResult("touchback", f"touchback, {name}", clauses, side=by, start_yd=start, end_yd=end)
    spot = end if own_frame else game.length_yd - end
    text = f"returned to {game.spot_text(game.board_x_yd(spot))}, {name} ball"
    return PlayResult("kick", text, clauses, spot, holder, "returned", start, end)
