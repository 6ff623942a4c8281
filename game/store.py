"""The store: games and their journals, teams and paired devices, in SQLite or PostgreSQL through SQLAlchemy.

Entries are on disk when `append` returns: SQLite runs in WAL mode with ``synchronous=FULL``, and PostgreSQL commits
synchronously by itself. Callable from any thread.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import Connection, Engine, create_engine, delete, event, insert, make_url, null, select
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from downfield.core.errors import InputError, MissingExtraError, OutputError
from downfield.core.private_files import OWNER_ONLY, make_private_folder
from downfield.game.store_schema import DEVICES, ENTRIES, GAMES, TEAMS, migrate


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """Limits of the store."""

    busy_timeout_s: float = 5.0
    """How long to wait for a transaction of another process on the same file."""

    page_entries: int = 200
    """Entries read from the database at once."""


LIMITS: Final = StoreLimits()


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game in the store's list.

    Attributes:
        id: unique.
        began_ns: wall clock, ns since 1970.
        title: as given; may be empty.
        home, away: the teams' names.
        rulebook: name of the rulebook it was started under.

    """

    id: str
    began_ns: int
    title: str
    home: str
    away: str
    rulebook: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One entry of a game's journal.

    Attributes:
        game: the game's id.
        seq: its number in the game, from 1.
        kind: a kind of `downfield.game.entries`.
        at_ns: wall clock when it was written, ns since 1970.
        key: idempotency key of a submission, None for other entries.
        content: canonical JSON.
        attachment: bytes that belong to it; None where there are none.
        digest: of the hash chain up to and including it.

    """

    game: str
    seq: int
    kind: str
    at_ns: int
    key: str | None
    content: str
    attachment: bytes | None
    digest: str


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A paired device.

    Attributes:
        id: unique.
        name: as people call it.
        role: viewer, operator or admin.
        token_sha256: of its token; the token itself is stored nowhere.
        paired_ns, expires_ns: wall clock, ns since 1970.

    """

    id: str
    name: str
    role: str
    token_sha256: str
    paired_ns: int
    expires_ns: int


