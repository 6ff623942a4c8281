"""The operating system this program runs on: which one it is, and what only some of them can do."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from typing import Final, Literal

System = Literal["linux", "macos", "windows", "other"]


def system_of(platform: str) -> System:
    """Return the operating system that Python calls `platform` (`sys.platform`)."""
    names: dict[str, System] = {"linux": "linux", "darwin": "macos", "win32": "windows"}
    return names.get(platform, "other")


SYSTEM: Final[System] = system_of(sys.platform)
"""Of this computer. Other BSDs and the like are "other": cameras by number, nothing that only Linux has."""

CAN_PASS_DESCRIPTORS: Final = SYSTEM != "windows"
"""Whether a process that is started can be given open files and sockets."""

WANTED_FILES: Final = 4096
"""Enough for every connection the service allows, and for cameras, recordings and the store."""

_ASSUMED_FILES: Final = 512
"""Where the system does not tell (Windows)."""

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of `os.open`: no symbolic link is followed, and programs that are started do not have the file."""


def usable_cores() -> int:
    """Return the number of cores this program may use; where the system does not tell, all of this computer."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def return_free_memory() -> bool:
    """Return what this process has freed to the system (glibc on Linux); takes some milliseconds.

    Returns:
        Whether this system can.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if SYSTEM == "linux" else None
    if trim is None:
        return False
    trim(0)
    return True


def is_own(found: os.stat_result) -> bool:
    """Return whether something belongs to this user."""
    return SYSTEM == "windows" or found.st_uid == os.geteuid()


def others_may_write(found: os.stat_result) -> bool:
    """Return whether other users may write to something."""
    return SYSTEM != "windows" and bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def raise_file_limit() -> int:
    """Raise the limit of open files as far as it is needed and allowed; return the limit in force."""
    if SYSTEM == "windows":
        return _ASSUMED_FILES
    import resource  # Windows has none

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= WANTED_FILES:
        return WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted
