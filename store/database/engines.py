"""Databases that stores are in: SQLite files and PostgreSQL servers, opened to be written or only to be read."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event, exc, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError, SQLAlchemyError

from downfield.core.errors import InputError, MissingExtraError

_BUSY_TIMEOUT_S: Final = 5.0  # How long to wait for a transaction of another process on the same file
_CONNECT_TIMEOUT_S: Final = 4  # How long a server may take to accept a connection


def parse_address(url: str) -> URL:
    """Return a database's address with the driver that is used for it.

    Raises:
        InputError: it is no address of an SQLite file or a PostgreSQL database.
        MissingExtraError: its driver is not installed.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InputError(f"{url!r} is no database URL, such as sqlite:////home/me/downfield.db") from None
    if parsed.drivername in {"postgresql", "postgres"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername == "postgresql+psycopg":
        if importlib.util.find_spec("psycopg") is None:
            raise MissingExtraError("postgres", "a store on a PostgreSQL server")
        return parsed
    if parsed.drivername != "sqlite" or parsed.database in {None, "", ":memory:"}:
        shown = parsed.render_as_string(hide_password=True)
        raise InputError(f"{shown}: a store is sqlite:///FILE or postgresql://...")
    return parsed


def create_writing_engine(url: URL, *, creates: bool = True) -> Engine:
    """Return an engine whose transactions are on disk when they are committed.

    Args:
        creates: whether connecting creates an SQLite file that is not there; otherwise it is an error.
    """
    if url.drivername != "sqlite":
        return _create_server_engine(url, {})
    engine = _create_file_engine(url, Path(str(url.database)), f"mode={'rwc' if creates else 'rw'}")
    event.listen(engine, "connect", _set_durable)
    event.listen(engine, "begin", _begin)
    return engine


def create_reading_engine(url: URL) -> Engine:
    """Return an engine for a database on a server that can't write to it."""
    return _create_server_engine(url, {"options": "-c default_transaction_read_only=on"})


def create_file_reading_engine(path: Path, *, is_unchanging: bool) -> Engine:
    """Return an engine for an SQLite file that can't write to it, nor to its folder.

    Args:
        is_unchanging: whether nobody writes it, so that it is read without locks and without the files beside it.
    """
    engine = _create_file_engine("sqlite://", path, f"mode=ro{'&immutable=1' if is_unchanging else ''}")
    event.listen(engine, "connect", lambda connection, _record: connection.execute("PRAGMA query_only=ON"))
    return engine


def _create_file_engine(url: URL | str, path: Path, options: str) -> Engine:
    uri = f"{path.absolute().as_uri()}?{options}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)

    engine = create_engine(url, creator=connect)
    event.listen(engine, "handle_error", _as_damage, retval=True)
    return engine


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Yield a connection in a transaction that may write; an SQLite file is locked for it from the beginning."""
    with engine.connect() as connection:
        writer = connection.execution_options(begin="IMMEDIATE")
        with writer.begin():
            yield writer


def cause_of(error: SQLAlchemyError) -> str:
    """Return what the driver reported, on one line."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split()) or type(error).__name__


def is_unavailable(error: SQLAlchemyError) -> bool:
    """Return whether a database may be there later: a server that can't be reached, a full or failing disk."""
    if not isinstance(error, OperationalError):
        return isinstance(error, exc.TimeoutError)  # no connection of the pool got free
    if isinstance(error.orig, sqlite3.Error):
        return error.orig.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
    return True


def _create_server_engine(url: URL, options: dict[str, Any]) -> Engine:
    from downfield.store.database.server_connection import BoundedConnection  # the driver is an extra

    address, timeout_s = url.set(drivername="postgresql"), _CONNECT_TIMEOUT_S
    connect = partial(
        BoundedConnection.connect, address.render_as_string(hide_password=False), connect_timeout=timeout_s, **options
    )
    return create_engine(url, creator=connect, pool_pre_ping=True, pool_timeout=timeout_s)


def _as_damage(context: ExceptionContext) -> BaseException | None:
    """Return an error of the database in place of the one that Python's driver fails with at a text of SQLite's.

    SQLite names the table or index that is damaged, whose name may be no UTF-8 then.
    """
    if isinstance(context.original_exception, UnicodeDecodeError):
        return DatabaseError(context.statement, None, sqlite3.DatabaseError("the names in its schema are damaged"))
    return None


def _set_durable(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver's own BEGINs would leave table changes outside of transactions
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    mode = cast("dict[str, Any]", connection.get_execution_options()).get("begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
