"""Entries of a small game, for stores."""

from __future__ import annotations

from pathlib import Path

from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.writing.store import Store

GAME = GameRow("20260101-120000-abcd", 1_000, "final", "River City", "Lake Town", "tap")


def entries(count: int, game: str = GAME.id, attachment: bytes | None = b"\x00\xff") -> list[EntryRow]:
    """Return a game's entries, chained, with text beyond ASCII and an attachment."""
    made: list[EntryRow] = []
    previous = GENESIS
    for seq in range(1, count + 1):
        content = f'{{"n":{seq},"é":"\\u0000"}}'
        previous = digest_of(previous, game, seq, "event_recorded", 1_000 + seq, f"key-{seq}", content, attachment)
        made.append(EntryRow(game, seq, "event_recorded", 1_000 + seq, content, previous, f"key-{seq}", attachment))
    return made


def write_game(path: Path, count: int, game: str = GAME.id, word: str = "said") -> Store:
    """Write a game entry by entry; return the store, still open."""
    store, previous = Store.at(path), GENESIS
    for seq in range(1, count + 1):
        previous = digest_of(previous, game, seq, word, 0, None, "{}", None)
        row = EntryRow(game, seq, word, 0, "{}", previous)
        store.append([row], GameRow(game, 0, "", "Home", "Away", "tap") if seq == 1 else None)
    return store
