"""The journals of games: entries are numbered, sealed by a hash chain, and on disk before their receipts go out.

Appending returns at once; the receipt can be waited for. One thread stores the entries of all games, in order, over the
ends and starts of games; `downfield.store.writing.delivery` says how. Entries that came in together are written in one
transaction. What the store does not accept is tried again, that of an ended game first, and is meanwhile kept in a
file on another disk, if there is one. Where a store is on a server, a thread before that one writes each entry to the
rig's own disk first, so that nobody waits for the server. Nothing that happens in the threads ends them.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from downfield.core.errors import OutputError
from downfield.core.records import to_json
from downfield.core.scene import Scene
from downfield.core.threads import supervised_thread
from downfield.game.records.entries import KINDS, Content, EventRecorded, ScenesRecorded, pack_scenes
from downfield.game.records.keeping import EntryRow, GameRow, JournalPosition, StoreProblem
from downfield.store.sealing.hash_chain import GENESIS, canonical_json, digest_of
from downfield.store.writing.delivery import Delivery
from downfield.store.writing.store import Store

_KIND_OF: Final = {kind: name for name, kind in KINDS.items()}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JournalLimits:
    """Times of the journals' writer."""

    retry_s: float = 1.0  # Pause before a failed write is retried
    # How long a person waits for the disk before the receipt says that the entry is not saved
    receipt_timeout_s: float = 3.0
    behind_s: float = 2.0  # What has waited this long is reported, whatever the reason: a disk answers in milliseconds
    close_s: float = 5.0  # How long closing waits for a disk that does not accept what is unwritten


JOURNAL_LIMITS: Final = JournalLimits()


@dataclass(eq=False, slots=True)
class QueuedEntry:
    """An entry on its way to the disk."""

    journal: SealedJournal
    content: Content | None  # its content; None where an earlier run sealed it already
    scenes: Sequence[Scene] = ()  # those of a `ScenesRecorded`
    key: str | None = None  # idempotency key of an `EventRecorded`
    row: EntryRow | None = None  # as it will be written, once it is sealed
    # its position, once it is on a disk: the store's, or the one where unsaved entries are kept
    written: Future[JournalPosition] = field(default_factory=Future)
    since_s: float = field(default_factory=time.monotonic)  # when it was submitted, monotonic
    is_passed_on: bool = False  # whether it was handed to the thread that stores it
    is_spooled: bool = False  # whether it is among the unsaved entries on disk
    is_settled: bool = False  # whether it is in the store, or can never be

    def wait(self) -> JournalPosition | None:
        """Wait for the disk and return where the entry stands; None when the disk has not accepted it in time."""
        try:
            return self.written.result(JOURNAL_LIMITS.receipt_timeout_s)
        except TimeoutError:
            return None

    def seal(self) -> None:
        """Make it ready to be written, after all earlier ones of its journal."""
        self.journal.seal(self)

    def note_written(self) -> None:
        """Give out its position: it is on a disk."""
        if self.row is not None and not self.written.done():
            self.written.set_result(JournalPosition(self.row.seq, self.row.digest))


