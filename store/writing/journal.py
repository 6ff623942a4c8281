"""The journals of games: entries are numbered, sealed by a hash chain, and on disk before their receipts go out.

Appending returns at once; the receipt can be waited for. One thread stores the entries of all games, in order, over the
ends and starts of games. Entries that came in together are written in one transaction. What the store does not accept
is tried again, that of an ended game first, and is meanwhile kept in a file on another disk, if there is one. Where a
store is on a server, a thread before that one writes each entry to the rig's own disk first, so that nobody waits for
the server. Nothing that happens in the threads ends them.

A store may have accepted entries whose acknowledgment was lost with the connection, and a file of unsaved entries may
hold some that are stored already. So where it is not sure how far a journal is stored, the store is asked first, and an
entry counts as stored only if the store has one of its number and digest.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from downfield.core.errors import OutputError
from downfield.core.records import to_json
from downfield.core.scene import Scene
from downfield.core.threads import supervised_thread
from downfield.game.records.entries import END_KINDS, KINDS, Content, EventRecorded, ScenesRecorded, pack_scenes
from downfield.game.records.keeping import EntryRow, GameRow, JournalPosition, StoreProblem
from downfield.store.database.reader import StoreReader
from downfield.store.sealing.hash_chain import GENESIS, canonical_json, digest_of, follows
from downfield.store.writing.store import ForeignEntriesError, Store

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

    def note_written(self) -> None:
        """Give out its position: it is on a disk."""
        if self.row is not None and not self.written.done():
            self.written.set_result(JournalPosition(self.row.seq, self.row.digest))


class EntryQueue:
    """A thread that works on entries in order, until each is done. Callable from any thread.

    Args:
        work: works on what is queued and returns why some of it is not done, or nothing.
        is_done: whether an entry needs no more work.

    Attributes:
        failure: why the last work failed; empty when it did not.
    """

    def __init__(
        self, name: str, work: Callable[[list[QueuedEntry]], str], is_done: Callable[[QueuedEntry], bool]
    ) -> None:
        self._name, self._work, self._is_done = name, work, is_done
        self._queue: deque[QueuedEntry] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self.failure = ""
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> tuple[QueuedEntry, ...]:
        """What is not done."""
        with self._changed:
            return tuple(self._queue)

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
        self.failure = cause

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
            if failure and not self.failure:
                _log.error("%s", failure)
            self.failure = failure
            with self._changed:
                self._queue = deque(pending for pending in self._queue if not self._is_done(pending))
                if failure and self._closing:
                    return
                if failure:
                    self._changed.wait(JOURNAL_LIMITS.retry_s)


class JournalWriter:
    """Writes the journals of a store. Callable from any thread.

    One thread stores, each entry exactly once, and one may keep entries on the rig's disk.

    Args:
        store: where entries go; its spool keeps what it does not accept.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._spool = store, store.spool
        self._storing = EntryQueue("journal-writer", self._store_batch, lambda pending: pending.is_settled)
        self._first = self._storing
        if self._spool is not None and self._spool.comes_first:
            self._first = EntryQueue("journal-spool", self._spool_first, lambda pending: pending.is_passed_on)

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
            reason = f"{self._store.where}: the store has not answered for {age_s:.0f} s"
        if not reason:
            return None
        is_kept = self._spool is not None and all(pending.is_spooled for pending in waiting)
        return StoreProblem(reason, str(self._spool.folder) if self._spool is not None and is_kept else "")

    def submit(self, pending: QueuedEntry) -> None:
        """Queue an entry to be written after all earlier ones; never waits for the disk."""
        self._first.submit(pending)

    def close(self) -> None:
        """Write the queued entries, if the disk accepts them in time, and end the threads."""
        self._first.close(JOURNAL_LIMITS.close_s)
        self._storing.close(JOURNAL_LIMITS.close_s)
        waiting = self._storing.waiting
        kept = sum(pending.is_spooled for pending in waiting)
        if kept and self._spool is not None:
            _log.warning("%d entries of journals are kept in %s until the store is back", kept, self._spool.folder)
        if kept < len(waiting):
            lost = len(waiting) - kept
            _log.error("%d entries of journals were never saved: %s", lost, self._storing.failure)

    def _spool_first(self, queued: list[QueuedEntry]) -> str:
        """Write entries to the rig's own disk, and pass them on to be stored whether that worked or not."""
        try:
            return self._spool_batch(queued)
        finally:
            for pending in queued:
                pending.is_passed_on = True
                self._storing.submit(pending)

    def _spool_batch(self, queued: Sequence[QueuedEntry]) -> str:
        """Keep entries on the rig's disk; return why some of them could not be, or nothing."""
        if self._spool is None:
            return ""
        for entries in _runs(queued):
            missing = [pending for pending in entries if not (pending.is_spooled or pending.is_settled)]
            rows = _rows(missing)
            if not rows:
                continue
            try:
                self._spool.append(rows, entries[0].journal.game)
            except OutputError as error:
                return str(error)
            for pending in missing:
                pending.is_spooled = pending.row is not None
                pending.note_written()
        return ""

    def _store_batch(self, queued: Sequence[QueuedEntry]) -> str:
        """Store entries, journal after journal; return why some of it could not be, or nothing."""
        failure = ""
        by_journal: dict[int, list[QueuedEntry]] = {}
        for pending in queued:
            by_journal.setdefault(id(pending.journal), []).append(pending)
        try:
            for entries in by_journal.values():
                if not (rows := _rows(entries)):
                    continue
                try:
                    self._store_rows(entries, rows)
                except ForeignEntriesError as error:  # this game is another program's now; others are not
                    failure = str(error)
                except OutputError as error:
                    failure = str(error)
                    break
        finally:
            self._spool_batch([pending for pending in queued if not pending.is_settled])
        return failure

    def _store_rows(self, entries: Sequence[QueuedEntry], rows: Sequence[EntryRow]) -> None:
        journal = entries[0].journal
        try:
            self._store.append(rows, None if journal.is_listed else journal.game)
        except ForeignEntriesError:
            missing, is_listed = not_stored(self._store, rows)
            try:
                if missing:
                    self._store.append(missing, None if is_listed else journal.game)
            except ForeignEntriesError:  # it is nobody else's: no game after it may be stored before it
                raise OutputError(f"{self._store.where}: the store refuses entries of {journal.game.id}") from None
        journal.is_listed = True
        for pending in entries:
            pending.is_settled = True
            pending.note_written()
        # What is kept of a game in play stays, to resume it offline.
        if self._spool is not None and (not self._spool.comes_first or rows[-1].kind in END_KINDS):
            self._spool.forget(journal.game.id, rows[-1].seq)


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
        """Queue an entry to be written after all earlier ones; never waits for the disk."""
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


