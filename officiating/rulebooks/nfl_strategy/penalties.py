"""Penalties on card plays: what stands of the play, and where the ball goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.officiating.consequences.enforcement import walk_off, walk_off_return
from downfield.officiating.declarations import FoulDeclared, Side
from downfield.officiating.engine.state import GameState, opponent
from downfield.officiating.rulebooks.nfl_strategy.card_play import CardPlay
from downfield.officiating.rulebooks.nfl_strategy.results import Ended
from downfield.officiating.rulebooks.nfl_strategy.steps import by_kickoff, line_yd
from downfield.officiating.rulebooks.nfl_strategy.tables import goes_to_kickoff, is_safety_foul

Detail = Literal["replay", "loss_of_down", "first_down", "kickoff", "enforced", "declined"]
SCORES: Final = {
    "touchdown": "touchdown",
    "field_goal": "field_goal",
    "extra_point": "extra_point",
    "two_point": "two_point",
}


@dataclass(frozen=True, slots=True)
class Penalized:
    """A play and its penalty.

    Attributes:
        play: what stands of the play; None when it does not count.
        foul: the penalty as a result of its own: its spot is the new line of scrimmage, in the offense's own yards.

    """

    play: Ended | None
    foul: Ended


def penalized(game: GameState, play: CardPlay, foul: FoulDeclared, result: Ended, touchback_yd: float) -> Penalized:
    """Put a penalty to a play (NFLS-070..080)."""
    if foul.automatic:
        return Penalized(None, _from_line(game, foul, ("NFLS-020",)))
    if foul.on_kicker:
        return _on_kicker(game, play, foul, result)
    if not play.accepted:
        return Penalized(result, _said(game, foul, "declined", ("NFLS-009",)))
    if is_return(game, play):
        return _on_return(game, play, foul, result, touchback_yd)
    if _is_safety(game, play, foul, result):
        clauses = ("NFLS-080",) if foul.loss_of_down else ("NFLS-079",)
        safety = Ended("safety", f"safety, {game.team(game.defense).name}", clauses, side=game.defense)
        return Penalized(safety, _said(game, foul, "enforced", clauses))
    scored = SCORES.get(result.kind) if result.detail in {"", "good"} and result.side == opponent(foul.by) else None
    if scored and goes_to_kickoff(foul.yards, scored):  # type: ignore[arg-type]
        return Penalized(result, _said(game, foul, "kickoff", ("NFLS-078",)))
    return Penalized(None, _from_line(game, foul, ("NFLS-081",) if foul.by == game.defense else ("NFLS-082",)))


def is_return(game: GameState, play: CardPlay) -> bool:
    """Whether the penalty came on a kick's return: the only part of a kick that can have one (NFLS-066, 067)."""
    return by_kickoff(game, play) or play.back is not None


def _from_line(game: GameState, foul: FoulDeclared, clauses: tuple[str, ...]) -> Ended:
    """A penalty walked off from the line of scrimmage, on whole yards (NFLS-083)."""
    against_defense = foul.by == game.defense
    spot = walk_off(line_yd(game), foul.yards if against_defense else -foul.yards, length_yd=game.length_yd, whole=True)
    detail: Detail = "replay"
    if against_defense and (foul.first_down or spot >= game.progress_yd(game.to_gain_yd)) and game.due == "scrimmage":
        detail = "first_down"
    elif foul.loss_of_down and not against_defense:
        detail = "loss_of_down"
    return replace(_said(game, foul, detail, (*clauses, "NFLS-083")), spot_yd=spot)


def _on_kicker(game: GameState, play: CardPlay, foul: FoulDeclared, result: Ended) -> Penalized:
    """Running into the kicker: the kickers replay from five yards on, or keep the kick with five off the return."""
    if play.accepted:
        return Penalized(None, _from_line(game, foul, ("NFLS-074",)))
    if result.spot_yd is None:
        return Penalized(result, _said(game, foul, "declined", ("NFLS-074",)))
    # The offense's frame: five yards against the returner are five yards on toward his goal.
    back = walk_off(result.spot_yd, foul.yards, length_yd=game.length_yd, whole=True)
    return Penalized(replace(result, spot_yd=back), _said(game, foul, "enforced", ("NFLS-074",)))


def _on_return(game: GameState, play: CardPlay, foul: FoulDeclared, result: Ended, touchback_yd: float) -> Penalized:
    """A foul on a return: the returners' from the middle of it, the kickers' added to its end."""
    kickoff = by_kickoff(game, play)
    returners: Side = game.offense if kickoff else game.defense
    by_returners = foul.by == returners
    clauses = (
        ("NFLS-071" if by_returners else "NFLS-070") if kickoff else ("NFLS-077" if by_returners else "NFLS-076"),
    )
    if result.kind == "touchdown" and not by_returners:
        carried = goes_to_kickoff(foul.yards, "touchdown")
        return Penalized(result, _said(game, foul, "kickoff" if carried else "declined", ("NFLS-078",)))
    start, end = _run_of(game, result, kickoff=kickoff, touchback_yd=touchback_yd)
    spot = walk_off_return(start, end, foul.yards, by_returners=by_returners, length_yd=game.length_yd)
    text = f"{game.team(returners).name} ball at {game.spot_text(game.board_x_yd(_own(game, spot, kickoff=kickoff)))}"
    holds = returners if result.kind in {"touchdown", "touchback"} or result.side is None else result.side
    stands = Ended("kick", text, clauses, _own(game, spot, kickoff=kickoff), holds, "returned", start, end)
    return Penalized(stands, _said(game, foul, "enforced", clauses))


def _run_of(game: GameState, result: Ended, *, kickoff: bool, touchback_yd: float) -> tuple[float, float]:
    """Where a return began and ended, in the returners' own yards; a kick without one began and ended at its spot."""
    if result.kind == "touchback":
        return touchback_yd, touchback_yd
    if result.start_yd is not None and result.end_yd is not None:
        return max(0.0, result.start_yd), min(game.length_yd, max(0.0, result.end_yd))
    spot = game.length_yd / 2 if result.spot_yd is None else result.spot_yd
    at = _own(game, spot, kickoff=kickoff)
    return at, at


def _own(game: GameState, spot_yd: float, *, kickoff: bool) -> float:
    """Between the offense's and the returners' yards: the same on a kickoff, which the offense receives."""
    return spot_yd if kickoff else game.length_yd - spot_yd


def _is_safety(game: GameState, play: CardPlay, foul: FoulDeclared, result: Ended) -> bool:
    return foul.by == game.offense and is_safety_foul(
        line_yd(game),
        foul.yards,
        on_pass=play.card.kind == "pass",
        incomplete=result.kind == "incomplete",
        loss_of_down=foul.loss_of_down,
    )


def _said(game: GameState, foul: FoulDeclared, detail: Detail, clauses: tuple[str, ...]) -> Ended:
    what = foul.name or "penalty"
    word = {"declined": "declined", "kickoff": f"{foul.yards} yards on the kickoff"}.get(detail, f"{foul.yards} yards")
    text = f"{what}, {game.team(foul.by).name}: {word}"
    return Ended("penalty", text, clauses, side=opponent(foul.by), detail=detail, yards=foul.yards)
