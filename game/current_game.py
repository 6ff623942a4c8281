"""The game in play, for whoever reads it: by the lock that guards it, or without where a value is replaced whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from downfield.core.scene import Scene
from downfield.game.published.game_topics import CallView, DeclarationView
from downfield.game.published.publisher import LineUpStatus
from downfield.game.records.entries import RulebookRecord
from downfield.game.session import GameSession
from downfield.officiating.engine.legal import LegalDeclarations

NO_GAME: Final = "No game is in play. Start one."


class CurrentGame:
    """Holds the game in play. Callable from any thread.

    Attributes:
        end_followers: called with the id of every game that ends, once its end is on disk; they must return at once.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._session: GameSession | None = None
        self.end_followers: list[Callable[[str], None]] = []

    @property
    def game_id(self) -> str:
        """The game's id; empty without one."""
        session = self._session
        return "" if session is None else session.game_id

    @property
    def now_ns(self) -> int:
        """The latest instant the game has judged; a new clock must continue from there."""
        session = self._session
        return 0 if session is None else session.state.now_ns

    @property
    def text(self) -> str:
        """The game on one line; empty without one."""
        session = self._session
        return "" if session is None else session.state.text

    @property
    def carrier(self) -> str | None:
        """Roster id of the ball carrier; None when no known figure has the ball."""
        session = self._session
        return None if session is None else session.state.play.carrier

    @property
    def line_up(self) -> LineUpStatus:
        """The figures on the board."""
        session = self._session
        return LineUpStatus() if session is None else session.line_up

    @property
    def started(self) -> tuple[str, RulebookRecord] | None:
        """The game's id and the rulebook in force; None without a game."""
        session = self._session
        return None if session is None else (session.game_id, session.started.rulebook)

    def calls(self) -> Sequence[CallView]:
        """Return every call of the game in play, in the order they were made; the feed carries the latest only."""
        with self._lock:
            return () if self._session is None else self._session.calls()

    def declarations(self) -> Sequence[DeclarationView]:
        """Return every declaration and ruling of the game in play, in order."""
        with self._lock:
            return () if self._session is None else self._session.declarations()

    def legal(self) -> LegalDeclarations | None:
        """Return what may be declared in the game in play, by whom and with which limits; None without a game."""
        with self._lock:
            return None if self._session is None else self._session.legal()

    def unwritten_scenes(self) -> Sequence[Scene]:
        """Return the scenes of the game in play that its journal does not hold yet, in order."""
        with self._lock:
            return () if self._session is None else tuple(self._session.unwritten)
