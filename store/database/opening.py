"""Opens a store to read it, without a change to any byte of it or of its folder, on a read-only disk as well.

An SQLite store has its newest entries in a second file, the WAL, and SQLite makes and changes files to read it. So:

- while another program has the store open, the files are there, and it is read through them;
- without a WAL the file is read by itself, without locks. Its mark tells whether there should be one;
- a WAL that nobody has open was left by a program that was killed, or came along with a copy. Both files are copied
  to a temporary folder and read there.
"""

from __future__ import annotations

import shutil
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import InputError
from downfield.core.platform.file_locks import FILE_LOCKS
from downfield.store.database.engines import cause_of, create_file_reading_engine, create_reading_engine, parse_address
from downfield.store.database.reader import StoreReader
from downfield.store.database.schema import is_store
from downfield.store.database.sqlite_file import IN_USE, WAL_ENTRIES

_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_PAGE_SIZE_AT: Final = 16
_USER_VERSION_AT: Final = 60  # Of the header of an SQLite file, https://www.sqlite.org/fileformat.html

_WAL_HEADER: Final = struct.Struct(">6I")
_WAL_MAGICS: Final = frozenset({0x377F0682, 0x377F0683})
_WAL_PAGE_SIZE: Final = 2  # The third of a WAL header's numbers, same source

_OPEN_LOCK_BYTE: Final = 128
"""Byte of the file beside the WAL on which every program that has the store open holds a lock: SQLite's os_unix.c, and
os_win.c as well. Where nobody can tell whether it is locked, a copy is read."""

_ATTEMPTS: Final = 3  # Of copying files that a program begins to write meanwhile


@dataclass(frozen=True, slots=True)
class OpenedForReading:
    """A store that was opened for reading."""

    store: StoreReader
    note: str = ""  # what may be missing from it and why; empty when nothing is


@contextmanager
def open_for_reading(named: str) -> Iterator[OpenedForReading]:
    """Open a store for reading.

    Args:
        named: a database file, or a database's address.

    Raises:
        InputError: there is no store, it is damaged, or a newer version made it; one line says which.
        MissingExtraError: its driver is not installed.
    """
    address = parse_address(named) if "://" in named else None
    with ExitStack() as resources:
        if address is not None and address.drivername != "sqlite":
            where = address.render_as_string(hide_password=True)
            yield OpenedForReading(_checked(create_reading_engine(address), where, resources))
        else:
            path = Path(named if address is None else str(address.database))
            _check_file(path, named)
            yield _in_file(path, named, resources)


def _in_file(path: Path, named: str, resources: ExitStack) -> OpenedForReading:
    wal, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
    note, is_unchanging = "", True
    if FILE_LOCKS.is_byte_locked(shared, _OPEN_LOCK_BYTE):
        is_unchanging = False
    elif _size(wal) > 0:
        copy, note = _copied_with_wal(path, wal, named, resources)
        path, is_unchanging = copy, copy == path
    elif _header(path, named)[_USER_VERSION_AT : _USER_VERSION_AT + 4] == IN_USE.to_bytes(4):
        note = _without_wal(named, f"a copy without its WAL, the file {wal.name}")
    engine = create_file_reading_engine(path, is_unchanging=is_unchanging)
    return OpenedForReading(_checked(engine, named, resources), note)


def _check_file(path: Path, named: str) -> None:
    """Raise an InputError where a path can't be that of a store."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        advice = "" if path.suffix == ".zip" else ". A rig makes one with its first game on a table, not of a recording"
        raise InputError(f"{named}: no such file{advice}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{named}: can't be read: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{named}: is a folder. Give the file in it, such as {path / 'downfield.db'}.")
    if not stat.S_ISREG(mode):
        raise InputError(f"{named}: is no regular file, but a device, pipe or socket. Give a store's database file.")
    header = _header(path, named)
    if not header:
        raise InputError(f"{named}: is empty. A store that was never opened, or was cut to nothing, has no games.")
    if not header.startswith(_MAGIC):
        raise InputError(f"{named}: is not a database. Give a store's database file, such as downfield.db.")
    if len(header) < _HEADER_BYTES:
        raise InputError(f"{named}: is cut off: {len(header)} bytes are left of the database.")


def _copied_with_wal(path: Path, wal: Path, named: str, resources: ExitStack) -> tuple[Path, str]:
    """Copy a store with the WAL that a program left; return the copy, and what is wrong with the WAL."""
    if not _belongs(wal, _header(path, named)):
        return path, _without_wal(named, f"{wal.name} beside it is not its WAL")
    folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="downfield-read-")))
    copy = folder / "store.db"
    try:
        for _ in range(_ATTEMPTS):
            before = _state(path), _state(wal)
            shutil.copyfile(path, copy)
            shutil.copyfile(wal, folder / "store.db-wal")
            if before == (_state(path), _state(wal)):
                break
        else:
            raise InputError(f"{named}: is being written. Try again.")
    except OSError as error:
        raise InputError(
            f"{named}: its program was killed, so it is copied to {folder.parent} to be read, which fails:"
            f" {error.strerror}. Name a folder with room by TMPDIR."
        ) from None
    identity = _identity(path, is_unchanging=True)
    if identity and identity != _identity(copy, is_unchanging=False):
        return path, _without_wal(named, f"{wal.name} beside it is that of another database or copy")
    return copy, ""


def _checked(engine: Engine, where: str, resources: ExitStack) -> StoreReader:
    """Return what reads a store. Raises InputError: it can't be read, or is none of this version."""
    resources.callback(engine.dispose)
    try:
        with engine.connect() as connection:
            holds_store = is_store(connection, where)
    except SQLAlchemyError as error:
        raise InputError(f"{where}: the store can't be read: {cause_of(error)}") from None
    if not holds_store:
        raise InputError(f"{where}: is a database, but no store of Downfield's")
    return StoreReader(engine, where)


def _without_wal(named: str, why: str) -> str:
    return (
        f"{named}: {why}: up to {WAL_ENTRIES} entries may be missing. Copy a store in use with the files beside it,"
        " or after its rig was stopped."
    )


def _belongs(wal: Path, header: bytes) -> bool:
    """Return whether a file is a WAL, for pages of a database's size."""
    with wal.open("rb") as file:
        start = file.read(_WAL_HEADER.size)
    if len(start) < _WAL_HEADER.size:
        return False
    numbers = _WAL_HEADER.unpack(start)
    page_size = int.from_bytes(header[_PAGE_SIZE_AT : _PAGE_SIZE_AT + 2])
    return numbers[0] in _WAL_MAGICS and numbers[_WAL_PAGE_SIZE] == (65536 if page_size == 1 else page_size)


def _identity(path: Path, *, is_unchanging: bool) -> int:
    """Return the number that tells a store from others; 0 where it has none yet, or can't be read."""
    engine = create_file_reading_engine(path, is_unchanging=is_unchanging)
    try:
        with engine.connect() as connection:
            return int(connection.exec_driver_sql("PRAGMA application_id").scalar() or 0)
    except SQLAlchemyError:
        return 0
    finally:
        engine.dispose()


def _header(path: Path, named: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEADER_BYTES)
    except OSError as error:
        raise InputError(f"{named}: can't be read: {error.strerror}") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
