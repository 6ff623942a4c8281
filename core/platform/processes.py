"""Processes and threads beside the live loop: their priorities, where the operating system has them, and their end.

On Linux a thread has a niceness of its own and a process may leave the processor to all others; on macOS only processes
have one; on Windows nothing is lowered, since that needs a call that Python does not have. Processes that one started
keep no state: they are ended by the one that started them, or end by themselves without it.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from downfield.core.platform.process_tuning import tune_process
from downfield.core.platform.system import SYSTEM
from downfield.core.threads import only_logged, supervised_thread

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


def begin_session() -> None:
    """Give this process, which another started, a session of its own: no signals of its terminal reach it."""
    if SYSTEM == "linux":
        os.setsid()


def run_when_idle() -> None:
    """Leave the processor to all other programs, those of other log-ins too; for a process in a session of its own.

    Where Linux groups processes by session (`autogroup`, sched(7)), each session gets the same share of the processor,
    whatever the priority of the processes in it: the session must be nice as well.
    """
    with suppress(OSError):  # there are no such groups
        Path("/proc/self/autogroup").write_text(str(_MAX_NICENESS), encoding="ascii")
    lower_process_priority(_MAX_NICENESS, "idle")


def restore_process_priority(pid: int) -> None:
    """Have a process scheduled as usual again, so that it ends soon; on Linux, where this program may (sched(7)).

    It may as root, and where the limit of niceness (RLIMIT_NICE) allows 0, as the rig's systemd unit has it.
    """
    if SYSTEM == "linux":
        with suppress(OSError):  # it has ended, or needs more rights
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(thread.name), 0)
                os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))


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


def end_with_client(descriptor: int) -> None:
    """Have this process end as soon as the other end of a connection is closed, whatever it does.

    Others may read and write the connection. A thread of the priority that the process still has waits for its end:
    others may be in the middle of a computation, or get no processor on a busy computer.
    """

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # reports the end alone
        poll.poll()
        restore_process_priority(os.getpid())
        os._exit(0)

    supervised_thread(wait, "end with client", only_logged).start()


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A module that runs in a process of its own, without any state."""

    process: subprocess.Popen[bytes]
    connection: Connection

    def end(self) -> None:
        """Kill it."""
        end_process(self.process)


WORKER_FAULTS: Final = (OSError, EOFError, pickle.UnpicklingError)
"""What the connection to a worker raises that has ended or sends nothing that can be read."""


def start_worker(module: str, *arguments: str, memory: int | None = None) -> WorkerProcess:
    """Start a module that calls `serve_client`. Raises OSError: it can't be started.

    Args:
        memory: file descriptor of memory that it shares; None for none.
    """
    ours, theirs = Pipe()
    with theirs:
        passed = [theirs.fileno(), *([] if memory is None else [memory])]
        command = [sys.executable, "-m", module, str(passed[0]), *arguments]
        return WorkerProcess(subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=passed), ours)  # noqa: S603


def serve_client(serve: Callable[[Connection], None], niceness: int, schedule: Schedule) -> None:
    """Serve the process that started this one by `start_worker` until the connection closes, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which ends this process
    connection = Connection(int(sys.argv[1]))
    end_with_client(connection.fileno())
    tune_process()
    lower_process_priority(niceness, schedule)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keeps what libraries print out of the client's output
    with connection, suppress(EOFError, OSError):
        serve(connection)
    os._exit(0)


Work = Literal["detect", "decode", "background"]
"""The work of a thread. Threads that track figures or judge plays keep their priority."""

_NICENESS: Final = MappingProxyType({"detect": 4, "decode": 6, "background": 8})
"""Added niceness: next to a busy thread, a thread gets 1 / (1 + 1.25 ** niceness) of a core, so none is starved."""


def lower_priority(work: Work = "background") -> None:
    """Lower the priority of the calling thread, where threads have their own (on Linux)."""
    lower_thread_priority(_NICENESS[work])