def not_stored(store: StoreReader, rows: Sequence[EntryRow]) -> tuple[Sequence[EntryRow], bool]:
    """Return those of a game's entries that a store does not have, and whether it lists the game.

    Args:
        rows: entries of one game, in order.

    Raises:
        ForeignEntriesError: the store has other entries in their place, or they do not follow its last one.
        OutputError: the store can't be read.
    """
    game = rows[0].game
    last = store.last_entry(game)
    seq, digest = (0, GENESIS) if last is None else (last.seq, last.digest)
    held = [row for row in rows if row.seq <= seq]
    missing = rows[len(held) :]
    if held:
        stored = next(iter(store.entries(game, after=held[-1].seq - 1, attachments=False)), None)
        if stored is None or stored.digest != held[-1].digest:
            raise ForeignEntriesError(f"{store.where}: another process writes game {game}")
    if missing and (missing[0].seq != seq + 1 or not follows(digest, missing[0])):
        raise ForeignEntriesError(f"{store.where}: another process writes game {game}")
    return missing, last is not None


def _runs(queued: Sequence[QueuedEntry]) -> Iterator[list[QueuedEntry]]:
    """Yield entries that came one after another of the same journal, with each of them sealed."""
    run: list[QueuedEntry] = []
    for pending in queued:
        if run and run[-1].journal is not pending.journal:
            yield run
            run = []
        pending.journal.seal(pending)
        run.append(pending)
    if run:
        yield run


def _rows(entries: Sequence[QueuedEntry]) -> list[EntryRow]:
    """Return entries as they are written; those that can't be are left out."""
    for pending in entries:
        pending.journal.seal(pending)
    return [pending.row for pending in entries if pending.row is not None and not pending.is_settled]
