"""Penalties on card plays: the part of the play that counts, and the spot of the ball."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from downfield.officiating.calls import Call, CallNumbers
from downfield.officiating.consequences import downs
from downfield.officiating.consequences.enforcement import walk_off, walk_off_return, walked_words
from downfield.officiating.declarations import FoulDeclared, Side
from downfield.officiating.rulebooks.nfl_strategy.play import CardPlay, PlayResult, is_kickoff, with_kickoff_penalty
from downfield.officiating.rulebooks.nfl_strategy.tables import goes_to_kickoff, is_safety_foul
from downfield.officiating.state.game_state import GameState, opponent
from downfield.officiating.state.interfaces import Outcome, RuleContext

Detail = Literal["replay", "loss_of_down", "first_down", "kickoff", "kick_again", "enforced", "declined"]
SCORES: Final = frozenset({"touchdown", "field_goal", "extra_point", "two_point"})


def apply_penalty(
    game: GameState, play: CardPlay, foul: FoulDeclared, result: PlayResult, touchback_yd: float
) -> tuple[PlayResult, ...]:
    """Return the part of a play that counts, if any does, and its penalty (NFLS-070..080).

    The penalty's spot is the new line of scrimmage, in the offense's own yards.
    There is no re-kick (NFLS-072) but for offsetting fouls or by a house rule, and the punting offense can't foul
    (NFLS-075).
    """
    if foul.offsetting:
        again = "the kick is kicked" if game.due in {"kickoff", "free_kick"} else "the down is played"
        text = f"offsetting fouls: {again} again"
        return (PlayResult("penalty", text, (), game.line_yd, detail="replay"),)
    if play.again:
        return (_kicked_again(game, foul),)
    if foul.automatic:
        return (_from_line(game, foul, ("NFLS-020",)),)
    if foul.on_kicker:
        return _on_kicker(game, play, foul, result)
    if not play.accepted:
        return result, _penalty_result(game, foul, "declined", ("NFLS-009",))
    if is_return(game, play):
        return _on_return(game, play, foul, result, touchback_yd)
    if foul.by == game.offense and is_safety_foul(
        game.line_yd,
        foul.yards,
        on_pass=play.card.kind == "pass",
        incomplete=result.kind == "incomplete",
        loss_of_down=foul.loss_of_down,
    ):
        clauses = ("NFLS-080",) if foul.loss_of_down else ("NFLS-079",)
        safety = PlayResult("safety", f"safety, {game.team(game.defense).name}", clauses, side=game.defense)
        return safety, _penalty_result(game, foul, "enforced", clauses)
    scored = result.kind in SCORES and result.detail in {"", "good"} and result.side == opponent(foul.by)
    if scored and goes_to_kickoff(foul.yards, result.kind):
        return result, _penalty_result(game, foul, "kickoff", ("NFLS-078",))
    return (_from_line(game, foul, ("NFLS-081",) if foul.by == game.defense else ("NFLS-082",)),)


def is_return(game: GameState, play: CardPlay) -> bool:
    """Return whether the penalty came on a kick's return: the only part of a kick that can have one (NFLS-066, 067)."""
    return is_kickoff(game, play) or play.back is not None


def _kicked_again(game: GameState, foul: FoulDeclared) -> PlayResult:
    """Return the result of a foul of the kickers for which their opponents have the kick repeated from behind."""
    base = game.to_goal_yd
    from_yd = walk_off(base, -foul.yards, length_yd=game.length_yd, whole=True)
    text = (
        f"{foul.name or 'penalty'}, {game.team(foul.by).name}: {walked_words(foul.yards, base - from_yd)}, kicked again"
    )
    spot = game.length_yd - from_yd
    return PlayResult("penalty", text, ("NFLS-023",), spot, opponent(foul.by), "kick_again", yards=foul.yards)


def _from_line(game: GameState, foul: FoulDeclared, clauses: tuple[str, ...]) -> PlayResult:
    """Walk a penalty off from the line of scrimmage, on whole yards (NFLS-083)."""
    on_defense = foul.by == game.defense
    spot = walk_off(game.line_yd, foul.yards if on_defense else -foul.yards, length_yd=game.length_yd, whole=True)
    detail: Detail = "replay"
    if on_defense and (foul.first_down or spot >= game.progress_yd(game.to_gain_yd)) and game.due == "scrimmage":
        detail = "first_down"
    elif foul.loss_of_down and not on_defense:
        detail = "loss_of_down"
    walked = abs(spot - game.line_yd)
    return replace(_penalty_result(game, foul, detail, (*clauses, "NFLS-083"), walked), spot_yd=spot)


