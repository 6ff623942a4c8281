"""Priorities of threads and processes, where the operating system has them.

On Linux a thread has a niceness of its own, may go before all ordinary ones where the account permits that, and a
process may leave the processor to all others; on macOS only processes have a niceness; on Windows nothing is changed,
since that needs a call that Python does not have.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from downfield.core.platform.system import SYSTEM

_MAX_NICENESS: Final = 19

Schedule = Literal["batch", "idle"]
"""``batch``: never preempts another program; ``idle``: runs when no other program wants to (sched(7))."""


def lower_thread_priority(niceness: int) -> None:
    """Lower the priority of the calling thread to `niceness` below this program's main thread."""
    if SYSTEM == "linux":
        # A thread starts as nice as the one that started it, which may be nice itself; the main thread never is.
        nice = os.getpriority(os.PRIO_PROCESS, os.getpid()) + niceness
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(nice, _MAX_NICENESS))


def raise_thread_priority(rank: int) -> bool:
    """Run the calling thread before all ordinary ones, in real time (sched(7)); threads that it starts are ordinary.

    Linux permits it to the administrator, and to others up to their limit `rtprio`. On a computer of one core, or one
    that gives this process a single one, nothing is changed: everything else would stand still meanwhile.

    Args:
        rank: of two such threads the higher one runs first, 1..99.

    Returns:
        Whether it does so.

    """
    if SYSTEM != "linux" or len(os.sched_getaffinity(0)) == 1:
        return False
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(rank))
    except OSError:
        return False
    return True


def lower_process_priority(niceness: int, schedule: Schedule) -> None:
    """Lower the priority of this program by `niceness`, and on Linux change how it is scheduled."""
    if SYSTEM == "windows":
        return
    os.nice(niceness)
    if SYSTEM == "linux":
        policy = os.SCHED_IDLE if schedule == "idle" else os.SCHED_BATCH
        os.sched_setscheduler(0, policy, os.sched_param(0))


def restore_process_priority(pid: int) -> None:
    """Have a process scheduled as usual again, so that it ends soon; on Linux, where this program may (sched(7)).

    It may as root, and where the limit of niceness (RLIMIT_NICE) allows 0, as the rig's systemd unit has it.

    Args:
        pid: its id.

    """
    if SYSTEM == "linux":
        with suppress(OSError):  # it has ended, or needs more rights
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)
                os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))
