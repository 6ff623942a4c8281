"""The tournament's store: the games of all tables in one database, each entry checked as it arrives.

That is an SQLite file in the desk's folder, or a PostgreSQL; `copy_games` copies from one to the other.

It has the schema of a rig's store, so `downfield verify` reads it too, and beside it where each rig signed last.
PostgreSQL's own replication needs a PostgreSQL at either end, and a rig has SQLite. What it offers all the same is
used: a transaction keeps a batch whole, primary keys make an entry unique, an advisory lock per game orders receivers.
The last entry stored is the position that a rig goes on from, so nobody counts what was received.

Batches of several games share one transaction and its four statements, which are most of the processor time of a batch.
Each batch is judged as if it came alone: what is wrong with one changes nothing for the others.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final, Literal

from sqlalchemy import URL, ColumnElement, Connection, RowMapping, func, insert, or_, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or_update
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from downfield.core.errors import InputError, OutputError
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.records.owner import rig_id
from downfield.store.database.engines import cause_of, create_writing_engine, parse_address, transaction
from downfield.store.database.reader import GAME_ROWS, StoreReader, values_of
from downfield.store.database.schema import ENTRIES, GAMES, NEXT_NUMBER, create_tables
from downfield.store.sealing.hash_chain import GENESIS, follows
from downfield.store.sealing.signing import is_public_key
from downfield.store.signed_ends import SIGNED_ENDS
from downfield.store.writing.replication import BatchReply, JournalBatch, StoredPosition, is_signed

_LOCK: Final = text("SELECT pg_advisory_xact_lock(number) FROM (SELECT unnest(:numbers) AS number ORDER BY 1) AS games")
"""In one order, so that two desks never wait for each other."""

_STANDING: Final = text("""
SELECT games.*, stored.seq, stored.digest
FROM unnest(CAST(:games AS text[]), CAST(:firsts AS bigint[])) AS wanted (game, first)
JOIN games ON games.id = wanted.game
CROSS JOIN LATERAL (SELECT max(seq) AS seq FROM entries WHERE entries.game = wanted.game) AS last
LEFT JOIN LATERAL (
    SELECT entries.seq, entries.digest FROM entries
    WHERE entries.game = wanted.game AND entries.seq >= least(wanted.first, last.seq)
) AS stored ON true
""")
"""How each game is listed, and its stored entries from one number on, or the last."""

_SIGNED_FIELDS: Final = ("seq", "digest", "key", "signature", "received_ns")

Standing = tuple[RowMapping | None, dict[int, str]]  # How a game is listed, and digests of its stored entries by number


def _keep_signatures(connection: Connection, ends: Sequence[dict[str, Any]]) -> None:
    signed = (sqlite_insert if _is_file(connection) else insert_or_update)(SIGNED_ENDS)
    new = {name: signed.excluded[name] for name in _SIGNED_FIELDS}
    connection.execute(signed.on_conflict_do_update(index_elements=[SIGNED_ENDS.c.game], set_=new), ends)


def _after(number: int, also: Collection[str]) -> ColumnElement[bool]:
    return or_(GAMES.c.number > number, GAMES.c.id.in_(also))


def _is_file(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def _store_group(connection: Connection, group: Sequence[JournalBatch]) -> list[BatchReply]:
    """Store batches of different games within a transaction, and return what becomes of each once it is committed."""
    if not _is_file(connection):  # the transaction alone writes to a file
        digests = (hashlib.sha256(f"journal {batch.game.id}".encode()).digest() for batch in group)
        connection.execute(_LOCK, {"numbers": [int.from_bytes(digest[:8], signed=True) for digest in digests]})
    standing = _standing(connection, group)
    games: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    replies = []
    for batch in group:
        listed, stored = standing.get(batch.game.id, (None, {}))
        reply, new = _judged(batch, listed, stored)
        replies.append(reply)
        if not new:
            continue
        if listed is None:
            games.append(values_of(batch.game))
        entries += map(values_of, new)
        end = {"game": batch.game.id, "seq": new[-1].seq, "digest": new[-1].digest, "key": batch.key}
        ends.append({**end, "signature": batch.signature, "received_ns": time.time_ns()})
    if games:
        connection.execute(insert(GAMES).values(number=NEXT_NUMBER), games)
    if entries:
        connection.execute(insert(ENTRIES), entries)
        _keep_signatures(connection, ends)
    return replies


def _fault(batch: JournalBatch) -> str:
    """Return what is wrong with a batch by itself: its signature, order or hash chain; empty where nothing is."""
    rows = batch.entries
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


def _standing(connection: Connection, group: Sequence[JournalBatch]) -> dict[str, Standing]:
    if _is_file(connection):
        return {batch.game.id: _standing_in_file(connection, batch) for batch in group}
    wanted = {"games": [batch.game.id for batch in group], "firsts": [batch.entries[0].seq - 1 for batch in group]}
    found: dict[str, Standing] = {}
    for row in connection.execute(_STANDING, wanted).mappings():
        _, stored = found.setdefault(row["id"], (row, {}))
        if row["seq"] is not None:
            stored[row["seq"]] = row["digest"]
    return found


def _standing_in_file(connection: Connection, batch: JournalBatch) -> Standing:
    game = batch.game.id
    listed = connection.execute(select(GAMES).where(GAMES.c.id == game)).mappings().first()
    last = connection.scalar(select(func.max(ENTRIES.c.seq)).where(ENTRIES.c.game == game))
    if last is None:
        return listed, {}
    first = min(batch.entries[0].seq - 1, last)
    query = select(ENTRIES.c.seq, ENTRIES.c.digest).where(ENTRIES.c.game == game, ENTRIES.c.seq >= first)
    return listed, {row.seq: row.digest for row in connection.execute(query)}


def _judged(
    batch: JournalBatch, listed: RowMapping | None, stored: dict[int, str]
) -> tuple[BatchReply, Sequence[EntryRow]]:
    """Return what becomes of a batch, and its entries that are not stored yet."""
    rows = batch.entries
    if listed is not None and any(listed[name] != value for name, value in values_of(batch.game).items()):
        return BatchReply("refused", text="its title, teams, rulebook, table or rig is not the one it had before"), ()
    last = max(stored, default=0)
    for entry in rows:
        if stored.get(entry.seq, entry.digest) != entry.digest:
            return BatchReply("refused", last, _fork(entry.seq)), ()
    if rows[0].seq > last + 1:
        return BatchReply("behind", last), ()
    if not follows(stored.get(rows[0].seq - 1, GENESIS), rows[0]):
        return BatchReply("refused", last, _fork(rows[0].seq - 1)), ()
    new = [entry for entry in rows if entry.seq > last]
    return BatchReply("stored", new[-1].seq if new else last), new


def _fork(seq: int) -> str:
    return (
        f"the tournament has another entry {seq} of this game: an older copy of this computer's games was put back and"
        " played on, its data folder was copied to another computer, or its journal was altered"
    )


OLDEST_SERVER: Final = 150_000  # PostgreSQL 15, as its ``server_version_num``

_SCHEMA_LOCK: Final = 0x646F776E


class TournamentStore:
    """The games of all tables. Callable from any thread.

    Reading and writing raise InputError where the server can't be used, OutputError where it does not answer.

    Raises:
        InputError: it is no address of one, or its driver is not installed.
    """

    def __init__(self, url: str) -> None:
        address: URL = parse_address(url)
        self.where = address.render_as_string(hide_password=True)
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
            if not _is_file(connection):
                version = int(connection.scalar(text("SHOW server_version_num")) or 0)
                if version < OLDEST_SERVER:
                    raise InputError(f"{self.where}: PostgreSQL 15 or later is needed; this is {version // 10_000}.")
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _SCHEMA_LOCK})
            create_tables(connection, self.where)
            SIGNED_ENDS.create(connection, checkfirst=True)
        self._is_open = True

    def reader(self) -> StoreReader:
        """Return what reads the games that are here; closed with this."""
        return self._reader

    def last_number(self) -> int:
        """Return the number of the game that came last; 0 for none."""
        with self.connected("read") as connection:
            return int(connection.scalar(select(func.max(GAMES.c.number))) or 0)

    def games_after(self, number: int, also: Collection[str] = ()) -> list[GameRow]:
        """Return the games that came after one, and some others by their ids, in order."""
        with self.connected("read") as connection:
            rows = connection.execute(GAME_ROWS.where(_after(number, also)).order_by(GAMES.c.number))
            return [GameRow(*row) for row in rows]

    def latest_entries(self, number: int, kinds: Collection[str], also: Collection[str] = ()) -> dict[str, int]:
        """Return the number of the latest entry of some kinds of each game that came after one, and of some others."""
        games = select(GAMES.c.id).where(_after(number, also))
        query = select(ENTRIES.c.game, func.max(ENTRIES.c.seq)).group_by(ENTRIES.c.game)
        with self.connected("read") as connection:
            found = connection.execute(query.where(ENTRIES.c.game.in_(games), ENTRIES.c.kind.in_(kinds)))
            return {str(game): int(seq) for game, seq in found}

    @contextmanager
    def connected(self, to: Literal["read", "written"]) -> Iterator[Connection]:
        """Yield a connection, in a transaction where it writes. Raises OutputError: the database does not answer."""
        try:
            self.open()
            with self._engine.connect() if to == "read" else transaction(self._engine) as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the tournament's database can't be {to}: {cause_of(error)}") from None

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def positions(self, games: Sequence[str]) -> dict[str, StoredPosition]:
        """Return the last entries of games that are there. Raises SQLAlchemyError: the server does not answer."""
        self.open()
        last = select(ENTRIES.c.game, func.max(ENTRIES.c.seq).label("seq")).where(ENTRIES.c.game.in_(games))
        ends = last.group_by(ENTRIES.c.game).subquery()
        query = select(ENTRIES.c.game, ENTRIES.c.seq, ENTRIES.c.digest).join(
            ends, (ENTRIES.c.game == ends.c.game) & (ENTRIES.c.seq == ends.c.seq)
        )
        with self._engine.connect() as connection:
            return {row.game: StoredPosition(row.seq, row.digest) for row in connection.execute(query)}

    def receive_all(self, batches: Sequence[JournalBatch]) -> list[BatchReply]:
        """Store batches, each whole or not at all, in one transaction where the server takes them so.

        Args:
            batches: of any games; of several of one game each later one is stored after the others.

        Returns:
            What became of each; those that are stored are on the server's disk.
        """
        faults = [_fault(batch) for batch in batches]
        replies = {place: BatchReply("refused", text=fault) for place, fault in enumerate(faults) if fault}
        waiting = [(place, batch) for place, batch in enumerate(batches) if place not in replies]
        while waiting:
            firsts = {batch.game.id: place for place, batch in reversed(waiting)}
            group = [place for place, batch in waiting if firsts[batch.game.id] == place]
            waiting = [(place, batch) for place, batch in waiting if firsts[batch.game.id] != place]
            replies |= zip(group, self._store([batches[place] for place in group]), strict=True)
        return [replies[place] for place in range(len(batches))]

    def _store(self, group: Sequence[JournalBatch]) -> list[BatchReply]:
        """Store batches of different games together; where the server refuses them, each by itself."""
        try:
            self.open()
            with transaction(self._engine) as connection:
                return _store_group(connection, group)
        except InputError as error:
            return [BatchReply("unavailable", text=str(error))] * len(group)
        except SQLAlchemyError as error:
            is_away = not isinstance(error, DataError | IntegrityError)  # read-only, without rights, full, not there
            if not is_away and len(group) > 1:
                return [reply for batch in group for reply in self._store([batch])]
            status: Literal["unavailable", "refused"] = "unavailable" if is_away else "refused"
            return [BatchReply(status, text=f"the tournament's database: {cause_of(error)}")] * len(group)


def copy_games(source: TournamentStore, target: TournamentStore) -> tuple[int, int]:
    """Copy every game of one store into another, in order: when an event outgrows one computer.

    What is there already is compared and left. Each game is copied whole or not at all, so that a copy that was broken
    off goes on when it is made again.

    Returns:
        How many games and entries were new.

    Raises:
        InputError: the two have different entries of a game, a chain is broken, or a store can't be used.
        OutputError: one does not answer.
    """
    copied = [_copy(source, target, game) for game in source.games_after(0)]
    return sum(new > 0 for new in copied), sum(copied)


def _copy(source: TournamentStore, target: TournamentStore, game: GameRow) -> int:
    with source.connected("read") as connection:
        end = connection.execute(select(SIGNED_ENDS).where(SIGNED_ENDS.c.game == game.id)).mappings().first()
    digest, new = GENESIS, 0
    with target.connected("written") as connection:
        last = connection.scalar(select(func.max(ENTRIES.c.seq)).where(ENTRIES.c.game == game.id)) or 0
        known = connection.scalar(select(ENTRIES.c.digest).where(ENTRIES.c.game == game.id, ENTRIES.c.seq == last))
        if connection.scalar(select(GAMES.c.id).where(GAMES.c.id == game.id)) is None:
            connection.execute(insert(GAMES).values(number=NEXT_NUMBER), [values_of(game)])
        for entry in source.reader().entries(game.id):
            if not follows(digest, entry) or (entry.seq == last and entry.digest != known):
                raise InputError(f"Game {game.id} has another entry {entry.seq} in {target.where}. It was not moved.")
            digest = entry.digest
            if entry.seq > last:
                connection.execute(insert(ENTRIES), values_of(entry))
                new += 1
        if end is not None and new:
            _keep_signatures(connection, [dict(end)])
    return new
