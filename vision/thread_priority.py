"""Thread priorities: when more threads are ready than there are cores, the thread with the oldest frame runs first.

On two cores, a frame with all the work done on it would otherwise wait while later ones are decoded. Each thread is
nicer than those that a frame passes after it, and background work is nicer than all of them.

Niceness only shares out the cores: with four threads of a core's work each, even the least nice waits half of the time,
and while both cores are taken Linux doesn't look for one that runs idle work only. Where the account permits it, live
frames are therefore tracked in real time, before pages, pictures and all other programs. Decoding is not: it takes as
much as it gets, and the pages have to go before it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

from downfield.core.platform.priorities import lower_thread_priority, raise_thread_priority

Work = Literal["detect", "decode", "background"]
"""The work of a thread. Threads that track figures or judge plays keep their priority."""

LiveWork = Literal["detect", "track"]
"""The work of a thread that live frames wait for; ``track`` is also capturing them and judging plays."""

_RANK: Final = MappingProxyType({"detect": 1, "track": 2})

_NICENESS: Final = MappingProxyType({"detect": 4, "decode": 6, "background": 8})
"""Added niceness: next to a busy thread, a thread gets 1 / (1 + 1.25 ** niceness) of a core, so none is starved."""


def lower_priority(work: Work = "background") -> None:
    """Lower the priority of the calling thread, where threads have their own (on Linux)."""
    lower_thread_priority(_NICENESS[work])


def raise_priority(work: LiveWork) -> bool:
    """Run the calling thread in real time; return whether it does. Work that may take long must not."""
    return raise_thread_priority(_RANK[work])
