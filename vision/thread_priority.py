"""Thread priorities: when more threads are ready than there are cores, the thread with the oldest frame runs first.

On two cores, a frame with all the work done on it would otherwise wait while later ones are decoded. Each thread is
nicer than those that a frame passes after it, and background work is nicer than all of them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

from downfield.core.platform.priorities import lower_thread_priority

Work = Literal["detect", "decode", "background"]
"""The work of a thread. Threads that track figures or judge plays keep their priority."""

_NICENESS: Final = MappingProxyType({"detect": 4, "decode": 6, "background": 8})
"""Added niceness: next to a busy thread, a thread gets 1 / (1 + 1.25 ** niceness) of a core, so none is starved."""


def lower_priority(work: Work = "background") -> None:
    """Lower the priority of the calling thread, where threads have their own (on Linux)."""
    lower_thread_priority(_NICENESS[work])
