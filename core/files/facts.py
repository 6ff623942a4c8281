"""What is known of a file without reading what it says: its digest, its age among others, whether it only grew."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CHUNK_BYTES: Final = 1 << 20

_STEP_NS: Final = 1_000_000  # between two files that the clock does not order


def date_last(path: Path, others: Iterable[Path]) -> None:
    """Date a file that was just written after others, if its date says that it is older than any.

    Args:
        others: written before; it may be among them, and some may be gone.

    Raises:
        OSError: it is gone, or can't be dated.
    """
    latest_ns = max((_dated_ns(other) for other in others if other != path), default=0)
    if path.stat().st_mtime_ns <= latest_ns:
        os.utime(path, ns=(latest_ns + _STEP_NS, latest_ns + _STEP_NS))


def by_date(files: Iterable[Path]) -> list[Path]:
    """Return files, the one written last at the end."""
    return sorted(files, key=_dated_ns)


def _dated_ns(path: Path) -> int:
    state = file_state(path)
    return 0 if state is None else state.st_mtime_ns


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal. Raises OSError: it can't be read."""
    digest = hashlib.sha256()
    # A pipe would be waited for without end, and a device read without end; both may be put in a file's place.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def file_state(path: Path) -> os.stat_result | None:
    """Return the state of a file; None where there is none."""
    try:
        return path.stat()
    except OSError:
        return None


def is_same_file(was: os.stat_result, now: os.stat_result) -> bool:
    """Return whether a file is the one it was, and is as it was or has only grown."""
    if (was.st_dev, was.st_ino) != (now.st_dev, now.st_ino):
        return False
    return now.st_size > was.st_size or (now.st_size, now.st_mtime_ns) == (was.st_size, was.st_mtime_ns)
