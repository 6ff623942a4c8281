"""Ends processes that one started and that keep no state: by the one that started them, or by themselves without it."""

from __future__ import annotations

import os
import select
import subprocess
from contextlib import suppress
from typing import Final

from downfield.core.platform.priorities import restore_process_priority
from downfield.core.supervision import only_logged, supervised_thread

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

    A thread of the priority that the process still has waits for that: others may be in the middle of a computation,
    or get no processor on a busy computer.

    Args:
        descriptor: file descriptor of the connection, which others may read and write.
    """

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # reports the end alone
        poll.poll()
        restore_process_priority(os.getpid())
        os._exit(0)

    supervised_thread(wait, "end with client", only_logged).start()
