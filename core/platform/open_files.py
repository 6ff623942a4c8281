"""The number of files and connections this process may open."""

from __future__ import annotations

from typing import Final

from downfield.core.platform.system import SYSTEM

WANTED_FILES: Final = 4096
"""Enough for every connection the service allows, and for cameras, recordings and the store."""

_ASSUMED: Final = 512
"""Where the system does not tell (Windows)."""


def raise_file_limit() -> int:
    """Raise the limit of open files as far as it is needed and allowed; return the limit in force."""
    if SYSTEM == "windows":
        return _ASSUMED
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
