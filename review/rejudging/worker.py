"""A thread that judges games again: one job at a time, bounded, and never in the way of a game in play."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from downfield.core.errors import BusyError
from downfield.core.platform.processes import lower_priority

Result = TypeVar("Result")
Pause = Callable[[], None]
"""Called by a job between two steps: lets other threads run, and ends a job that has taken too long."""


@dataclass(frozen=True, slots=True)
class JudgingLimits:
    """Limits of jobs."""

    waiting: int = 3  # Jobs that may wait or run: more people than that do not review at once
    # How long a request waits for a job that others may wait for, too; browsers wait longer. The job goes on.
    wait_s: float = 120.0
    # A job is stopped after this. A game of an hour takes about a minute on one of two cores, but a computer that is
    # busy with a game judges many times slower.
    longest_s: float = 3600.0
    kept: int = 4  # Results of such jobs that are kept for requests that come back for them


JUDGING_LIMITS: Final = JudgingLimits()

_ENDING: Final = "The service is ending."


class JudgingWorker:
    """Runs jobs that judge games again. Callable from any thread.

    The judging is Python, which only one thread can run at a time: a job gives way after every scene, so that the game
    in play waits for a fraction of a millisecond, and its thread is nicer than all that a frame passes.
    """

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(JUDGING_LIMITS.waiting)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._shared: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._threads = ThreadPoolExecutor(1, "judging-again", initializer=lower_priority)

    def share(self, name: Hashable, job: Callable[[Pause], Result]) -> Result:
        """Return the result of a job of a name, which is begun unless it is going on or was done lately.

        Raises:
            BusyError: too many jobs wait already, or this one is not done yet: it goes on, and can be asked for again.
        """
        future = self.begin(name, job)
        try:
            return future.result(JUDGING_LIMITS.wait_s)
        except TimeoutError:
            raise BusyError(
                "This game is long, or the computer is busy: it is still being judged again. Try again in a minute;"
                " nothing is lost."
            ) from None

    def begin(self, name: Hashable, job: Callable[[Pause], Result]) -> Future[Result]:
        """Begin a job of a name in the background, as `share` does, and return it.

        Raises:
            BusyError: too many jobs wait already.
        """
        with self._lock:
            future = self._shared.get(name)
            if future is None or (future.done() and future.exception() is not None):
                if not self._places.acquire(blocking=False):
                    count = JUDGING_LIMITS.waiting
                    raise BusyError(f"{count} games are being judged again already. Try again in a minute.")
                try:
                    future = self._shared[name] = self._threads.submit(self._run, job)
                except RuntimeError:  # the service is ending
                    self._places.release()
                    raise BusyError(_ENDING) from None
                future.add_done_callback(lambda _: self._places.release())
            done = [other for other, one in self._shared.items() if one.done()]
            for other in done[: -JUDGING_LIMITS.kept]:
                del self._shared[other]
            return future

    def is_going_on(self, name: Hashable) -> bool:
        """Return whether a job of a name was begun and is not done."""
        with self._lock:
            future = self._shared.get(name)
            return future is not None and not future.done()

    def close(self) -> None:
        """End the thread and the job it runs, which is judged anew when it is asked for again."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Callable[[Pause], Result]) -> Result:
        longest_s = JUDGING_LIMITS.longest_s
        ends_s = time.monotonic() + longest_s

        def pause() -> None:
            time.sleep(0)  # lets go of the interpreter
            if self._closing.is_set():
                raise BusyError(_ENDING)
            if time.monotonic() > ends_s:
                raise BusyError(f"Judging this game again takes more than {longest_s:g} s. It was stopped.")

        return job(pause)