def _on_kicker(game: GameState, play: CardPlay, foul: FoulDeclared, result: PlayResult) -> tuple[PlayResult, ...]:
    """Penalize running into the kicker (NFLS-073, NFLS-074).

    The kickers replay the down five yards on, or keep the kick with five yards off the return.
    """
    if play.accepted:
        return (_from_line(game, foul, ("NFLS-074",)),)
    if result.spot_yd is None:
        return result, _penalty_result(game, foul, "declined", ("NFLS-074",))
    # In the offense's frame, five yards against the returner are five yards on toward his goal.
    spot = walk_off(result.spot_yd, foul.yards, length_yd=game.length_yd, whole=True)
    penalty = _penalty_result(game, foul, "enforced", ("NFLS-074",), spot - result.spot_yd)
    return replace(result, spot_yd=spot), replace(penalty, enforced_yd=(result.spot_yd, spot))


def _on_return(
    game: GameState, play: CardPlay, foul: FoulDeclared, result: PlayResult, touchback_yd: float
) -> tuple[PlayResult, ...]:
    """Penalize a foul on a return: the returners' from the middle of it, the kickers' added to its end."""
    kickoff = is_kickoff(game, play)
    returners: Side = game.offense if kickoff else game.defense
    by_returners = foul.by == returners
    clauses = (
        ("NFLS-071" if by_returners else "NFLS-070") if kickoff else ("NFLS-077" if by_returners else "NFLS-076"),
    )
    if result.kind == "touchdown" and not by_returners:
        detail: Detail = "kickoff" if goes_to_kickoff(foul.yards, "touchdown") else "declined"
        return result, _penalty_result(game, foul, detail, ("NFLS-078",))
    start, end = _return_ends(game, result, kickoff=kickoff, touchback_yd=touchback_yd)
    own = walk_off_return(start, end, foul.yards, by_returners=by_returners, length_yd=game.length_yd)
    spot = _swap_frame(game, own, kickoff=kickoff)
    text = f"{game.team(returners).name} ball at {game.spot_text(game.board_x_yd(spot))}"
    holder = returners if result.kind in {"touchdown", "touchback"} or result.side is None else result.side
    stands = PlayResult("kick", text, clauses, spot, holder, "returned", start, end)
    from_yd = _swap_frame(game, (start + end) / 2 if by_returners else end, kickoff=kickoff)
    penalty = replace(
        _penalty_result(game, foul, "enforced", clauses, abs(spot - from_yd)), enforced_yd=(from_yd, spot)
    )
    return stands, penalty


def _return_ends(game: GameState, result: PlayResult, *, kickoff: bool, touchback_yd: float) -> tuple[float, float]:
    """Return where a return began and ended, in the returners' own yards; the kick's spot when there was none."""
    if result.kind == "touchback":
        return touchback_yd, touchback_yd
    if result.start_yd is not None and result.end_yd is not None:
        return result.start_yd, min(game.length_yd, max(0.0, result.end_yd))
    spot = game.length_yd / 2 if result.spot_yd is None else result.spot_yd
    at = _swap_frame(game, spot, kickoff=kickoff)
    return at, at


def _swap_frame(game: GameState, spot_yd: float, *, kickoff: bool) -> float:
    """Convert between the offense's and the returners' yards: the same on a kickoff, which the offense receives."""
    return spot_yd if kickoff else game.length_yd - spot_yd


def _penalty_result(
    game: GameState, foul: FoulDeclared, detail: Detail, clauses: tuple[str, ...], walked_yd: float | None = None
) -> PlayResult:
    walked = walked_words(foul.yards, foul.yards if walked_yd is None else walked_yd)
    yards = {"declined": "declined", "kickoff": f"{foul.yards} yards on the kickoff"}.get(detail, walked)
    text = f"{foul.name or 'penalty'}, {game.team(foul.by).name}: {yards}"
    return PlayResult("penalty", text, clauses, side=opponent(foul.by), detail=detail, yards=foul.yards)


def enforce_penalty(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Enforce a penalty by its detail: the down again, its loss, a first down, or yards on the kickoff to come."""
    side: Side = call.side or game.offense
    if call.detail == "kickoff":
        yards = (call.numbers or CallNumbers()).penalty_yd or 0.0
        game = with_kickoff_penalty(game, opponent(side), yards)
        kick_is_due = game.due in {"kickoff", "free_kick"}  # after a touchdown its try is
        return Outcome(downs.at_kick_spot(game, context.system, context.params) if kick_is_due else game)
    if call.spot_yd is None:
        return Outcome(game)
    x_yd, y_yd = call.spot_yd
    if call.detail == "kick_again":
        yards = (call.numbers or CallNumbers()).penalty_yd or 0.0
        return Outcome(replace(downs.end_play(with_kickoff_penalty(game, opponent(side), yards)), los_yd=x_yd))
    if call.detail == "first_down":
        game = downs.start_series(game, game.offense, game.direction, x_yd, y_yd, call.t_ns, context)
        return Outcome(game, (downs.follow_up(context, "first_down", "first_down", "first down", side=game.offense),))
    if call.detail == "loss_of_down":
        return downs.play_next_down(game, x_yd, y_yd, context)
    return Outcome(replace(downs.end_play(game), los_yd=x_yd))
