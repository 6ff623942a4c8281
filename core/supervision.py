"""Threads that never end in silence: a failure is logged and reported, and work that goes on is begun again.

No thread of Downfield is started otherwise; `tests/test_structure.py` holds that.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_log = logging.getLogger(__name__)

RESTART_S: Final = 1.0
"""Pause before failed work is begun again: short beside what people wait for, long beside a failure that repeats."""


def supervised_thread(
    work: Callable[[], None],
    name: str,
    failed: Callable[[str], None],
    *,
    restarts: bool = False,
    closed: Callable[[], bool] = lambda: False,
) -> threading.Thread:
    """Return a thread, not yet started, whose failures are logged and reported.

    Args:
        name: its name, such as ``"health"``.
        failed: receives every failure, as a phrase.
        restarts: whether the work is begun again after a failure, until it returns.
        closed: whether it is to end; then a failure is the end of the work.
    """
    pause = threading.Event()

    def run() -> None:
        while True:
            try:
                work()
            except (Exception, SystemExit) as error:  # a library that ends "the program" ends this thread only
                _log.exception("The thread '%s' failed", name)
                with suppress(Exception):  # the report of a failure is no reason for another
                    failed(f"{type(error).__name__}: {error}")
                if restarts and not closed():
                    pause.wait(RESTART_S)
                    continue
            return

    return threading.Thread(target=run, name=name, daemon=True)


def only_logged(_: str) -> None:
    """Report nothing: for work whose owner finds out by itself that it was not done, and goes on without."""


def delayed_thread(delay_s: float, work: Callable[[], None], name: str) -> threading.Thread:
    """Return a thread, not yet started, that does something after a delay; a failure is logged."""
    pause = threading.Event()

    def run() -> None:
        pause.wait(delay_s)
        work()

    return supervised_thread(run, name, only_logged)
