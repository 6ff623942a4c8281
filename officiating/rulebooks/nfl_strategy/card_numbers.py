"""The numbers of NFL Strategy's calls: gains, kicks, returns and penalties, on the board."""

from __future__ import annotations

from downfield.officiating.call_numbers import CallNumbers
from downfield.officiating.params import Params
from downfield.officiating.rulebooks.nfl_strategy.play import (
    PUNTS,
    CardPlay,
    PlayResult,
    card_result,
    is_kickoff,
    landing_yd,
    line_yd,
)
from downfield.officiating.state.game_state import GameState


def card_numbers(game: GameState, play: CardPlay, result: PlayResult, params: Params) -> CallNumbers | None:
    """Return the numbers of one result of a card play, None where it has none."""
    if result.kind == "penalty":
        return _penalty_numbers(game, result)
    card = play.card
    gain_yd = None
    if result.spot_yd is not None and result.side in {None, game.offense}:
        gain_yd = result.spot_yd - line_yd(game)
    if not card.shown:  # told by its end, or a kneel or spike
        has_gain = result.kind == "stopped" and gain_yd is not None
        return CallNumbers(gain_yd=gain_yd) if has_gain else None
    if is_kickoff(game, play) or card.kind in PUNTS:
        return _kick_numbers(game, play, result, params)
    if card.kind in {"field_goal", "fair_catch_kick", "extra_point"}:
        shown = card_result(play).yards
        free = card.kind == "fair_catch_kick"
        return CallNumbers(
            to_goal_yd=game.length_yd - line_yd(game),
            needed=shown - params.count("free_kick.margin") if free and shown is not None else None,
            rolled=card.roll,
            return_yd=_return_yd(result),
        )
    if result.kind in {"stopped", "fumble_recovery"}:
        return CallNumbers(gain_yd=gain_yd, rolled=card.roll)
    return None if card.roll is None else CallNumbers(rolled=card.roll)


def _kick_numbers(game: GameState, play: CardPlay, result: PlayResult, params: Params) -> CallNumbers:
    """Return a kick's length and landing; a blocked one has none, and one that is out of bounds or dead may not."""
    shown = card_result(play)
    landing = None
    if shown.yards is not None:
        own = landing_yd(game, play, params)
        x_yd = game.board_x_yd(game.length_yd - own if is_kickoff(game, play) else own)
        landing = (x_yd, game.width_yd / 2)
    length = None if shown.yards is None else float(shown.yards)
    return CallNumbers(kick_yd=length, landing_yd=landing, return_yd=_return_yd(result), rolled=play.card.roll)


def _return_yd(result: PlayResult) -> float | None:
    return None if result.start_yd is None or result.end_yd is None else result.end_yd - result.start_yd


def _penalty_numbers(game: GameState, result: PlayResult) -> CallNumbers | None:
    """Return the yards of a penalty, and where it was walked off from and to where it was."""
    if result.yards is None:
        return None
    spots_yd = result.enforced_yd
    if spots_yd is None and result.spot_yd is not None:
        spots_yd = (line_yd(game), result.spot_yd)
    if spots_yd is None:
        return CallNumbers(penalty_yd=result.yards)
    from_yd, to_yd = (game.board_x_yd(own) for own in spots_yd)
    return CallNumbers(penalty_yd=result.yards, enforced_from_yd=from_yd, enforced_to_yd=to_yd)