class Store:
    """A store, opened and migrated to the newest schema.

    Args:
        url: of a database, such as ``sqlite:////home/me/downfield.db`` or ``postgresql://me@host/downfield``.

    Raises:
        InputError: it can't be opened, or was made by a newer version.
        MissingExtraError: its driver is not installed.

    """

    def __init__(self, url: str) -> None:
        self._engine = _create_engine(url)
        self.where = self._engine.url.render_as_string(hide_password=True)
        try:
            with self._transaction() as connection:
                migrate(connection, self.where)
        except SQLAlchemyError as error:
            self._engine.dispose()
            raise InputError(f"{self.where}: the store can't be opened: {_cause(error)}") from None

    @classmethod
    def at(cls, path: Path) -> Store:
        """Open the store in a file, made with its folder for their owner only where they are missing."""
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise InputError(f"{path.parent}: the folder can't be made: {error.strerror}") from None
        with suppress(OSError):  # opening the database says what is wrong
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
        return cls(f"sqlite:///{path.absolute()}")

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def append(self, entries: Sequence[EntryRow], game: GameRow | None = None) -> None:
        """Append entries, all or none; they are on disk when this returns.

        Args:
            entries: of one game, numbered and sealed.
            game: the game itself, with its first entry.

        Raises:
            OutputError: the disk or server does not accept them, or another process writes the same game.

        """
        try:
            with self._transaction() as connection:
                if game is not None:
                    connection.execute(insert(GAMES), _fields(game))
                connection.execute(insert(ENTRIES), [_fields(entry) for entry in entries])
        except IntegrityError:
            raise OutputError(f"{self.where}: another process writes game {entries[0].game}") from None
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the store can't be written: {_cause(error)}") from None

    def games(self, limit: int = 100, before_ns: int | None = None) -> list[GameRow]:
        """Return games, the latest first; only those started before an instant, where one is given."""
        query = select(GAMES).order_by(GAMES.c.began_ns.desc(), GAMES.c.id.desc()).limit(limit)
        if before_ns is not None:
            query = query.where(GAMES.c.began_ns < before_ns)
        with self._reading() as connection:
            return [GameRow(*row) for row in connection.execute(query)]

    def game(self, game: str) -> GameRow | None:
        """Return one game, None when there is none of that id."""
        with self._reading() as connection:
            row = connection.execute(select(GAMES).where(GAMES.c.id == game)).first()
        return None if row is None else GameRow(*row)

    def entries(self, game: str, *, after: int = 0, attachments: bool = True) -> Iterator[EntryRow]:
        """Yield a game's journal in order, read page by page."""
        columns = [null() if column.name == "attachment" and not attachments else column for column in ENTRIES.c]
        while True:
            query = select(*columns).where(ENTRIES.c.game == game, ENTRIES.c.seq > after)
            with self._reading() as connection:
                rows = connection.execute(query.order_by(ENTRIES.c.seq).limit(LIMITS.page_entries))
                page = [EntryRow(*row) for row in rows]
            if not page:
                return
            yield from page
            after = page[-1].seq

    def last_entry(self, game: str) -> EntryRow | None:
        """Return the last entry of a game's journal; None when there is none."""
        query = select(ENTRIES).where(ENTRIES.c.game == game).order_by(ENTRIES.c.seq.desc()).limit(1)
        with self._reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else EntryRow(*row)

    def attachment(self, game: str, seq: int) -> bytes | None:
        """Return the attachment of one entry of a game's journal; None when it has none."""
        query = select(ENTRIES.c.attachment).where(ENTRIES.c.game == game, ENTRIES.c.seq == seq)
        with self._reading() as connection:
            found = connection.execute(query).scalar()
        return None if found is None else bytes(found)

    def teams(self) -> dict[str, str]:
        """Return the content of every team, JSON, by id."""
        with self._reading() as connection:
            rows = connection.execute(select(TEAMS.c.id, TEAMS.c.content).order_by(TEAMS.c.id)).all()
        return {str(row[0]): str(row[1]) for row in rows}

    def keep_team(self, team: str, content: str, at_ns: int) -> None:
        """Save a team, in place of one of the same id."""
        with self._writing() as connection:
            connection.execute(delete(TEAMS).where(TEAMS.c.id == team))
            connection.execute(insert(TEAMS).values(id=team, content=content, at_ns=at_ns))

    def drop_team(self, team: str) -> bool:
        """Delete a team; return whether there was one."""
        with self._writing() as connection:
            return connection.execute(delete(TEAMS).where(TEAMS.c.id == team)).rowcount > 0

    def devices(self) -> list[DeviceRow]:
        """Return every paired device, in the order they were paired."""
        with self._reading() as connection:
            return [DeviceRow(*row) for row in connection.execute(select(DEVICES).order_by(DEVICES.c.paired_ns))]

    def keep_device(self, device: DeviceRow) -> None:
        """Save a newly paired device."""
        with self._writing() as connection:
            connection.execute(insert(DEVICES), _fields(device))

    def drop_device(self, device: str) -> bool:
        """Delete a device, so that its token is no longer valid; return whether there was one."""
        with self._writing() as connection:
            return connection.execute(delete(DEVICES).where(DEVICES.c.id == device)).rowcount > 0

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the store can't be read: {_cause(error)}") from None

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._transaction() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: the store can't be written: {_cause(error)}") from None

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            writer = connection.execution_options(begin="IMMEDIATE")
            with writer.begin():
                yield writer


def _fields(row: EntryRow | GameRow | DeviceRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def _cause(error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split()) or type(error).__name__


def _create_engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InputError(f"{url!r} is no database URL, such as sqlite:////home/me/downfield.db") from None
    if parsed.drivername in {"postgresql", "postgres"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername == "postgresql+psycopg":
        if importlib.util.find_spec("psycopg") is None:
            raise MissingExtraError("postgres", "a store on a PostgreSQL server")
        return create_engine(parsed, pool_pre_ping=True)
    if parsed.drivername != "sqlite" or parsed.database in {None, "", ":memory:"}:
        shown = parsed.render_as_string(hide_password=True)
        raise InputError(f"{shown}: a store is sqlite:///FILE or postgresql://...")
    engine = create_engine(parsed, connect_args={"timeout": LIMITS.busy_timeout_s})
    event.listen(engine, "connect", _set_durable)
    event.listen(engine, "begin", _begin)
    return engine


def _set_durable(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver's own BEGINs would leave table changes outside of transactions
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    mode = cast("dict[str, Any]", connection.get_execution_options()).get("begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
