"""``downfield verify``: whether the journals of a store are as they were written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from downfield.core.errors import InputError
from downfield.game.journal import verify_journal
from downfield.game.store import Store


def verify(
    store: Annotated[str, typer.Argument(help="A store's file, or a database URL.")],
    game: Annotated[str | None, typer.Option(help="One game's id; all games by default.")] = None,
    head: Annotated[
        str | None, typer.Option(help="A digest kept from before, as receipts show it; needs --game.")
    ] = None,
) -> None:
    """Check the hash chain of every game: status 1 when an entry was altered, and which."""
    if head is not None and game is None:
        raise InputError("--head is of one game: name it with --game")
    opened = _opened(store)
    try:
        names = [row.id for row in opened.games(limit=1_000_000)] if game is None else [game]
        if game is not None and opened.game(game) is None:
            raise InputError(f"{store}: no game {game} is in it")
        found = [verify_journal(name, opened.entries(name), head) for name in names]
    finally:
        opened.close()
    for one in found:
        told = one.problem or f"{one.entries} entries, unaltered; head {one.head}"
        sys.stdout.write(f"{one.game}: {told}\n")
    if any(one.problem for one in found):
        raise typer.Exit(1)


def _opened(store: str) -> Store:
    if "://" in store:
        return Store(store)
    if not Path(store).is_file():
        raise InputError(f"{store}: no such file")
    return Store(f"sqlite:///{Path(store).absolute()}")
