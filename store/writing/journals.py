"""The journals of a store, with what an earlier run could not store: kept on the rig's disk, stored or waited for.

A game is resumed from the store and that backlog together, so also while its server is away or its disk is full.

A checkpoint is what a game had become at one entry of its journal, so that not everything is judged again to resume it:
a cache, never the truth. One that can't be read, or is of another journal, is not used: all is judged again.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from downfield.core.errors import FormatError, OutputError
from downfield.game.records.entries import END_KINDS
from downfield.game.records.keeping import (
    EntryRow,
    GameRow,
    JournalPosition,
    PendingEntry,
    SessionMemento,
    StoreProblem,
)
from downfield.game.records.owner import GameOwner
from downfield.store.sealing.hash_chain import GENESIS, follows
from downfield.store.sealing.signed_state import StateSeal, code_digest, unpack_state
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.journal import JournalWriter, QueuedEntry, SealedJournal, not_stored
from downfield.store.writing.spool import Spool
from downfield.store.writing.store import ForeignEntriesError, Store

_log = logging.getLogger(__name__)


_SIGNED_AS: Final = b"downfield.checkpoint\n"


_EVERY_S: Final = 15.0
"""Time between checkpoints, which are taken when something was declared: resuming judges little more than a play."""

_MAX_BYTES: Final = 64 << 20  # No larger checkpoint is read; that of a game of an hour has less than one MB


class CheckpointFile:
    """Keeps the last checkpoint of a rig's game. Callable from any thread; a failing disk is no fault of the game."""

    def __init__(self, path: Path, key: RigKey, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._path, self._key, self._monotonic_s = path, key, monotonic_s
        self._lock = threading.Lock()
        self._taken_s = monotonic_s()

    def offer(self, game: str, pending: PendingEntry, capture: Callable[[], SessionMemento | None]) -> None:
        """Take a checkpoint after an entry, if it is time, under the game's lock; it is written once the entry is."""
        now_s = self._monotonic_s()
        if now_s - self._taken_s < _EVERY_S:
            return
        memento = capture()
        if memento is None:
            return
        self._taken_s = now_s

        def write(written: Future[JournalPosition]) -> None:
            if written.exception() is None:
                self._write(game, written.result(), memento)

        pending.written.add_done_callback(write)

    def read(self, game: str) -> tuple[JournalPosition, SessionMemento] | None:
        """Return the entry that a game's checkpoint stands at, and what the game had become; None where none is good.

        A good one is this rig's and this program's.
        """
        try:
            found = self._seal().read(self._path)
            return (found.position, unpack_state(found.content, SessionMemento)) if found.game == game else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # a FormatError is a ValueError
            why = error.problem if isinstance(error, FormatError) else str(error)
            _log.warning("%s: the checkpoint is not used, the whole journal is judged: %s", self._path, why)
            return None

    def _write(self, game: str, position: JournalPosition, memento: SessionMemento) -> None:
        try:
            content = pickle.dumps(memento, protocol=5)
            with self._lock:
                self._seal().write(self._path, game, position, content)
        except OSError as error:
            _log.warning("%s: the checkpoint can't be written: %s", self._path, error.strerror)
        except (pickle.PicklingError, TypeError, AttributeError):  # a state that can't be kept is judged again
            _log.exception("The checkpoint of game %s can't be made", game)

    def _seal(self) -> StateSeal:
        return StateSeal(self._key, _SIGNED_AS, code_digest(), _MAX_BYTES)


class StoredJournals:
    """The journals of a store: `downfield.game.records.keeping.Journals`.

    What an earlier run left on the rig's disk is stored when this is made, and is read with the rest where it can't be.

    Args:
        checkpoints: keeps what the game in play has become; None to judge all of it when it is resumed.

    Attributes:
        notes: what could not be stored and never will be, for people.
    """

    def __init__(self, store: Store, checkpoints: CheckpointFile | None = None) -> None:
        self._store, self._checkpoints = store, checkpoints
        self._writer = JournalWriter(store)
        self._waiting: dict[str, Sequence[EntryRow]] = {}
        self._games: list[GameRow] = []
        self.notes: list[str] = []
        if store.spool is not None:
            for game in store.spool.games():
                self._deliver(store.spool, game)

    @property
    def problem(self) -> StoreProblem | None:
        """Why entries are not in the store; None while they are."""
        return self._writer.problem

    def begin(self, game: GameRow) -> SealedJournal:
        """Return the journal of a new game, which is listed in the store with its first entry."""
        return SealedJournal(self._writer, game)

    def resume(self, game: GameRow) -> SealedJournal | None:
        """Return a game's journal, to be gone on with after its last entry; None where it has none."""
        waiting = self._waiting.get(game.id)
        last = waiting[-1] if waiting else self._store.last_entry(game.id)
        return None if last is None else SealedJournal(self._writer, game, JournalPosition(last.seq, last.digest))

    def latest_game(self, owner: GameOwner) -> GameRow | None:
        """Return the game that an owner started last; None when there is none, or none that can be read."""
        own = [game for game in self._games if game.owner == owner.rig and self._waiting[game.id][0].seq == 1]
        try:
            if own and self._store.game(own[-1].id) is None:
                return own[-1]
            return self._store.latest_game(owner.rig)
        except OutputError as error:
            if self._store.spool is None:
                raise
            if not own:
                self.notes.append(f"{error}. A new game begins, as this computer has no copy of one that is in play.")
            return own[-1] if own else None

    def latest(self, game: str, kinds: Collection[str]) -> list[EntryRow]:
        """Return the latest entry of some kinds of a game's journal; none where there is none."""
        waiting = self._waiting.get(game, ())
        found = next((row for row in reversed(waiting) if row.kind in kinds), None)
        if found is not None:
            return [found]
        return [] if waiting and waiting[0].seq == 1 else self._store.latest(game, kinds)

    def entries(self, game: str, after: int = 0, *, attachments: bool = True) -> Iterator[EntryRow]:
        """Yield a game's journal in order, after an entry."""
        waiting = self._waiting.get(game, ())
        if not waiting or waiting[0].seq > after + 1:
            for row in self._store.entries(game, after=after, attachments=attachments):
                if waiting and row.seq >= waiting[0].seq:
                    break
                yield row
        yield from (row for row in waiting if row.seq > after)

    def offer_checkpoint(self, game: str, pending: PendingEntry, capture: Callable[[], SessionMemento | None]) -> None:
        """Keep what a game has become right after an entry, if it is time; it is kept once the entry is written."""
        if self._checkpoints is not None:
            self._checkpoints.offer(game, pending, capture)

    def checkpoint(self, game: str) -> tuple[JournalPosition, SessionMemento] | None:
        """Return the last memento of a game, with its entry; None where none is kept, or it can't be used."""
        return None if self._checkpoints is None else self._checkpoints.read(game)

    def close(self) -> None:
        """Write what is unwritten, if the disk accepts it in time."""
        self._writer.close()

    def _deliver(self, spool: Spool, game: GameRow) -> None:
        """Store the entries of a game, or leave them to the writer, in order, while the store does not take them."""
        kept = spool.entries(game.id)
        rows = kept[: _chained(kept)]
        missing: Sequence[EntryRow] = rows
        is_listed = bool(rows) and rows[0].seq > 1
        if rows and not self._games:  # after a game that has to wait, the others do too
            try:
                missing, is_listed = not_stored(self._store, rows)
            except ForeignEntriesError as error:
                self.notes.append(f"{error}. What this computer kept of it was set aside: {spool.set_aside(game.id)}")
                return
            except OutputError as error:
                _log.warning("Game %s waits to be stored: %s", game.id, error)
            else:
                missing = self._stored(missing, None if is_listed else game)
        if len(rows) < len(kept):
            aside = spool.set_aside(game.id)
            self.notes.append(f"Game {game.id}: entries that waited to be stored were damaged and set aside: {aside}")
        if missing:
            self._games.append(game)
            self._waiting[game.id] = rows
            journal = SealedJournal(self._writer, game, JournalPosition(rows[0].seq - 1, "") if is_listed else None)
            for row in missing:
                self._writer.submit(QueuedEntry(journal, None, row=row, is_spooled=len(rows) == len(kept)))
        elif not (spool.comes_first and game.owner and rows) or rows[-1].kind in END_KINDS:  # else it may be resumed
            spool.forget(game.id, rows[-1].seq if rows else 0)

    def _stored(self, rows: Sequence[EntryRow], game: GameRow | None) -> Sequence[EntryRow]:
        """Store entries that continue a journal; return those that could not be stored now."""
        try:
            if rows:
                self._store.append(rows, game)
        except OutputError as error:
            _log.warning("Game %s waits to be stored: %s", rows[0].game, error)
            return rows
        return ()


def _chained(rows: Sequence[EntryRow]) -> int:
    """Return how many entries follow one another; the first one may follow one that is stored."""
    previous = GENESIS if rows and rows[0].seq == 1 else None
    for count, row in enumerate(rows):
        if row.seq != rows[0].seq + count or (previous is not None and not follows(previous, row)):
            return count
        previous = row.digest
    return len(rows)
