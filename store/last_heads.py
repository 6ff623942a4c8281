"""Whether a store is as its rig left it, by the last heads that it kept: looked at when the rig starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from downfield.core.errors import DownfieldError, FormatError, InputError
from downfield.core.files.input_files import open_input
from downfield.core.records import from_json
from downfield.store.database.reader import StoreReader
from downfield.store.sealing.heads import KeptHead

_TAIL_BYTES: Final = 64 << 10
"""Of the heads file, some 100 lines: the last games and their ends. `downfield verify` reads all of it."""


def differs_from_last_heads(store: StoreReader, path: Path) -> str:
    """Return how a store differs from what its rig last kept of it, one sentence; empty where nothing tells so.

    Args:
        store: the store; of one that can't be read nothing is said.
        path: the heads file; a missing one says nothing.

    """
    last = {head.game: head for head in _tail(path) if head.game}
    try:
        for game, head in last.items():
            if store.game(game) is None:
                return f"the game {game} is missing"
            entry = next(store.entries(game, after=head.seq - 1, attachments=False, page_entries=1), None)
            if entry is None:
                return f"entry {head.seq} of game {game} is missing"
            if entry.digest != head.digest:
                return f"entry {head.seq} of game {game} is another one"
    except DownfieldError:
        return ""
    return ""


def _tail(path: Path) -> list[KeptHead]:
    """Return the last lines that can be read; their signatures are left to `downfield verify`."""
    try:
        with open_input(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).splitlines()
    except (OSError, InputError):
        return []
    heads = []
    for line in lines:
        try:
            heads.append(from_json(KeptHead, line, path=str(path)))
        except FormatError:  # the first is a part of one, the last may have been cut off by a crash
            continue
    return heads
