"""The store: games and their journals, teams and paired devices, in SQLite or PostgreSQL through SQLAlchemy.

What `append` has returned from is on disk: SQLite runs in WAL mode with ``synchronous=FULL``, PostgreSQL commits
synchronously by itself. Callable from any thread.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Engine, create_engine, delete, event, insert, make_url, null, select
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from downfield.core.errors import InputError, MissingExtraError, OutputError
from downfield.game.hash_chain import Entry, Verification, verify
from downfield.game.store_schema import DEVICES, ENTRIES, GAMES, TEAMS, migrate

BUSY_S = 5.0
"""How long a transaction of another process on the same file is waited for."""


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game as the store lists it.

    Attributes:
        id: unique.
        began_ns: wall clock, ns since 1970.
        title: as given; may be empty.
        home, away: the teams' names.
        rulebook: name of the one it began under.

    """

    id: str
    began_ns: int
    title: str
    home: str
    away: str
    rulebook: str


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A paired device.

    Attributes:
        id: unique.
        name: as people call it.
        role: viewer, operator or admin.
        token_sha256: of its token; the token itself is nowhere.
        paired_ns, expires_ns: wall clock.

    """

    id: str
    name: str
    role: str
    token_sha256: str
    paired_ns: int
    expires_ns: int


class Store:
    """A store, opened and brought to the newest version.

    Args:
        url: of a database, such as ``sqlite:////home/me/downfield.db`` or ``postgresql://me@host/downfield``.

    Raises:
        InputError: it can't be opened, or was made by a newer version.
        MissingExtraError: its driver is not installed.

    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self.where = self._engine.url.render_as_string(hide_password=True)
        try:
            with self._writing() as connection:
                migrate(connection, self.where)
        except SQLAlchemyError as error:
            self._engine.dispose()
            raise InputError(f"{self.where}: the store can't be opened: {_cause(error)}") from None

    @classmethod
    def at(cls, path: Path) -> Store:
        """The store in a file, made if need be with its folder."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path.parent}: can't be made: {error.strerror}") from None
        return cls(f"sqlite:///{path.absolute()}")

    def close(self) -> None:
        """Let its connections go."""
        self._engine.dispose()

    def append(self, entries: Sequence[Entry], game: GameRow | None = None) -> None:
        """Append entries, all or none; they are on disk when this returns.

        Args:
            entries: of one game, numbered and sealed.
            game: the game itself, with its first entry.

        Raises:
            OutputError: the disk or server does not take them, or another process writes the same game.

        """
        try:
            with self._writing() as connection:
                if game is not None:
                    connection.execute(insert(GAMES), _fields(game))
                connection.execute(insert(ENTRIES), [_fields(entry) for entry in entries])
        except IntegrityError:
            raise OutputError(f"{self.where}: another process writes game {entries[0].game}") from None
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: not written: {_cause(error)}") from None

    def games(self, limit: int = 100, before_ns: int | None = None) -> list[GameRow]:
        """Games, the latest first."""
        wanted = select(GAMES).order_by(GAMES.c.began_ns.desc(), GAMES.c.id.desc()).limit(limit)
        if before_ns is not None:
            wanted = wanted.where(GAMES.c.began_ns < before_ns)
        with self._reading() as connection:
            return [GameRow(*row) for row in connection.execute(wanted)]

    def game(self, game: str) -> GameRow | None:
        """One game, None when there is none of that id."""
        with self._reading() as connection:
            row = connection.execute(select(GAMES).where(GAMES.c.id == game)).first()
        return None if row is None else GameRow(*row)

    def entries(self, game: str, *, after: int = 0, attachments: bool = True) -> Iterator[Entry]:
        """A game's journal in order, read in pages as it is iterated over."""
        columns = [null() if column.name == "attachment" and not attachments else column for column in ENTRIES.c]
        while True:
            wanted = select(*columns).where(ENTRIES.c.game == game, ENTRIES.c.seq > after)
            with self._reading() as connection:
                page = [Entry(*row) for row in connection.execute(wanted.order_by(ENTRIES.c.seq).limit(200))]
            if not page:
                return
            yield from page
            after = page[-1].seq

    def attachment(self, game: str, seq: int) -> bytes | None:
        """What belongs to one entry of a game's journal; None when nothing does."""
        wanted = select(ENTRIES.c.attachment).where(ENTRIES.c.game == game, ENTRIES.c.seq == seq)
        with self._reading() as connection:
            found = connection.execute(wanted).scalar()
        return None if found is None else bytes(found)

    def verify(self, game: str, head: str | None = None) -> Verification:
        """Whether a game's journal is as it was written."""
        return verify(game, self.entries(game), head)

    def teams(self) -> dict[str, str]:
        """The content of every team, JSON, by id."""
        with self._reading() as connection:
            rows = connection.execute(select(TEAMS.c.id, TEAMS.c.content).order_by(TEAMS.c.id)).all()
        return {str(row[0]): str(row[1]) for row in rows}

    def keep_team(self, team: str, content: str, at_ns: int) -> None:
        """Keep a team, in place of one of the same id."""
        with self._changing() as connection:
            connection.execute(delete(TEAMS).where(TEAMS.c.id == team))
            connection.execute(insert(TEAMS).values(id=team, content=content, at_ns=at_ns))

    def drop_team(self, team: str) -> bool:
        """Remove a team; whether there was one."""
        with self._changing() as connection:
            return connection.execute(delete(TEAMS).where(TEAMS.c.id == team)).rowcount > 0

    def devices(self) -> list[DeviceRow]:
        """Every paired device, in the order they were paired."""
        with self._reading() as connection:
            return [DeviceRow(*row) for row in connection.execute(select(DEVICES).order_by(DEVICES.c.paired_ns))]

    def keep_device(self, device: DeviceRow) -> None:
        """Keep a newly paired device."""
        with self._changing() as connection:
            connection.execute(insert(DEVICES), _fields(device))

    def drop_device(self, device: str) -> bool:
        """Forget a device, so that its token counts no more; whether there was one."""
        with self._changing() as connection:
            return connection.execute(delete(DEVICES).where(DEVICES.c.id == device)).rowcount > 0

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: can't be read: {_cause(error)}") from None

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        try:
            with self._writing() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise OutputError(f"{self.where}: not written: {_cause(error)}") from None

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            writer = connection.execution_options(begin="IMMEDIATE")
            with writer.begin():
                yield writer


def _fields(row: Entry | GameRow | DeviceRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def _cause(error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split()) or type(error).__name__


def _engine(url: str) -> Engine:
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
    engine = create_engine(parsed, connect_args={"timeout": BUSY_S})
    event.listen(engine, "connect", _durable)
    event.listen(engine, "begin", _begin)
    return engine


def _durable(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver's own BEGINs would leave table changes outside of transactions
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    how = cast("dict[str, Any]", connection.get_execution_options()).get("begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {how}")
