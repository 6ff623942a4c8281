"""What other programs are told, as JSON: versioned, flat where a mixer reads it, the call as the feed has it."""

from __future__ import annotations

from typing import Any, Final

from downfield.broadcast.integrations.outlets import StreamUpdate
from downfield.game.published.game_topics import GameView

VERSION: Final = 1
"""Version of the documents; a new field is no new version."""

_ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}


def game_document(game: GameView) -> dict[str, Any]:
    """Return the state of a game for a mixer: one level deep, all of it text or numbers."""
    home, away = game.home, game.away
    return {
        "v": VERSION,
        "game": game.game,
        "home_name": home.name,
        "home_short": home.short,
        "home_color": home.color,
        "home_score": home.points,
        "home_time_outs": home.time_outs,
        "away_name": away.name,
        "away_short": away.short,
        "away_color": away.color,
        "away_score": away.points,
        "away_time_outs": away.time_outs,
        "possession": game.possession,
        "period": game.period,
        "clock": game.clock.text,
        "clock_running": game.clock.running,
        "down": game.down,
        "distance": _distance(game),
        "down_and_distance": _down(game),
        "spot": game.spot_text,
        "phase": game.phase_text,
        "under_review": game.under_review,
    }


def update_document(update: StreamUpdate) -> dict[str, Any]:
    """Return what a webhook is sent: ``event`` is ``state``, ``call`` or ``replay``."""
    event = "call" if update.call is not None else "replay" if update.replay is not None else "state"
    document: dict[str, Any] = {"v": VERSION, "event": event}
    document["game"] = None if update.game is None else game_document(update.game)
    if update.call is not None:
        document["call"] = update.call.model_dump(mode="json")
    if update.replay is not None:
        document["replay"] = update.replay.model_dump(mode="json")
    return document


def _distance(game: GameView) -> str:
    return "goal" if game.goal_to_go else str(max(1, round(game.distance_yd)))


def _down(game: GameView) -> str:
    if game.phase == "over":
        return "Final"
    if game.due != "scrimmage":
        return game.due.replace("_", " ").capitalize()
    return f"{_ORDINALS.get(game.down, f'{game.down}th')} & {_distance(game)}"
