"""Delivers sealed entries to the store, each exactly once, and keeps on the rig's disk what the store does not accept.

A store may have accepted entries whose acknowledgment was lost with the connection, and a file of unsaved entries may
hold some that are stored already. So where it is not sure how far a journal is stored, the store is asked first, and an
entry counts as stored only if the store has one of its number and digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from downfield.core.errors import OutputError
from downfield.game.records.entries import END_KINDS
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.database.reader import StoreReader
from downfield.store.sealing.hash_chain import GENESIS, follows
from downfield.store.writing.store import ForeignEntriesError, Store

_NO_SPOOL: Final = ""


class SealingJournal(Protocol):
    """The journal of one game, as far as delivering its entries goes."""

    game: GameRow
    is_listed: bool  # Whether the store lists the game; it does from the first entry on that it accepts


class SealableEntry(Protocol):
    """An entry on its way to the disk, as far as delivering it goes; `QueuedEntry` of `journal` is one."""

    row: EntryRow | None
    is_spooled: bool
    is_settled: bool

    @property
    def journal(self) -> SealingJournal:
        """The journal that it belongs to."""

    def seal(self) -> None:
        """Make it ready to be written, after all earlier ones of its journal."""

    def note_written(self) -> None:
        """Give out its position: it is on a disk."""


class Delivery:
    """Delivers the entries of a store's journals. One thread stores, and one may keep entries on the rig's disk.

    Args:
        store: where entries go; its spool keeps what it does not accept.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._spool = store, store.spool

    @property
    def is_spooled_first(self) -> bool:
        """Whether every entry is written to the rig's own disk before the store, which is on a server."""
        return self._spool is not None and self._spool.comes_first

    @property
    def kept_in(self) -> str:
        """The folder of the unsaved entries."""
        return _NO_SPOOL if self._spool is None else str(self._spool.folder)

    def spool_batch(self, queued: Sequence[SealableEntry]) -> str:
        """Keep entries on the rig's disk; return why some of them could not be, or nothing."""
        if self._spool is None:
            return _NO_SPOOL
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
        return _NO_SPOOL

    def store_batch(self, queued: Sequence[SealableEntry]) -> str:
        """Store entries, journal after journal; return why some of it could not be, or nothing."""
        failure = ""
        by_journal: dict[int, list[SealableEntry]] = {}
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
            self.spool_batch([pending for pending in queued if not pending.is_settled])
        return failure

    def _store_rows(self, entries: Sequence[SealableEntry], rows: Sequence[EntryRow]) -> None:
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
        self._forget(journal.game, rows)

    def _forget(self, game: GameRow, rows: Sequence[EntryRow]) -> None:
        """Delete the kept entries of a game that are stored; that of a game in play is kept, to resume it offline."""
        if self._spool is not None and (not self._spool.comes_first or rows[-1].kind in END_KINDS):
            self._spool.forget(game.id, rows[-1].seq)


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


def _runs(queued: Sequence[SealableEntry]) -> Iterator[list[SealableEntry]]:
    """Yield entries that came one after another of the same journal, with each of them sealed."""
    run: list[SealableEntry] = []
    for pending in queued:
        if run and run[-1].journal is not pending.journal:
            yield run
            run = []
        pending.seal()
        run.append(pending)
    if run:
        yield run


def _rows(entries: Sequence[SealableEntry]) -> list[EntryRow]:
    """Return entries as they are written; those that can't be are left out."""
    for pending in entries:
        pending.seal()
    return [pending.row for pending in entries if pending.row is not None and not pending.is_settled]
