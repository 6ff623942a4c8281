"""Files and folders that are for their owner only, and files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600  # mode of a private file

OWNER_ONLY_FOLDER: Final = 0o700  # mode of a private folder


def private_opener(path: str, flags: int) -> int:
    """Open a file for the built-in `open`; one that is created is for its owner only."""
    return os.open(path, flags, OWNER_ONLY)


def make_private_folder(folder: Path) -> None:
    """Make a folder, with those above it, for its owner only, if there is none. Raises OSError: it can't be made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=OWNER_ONLY_FOLDER)
    if not folder.is_dir():
        raise NotADirectoryError(20, os.strerror(20), str(folder))


def create_private_file(path: Path, content: bytes) -> bool:
    """Create a file with its content, on disk when this returns; return whether it did: one that exists stays as it is.

    Its folder is made, for its owner only, if there is none. The content is written beside the file and linked into
    place, so no reader sees half of it, and of two processes that create it at once one wins.

    Raises:
        OSError: it can't be written.
    """
    beside = _written_beside(path, content)
    try:
        os.link(beside, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links; the exclusive open below still lets one process win
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        except FileExistsError:
            return False
        _write(descriptor, content)
    finally:
        beside.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return True


def replace_private_file(path: Path, content: bytes) -> None:
    """Replace a file at once, else as `create_private_file`. Raises OSError: it can't be written, and is as it was."""
    beside = _written_beside(path, content)
    try:
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _written_beside(path: Path, content: bytes) -> Path:
    make_private_folder(path.parent)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        _write(descriptor, content)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _write(descriptor: int, content: bytes) -> None:
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Flush a folder's list of names; some file systems can't, and keep the name anyway."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
