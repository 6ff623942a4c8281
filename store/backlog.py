"""The backlog at a start: what an earlier run kept on the rig's disk is stored once, or still waited for.

A game is resumed from the store and the backlog together, so also while its server is away or its disk is full.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence

from downfield.core.errors import OutputError
from downfield.game.entries import END_KINDS
from downfield.game.owner import GameOwner
from downfield.store.delivery import not_stored
from downfield.store.hash_chain import GENESIS, follows
from downfield.store.journal import Journal, JournalPosition, JournalWriter, PendingEntry
from downfield.store.spool import Spool
from downfield.store.store import EntryRow, ForeignEntriesError, GameRow, Store

_log = logging.getLogger(__name__)


class Backlog:
    """What the store does not have yet of earlier runs, and a reader of the store that has it all the same.

    Args:
        store: the store.
        writer: stores later what can't be stored now.

    Attributes:
        notes: what could not be stored and never will be, for people.

    """

    def __init__(self, store: Store, writer: JournalWriter) -> None:
        self._store = store
        self._waiting: dict[str, Sequence[EntryRow]] = {}
        self._games: list[GameRow] = []
        self.notes: list[str] = []
        if store.spool is not None:
            for game in store.spool.games():
                self._deliver(store.spool, game, writer)

    def latest_game(self, owner: GameOwner) -> GameRow | None:
        """Return the game that an owner started last; None when there is none, or none that can be read.

        A rig without a game of its own goes on with the last game of an earlier version, which kept no owners.
        """
        own = [game for game in self._games if game.owner == owner.rig and self._waiting[game.id][0].seq == 1]
        try:
            if own and self._store.game(own[-1].id) is None:
                return own[-1]
            return self._store.latest_game(owner.rig) or self._claimed(owner)
        except OutputError as error:
            if self._store.spool is None:
                raise
            if not own:
                self.notes.append(f"{error}. A new game begins, as this computer has no copy of one that is in play.")
            return own[-1] if own else None

    def last_entry(self, game: str) -> EntryRow | None:
        """Return the last entry of a game's journal; None when there is none."""
        waiting = self._waiting.get(game)
        return waiting[-1] if waiting else self._store.last_entry(game)

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

    def _claimed(self, owner: GameOwner) -> GameRow | None:
        row = self._store.latest_game(None) if owner.rig else None
        return row if row is not None and self._store.claim(row.id, owner) else None

    def _deliver(self, spool: Spool, game: GameRow, writer: JournalWriter) -> None:
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
            journal = Journal(writer, game, JournalPosition(rows[0].seq - 1) if is_listed else None)
            for row in missing:
                writer.submit(PendingEntry(journal, None, row=row, is_spooled=len(rows) == len(kept)))
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
