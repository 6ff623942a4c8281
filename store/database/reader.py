"""Reading a store: the rows of its tables, and a reader that can't write."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Select, null, select
from sqlalchemy import Row as SqlRow
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError

from downfield.core.errors import FormatError, OutputError
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.store.database.engines import cause_of
from downfield.store.database.schema import DEVICES, ENTRIES, GAMES, SIGNED_LIST, TEAMS

SILENT_S: Final = 3.0  # After a server that does not answer, nobody else waits for it for this long

PAGE_ENTRIES: Final = 200  # Entries read from the database at once


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A paired device."""

    id: str
    name: str
    role: str  # viewer, operator or admin
    token_sha256: str  # of its token; the token itself is stored nowhere
    # paired_ns, expires_ns: wall clock, ns since 1970
    paired_ns: int
    expires_ns: int


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row of a rig's signed list."""

    owner: str
    # kind, subject: what it is about, as in `downfield.store.sealing.signed_list`
    kind: str
    subject: str
    content: str  # JSON


Row = TypeVar("Row", GameRow, EntryRow, DeviceRow, ListRow)

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "str": (str,),
    "int": (int,),
    "str | None": (str, NoneType),
    "Base64 | None": (bytes, memoryview, NoneType),
}
"""What a database may return for a field of a row, by the field's type."""

_FIELDS: Final = {
    kind: [(field.name, _KINDS[str(field.type)]) for field in fields(kind)]
    for kind in (GameRow, EntryRow, DeviceRow, ListRow)
}

_TRIGGERS: Final = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": """SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE NOT tgisinternal
        AND pg_table_is_visible(tgrelid) AND relname IN ('games', 'entries', 'devices', 'signed_list')""",
}

GAME_ROWS: Final = select(*(column for column in GAMES.c if column.name != "number"))


def values_of(row: EntryRow | GameRow | DeviceRow) -> dict[str, Any]:
    """Return a row's values by the columns of its table."""
    values = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {"table_name" if name == "table" else name: value for name, value in values.items()}


