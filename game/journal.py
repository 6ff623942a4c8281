"""The journals of games: entries are numbered, sealed by a hash chain, and on disk before their receipts go out.

One thread writes all journals of a store, in order, over the ends and starts of games. Appending returns at once; the
receipt can be waited for. Entries that came in together are written in one transaction. While the disk or server does
not accept them they are kept in memory and tried again, those of an ended game first. Nothing that happens in the
thread ends it.

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
from downfield.game.store import EntryRow, ForeignEntriesError, GameRow, Store

GENESIS: Final = "0" * 64
"""The digest before the first entry."""

_KIND_OF: Final = {kind: name for name, kind in KINDS.items()}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JournalLimits:
    """Times of the journals' writer."""

    retry_s: float = 1.0
    """Pause before a failed write is retried."""

    receipt_timeout_s: float = 3.0
    """How long a person waits for the disk before the receipt says that the entry is not saved."""

    behind_s: float = 2.0
    """What has waited this long is reported, whatever the reason: a disk answers in milliseconds."""

    close_s: float = 5.0
    """How long closing waits for a disk that does not accept what is unwritten."""


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


@dataclass(eq=False, slots=True)
class PendingEntry:
    """An entry on its way to the disk.

    Attributes:
        journal: it belongs to.
        content: its content.
        scenes: those of a `ScenesRecorded`.
        key: idempotency key of an `EventRecorded`.
        written: its position, once it is on disk.
        since_s: when it was submitted, monotonic.
        row: as it will be written, once it is sealed.

    """

    journal: Journal
    content: Content
    scenes: Sequence[Scene] = ()
    key: str | None = None
    written: Future[JournalPosition] = field(default_factory=Future)
    since_s: float = field(default_factory=time.monotonic)
    row: EntryRow | None = None

    def wait(self) -> JournalPosition | None:
        """Wait for the disk and return where the entry stands; None when the disk has not accepted it in time."""
        try:
            return self.written.result(LIMITS.receipt_timeout_s)
        except TimeoutError:
            return None


class JournalWriter:
    """Writes the journals of a store. Callable from any thread.

    Args:
        store: where.

    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: deque[PendingEntry] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._failure = ""
        self._thread: threading.Thread | None = None

    @property
    def failure(self) -> str:
        """Why entries are not on disk; empty while they are."""
        with self._changed:
            age_s = time.monotonic() - self._queue[0].since_s if self._queue else 0.0
        if self._failure:
            return self._failure
        if age_s > LIMITS.behind_s:
            return f"{self._store.where}: the store has not answered for {age_s:.0f} s"
        return ""

    def submit(self, pending: PendingEntry) -> None:
        """Queue an entry to be written after all earlier ones; never waits for the disk."""
        with self._changed:
            self._queue.append(pending)
            self._closing = False
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        """Write the queued entries, if the disk accepts them in time, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(LIMITS.close_s)
        with self._changed:
            if self._queue:
                _log.error("%d entries of journals were never saved: %s", len(self._queue), self._failure)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._queue or self._closing):
                    self._changed.wait()
                if not self._queue:
                    return
                queued = list(self._queue)
            try:
                failure = self._write(queued)
            except Exception as error:
                _log.exception("Entries of journals could not be written")
                failure = f"{type(error).__name__}: {error}"
            if failure and not self._failure:
                _log.error("%s", failure)
            self._failure = failure
            with self._changed:
                self._queue = deque(pending for pending in self._queue if not pending.written.done())
                if failure and self._closing:
                    return
                if failure:
                    self._changed.wait(LIMITS.retry_s)

    def _write(self, queued: list[PendingEntry]) -> str:
        """Write journal after journal; return why some of it could not be, or nothing."""
        by_journal: dict[int, list[PendingEntry]] = {}
        for pending in queued:
            if pending.row is None:
                self._seal(pending)
            if pending.row is not None:
                by_journal.setdefault(id(pending.journal), []).append(pending)
        failure = ""
        for entries in by_journal.values():
            journal, rows = entries[0].journal, [pending.row for pending in entries if pending.row is not None]
            try:
                self._store.append(rows, None if journal.is_listed else journal.game)
            except ForeignEntriesError as error:  # this game is another program's now; others are not
                failure = str(error)
                continue
            except OutputError as error:
                return str(error)
            journal.is_listed = True
            for pending, row in zip(entries, rows, strict=True):
                pending.written.set_result(JournalPosition(row.seq, row.digest))
        return failure

    def _seal(self, pending: PendingEntry) -> None:
        """Make an entry ready to be written; one that can't be written must not hold up all later ones."""
        try:
            pending.row = pending.journal.seal(pending)
        except (ValueError, TypeError) as error:
            game = pending.journal.game.id
            _log.exception("Game %s: an entry of its journal can't be written.", game)
            pending.written.set_exception(OutputError(f"Game {game}: an entry can't be written: {error}"))


class Journal:
    """The journal of one game: numbers and seals its entries, and has them written.

    Args:
        writer: writes it.
        game: the game.
        last: the entry to go on after; None for a new game, which is listed in the store with its first entry.

    """

    def __init__(self, writer: JournalWriter, game: GameRow, last: JournalPosition | None = None) -> None:
        self.game = game
        self.is_listed = last is not None
        self._writer = writer
        self._last = last or JournalPosition()

    def append(self, content: Content, *, scenes: Sequence[Scene] = (), key: str | None = None) -> PendingEntry:
        """Queue an entry to be written after all earlier ones; never waits for the disk.

        Args:
            content: the entry's content.
            scenes: those of a `ScenesRecorded`.
            key: idempotency key of an `EventRecorded`.

        """
        pending = PendingEntry(self, content, scenes, key)
        self._writer.submit(pending)
        return pending

    def seal(self, pending: PendingEntry) -> EntryRow:
        """Return the next entry, ready to be written; only the writer calls this.

        Raises:
            ValueError: it can't be written.

        """
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
