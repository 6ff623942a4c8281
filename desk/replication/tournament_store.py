"""The tournament's store: the games of all tables in one PostgreSQL, each entry checked as it arrives.

It has the schema of a rig's store, so `downfield verify` reads it too, and beside it where each rig signed last.
PostgreSQL's own replication needs a PostgreSQL at either end, and a rig has SQLite. What it offers all the same is
used: a batch is one transaction, primary keys make an entry unique, an advisory lock per game orders receivers. The
last entry stored is the position that a rig goes on from, so nobody counts what was received.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from typing import Final

from sqlalchemy import URL, Connection, RowMapping, func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import InputError, OutputError
from downfield.game.database import cause_of, create_writing_engine, is_unavailable, parse_address, transaction
from downfield.game.hash_chain import GENESIS, follows
from downfield.game.owner import rig_id
from downfield.game.replication import BatchReply, JournalBatch, StoredPosition, is_signed
from downfield.game.signed_ends import SIGNED_ENDS
from downfield.game.signing import is_public_key
from downfield.game.store_reader import EntryRow, GameRow, StoreReader
from downfield.game.store_schema import ENTRIES, GAMES, migrate

OLDEST_SERVER: Final = 150_000
"""PostgreSQL 15, as its ``server_version_num``."""

_SCHEMA_LOCK: Final = 0x646F776E
_NEXT_NUMBER: Final = select(func.coalesce(func.max(GAMES.c.number), 0) + 1).scalar_subquery()


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
        try:
            rows = [entry.row for entry in batch.entries]
        except ValueError:
            return BatchReply("refused", text="an attachment is not base64")
        fault = _fault(batch, rows)
        if fault:
            return BatchReply("refused", text=fault)
        try:
            self.open()
            with transaction(self._engine) as connection:
                return _store(connection, batch, rows)
        except InputError as error:
            return BatchReply("unavailable", text=str(error))
        except SQLAlchemyError as error:
            status = "unavailable" if is_unavailable(error) else "refused"
            return BatchReply(status, text=f"the tournament's database: {cause_of(error)}")  # type: ignore[arg-type]


def _fault(batch: JournalBatch, rows: Sequence[EntryRow]) -> str:
    """Return what is wrong with a batch by itself; empty where nothing is."""
    if not rows or not is_public_key(batch.key):
        return "this is no batch of entries"
    if batch.game.owner != rig_id(batch.key):
        return "the game belongs to another rig than the one that sends it"
    if any(row.game != batch.game.id or row.seq != rows[0].seq + number for number, row in enumerate(rows)):
        return "its entries do not follow one another"
    if not is_signed(batch.key, batch.game, rows[-1], batch.signature):
        return "the signature is not that of the rig that the game belongs to"
    if any(not follows(before.digest, row) for before, row in pairwise(rows)):
        return "its hash chain is broken: an entry was altered"
    return ""


def _store(connection: Connection, batch: JournalBatch, rows: Sequence[EntryRow]) -> BatchReply:
    number = int.from_bytes(hashlib.sha256(f"journal {batch.game.id}".encode()).digest()[:8], signed=True)
    connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})
    listed, stored = _standing(connection, batch.game.id, rows[0].seq - 1)
    row = _row(batch.game)
    if listed is not None and any(listed[name] != value for name, value in row.items()):
        return BatchReply("refused", text="its title, teams, rulebook, table or rig is not the one it had before")
    last = max(stored, default=0)
    for entry in rows:
        if stored.get(entry.seq, entry.digest) != entry.digest:
            return BatchReply("refused", last, _fork(entry.seq))
    if rows[0].seq > last + 1:
        return BatchReply("behind", last)
    if not follows(stored.get(rows[0].seq - 1, GENESIS), rows[0]):
        return BatchReply("refused", last, _fork(rows[0].seq - 1))
    new = [entry for entry in rows if entry.seq > last]
    if not new:
        return BatchReply("stored", last)
    if listed is None:
        connection.execute(insert(GAMES).values(number=_NEXT_NUMBER, **row))
    connection.execute(insert(ENTRIES), [asdict(entry) for entry in new])
    _keep_signature(connection, batch, new[-1])
    return BatchReply("stored", new[-1].seq)


def _standing(connection: Connection, game: str, first: int) -> tuple[RowMapping | None, dict[int, str]]:
    """Return how a game is listed, and the digests of its stored entries by number: from one on, or that of the last.

    One statement, as most of the time that a batch takes is spent on the way to the server and back.
    """
    last = select(func.max(ENTRIES.c.seq)).where(ENTRIES.c.game == game).scalar_subquery()
    wanted = (ENTRIES.c.game == GAMES.c.id) & (ENTRIES.c.seq >= func.least(first, last))
    query = select(GAMES, ENTRIES.c.seq, ENTRIES.c.digest).select_from(GAMES.outerjoin(ENTRIES, wanted))
    rows = connection.execute(query.where(GAMES.c.id == game)).mappings().all()
    return (rows[0] if rows else None), {row["seq"]: row["digest"] for row in rows if row["seq"] is not None}


def _keep_signature(connection: Connection, batch: JournalBatch, last: EntryRow) -> None:
    values = {
        "seq": last.seq,
        "digest": last.digest,
        "key": batch.key,
        "signature": batch.signature,
        "received_ns": time.time_ns(),
    }
    done = connection.execute(update(SIGNED_ENDS).where(SIGNED_ENDS.c.game == last.game).values(**values))
    if done.rowcount == 0:
        connection.execute(insert(SIGNED_ENDS).values(game=last.game, **values))


def _row(game: GameRow) -> dict[str, object]:
    return {"table_name" if name == "table" else name: value for name, value in asdict(game).items()}


def _fork(seq: int) -> str:
    return (
        f"the tournament has another entry {seq} of this game: an older copy of this computer's games was put back and"
        " played on, or its journal was altered"
    )
