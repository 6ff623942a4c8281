"""The store's tables, and the ordered steps that migrate an older store to them.

One schema serves SQLite and PostgreSQL. `entries` is the record and is only ever appended to; `games` lists the games
in it, numbered in the order they were started; `teams`, `devices` and the rigs' signed lists are kept beside it. A
released step is never changed: a change is a new step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    insert,
    inspect,
    select,
)

from downfield.core.errors import InputError

METADATA: Final = MetaData()

VERSIONS = Table(
    "schema_versions",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("at_ns", BigInteger, nullable=False),
)

GAMES = Table(
    "games",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("began_ns", BigInteger, nullable=False),
    Column("title", Text, nullable=False),
    Column("home", Text, nullable=False),
    Column("away", Text, nullable=False),
    Column("rulebook", Text, nullable=False),
    Column("owner", Text),
    Column("table_name", Text, nullable=False),
    Column("number", BigInteger, nullable=False),
)

ENTRIES = Table(
    "entries",
    METADATA,
    Column("game", Text, ForeignKey("games.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("at_ns", BigInteger, nullable=False),
    Column("key", Text),
    Column("content", Text, nullable=False),
    Column("attachment", LargeBinary),
    Column("digest", Text, nullable=False),
    UniqueConstraint("game", "key", name="entries_key"),
    Index("entries_by_kind", "game", "kind", "seq"),
)

TEAMS = Table(
    "teams",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("at_ns", BigInteger, nullable=False),
)

DEVICES = Table(
    "devices",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("token_sha256", Text, nullable=False, unique=True),
    Column("paired_ns", BigInteger, nullable=False),
    Column("expires_ns", BigInteger, nullable=False),
)

SIGNED_LIST = Table(
    "signed_list",
    METADATA,
    Column("owner", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

_FIRST: Final = (
    """CREATE TABLE games (
        id TEXT PRIMARY KEY, began_ns BIGINT NOT NULL, title TEXT NOT NULL, home TEXT NOT NULL, away TEXT NOT NULL,
        rulebook TEXT NOT NULL)""",
    """CREATE TABLE entries (
        game TEXT NOT NULL REFERENCES games (id), seq INTEGER NOT NULL, kind TEXT NOT NULL, at_ns BIGINT NOT NULL,
        key TEXT, content TEXT NOT NULL, attachment {blob}, digest TEXT NOT NULL,
        PRIMARY KEY (game, seq), CONSTRAINT entries_key UNIQUE (game, key))""",
    """CREATE TABLE teams (id TEXT PRIMARY KEY, content TEXT NOT NULL, at_ns BIGINT NOT NULL)""",
    """CREATE TABLE devices (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, token_sha256 TEXT NOT NULL UNIQUE,
        paired_ns BIGINT NOT NULL, expires_ns BIGINT NOT NULL)""",
)

_AMERICAN_SPELLING: Final = ("""UPDATE teams SET content = replace(content, '"colour":', '"color":')""",)

_BY_KIND: Final = ("""CREATE INDEX entries_by_kind ON entries (game, kind, seq)""",)

_OWNERS: Final = (
    "ALTER TABLE games ADD COLUMN owner TEXT",
    "ALTER TABLE games ADD COLUMN table_name TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE games ADD COLUMN number BIGINT NOT NULL DEFAULT 0",
    """UPDATE games SET number = (SELECT count(*) FROM games AS earlier WHERE earlier.began_ns < games.began_ns
        OR (earlier.began_ns = games.began_ns AND earlier.id <= games.id))""",
)
"""The owner of a game of an earlier version is not known: null."""

_SIGNED_LISTS: Final = (
    """CREATE TABLE signed_list (
        owner TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (owner, kind, subject))""",
)

STEPS: Final[tuple[Sequence[str], ...]] = (_FIRST, _AMERICAN_SPELLING, _BY_KIND, _OWNERS, _SIGNED_LISTS)
"""Step n migrates a store of version n to version n + 1; ``{blob}`` is the server's type for bytes."""


def migrate(connection: Connection, where: str, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Migrate a store to the newest version, within the connection's transaction.

    Args:
        connection: with a transaction that may write.
        where: the store, for the error.
        steps: of SQL statements.

    Raises:
        InputError: the store is of a newer version than this program knows.

    """
    version = schema_version(connection, where, len(steps))
    if version is None:
        VERSIONS.create(connection)
        version = 0
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    for number, step in enumerate(steps[version:], start=version + 1):
        for statement in step:
            connection.exec_driver_sql(statement.format(blob=blob))
        connection.execute(insert(VERSIONS).values(version=number, at_ns=time.time_ns()))


def schema_version(connection: Connection, where: str, newest: int = len(STEPS)) -> int | None:
    """Return the version of a store's schema; None where there is no store in a database.

    Args:
        connection: to the database; nothing is written.
        where: the store, for the error.
        newest: the newest version that is known.

    Raises:
        InputError: the store is of a newer version.

    """
    if not inspect(connection).has_table(VERSIONS.name):
        return None
    version = connection.scalar(select(func.max(VERSIONS.c.version))) or 0
    if not isinstance(version, int):  # SQLite keeps anything in a table that somebody made anew
        raise InputError(f"{where}: the store was altered or is damaged: its version is no number.")
    if version > newest:
        raise InputError(
            f"{where}: a newer Downfield made this store (version {version}, known: {newest}). Update Downfield."
        )
    return version
