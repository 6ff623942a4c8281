"""A game of declarations alone, one second apart, for the tests of rulebooks."""

from __future__ import annotations

import itertools
from typing import Any

from downfield.core.field.model import load_field
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration, SetUp
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.state.game_state import GameState


class DeclaredGame:
    """A game under a rulebook; each declaration comes a second after the one before."""

    def __init__(self, book: str | Rulebook) -> None:
        rulebook = load_rulebook(book) if isinstance(book, str) else book
        self.game = JudgedGame(rulebook, load_field("ultimate"))
        self._count = itertools.count(1)

    def declare(self, *bodies: Declaration | Ruling | Undo | Tick) -> list[Call]:
        """Enter declarations and return the calls made."""
        calls: list[Call] = []
        for body in bodies:
            number = next(self._count)
            calls += self.game.apply(Event(f"e{number}", number * 1_000_000_000, "operator", body)).calls
        return calls

    def at(self, spot: float, down: int = 1, distance: float = 10.0, **more: Any) -> DeclaredGame:
        """Set the game up with home's ball toward larger x."""
        self.declare(SetUp("home", 1, spot, down, distance, **more))
        return self

    @property
    def state(self) -> GameState:
        """The game now."""
        return self.game.state


def kinds(calls: list[Call], *, reported: bool = True) -> list[str]:
    """Return the kinds of calls."""
    return [call.kind for call in calls if reported or call.verdict != "reported"]
