"""Tells those who follow that a game has ended, once its end is on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from downfield.game.session import GameSession


class EndedGames:
    """Passes on the ids of games that have ended. Callable from any thread."""

    def __init__(self) -> None:
        self._followers: Final[list[Callable[[str], None]]] = []

    def follow(self, ended: Callable[[str], None]) -> None:
        """Have a function called with the id of every game that ends from now on; it must return at once."""
        self._followers.append(ended)

    def note(self, session: GameSession) -> None:
        """Pass on that a game has ended, once the entry that says so is written."""
        game, entry = session.game_id, session.end_entry
        if entry is not None:
            entry.written.add_done_callback(lambda _: self._pass_on(game))

    def _pass_on(self, game: str) -> None:
        for ended in self._followers:
            ended(game)