class EntryQueue:
    """A thread that works on entries in order, until each is done. Callable from any thread.

    Args:
        work: works on what is queued and returns why some of it is not done, or nothing.
        is_done: whether an entry needs no more work.
    """

    def __init__(
        self, name: str, work: Callable[[list[QueuedEntry]], str], is_done: Callable[[QueuedEntry], bool]
    ) -> None:
        self._name, self._work, self._is_done = name, work, is_done
        self._queue: deque[QueuedEntry] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._failure = ""
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> tuple[QueuedEntry, ...]:
        """What is not done."""
        with self._changed:
            return tuple(self._queue)

    @property
    def failure(self) -> str:
        """Why the last work failed; empty when it did not."""
        return self._failure

    def submit(self, pending: QueuedEntry) -> None:
        """Queue an entry after all earlier ones; never waits."""
        with self._changed:
            self._queue.append(pending)
            self._closing = False
            if self._thread is None or not self._thread.is_alive():
                self._start()
            self._changed.notify_all()

    def close(self, timeout_s: float) -> None:
        """Finish what is queued, if that works in time, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _start(self) -> None:
        thread = supervised_thread(self._run, self._name, self._note_failure, restarts=True)
        try:
            thread.start()
        except RuntimeError as error:  # no more threads can be had; the next entry tries again
            self._note_failure(f"{self._name}: {error}")
        else:
            self._thread = thread

    def _note_failure(self, cause: str) -> None:
        self._failure = cause

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._queue or self._closing):
                    self._changed.wait()
                if not self._queue:
                    return
                queued = list(self._queue)
            try:
                failure = self._work(queued)
            except Exception as error:
                _log.exception("Entries of journals could not be written")
                failure = f"{type(error).__name__}: {error}"
            if failure and not self._failure:
                _log.error("%s", failure)
            self._failure = failure
            with self._changed:
                self._queue = deque(pending for pending in self._queue if not self._is_done(pending))
                if failure and self._closing:
                    return
                if failure:
                    self._changed.wait(JOURNAL_LIMITS.retry_s)


class JournalWriter:
    """Writes the journals of a store. Callable from any thread."""

    def __init__(self, store: Store) -> None:
        self._where = store.where
        self._delivery = Delivery(store)
        self._storing = EntryQueue("journal-writer", self._delivery.store_batch, lambda pending: pending.is_settled)
        self._first = self._storing
        if self._delivery.is_spooled_first:
            self._first = EntryQueue("journal-spool", self._spool, lambda pending: pending.is_passed_on)

    @property
    def problem(self) -> StoreProblem | None:
        """Why entries are not in the store; None while they are."""
        waiting = self._storing.waiting
        if self._first is not self._storing:
            waiting = (*waiting, *self._first.waiting)
        if not waiting:
            return None
        age_s = time.monotonic() - waiting[0].since_s
        reason = self._storing.failure or self._first.failure
        if not reason and age_s > JOURNAL_LIMITS.behind_s:
            reason = f"{self._where}: the store has not answered for {age_s:.0f} s"
        if not reason:
            return None
        is_kept = all(pending.is_spooled for pending in waiting)
        return StoreProblem(reason, self._delivery.kept_in if is_kept else "")

    def submit(self, pending: QueuedEntry) -> None:
        """Queue an entry to be written after all earlier ones; never waits for the disk."""
        self._first.submit(pending)

    def close(self) -> None:
        """Write the queued entries, if the disk accepts them in time, and end the threads."""
        self._first.close(JOURNAL_LIMITS.close_s)
        self._storing.close(JOURNAL_LIMITS.close_s)
        waiting = self._storing.waiting
        kept = sum(pending.is_spooled for pending in waiting)
        if kept:
            _log.warning("%d entries of journals are kept in %s until the store is back", kept, self._delivery.kept_in)
        if kept < len(waiting):
            lost = len(waiting) - kept
            _log.error("%d entries of journals were never saved: %s", lost, self._storing.failure)

    def _spool(self, queued: list[QueuedEntry]) -> str:
        """Write entries to the rig's own disk, and pass them on to be stored whether that worked or not."""
        try:
            return self._delivery.spool_batch(queued)
        finally:
            for pending in queued:
                pending.is_passed_on = True
                self._storing.submit(pending)


class SealedJournal:
    """The journal of one game: numbers and seals its entries, and has them written.

    Args:
        last: the entry to go on after; None for a new game, which is listed in the store with its first entry.
    """

    def __init__(self, writer: JournalWriter, game: GameRow, last: JournalPosition | None = None) -> None:
        self.game = game
        self.is_listed = last is not None
        self._writer = writer
        self._last = last or JournalPosition(0, GENESIS)

    def append(self, content: Content, *, scenes: Sequence[Scene] = (), key: str | None = None) -> QueuedEntry:
        """Queue an entry to be written after all earlier ones; never waits for the disk.

        Args:
            scenes: those of a `ScenesRecorded`.
            key: idempotency key of an `EventRecorded`.
        """
        pending = QueuedEntry(self, content, scenes, key)
        self._writer.submit(pending)
        return pending

    def seal(self, pending: QueuedEntry) -> None:
        """Make the next entry ready to be written; one that can't be written is given up, and its receipt says so."""
        if pending.row is not None or pending.is_settled or pending.content is None:
            return
        try:
            pending.row = self._sealed(pending, pending.content)
        except (ValueError, TypeError) as error:
            _log.exception("Game %s: an entry of its journal can't be written.", self.game.id)
            pending.is_settled = True
            pending.written.set_exception(OutputError(f"Game {self.game.id}: an entry can't be written: {error}"))

    def _sealed(self, pending: QueuedEntry, recorded: Content) -> EntryRow:
        kind = _KIND_OF[type(recorded)]
        content = canonical_json(json.loads(to_json(type(recorded), recorded)))
        attachment = pack_scenes(pending.scenes) if isinstance(recorded, ScenesRecorded) else None
        key = pending.key if isinstance(recorded, EventRecorded) else None
        game, seq, at_ns = self.game.id, self._last.seq + 1, time.time_ns()
        digest = digest_of(self._last.digest, game, seq, kind, at_ns, key, content, attachment)
        self._last = JournalPosition(seq, digest)
        return EntryRow(game, seq, kind, at_ns, content, digest, key, attachment)
