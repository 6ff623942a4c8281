"""Threads that work beside the frames give way to those that frames go through."""

from __future__ import annotations

import os
import sys
import threading
from typing import Final

_STEPS: Final = 5
"""Of niceness: beside a busy thread such a one has a quarter of a core, and so it is never starved."""

_NICEST: Final = 19


def give_way() -> None:
    """Let the calling thread yield to the others of this process from now on, where threads can (on Linux)."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(os.getpriority(os.PRIO_PROCESS, thread) + _STEPS, _NICEST))
