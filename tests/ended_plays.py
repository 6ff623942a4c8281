"""A table of any rulebook at which plays are declared and answered."""

from __future__ import annotations

from typing import Any

from declared_game import DeclaredGame

from downfield.core.scene import Player
from downfield.officiating.declarations import LineUpDeclared, Roll, SetUp

MEN = (
    Player("dark-7", "dark", role="QB"),
    Player("dark-22", "dark", role="RB"),
    Player("dark-80", "dark", role="WR"),
    Player("light-21", "light", role="DB"),
)
NO_PENALTY = Roll((5, 0, 3))
SKILLED = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")


def table(book: str, **more: Any) -> DeclaredGame:
    """Return a game set up for the home team's snap, with what else `SetUp` takes."""
    game = DeclaredGame(book)
    game.declare(LineUpDeclared(MEN, "dark"))
    if book == "lions-den":
        for number, player in enumerate(SKILLED):
            game.declare(Roll((4, number + 1), player, "home"), Roll((4, number + 1), player, "away"))
    game.declare(SetUp("home", 1, **more))
    return game


def waits_for(game: DeclaredGame) -> str:
    """Return what the game waits for, or nothing."""
    return "" if game.state.wait is None else game.state.wait.purpose
