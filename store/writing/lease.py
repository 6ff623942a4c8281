"""Leases: of all programs that would go on with the same games at once, one may.

The lease of a folder or file is a lock of the operating system on a file beside it, and that of a rig on a server is an
advisory lock of the server. Both end with the program, however it ends, and no clock is compared.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import InputError, OutputError
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder
from downfield.core.platform.file_locks import FILE_LOCKS
from downfield.store.database.engines import cause_of

_HOLDER_BYTES: Final = 500

_SILENT_PEER: Final = ("SET tcp_keepalives_idle = 5", "SET tcp_keepalives_interval = 2", "SET tcp_keepalives_count = 3")
"""A computer that lost its power gives its lease back after 11 s; by default a server notices after two hours."""


@dataclass(frozen=True, slots=True)
class LeasedThing:
    """What is leased, for people."""

    name: str  # begins a sentence: "The data folder /srv/rig"
    remedy: str  # what to do instead, where another program is to have it

    def refusal(self, holder: str) -> str:
        """Return why it can't be had."""
        return f"{self.name} is in use by {holder or 'another program'}. Stop that one, or {self.remedy}"


class FileLease:
    """A lock on a file, held from when it is made until it is closed.

    Args:
        path: the file; it is made where it is missing, and stays.
        table: name of the table, told to whoever is refused.

    Raises:
        InputError: another program holds it, or the file can't be made.
    """

    def __init__(self, path: Path, thing: LeasedThing, table: str = "") -> None:
        self._path, self._thing, self._table = path, thing, table
        self._descriptor = self._locked()

    def renew(self) -> None:
        """Take it again where it was deleted. Raises OutputError: another program has it now.

        The operating system keeps it for as long as this program runs.
        """
        try:
            has_it = os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except FileNotFoundError:
            has_it = False
        except OSError:
            return  # nobody can open what can't be reached
        if not has_it:
            try:
                taken = self._locked()
            except InputError as error:
                raise OutputError(str(error)) from None
            os.close(self._descriptor)
            self._descriptor = taken

    def close(self) -> None:
        """Let another have it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _locked(self) -> int:
        """Return the file's descriptor, with the lock. Raises InputError: as the class."""
        try:
            make_private_folder(self._path.parent)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
        except OSError as error:
            raise InputError(f"{self._path}: can't be made: {error.strerror}") from None
        if not FILE_LOCKS.lock(descriptor):
            os.lseek(descriptor, 0, os.SEEK_SET)
            holder = os.read(descriptor, _HOLDER_BYTES).decode(errors="replace").strip()
            os.close(descriptor)
            raise InputError(self._thing.refusal(holder))
        with suppress(OSError):  # a full disk: the lock holds without a name as well
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"{_this_program(self._table)}\n".encode()[:_HOLDER_BYTES])
        return descriptor


class ServerLease:
    """An advisory lock of a PostgreSQL server, held by a connection of its own once it is acquired.

    Args:
        rig: id of the rig whose games are leased.
        table: name of the table, told to whoever is refused.
    """

    def __init__(self, engine: Engine, rig: str, thing: LeasedThing, table: str = "") -> None:
        self._engine, self._thing, self._table = engine, thing, table
        self._number = int.from_bytes(hashlib.sha256(f"downfield {rig}".encode()).digest()[:8], signed=True)
        self._lock = threading.RLock()
        self._connection: Connection | None = None

    def acquire(self) -> None:
        """Take it. Raises InputError: another program holds it; OutputError: the server can't be reached."""
        with self._lock:
            try:
                connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            except SQLAlchemyError as error:
                raise OutputError(f"{self._thing.name} can't be leased: {cause_of(error)}") from None
            try:
                for setting in _SILENT_PEER:
                    connection.exec_driver_sql(setting)
                named = {"name": _this_program(self._table)[:60]}  # longer ones are cut by the server
                connection.execute(text("SELECT set_config('application_name', :name, false)"), named)
                if connection.scalar(text("SELECT pg_try_advisory_lock(:number)"), {"number": self._number}):
                    self._connection = connection
                    return
                holder = self._holder(connection)
            except SQLAlchemyError as error:
                connection.close()
                raise OutputError(f"{self._thing.name} can't be leased: {cause_of(error)}") from None
        connection.close()
        raise InputError(self._thing.refusal(holder))

    def renew(self) -> None:
        """Acquire it again if the server was away. Raises OutputError: another has it now, or nobody can tell."""
        with self._lock:
            if self._connection is not None:
                try:
                    self._connection.execute(text("SELECT 1"))
                except SQLAlchemyError:
                    self._drop()
            if self._connection is None:
                try:
                    self.acquire()
                except InputError as error:
                    raise OutputError(str(error)) from None

    def close(self) -> None:
        """Let another have it."""
        with self._lock:
            self._drop()

    def _holder(self, connection: Connection) -> str:
        query = """SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)
            WHERE locktype = 'advisory' AND granted AND classid = :high AND objid = :low"""
        unsigned = self._number % 2**64
        return str(connection.scalar(text(query), {"high": unsigned >> 32, "low": unsigned % 2**32}) or "")

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.invalidate()  # ends the session on the server, and the lock with it
                self._connection.close()
            self._connection = None


def _this_program(table: str) -> str:
    named = f"table '{table}', " if table else ""
    return f"{named}process {os.getpid()} on {socket.gethostname()}"
