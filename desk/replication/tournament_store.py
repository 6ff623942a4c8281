"""The tournament's store: the games of all tables in one PostgreSQL, each entry checked as it arrives.

It has the schema of a rig's store, so `downfield verify` reads it too, and beside it where each rig signed last.
PostgreSQL's own replication needs a PostgreSQL at either end, and a rig has SQLite. What it offers all the same is
used: a transaction keeps a batch whole, primary keys make an entry unique, an advisory lock per game orders receivers.
The last entry stored is the position that a rig goes on from, so nobody counts what was received.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

from sqlalchemy import URL, Connection, func, select, text
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from downfield.core.errors import InputError, OutputError
from downfield.desk.replication.batch_group import CheckedBatch, checked, store_group
from downfield.game.records.keeping import GameRow
from downfield.store.checking.signed_ends import SIGNED_ENDS
from downfield.store.database.engines import cause_of, create_writing_engine, parse_address, transaction
from downfield.store.database.reader import StoreReader
from downfield.store.database.schema import ENTRIES, GAMES, migrate
from downfield.store.writing.replication import BatchReply, JournalBatch, StoredPosition

OLDEST_SERVER: Final = 150_000
"""PostgreSQL 15, as its ``server_version_num``."""

_SCHEMA_LOCK: Final = 0x646F776E


class TournamentStore:
    """The games of all tables. Callable from any thread.

    Args:
        url: of a PostgreSQL database.

    Raises:
        InputError: it is no address of one, or its driver is not installed.

    """

    def __init__(self, url: str) -> None:
        address: URL = parse_address(url)
        self.where = address.render_as_string(hide_password=True)
        if address.drivername == "sqlite":
            raise InputError(f"{self.where}: a tournament's database is postgresql://...")
        self._engine = create_writing_engine(address)
        self._reader = StoreReader(self._engine, self.where)
        self._is_open = False

    def open(self) -> None:
        """Make the tables where they are missing; several programs may do so at once.

        Raises:
            InputError: the server is too old, or a newer Downfield made the store.
            SQLAlchemyError: the server does not answer.

        """
        if self._is_open:
            return
        with transaction(self._engine) as connection:
            version = int(connection.scalar(text("SHOW server_version_num")) or 0)
            if version < OLDEST_SERVER:
                raise InputError(f"{self.where}: PostgreSQL 15 or later is needed; this is {version // 10_000}.")
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _SCHEMA_LOCK})
            migrate(connection, self.where)
            SIGNED_ENDS.create(connection, checkfirst=True)
        self._is_open = True

    def reader(self) -> StoreReader:
        """Return what reads the games that are here; closed with this."""
        return self._reader

    def last_number(self) -> int:
        """Return the number of the game that came last; 0 for none.

        Raises:
            InputError: the server can't be used.
            OutputError: it does not answer.

        """
        with self._reading() as connection:
            return int(connection.scalar(select(func.max(GAMES.c.number))) or 0)

    def games_after(self, number: int) -> list[GameRow]:
        """Return the games that came after one, in order.

        Raises:
            InputError: the server can't be used.
            OutputError: it does not answer.

        """
        columns = [column for column in GAMES.c if column.name != "number"]
        with self._reading() as connection:
            rows = connection.execute(select(*columns).where(GAMES.c.number > number).order_by(GAMES.c.number))
            return [GameRow(*row) for row in rows]

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            self.open()
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the tournament's database can't be read: {cause_of(error)}") from None

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def positions(self, games: Sequence[str]) -> dict[str, StoredPosition]:
        """Return the last entries of games; those that are not there are left out.

        Raises:
            InputError: the server can't be used.
            SQLAlchemyError: it does not answer.

        """
        self.open()
        last = select(ENTRIES.c.game, func.max(ENTRIES.c.seq).label("seq")).where(ENTRIES.c.game.in_(games))
        ends = last.group_by(ENTRIES.c.game).subquery()
        query = select(ENTRIES.c.game, ENTRIES.c.seq, ENTRIES.c.digest).join(
            ends, (ENTRIES.c.game == ends.c.game) & (ENTRIES.c.seq == ends.c.seq)
        )
        with self._engine.connect() as connection:
            return {row.game: StoredPosition(row.seq, row.digest) for row in connection.execute(query)}

    def receive(self, batch: JournalBatch) -> BatchReply:
        """Store a batch, all of it or nothing; it is on the server's disk when this returns that it was stored."""
        return self.receive_all([batch])[0]

    def receive_all(self, batches: Sequence[JournalBatch]) -> list[BatchReply]:
        """Store batches, each whole or not at all, in one transaction where the server takes them so.

        Args:
            batches: of any games; of several of one game each later one is stored after the others.

        Returns:
            What became of each; those that are stored are on the server's disk.

        """
        replies: dict[int, BatchReply] = {}
        waiting: list[tuple[int, CheckedBatch]] = []
        for place, batch in enumerate(batches):
            found = checked(batch)
            if isinstance(found, BatchReply):
                replies[place] = found
            else:
                waiting.append((place, found))
        while waiting:
            firsts = {one.game: place for place, one in reversed(waiting)}
            group = [(place, one) for place, one in waiting if firsts[one.game] == place]
            waiting = [pair for pair in waiting if pair not in group]
            for (place, _), reply in zip(group, self._store([one for _, one in group]), strict=True):
                replies[place] = reply
        return [replies[place] for place in range(len(batches))]

    def _store(self, group: Sequence[CheckedBatch]) -> list[BatchReply]:
        """Store batches of different games together; where the server refuses them, each by itself."""
        try:
            self.open()
            with transaction(self._engine) as connection:
                return store_group(connection, group)
        except InputError as error:
            return [BatchReply("unavailable", text=str(error))] * len(group)
        except SQLAlchemyError as error:
            is_away = not isinstance(error, DataError | IntegrityError)  # read-only, without rights, full, not there
            if not is_away and len(group) > 1:
                return [reply for one in group for reply in self._store([one])]
            status: Literal["unavailable", "refused"] = "unavailable" if is_away else "refused"
            return [BatchReply(status, text=f"the tournament's database: {cause_of(error)}")] * len(group)
