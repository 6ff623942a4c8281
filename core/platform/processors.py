"""The processors that this program may use."""

from __future__ import annotations

import os
from typing import Final

_ASSUMED: Final = 1


def usable_cores() -> int:
    """Return the number of cores this program may use; where the system does not tell, all of this computer."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or _ASSUMED
