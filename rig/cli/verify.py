"""``downfield verify``: check that the journals of a store are unaltered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from downfield.core.errors import InputError
from downfield.game.journal import verify_journal
from downfield.game.store import Store


def verify(
    store: Annotated[str, typer.Argument(help="The database file of a store, or a database URL.")],
    game: Annotated[str | None, typer.Option(help="The id of one game. Default: all games.")] = None,
    head: Annotated[
        str | None, typer.Option(help="A digest noted earlier, as receipts show it; only with --game.")
    ] = None,
) -> None:
    """Check the hash chain of every game's journal. Exits with status 1 if an entry was altered, and names it."""
    if head is not None and game is None:
        raise InputError("--head belongs to one game. Name the game with --game.")
    opened = _open_store(store)
    try:
        names = [row.id for row in opened.games(limit=1_000_000)] if game is None else [game]
        if game is not None and opened.game(game) is None:
            raise InputError(f"{store}: the store has no game {game}")
        if not names:
            raise InputError(f"{store}: holds no game")
        verifications = [verify_journal(name, opened.entries(name), head) for name in names]
    finally:
        opened.close()
    for verification in verifications:
        unaltered = f"{verification.entries} entries, unaltered; head {verification.head}"
        sys.stdout.write(f"{verification.game}: {verification.problem or unaltered}\n")
    if any(verification.problem for verification in verifications):
        raise typer.Exit(1)


def _open_store(store: str) -> Store:
    if "://" in store:
        return Store(store)
    if Path(store).is_dir():
        raise InputError(f"{store}: is a folder. Give the file in it, such as {Path(store) / 'downfield.db'}.")
    if not Path(store).is_file():
        raise InputError(f"{store}: no such file")
    return Store(f"sqlite:///{Path(store).absolute()}")
