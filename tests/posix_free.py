"""Runs the `downfield` command without what only POSIX systems have, as on Windows: `python posix_free.py ARGUMENTS`.

Python's own library and what others wrote keep what they need; from then on nothing of it can be had, and Downfield
believes that it is on Windows.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import fcntl
import importlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import types
from typing import Any

OTHERS = (
    "av cv2 cryptography.x509 fastapi fastapi.staticfiles ifaddr logging.handlers multiprocessing.connection numpy"
    " openvino prometheus_client pydantic rich.console rich.live segno sqlalchemy.dialects.sqlite"
    " starlette typer typer.completion uvicorn uvicorn.loops.asyncio uvicorn.protocols.http.h11_impl websockets"
)
POSIX_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
POSIX_OS = (
    "O_CLOEXEC O_NONBLOCK O_DIRECTORY O_NOFOLLOW PRIO_PROCESS SCHED_BATCH SCHED_IDLE chown fchmod fork geteuid"
    " getpriority getuid memfd_create mkfifo nice pread pwrite sched_getaffinity sched_param sched_setscheduler"
    " setpriority setsid"
)
POSIX_SIGNALS = ("SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGALRM", "pthread_sigmask", "setitimer")


def windows_locks() -> Any:
    """Return a module like `msvcrt`, whose locks other processes meet as well."""
    module = types.ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, count: int) -> None:
        kind = fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB
        if mode and not os.access(f"/proc/self/fd/{descriptor}", os.W_OK):
            return
        fcntl.lockf(descriptor, kind, count, 0, os.SEEK_CUR)

    module.__dict__.update(locking=locking, LK_UNLCK=0, LK_NBLCK=2)
    return module


def main() -> None:
    """Run the command."""
    used = (asyncio, concurrent.futures.thread, subprocess, tempfile)  # imported before their needs go
    assert used
    for name in OTHERS.split():
        importlib.import_module(name)
    sys.modules["msvcrt"] = windows_locks()
    for name in POSIX_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, POSIX_OS.split()), (signal, POSIX_SIGNALS), (socket, ("send_fds", "recv_fds"))):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    real, sys.platform = sys.platform, "win32"
    system = importlib.import_module("downfield.core.platform.system")
    sys.platform = real
    assert system.SYSTEM == "windows"
    # An option that Linux does not have; without one, an address is not reclaimed either.
    importlib.import_module("downfield.core.platform.system").__dict__["_EXCLUSIVE"] = socket.SO_KEEPALIVE
    importlib.import_module("downfield.cli.main").main()


if __name__ == "__main__":
    main()
