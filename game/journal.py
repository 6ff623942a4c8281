"""A game's journal being written: numbered, sealed, and on disk before anybody is told so.

One thread writes; whoever appends goes on at once and may wait for the receipt. What came together is written in one
transaction. While the disk does not take it, it is kept in memory and tried again, in order.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import OutputError
from downfield.core.scene import Scene
from downfield.game.entries import Content, Said, Seen, packed, packed_scenes
from downfield.game.hash_chain import GENESIS, Entry, digest_of
from downfield.game.store import GameRow, Store

AGAIN_S: Final = 1.0
"""Between two tries of a disk that does not take what is written."""

PATIENCE_S: Final = 3.0
"""How long a person waits for the disk before being told that it is behind."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """Where an entry stands.

    Attributes:
        seq: its number.
        digest: of the chain up to and with it.

    """

    seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class _Waiting:
    content: Content
    scenes: Sequence[Scene]
    key: str | None
    receipt: Future[Kept]


class Journal:
    """The journal of one game, being written.

    Args:
        store: where.
        game: whose.
        last: the entry to go on after; None for a new game, which is listed with its first entry.

    """

    def __init__(self, store: Store, game: GameRow, last: Kept | None = None) -> None:
        self.game = game
        self._store = store
        self._unlisted = last is None
        self._last = last or Kept(0, GENESIS)
        self._queue: deque[_Waiting] = deque()
        self._sealed: list[tuple[Entry, Future[Kept]]] = []
        self._changed = threading.Condition()
        self._closing = False
        self._failure = ""
        self._thread = threading.Thread(target=self._write, name=f"journal-{game.id}", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> str:
        """Why what was appended is not on disk; empty while it is."""
        return self._failure

    def append(self, content: Content, *, scenes: Sequence[Scene] = (), key: str | None = None) -> Future[Kept]:
        """Have something written, after all that was appended before.

        Args:
            content: what.
            scenes: those of a `Seen`.
            key: idempotency key of a `Said`.

        Returns:
            Done when it is on disk.

        """
        receipt: Future[Kept] = Future()
        with self._changed:
            self._queue.append(_Waiting(content, scenes, key, receipt))
            self._changed.notify()
        return receipt

    @staticmethod
    def wait(receipt: Future[Kept]) -> Kept | None:
        """Where an entry stands; None when the disk has not taken it in a person's patience."""
        try:
            return receipt.result(PATIENCE_S)
        except NotYet:
            return None

    def close(self) -> None:
        """Write what waits, if the disk takes it, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout=PATIENCE_S)

    def _write(self) -> None:
        while True:
            with self._changed:
                while not (self._queue or self._sealed or self._closing):
                    self._changed.wait()
                together = tuple(self._queue)
                self._queue.clear()
            self._sealed += [self._seal(waiting) for waiting in together]
            if self._sealed and not self._written():
                if self._closing:
                    _log.error("%s: %d entries were never written", self.game.id, len(self._sealed))
                    return
                with self._changed:
                    self._changed.wait(AGAIN_S)
            elif self._closing and not self._queue:
                return

    def _written(self) -> bool:
        try:
            self._store.append([entry for entry, _ in self._sealed], self.game if self._unlisted else None)
        except OutputError as error:
            if not self._failure:
                _log.error("%s", error)
            self._failure = str(error)
            return False
        self._failure, self._unlisted = "", False
        for entry, receipt in self._sealed:
            receipt.set_result(Kept(entry.seq, entry.digest))
        self._sealed.clear()
        return True

    def _seal(self, waiting: _Waiting) -> tuple[Entry, Future[Kept]]:
        kind, content = packed(waiting.content)
        attachment = packed_scenes(waiting.scenes) if isinstance(waiting.content, Seen) else None
        key = waiting.key if isinstance(waiting.content, Said) else None
        game, seq, at_ns = self.game.id, self._last.seq + 1, time.time_ns()
        digest = digest_of(self._last.digest, game, seq, kind, at_ns, key, content, attachment)
        self._last = Kept(seq, digest)
        return Entry(game, seq, kind, at_ns, key, content, attachment, digest), waiting.receipt
