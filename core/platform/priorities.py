"""Lower priorities of threads and processes, where the operating system has them.

On Linux a thread has a niceness of its own and a process may leave the processor to all others; on macOS only processes
have one; on Windows nothing is lowered, since that needs a call that Python does not have.
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
    """
    if SYSTEM == "linux":
        with suppress(OSError):  # it has ended, or needs more rights
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)
                os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))
