"""The operating system this program runs on: which one it is, what only some of them can do, where a user's files go.

The package `platformdirs` knows the two folders of a user, from this process's own system and environment: it would be
one more package of every rig for a few lines, and the folders of the other systems could not be tested on one.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
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

WANTED_FILES: Final = 4096  # enough for every connection the service allows, and for cameras, recordings and the store

_ASSUMED_FILES: Final = 512  # where the system does not tell (Windows)

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of `os.open`: no symbolic link is followed, and programs that are started do not have the file."""


def usable_cores() -> int:
    """Return the number of cores this program may use; where the system does not tell, all of this computer."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def return_free_memory() -> None:
    """Return what this process has freed to the system, in some ms, where it can (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if SYSTEM == "linux" else None
    if trim is not None:
        trim(0)


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


_EXCLUSIVE: Final = ~socket.SO_REUSEADDR
"""`SO_EXCLUSIVEADDRUSE`, which only Python on Windows names; its value is winsock2.h's."""


def reclaim_address(listener: socket.socket) -> None:
    """Let a socket listen where a program that ended did a moment ago, but never where one still does.

    POSIX says that by `SO_REUSEADDR`. On Windows that lets two programs listen at once, and the first option is not
    needed: `SO_EXCLUSIVEADDRUSE` is what keeps the second one out.
    """
    if SYSTEM == "windows":
        listener.setsockopt(socket.SOL_SOCKET, _EXCLUSIVE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def user_data_folder(name: str, system: System = SYSTEM, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for a program's data of this user; it need not exist."""
    home = Path.home()
    if system == "windows":
        local = environment.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / name
    if system == "macos":
        return home / "Library" / "Application Support" / name
    xdg = environment.get("XDG_DATA_HOME")  # the XDG Base Directory Specification
    return (Path(xdg) if xdg else home / ".local" / "share") / name


def user_cache_folder(name: str, system: System = SYSTEM, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for what a program of this user can make again; it need not exist.

    Args:
        name: of the program; an environment variable ``NAME_CACHE`` with its name names another folder.
    """
    chosen = environment.get(f"{name.upper()}_CACHE")
    if chosen:
        return Path(chosen)
    home = Path.home()
    if system == "windows":
        return user_data_folder(name, system, environment) / "cache"
    if system == "macos":
        return home / "Library" / "Caches" / name
    xdg = environment.get("XDG_CACHE_HOME")  # the XDG Base Directory Specification
    return (Path(xdg) if xdg else home / ".cache") / name


def lasting_temporary_folder(name: str, system: System = SYSTEM) -> Path | None:
    """Return a folder of this user's that outlives a restart, likely on another disk; None on Windows."""
    if system == "windows":
        return None
    return Path("/var/tmp") / f"{name}-{os.geteuid()}"  # noqa: S108 - only a folder of this user's own in it is used


_LEAST_INODES: Final = 64  # a disk on which fewer files can be made is full, whatever it has free


def free_bytes(folder: Path) -> int:
    """Return the free space on a folder's disk; 0 without inodes. Raises OSError: there is no such folder."""
    if hasattr(os, "statvfs"):
        found = os.statvfs(folder)
        if found.f_files > 0 and found.f_favail < _LEAST_INODES:  # some file systems count none
            return 0
    return shutil.disk_usage(folder).free
