"""Locks on files, which the operating system takes back when their program ends, however it ends.

POSIX has `fcntl`, where a lock is advice to other programs; Windows has `msvcrt`, where locked bytes can't be read by
others. So on Windows a byte far behind the end stands for the file.

The package `filelock` would replace `lock` alone, three lines for each system. It does not tell whether another program
has a lock on a byte, by which a store in use is known without being opened, and it opens the file itself, where the
leases write into the file that they have locked.
"""

from __future__ import annotations

import os
import struct
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

from downfield.core.platform.system import SYSTEM

_FAR_BYTE: Final = 1 << 30
"""Behind the end of any file that is locked whole: the first 2 GB are what `msvcrt.locking` reaches."""


class FileLocks(Protocol):
    """One operating system's locks."""

    def lock(self, descriptor: int) -> bool:
        """Lock a whole open file until it is closed, unless another program has; return whether it is locked now."""

    def is_byte_locked(self, path: Path, offset: int) -> bool:
        """Return whether another program has a lock on a byte of a file; False where the system has no answer."""


class PosixLocks:
    """Locks of Linux and macOS, through the module `fcntl`."""

    def __init__(self, fcntl: Any) -> None:
        self._fcntl = fcntl

    def lock(self, descriptor: int) -> bool:
        """See `FileLocks.lock`."""
        try:
            self._fcntl.flock(descriptor, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def is_byte_locked(self, path: Path, offset: int) -> bool:
        """See `FileLocks.is_byte_locked`; only Linux can tell without a lock of its own."""
        command = getattr(self._fcntl, "F_OFD_GETLK", None)
        if command is None:
            return False
        request = struct.pack("hhqqi", self._fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)
        try:
            with path.open("rb") as file:
                answer = self._fcntl.fcntl(file, command, request)
        except OSError:
            return False
        return bool(struct.unpack_from("h", answer)[0] != self._fcntl.F_UNLCK)


class WindowsLocks:
    """Locks of Windows, through the module `msvcrt`."""

    def __init__(self, msvcrt: Any) -> None:
        self._msvcrt = msvcrt

    def lock(self, descriptor: int) -> bool:
        """See `FileLocks.lock`."""
        return self._lock_byte(descriptor, _FAR_BYTE)

    def is_byte_locked(self, path: Path, offset: int) -> bool:
        """See `FileLocks.is_byte_locked`; it is tried by a lock that is given back at once."""
        try:
            with path.open("rb") as file:
                if not self._lock_byte(file.fileno(), offset):
                    return True
                os.lseek(file.fileno(), offset, os.SEEK_SET)
                self._msvcrt.locking(file.fileno(), self._msvcrt.LK_UNLCK, 1)
        except OSError:
            pass
        return False

    def _lock_byte(self, descriptor: int, offset: int) -> bool:
        os.lseek(descriptor, offset, os.SEEK_SET)
        try:
            self._msvcrt.locking(descriptor, self._msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True


FILE_LOCKS: Final[FileLocks] = (
    WindowsLocks(import_module("msvcrt")) if SYSTEM == "windows" else PosixLocks(import_module("fcntl"))
)
"""Those of this computer."""
