"""The scenes of a game, read back from its journal one batch at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from downfield.core.scene import Scene
from downfield.game.entries import unpack_scenes
from downfield.store.history import History
from downfield.store.reader import StoreReader


def game_scenes(store: StoreReader, history: History, span_ns: tuple[int, int] | None = None) -> Iterator[Scene]:
    """Yield a game's scenes; their times rise, as one that is not later than all before it is left out.

    Args:
        store: of the game.
        history: the game.
        span_ns: the first and the last instant; None for the whole game. Only the entries of the span are read.

    Raises:
        FormatError: the journal can't be read.
        OutputError: the store can't be read.

    """
    latest_ns: int | None = None
    for batch in history.batches:
        if span_ns is not None and (batch.last_ns < span_ns[0] or batch.first_ns > span_ns[1]):
            continue
        attachment = store.attachment(history.row.id, batch.seq)
        if attachment is None:
            continue
        for scene in unpack_scenes(attachment, where=f"game {history.row.id}, entry {batch.seq}"):
            if latest_ns is not None and scene.t_ns <= latest_ns:
                continue
            latest_ns = scene.t_ns
            time.sleep(0)  # lets go of the interpreter: a game at the table goes on meanwhile
            if span_ns is None or span_ns[0] <= scene.t_ns <= span_ns[1]:
                yield scene
