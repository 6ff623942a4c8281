"""``downfield verify``: check that the journals of a store are unaltered."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from downfield.core.errors import InputError
from downfield.game.journal import Verification, verify_journal
from downfield.game.store_opening import open_for_reading
from downfield.game.store_reader import StoreReader


def verify(
    store: Annotated[str, typer.Argument(help="The database file of a store, or a database URL.")],
    game: Annotated[str | None, typer.Option(help="The id of one game. Default: all games.")] = None,
    head: Annotated[
        str | None, typer.Option(help="A digest noted earlier, as receipts show it; only with --game.")
    ] = None,
) -> None:
    """Check the hash chain of every game's journal. Exits with status 1 if an entry was altered, and names it.

    Nothing is written: a copy on a read-only disk can be checked, and a store while its rig runs.
    """
    if head is not None and game is None:
        raise InputError("--head belongs to one game. Name the game with --game.")
    with open_for_reading(store) as opened:
        if opened.note:
            sys.stderr.write(f"downfield: {opened.note}\n")
        verifications = [verify_journal(name, opened.store.entries(name), head) for name in _games(opened.store, game)]
    for verification in verifications:
        sys.stdout.write(f"{_line(verification)}\n")
    if any(verification.problem for verification in verifications):
        raise typer.Exit(1)


def _games(store: StoreReader, game: str | None) -> list[str]:
    if game is not None and store.game(game) is None:
        raise InputError(f"{store.where}: the store has no game {game}")
    names = [row.id for row in store.games(limit=1_000_000)] if game is None else [game]
    if not names:
        raise InputError(f"{store.where}: holds no game")
    return names


def _line(verification: Verification) -> str:
    unaltered = f"{verification.entries} entries, unaltered; head {verification.head}"
    return f"{verification.game}: {verification.problem or unaltered}"
