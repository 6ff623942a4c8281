"""Engines of every rulebook at the start of a game, and the same game played again."""

from __future__ import annotations

import itertools
from typing import Any

from declared_game import DeclaredGame
from legal_states import ROSTER, SIDES

from downfield.officiating import declarations as d

BOOKS = ["tap", "efl", "lions-den", "nfl-strategy"]


def begin(book: str, *, line_up: bool) -> DeclaredGame:
    """Return a game before its first play, with a line-up if wanted, and the rolls that its book begins with."""
    table = DeclaredGame(book)
    if line_up:
        table.declare(d.LineUpDeclared(ROSTER, "dark"))
    if book == "lions-den":
        for player in ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter"):
            table.declare(*(d.Roll((4, 5), player, coach) for coach in SIDES))
    return table


def word_of(body: Any, table: DeclaredGame) -> str:
    """Return what tells two declarations of one kind apart, as `legal()` names it."""
    if isinstance(body, d.Switch):
        return "on" if body.on else "off"
    if isinstance(body, d.ClockSet):
        return "start" if body.running else "stop"
    if isinstance(body, d.Roll):
        return table.state.wait.purpose if table.state.wait is not None else ""
    names = ("kick", "choice", "claim", "end", "kind")
    return next((getattr(body, name) for name in names if hasattr(body, name)), "")


def replayed(table: DeclaredGame) -> DeclaredGame:
    """Return a game in the same state at the same time, to try a declaration on."""
    copy = DeclaredGame(table.game.rulebook)
    copy.game._state = table.game._state  # a state is a value; there is no public way to begin at one
    copy._count = itertools.count((table.game._state.event_ns or 0) // 1_000_000_000)
    return copy
