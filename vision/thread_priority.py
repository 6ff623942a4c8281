"""Which thread goes first where more want to run than there are cores: the one with the oldest frame.

On two cores a frame would else wait, with all that was done for it, while later ones are unpacked: each thread gives
way to those that frames come through after it, and whatever works beside the frames to all of them.
"""

from __future__ import annotations

import os
import sys
import threading
from types import MappingProxyType
from typing import Final, Literal

Work = Literal["detect", "decode", "background"]
"""What a thread does: looks at frames, unpacks them, or works beside them. Who sees and judges gives way to nobody."""

_STEPS: Final = MappingProxyType({"detect": 4, "decode": 6, "background": 8})
"""Of niceness: against a busy thread one has 1 / (1 + 1.25 ** steps) of a core, so that none is starved."""

_NICEST: Final = 19


def lower_priority(work: Work = "background") -> None:
    """Have the calling thread give way from now on, where single threads can (on Linux)."""
    if sys.platform == "linux":
        # A thread begins as nice as the one that started it, which may have given way itself; the first one never does.
        nice = os.getpriority(os.PRIO_PROCESS, os.getpid()) + _STEPS[work]
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(nice, _NICEST))
