"""Ends processes that this one started and that keep no state."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import Final

from downfield.core.platform.priorities import restore_process_priority

_WAIT_S: Final = 2.0


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and wait for its end, for seconds at most.

    A killed process still needs the processor to end: one that gets it only when no other program wants it may take
    minutes on a busy computer. So it is scheduled as usual for that, where it may be, and not waited for longer.
    """
    process.kill()
    restore_process_priority(process.pid)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_WAIT_S)
