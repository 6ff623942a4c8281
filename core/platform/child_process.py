"""Ends processes that this one started and that keep no state."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import Final

_WAIT_S: Final = 2.0


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and wait for its end, for seconds at most.

    A killed process still needs the processor to end: one that gets it only when no other program wants it may take
    minutes on a busy computer, for which nothing here waits.
    """
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_WAIT_S)
