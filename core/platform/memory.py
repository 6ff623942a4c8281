"""Memory that a program freed, and glibc keeps for it, returned to the system."""

from __future__ import annotations

import ctypes

from downfield.core.platform.system import SYSTEM


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