class StoreReader:
    """Reads a store. Callable from any thread.

    Args:
        where: the store, for errors.
    """

    def __init__(self, engine: Engine, where: str) -> None:
        self._engine = engine
        self._silent_until_s = 0.0
        self.where = where

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def games(self, limit: int = 100, before: str | None = None) -> list[GameRow]:
        """Return games, the latest first; only those started before a game, where one is given."""
        query = GAME_ROWS.order_by(GAMES.c.number.desc(), GAMES.c.id.desc()).limit(limit)
        if before is not None:
            number = select(GAMES.c.number).where(GAMES.c.id == before).scalar_subquery()
            is_before = (GAMES.c.number < number) | ((GAMES.c.number == number) & (GAMES.c.id < before))
            query = query.where(is_before)
        return self._all(GameRow, query)

    def beginnings(self) -> frozenset[int]:
        """Return when the games began, wall clock, ns since 1970."""
        with self._reading() as connection:
            return frozenset(int(row[0]) for row in connection.execute(select(GAMES.c.began_ns)))

    def game(self, game: str) -> GameRow | None:
        """Return a game; None when there is none of this id."""
        return next(iter(self._all(GameRow, GAME_ROWS.where(GAMES.c.id == game))), None)

    def numbers(self) -> dict[str, int]:
        """Return the place of every game in the order in which they were started, by id."""
        with self._reading() as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(select(GAMES.c.id, GAMES.c.number))}

    def unlisted_games(self) -> list[str]:
        """Return the ids of games that have entries and are not in the list of games."""
        query = select(ENTRIES.c.game).distinct().where(ENTRIES.c.game.not_in(select(GAMES.c.id)))
        with self._reading() as connection:
            return sorted(row[0] for row in connection.execute(query))

    def triggers(self) -> list[str]:
        """Return the names of triggers, which no rig makes: with them a store changes by itself what is written."""
        with self._reading() as connection:
            return sorted(str(name) for (name,) in connection.exec_driver_sql(_TRIGGERS[connection.dialect.name]))

    def latest_game(self, owner: str) -> GameRow | None:
        """Return the game that an owner started last; None when there is none."""
        query = GAME_ROWS.where(GAMES.c.owner == owner).order_by(GAMES.c.number.desc()).limit(1)
        return next(iter(self._all(GameRow, query)), None)

    def entries(
        self, game: str, *, after: int | None = 0, attachments: bool = True, page_entries: int = PAGE_ENTRIES
    ) -> Iterator[EntryRow]:
        """Yield a game's journal in order, read page by page.

        Args:
            after: only entries with higher numbers; None for all, as a check reads them: no rig numbers one below 1.
            attachments: whether to read them.
            page_entries: how many entries are read at once.
        """
        columns = [null() if column.name == "attachment" and not attachments else column for column in ENTRIES.c]
        while True:
            query = select(*columns).where(ENTRIES.c.game == game)
            if after is not None:
                query = query.where(ENTRIES.c.seq > after)
            with self._reading() as connection:
                page = connection.execute(query.order_by(ENTRIES.c.seq).limit(page_entries)).all()
            if not page:
                return
            for row in page:  # one at a time: those before one that can't be read are yielded
                entry = self._row(EntryRow, row)
                yield entry
                after = entry.seq

    def last_entry(self, game: str) -> EntryRow | None:
        """Return the last entry of a game's journal; None when there is none."""
        query = select(ENTRIES).where(ENTRIES.c.game == game).order_by(ENTRIES.c.seq.desc()).limit(1)
        return next(iter(self._all(EntryRow, query)), None)

    def latest(self, game: str, kinds: Collection[str] = (), limit: int = 1) -> list[EntryRow]:
        """Return a game's latest entries, of some kinds if named, the last first, without their attachments."""
        columns = [null() if column.name == "attachment" else column for column in ENTRIES.c]
        query = select(*columns).where(ENTRIES.c.game == game).order_by(ENTRIES.c.seq.desc()).limit(limit)
        # One kind at a time: a database asked for several reads the journal backward until it has found enough.
        queries = [query.where(ENTRIES.c.kind == kind) for kind in kinds] or [query]
        with self._reading() as connection:
            found = [self._row(EntryRow, row) for one in queries for row in connection.execute(one)]
        return sorted(found, key=lambda entry: entry.seq, reverse=True)[:limit]

    def attachment(self, game: str, seq: int) -> bytes | None:
        """Return the attachment of one entry of a game's journal; None when it has none."""
        query = select(ENTRIES.c.attachment).where(ENTRIES.c.game == game, ENTRIES.c.seq == seq)
        with self._reading() as connection:
            found = connection.execute(query).scalar()
        if found is None or isinstance(found, bytes | memoryview):
            return None if found is None else bytes(found)
        raise FormatError(self.where, f"the scenes of entry {seq} of game {game} are {_kind_of(found)}, not bytes")

    def teams(self) -> dict[str, str]:
        """Return the content of every team, JSON, by id."""
        with self._reading() as connection:
            rows = connection.execute(select(TEAMS.c.id, TEAMS.c.content).order_by(TEAMS.c.id)).all()
        return {str(row[0]): str(row[1]) for row in rows}

    def devices(self) -> list[DeviceRow]:
        """Return every paired device, in the order they were paired."""
        return self._all(DeviceRow, select(DEVICES).order_by(DEVICES.c.paired_ns))

    def signed_lists(self) -> list[ListRow]:
        """Return the rows of all rigs' signed lists, those of one rig beside each other."""
        query = select(SIGNED_LIST).order_by(SIGNED_LIST.c.owner, SIGNED_LIST.c.kind, SIGNED_LIST.c.subject)
        return self._all(ListRow, query)

    def _all(self, kind: type[Row], query: Select[Any]) -> list[Row]:
        with self._reading() as connection:
            return [self._row(kind, row) for row in connection.execute(query)]

    def _row(self, kind: type[Row], values: SqlRow[Any]) -> Row:
        """Return a row of a table as a record.

        Raises:
            FormatError: a value is of another type. SQLite keeps any in any column, so that a file that was altered
                by hand, or damaged, may hold numbers where texts are.
        """
        for (name, allowed), value in zip(_FIELDS[kind], values, strict=True):
            if not isinstance(value, allowed):
                row = " of game ".join(str(part) for part in values[: 2 if kind is EntryRow else 1][::-1])
                told = f"{name} of {kind.__name__.removesuffix('Row').lower()} {row} is {_kind_of(value)}"
                raise FormatError(self.where, f"the store was altered or is damaged: {told}")
        made: Callable[..., Row] = kind
        return made(*values)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        if time.monotonic() < self._silent_until_s:
            raise OutputError(f"{self.where}: the store can't be read: it did not answer a moment ago")
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            if self._engine.dialect.name != "sqlite" and not isinstance(error, ProgrammingError):
                self._silent_until_s = time.monotonic() + SILENT_S  # or every reader would wait in turn
            raise OutputError(f"{self.where}: the store can't be read: {cause_of(error)}") from None


def _kind_of(value: object) -> str:
    return {"NoneType": "missing", "int": "a number", "float": "a number", "str": "a text"}.get(
        type(value).__name__, "of bytes"
    )
