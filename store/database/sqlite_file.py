"""The file of a store that is in use: deleted under the program it is written again, replaced it is told.

An SQLite connection goes on with a file that has no name any more, and says nothing; when the program ends, all of it
is gone. So before each write the file is looked at by its name. While a connection has it open, nothing is lost yet.

A store in use is two files, and the newest entries are in the second, the WAL. Who copies the first one alone gets a
store that looks whole. So the first one carries a mark while it is in use, and the WAL is written into it often.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import OutputError
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder
from downfield.store.database.engines import transaction

WAL_ENTRIES: Final = 200
"""After this many entries the WAL is written into the database, so that a copy without it misses no more."""

CLOSED: Final = 0
IN_USE: Final = 1
"""SQLite's ``user_version`` of a store that was closed, and of one in use, also by a program that was killed."""


class StoreFile:
    """An SQLite file in WAL mode, known by more than its name; for one thread. Raises sqlite3.Error, OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def check(self) -> bool:
        """Write the file again if it was deleted; return whether. Raises OutputError: another is there, or it fails."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            self._write_again()
            return True
        except OSError as error:
            raise OutputError(f"{self._path}: the store can't be reached: {error.strerror}") from None
        if (now.st_dev, now.st_ino) != self._identity:
            raise OutputError(f"{self._path}: another file was put in the place of the store that is played into")
        return False

    def _open(self) -> None:
        state = self._path.stat()
        self._identity = (state.st_dev, state.st_ino)
        uri = f"{self._path.absolute().as_uri()}?mode=rw"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        # The first read opens the WAL, which is known by its name only until then.
        self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def _write_again(self) -> None:
        """Write all that the deleted file holds to a new one, which has the name once it is whole and on disk."""
        beside = self._path.with_name(f".{self._path.name}.again")
        try:
            make_private_folder(self._path.parent)
            beside.unlink(missing_ok=True)
            os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
            self._connection.execute("VACUUM INTO ?", (str(beside),))
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            for ending in ("-wal", "-shm"):  # of the deleted file, where it alone was deleted
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
            beside.rename(self._path)
            deleted = self._connection
            self._open()
        except (sqlite3.Error, OSError) as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise OutputError(f"{self._path}: the store was deleted, and can't be written again: {error}") from None
        deleted.close()


class WalMark:
    """Marks an SQLite file as in use, and has its WAL written into it now and then."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._is_set = False
        self._entries = WAL_ENTRIES  # the mark itself must be in the file at once

    def set(self, connection: Connection) -> None:
        """Mark the file in a transaction; another process may have cleared the mark since."""
        if connection.exec_driver_sql("PRAGMA user_version").scalar() != IN_USE:
            connection.exec_driver_sql(f"PRAGMA user_version={IN_USE}")
            with self._lock:
                self._entries = WAL_ENTRIES
        if not connection.exec_driver_sql("PRAGMA application_id").scalar():
            # Any number but 0: it tells the store's WAL from that of another one.
            connection.exec_driver_sql(f"PRAGMA application_id={secrets.randbelow(2**31 - 1) + 1}")
        self._is_set = True

    def add(self, entries: int) -> None:
        """Count entries that were written, and have the WAL written into the file when there are many."""
        with self._lock:
            self._entries += entries
            if self._entries < WAL_ENTRIES:
                return
        with suppress(SQLAlchemyError), self._engine.connect() as connection:
            outside_transaction = connection.connection.cursor()
            with suppress(sqlite3.Error):
                _, pages, done = outside_transaction.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if pages == done:  # else somebody reads an older state; the next entry tries again
                    with self._lock:
                        self._entries = 0

    def clear(self) -> None:
        """Remove the mark, if this program set it; where that fails, a copy of the file is said to miss entries."""
        if self._is_set:
            with suppress(SQLAlchemyError), transaction(self._engine) as connection:
                connection.exec_driver_sql(f"PRAGMA user_version={CLOSED}")
