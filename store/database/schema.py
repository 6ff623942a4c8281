"""The store's tables.

One schema serves SQLite and PostgreSQL. `entries` is the record and is only ever appended to; `games` lists the games
in it, numbered in the order they were started; `teams`, `devices` and the rigs' signed lists are kept beside it.
"""

from __future__ import annotations

import time
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
    Column("owner", Text, nullable=False),
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
    Column("content", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("key", Text),
    Column("attachment", LargeBinary),
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

NEXT_NUMBER: Final = select(func.coalesce(func.max(GAMES.c.number), 0) + 1).scalar_subquery()
"""Of a game that is listed now."""

SCHEMA_VERSION: Final = 5  # Of the tables above; a store with another one is not opened


def create_tables(connection: Connection, where: str) -> None:
    """Make a store's tables where there are none, in a transaction. Raises InputError: another version made it."""
    if is_store(connection, where):
        return
    METADATA.create_all(connection)
    connection.execute(insert(VERSIONS).values(version=SCHEMA_VERSION, at_ns=time.time_ns()))


def is_store(connection: Connection, where: str) -> bool:
    """Return whether a database holds a store. Raises InputError: of another version of the program, or altered."""
    if not inspect(connection).has_table(VERSIONS.name):
        return False
    version = connection.scalar(select(func.max(VERSIONS.c.version)))
    if not isinstance(version, int):  # SQLite keeps anything in a table that somebody made anew
        raise InputError(f"{where}: the store was altered or is damaged: its version is no number.")
    if version != SCHEMA_VERSION:
        made_by = "a newer" if version > SCHEMA_VERSION else "an older"
        raise InputError(
            f"{where}: {made_by} Downfield made this store (version {version}, known: {SCHEMA_VERSION})."
            " Open it with the Downfield that made it."
        )
    return True
