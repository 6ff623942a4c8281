"""The monotonic clock that dates frames and declarations.

Before Python 3.13, `time.monotonic_ns` steps by 15.6 ms on Windows: half a frame, in which a base moves by several
millimeters. `time.perf_counter_ns` steps by 0.1 us there and is monotonic too. The two have different zeros, so whoever
compares with a frame's `captured_ns` reads the clock here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

from downfield.core.platform.system import SYSTEM, System


def has_coarse_clock(system: System, python: tuple[int, ...]) -> bool:
    """Return whether `time.monotonic_ns` is too coarse to date frames, in a version of Python on a system."""
    return system == "windows" and python < (3, 13)


monotonic_ns: Final[Callable[[], int]] = (
    time.perf_counter_ns if has_coarse_clock(SYSTEM, sys.version_info[:3]) else time.monotonic_ns
)
"""Returns the monotonic time, ns since an instant of no meaning; on Linux that of V4L2's stamps."""
