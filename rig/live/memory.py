"""Memory that is given back is asked for again: every picture takes six megabytes, sixty times a second."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt, malloc.h
_KEPT_BYTES: Final = 512 << 20  # free at the end of the heap before any goes back: more than is ever in use at once
_OWN_MAPPING_BYTES: Final = 32 << 20  # the most that glibc allows


def keep_memory() -> bool:
    """Have this process keep the memory it frees, for the next picture, instead of giving it back to the system.

    Memory that comes from the system is cleared first, page by page: a tenth of all that frames take. It is glibc's
    matter (Linux); elsewhere nothing is changed.

    Returns:
        Whether it is done.

    """
    if sys.platform != "linux":
        return False
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is None:
        return False
    return all([tune(_TRIM_THRESHOLD, _KEPT_BYTES), tune(_MMAP_THRESHOLD, _OWN_MAPPING_BYTES)])
