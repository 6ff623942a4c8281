"""Thread priorities: where more threads want to run than there are cores, the one with the oldest frame goes first.

On two cores, a frame with all the work done on it would otherwise wait while later ones are decoded. Each thread is
nicer than those that a frame passes after it, and background work is nicer than all of them.
"""

from __future__ import annotations

import os
import sys
import threading
from types import MappingProxyType
from typing import Final, Literal

Work = Literal["detect", "decode", "background"]
"""What a thread does. The threads that track figures and judge plays keep their priority."""

_NICENESS: Final = MappingProxyType({"detect": 4, "decode": 6, "background": 8})
"""Added niceness: against a busy thread, one gets 1 / (1 + 1.25 ** niceness) of a core, so that none is starved."""

_MAX_NICENESS: Final = 19


def lower_priority(work: Work = "background") -> None:
    """Lower the priority of the calling thread, where single threads can have one (on Linux)."""
    if sys.platform == "linux":
        # A thread starts as nice as the one that started it, which may be nice itself; the main thread never is.
        nice = os.getpriority(os.PRIO_PROCESS, os.getpid()) + _NICENESS[work]
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(nice, _MAX_NICENESS))
