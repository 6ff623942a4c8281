"""What a card play still waits for, worked out from what is known of it: rolls, coins, returns, choices (NFLS-063)."""

from __future__ import annotations

from typing import Final

from downfield.officiating.declarations import Side
from downfield.officiating.engine.state import GameState, PendingInput, opponent
from downfield.officiating.rulebooks.nfl_strategy.card_play import CardPlay, card_game
from downfield.officiating.rulebooks.nfl_strategy.tables import (
    Window,
    fumble_end,
    interception_end,
    is_touchback_kick,
    read_window,
    review_refusal,
)
from downfield.officiating.rulebooks.params import Params

KICKOFFS: Final = frozenset({"kickoff", "onside"})
PUNTS: Final = frozenset({"punt", "touch_punt"})
TRIES: Final = frozenset({"extra_point", "two_point"})
SCRIMMAGE: Final = frozenset({"run", "pass", "two_point"})
NOTHING: Final = Window(0, "gain")


def shown(play: CardPlay) -> Window:
    """The result of a play; nothing gained by a kneel or a spike, which have none."""
    return NOTHING if play.card.kind in {"kneel", "spike"} else read_window(play.card.shown)


def line_yd(game: GameState) -> float:
    """The line of scrimmage in the offense's own yards."""
    return game.progress_yd(game.los_yd)


def by_kickoff(game: GameState, play: CardPlay) -> bool:
    """Whether the play is a kickoff or a free kick: the state's offense receives it."""
    return play.card.kind in KICKOFFS or game.due == "free_kick"


def kick_from_yd(game: GameState, params: Params) -> float:
    """Where a kickoff or free kick is kicked from, in the kickers' own yards, carried penalties included."""
    base = params.real("free_kick.from_yd" if game.due == "free_kick" else "kickoff.from_yd")
    return base + (game.note("kickoff_penalty_yd") or 0.0)


def landing_yd(game: GameState, play: CardPlay, params: Params) -> float:
    """Where a kick comes down, in the kickers' own yards; a blocked one where its return begins.

    Punts count from the line of scrimmage (NFLS-033).
    """
    window = shown(play)
    if by_kickoff(game, play):
        return kick_from_yd(game, params) + (window.yards or 0)
    if window.mark == "blocked":
        return line_yd(game) - params.real("blocked.punt_yd" if play.card.kind in PUNTS else "blocked.kick_yd")
    return line_yd(game) + (window.yards or 0)


def next_wait(game: GameState, play: CardPlay, params: Params) -> PendingInput | None:
    """What a play waits for next; None when all is known.

    Kickoffs (NFLS-028) and touch punts still in play (NFLS-035) wait for a return; a penalty waits for any review
    (NFLS-064).
    """
    return _ball(game, play, params) or _penalty(game, play)


def holder(game: GameState, play: CardPlay) -> Side:
    """Who had the ball last before a fumble could happen: on a returned kick the returning side."""
    if by_kickoff(game, play) or play.back is None:
        return game.offense
    return game.defense


def _ball(game: GameState, play: CardPlay, params: Params) -> PendingInput | None:
    window = shown(play)
    if play.back is None and _is_returned(game, play, window, params):
        by = game.offense if by_kickoff(game, play) else game.defense
        return PendingInput("roll", "return", by=by)
    if play.card.kind == "onside" and play.back is not None and read_window(play.back.shown) == Window(0, "fumble"):
        return PendingInput("coin", "onside", by=game.offense) if play.onside is None else None
    last = window if play.back is None else read_window(play.back.shown)
    if last.mark == "fumble":
        return _fumble(game, play, last, params)
    return _interception(game, play, window, params) if window.mark == "interception" else None


def _is_returned(game: GameState, play: CardPlay, window: Window, params: Params) -> bool:
    if window.mark == "blocked":
        return play.card.kind in {*PUNTS, "field_goal", "extra_point", "fair_catch_kick"}
    if window.mark != "gain":
        return False
    if by_kickoff(game, play) or play.card.kind in PUNTS:
        return not is_touchback_kick(landing_yd(game, play, params), length_yd=game.length_yd)
    return False


def _fumble(game: GameState, play: CardPlay, window: Window, params: Params) -> PendingInput | None:
    if play.back is None:
        start, gain = line_yd(game), float(window.yards or 0)
    else:
        landed = landing_yd(game, play, params)
        start, gain = game.length_yd - landed, float(window.yards or 0)
    if start + gain >= game.length_yd:
        return None
    by = holder(game, play)
    if play.recovered is None:
        return PendingInput("roll", "fumble", by=by)
    end = fumble_end(start, gain, play.recovered, game.length_yd)
    if end == "defense" and play.card.highlighted and play.run_back is None:
        return PendingInput("roll", "fumble_return", by=opponent(by))
    return None


def _interception(game: GameState, play: CardPlay, window: Window, params: Params) -> PendingInput | None:
    end = interception_end(line_yd(game), window.yards or 0, length_yd=game.length_yd, end_zone_yd=game.end_zone_yd)
    if end == "incomplete" or play.review == "overturned":
        return None
    if play.review == "asked":
        return PendingInput("roll", "review", by=game.offense)
    if play.review == "" and review_denied(game, play, params) is None:
        return PendingInput("choice", "review", ("accept",), by=game.offense)
    if end != "touchdown" and play.run_back is None:
        return PendingInput("roll", "interception_return", by=game.defense)
    return None


def review_denied(game: GameState, play: CardPlay, params: Params) -> str | None:
    """Why the offense may not have an interception reviewed, None when it may."""
    overtime = game.period > params.count("clock.periods")
    allowed = params.count("review.per_overtime" if overtime else "review.per_game")
    used = game.note(f"reviews_{'overtime' if overtime else 'game'}_{game.offense}") or 0.0
    roll = play.card.roll if play.card.reroll is None else play.card.reroll
    time_outs = game.time_outs or (0, 0)
    # The half's end is the second and fourth period's; in the first and third a whole period is still to come.
    to_come = 0 if overtime or game.period % 2 == 0 else params.count("clock.lines")
    seconds = (card_game(game).lines.left + to_come) * params.real("clock.line_s")
    return review_refusal(roll or 0, int(allowed - used), time_outs[0 if game.offense == "home" else 1], seconds)


def _penalty(game: GameState, play: CardPlay) -> PendingInput | None:
    if not play.flagged:
        return None
    if play.foul is None:
        return PendingInput("roll", "penalty", by=game.offense)
    if play.foul.automatic or play.accepted is not None:
        return None
    return PendingInput("choice", "penalty", ("accept", "decline"), by=opponent(play.foul.by))
