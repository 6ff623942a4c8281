"""The end of the process: in order, whatever still runs in libraries.

A thread inside a library (a network being compiled, a printed field being solved, a camera that does not answer) can't
be interrupted. If the process ended as usual, the library's global objects would be destroyed under that thread, which
crashes (SIGSEGV); and where the thread comes back to the interpreter while that ends, Python unwinds it through C++
that can't be unwound, which aborts ("terminate called without an active exception", up to Python 3.13). So when
everything of Downfield is closed and such a thread is left, the process ends at once.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Final

from downfield.core.threads import delayed_thread, only_logged, supervised_thread

INTERRUPTED: Final = 130  # Exit status of a command that Ctrl-C ended before it had anything to close (128 + SIGINT)

MOSTLY_LOST: Final = 3
"""Exit status of a command whose result is there, but holds little of what was asked for."""

END_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a command to end: Ctrl-C, a service manager, a terminal that is closed."""

_FORCED_BY: Final = 3  # presses of Ctrl-C

_AGAIN_S: Final = 0.1  # after which a signal is sent again that came in a finalizer, which is over then


class ProcessEnd:
    """Ends the process without crashing, with `status`; made once, before anything else that has an end."""

    def __init__(self) -> None:
        self.status = 1
        atexit.register(self._end)  # the first one registered runs last

    def _end(self) -> None:
        if any(thread is not threading.current_thread() for thread in threading.enumerate()):
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()
            os._exit(self.status)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt, once; what then closes is not interrupted by more.

    The third Ctrl-C ends the process at once. SIGHUP stays ignored where it is, as under ``nohup``. What is raised in
    an object's finalizer is lost, so a signal that comes in the middle of one is sent again.
    """
    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            raise KeyboardInterrupt
        if received.count(signal.SIGINT) >= _FORCED_BY:
            os._exit(INTERRUPTED)

    def send_again(lost: sys.UnraisableHookArgs) -> None:
        if received and issubclass(lost.exc_type, KeyboardInterrupt):
            delayed_thread(_AGAIN_S, partial(os.kill, os.getpid(), received.pop()), "signal").start()
        else:
            previous_hook(lost)

    previous_hook, sys.unraisablehook = sys.unraisablehook, send_again
    previous = {number: signal.getsignal(number) for number in END_SIGNALS}
    for number, handler in previous.items():
        # A shell starts background jobs with SIGINT ignored; a rig is ended by it all the same.
        if number == signal.SIGINT or handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        sys.unraisablehook = previous_hook
        if not received:
            for number, handler in previous.items():
                signal.signal(number, handler)


def hang_up_as_termination() -> None:
    """Have a terminal that is closed end a server as SIGTERM does, but not where it is ignored, as under ``nohup``."""
    number = getattr(signal, "SIGHUP", None)
    if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))


def end_with_starter() -> None:
    """Have this process end in order once the program that started it is gone, however that ended.

    That program holds the other end of this one's standard input, which closes with it: also where it was killed.
    """

    def wait() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    supervised_thread(wait, "starter", only_logged).start()
