"""A game's journal: entries are numbered, sealed by a hash chain, and on disk before their receipts go out.

One thread writes. Appending returns at once; the receipt can be waited for. Entries that came in together are written
in one transaction. While the disk does not accept them they are kept in memory, in order, and tried again.

An entry's digest is the SHA-256 of the digest before it, a newline, and the canonical JSON of the entry: its game,
number, kind, time, key, content and the SHA-256 of its attachment. The first entry follows 64 zeros. Receipts carry the
digest; anyone who keeps the last one can prove later that the journal was neither cut off nor rewritten.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from downfield.core.errors import OutputError
from downfield.core.records import to_json
from downfield.core.scene import Scene
from downfield.game.entries import KINDS, Content, EventRecorded, ScenesRecorded
from downfield.game.store import EntryRow, GameRow, Store

GENESIS: Final = "0" * 64
"""The digest before the first entry."""

_KIND_OF: Final = {kind: name for name, kind in KINDS.items()}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JournalLimits:
    """Times of the journal's writer."""

    retry_s: float = 1.0
    """Pause before a failed write is retried."""

    receipt_timeout_s: float = 3.0
    """How long a person waits for the disk before the receipt says that the entry is not saved."""


LIMITS: Final = JournalLimits()


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """Position of an entry in the journal.

    Attributes:
        seq: its number.
        digest: of the chain up to and including it.

    """

    seq: int = 0
    digest: str = GENESIS


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """An entry on its way to the disk."""

    content: Content
    scenes: Sequence[Scene]
    key: str | None
    written: Future[JournalPosition] = field(default_factory=Future)

    def wait(self) -> JournalPosition | None:
        """Wait for the disk and return where the entry stands; None when the disk has not accepted it in time."""
        try:
            return self.written.result(LIMITS.receipt_timeout_s)
        except TimeoutError:
            return None


class Journal:
    """Writes the journal of one game.

    Args:
        store: where.
        game: the game.
        last: the entry to go on after; None for a new game, which is listed in the store with its first entry.

    """

    def __init__(self, store: Store, game: GameRow, last: JournalPosition | None = None) -> None:
        self.game = game
        self._store = store
        self._is_listed = last is not None
        self._last = last or JournalPosition()
        self._queue: deque[PendingEntry] = deque()
        self._sealed: list[tuple[EntryRow, PendingEntry]] = []
        self._changed = threading.Condition()
        self._closing = False
        self._failure = ""
        self._thread = threading.Thread(target=self._write, name=f"journal-{game.id}", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> str:
        """Why appended entries are not on disk; empty while they are."""
        return self._failure

    def append(self, content: Content, *, scenes: Sequence[Scene] = (), key: str | None = None) -> PendingEntry:
        """Queue an entry to be written after all earlier ones; never waits for the disk.

        Args:
            content: the entry's content.
            scenes: those of a `ScenesRecorded`.
            key: idempotency key of an `EventRecorded`.

        """
        pending = PendingEntry(content, scenes, key)
        with self._changed:
            self._queue.append(pending)
            self._changed.notify()
        return pending

    def close(self) -> None:
        """Write the queued entries, if the disk accepts them, and end the writer."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout=LIMITS.receipt_timeout_s)

    def _write(self) -> None:
        while True:
            with self._changed:
                while not (self._queue or self._sealed or self._closing):
                    self._changed.wait()
                together = tuple(self._queue)
                self._queue.clear()
            self._sealed += [sealed for sealed in map(self._seal_or_report, together) if sealed is not None]
            if self._sealed and not self._save():
                if self._closing:
                    _log.error("Game %s: %d entries of its journal were never saved.", self.game.id, len(self._sealed))
                    return
                with self._changed:
                    self._changed.wait(LIMITS.retry_s)
            elif self._closing and not self._queue:
                return

    def _seal_or_report(self, pending: PendingEntry) -> tuple[EntryRow, PendingEntry] | None:
        """Return an entry ready to be written; None for one that can't be, which must not hold up all later ones."""
        try:
            return self._seal(pending), pending
        except (ValueError, TypeError) as error:
            _log.exception("Game %s: an entry of its journal can't be written.", self.game.id)
            pending.written.set_exception(OutputError(f"Game {self.game.id}: an entry can't be written: {error}"))
            return None

    def _save(self) -> bool:
        try:
            self._store.append([row for row, _ in self._sealed], None if self._is_listed else self.game)
        except OutputError as error:
            if not self._failure:
                _log.error("%s", error)
            self._failure = str(error)
            return False
        self._failure, self._is_listed = "", True
        for row, pending in self._sealed:
            pending.written.set_result(JournalPosition(row.seq, row.digest))
        self._sealed.clear()
        return True

    def _seal(self, pending: PendingEntry) -> EntryRow:
        kind = _KIND_OF[type(pending.content)]
        content = canonical_json(json.loads(to_json(type(pending.content), pending.content)))
        attachment = pack_scenes(pending.scenes) if isinstance(pending.content, ScenesRecorded) else None
        key = pending.key if isinstance(pending.content, EventRecorded) else None
        game, seq, at_ns = self.game.id, self._last.seq + 1, time.time_ns()
        digest = digest_of(self._last.digest, game, seq, kind, at_ns, key, content, attachment)
        self._last = JournalPosition(seq, digest)
        return EntryRow(game, seq, kind, at_ns, key, content, attachment, digest)


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a game's journal is as it was written.

    Attributes:
        game: its id.
        entries: how many are intact, or the number of the first that is not.
        head: digest of the last intact entry.
        problem: what is wrong and where; empty when nothing is.

    """

    game: str
    entries: int
    head: str
    problem: str = ""


def verify_journal(game: str, entries: Iterable[EntryRow], head: str | None = None) -> Verification:
    """Check the hash chain of a game's journal.

    Args:
        game: its id.
        entries: in order, with their attachments.
        head: a digest known from elsewhere, which must be among the entries'; None when there is none.

    """
    previous, count, is_known = GENESIS, 0, head is None
    for entry in entries:
        count += 1
        if entry.seq != count:
            return Verification(game, count, previous, f"Entry {count} is missing; entry {entry.seq} follows.")
        digest = digest_of(
            previous, game, entry.seq, entry.kind, entry.at_ns, entry.key, entry.content, entry.attachment
        )
        if digest != entry.digest:
            return Verification(
                game, count, previous, f"Entry {entry.seq} ({entry.kind}) or one before it was altered."
            )
        previous = digest
        is_known = is_known or digest == head
    if not is_known:
        problem = f"No entry has the digest {head}: the end was cut off, or the journal was rewritten."
        return Verification(game, count, previous, problem)
    return Verification(game, count, previous)


def digest_of(
    previous: str, game: str, seq: int, kind: str, at_ns: int, key: str | None, content: str, attachment: bytes | None
) -> str:
    """Return the digest of an entry that follows another."""
    attached = None if attachment is None else hashlib.sha256(attachment).hexdigest()
    sealed = canonical_json(
        {"game": game, "seq": seq, "kind": kind, "at_ns": at_ns, "key": key, "content": content, "attachment": attached}
    )
    return hashlib.sha256(f"{previous}\n{sealed}".encode()).hexdigest()


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys, no spaces, and characters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def pack_scenes(scenes: Sequence[Scene]) -> bytes:
    """Return scenes as an attachment: zlib over one scene a line."""
    lines = "\n".join(to_json(Scene, scene, defaults=False) for scene in scenes)
    return zlib.compress(lines.encode(), level=1)
