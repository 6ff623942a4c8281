"""A thread that judges games again: one job at a time, bounded, and never in the way of a game in play."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from downfield.core.errors import BusyError
from downfield.vision.thread_priority import lower_priority

Result = TypeVar("Result")
Pause = Callable[[], None]
"""Called by a job between two steps: lets other threads run, and ends a job that has taken too long."""


@dataclass(frozen=True, slots=True)
class JudgingLimits:
    """Limits of jobs."""

    waiting: int = 3
    """Jobs that may wait or run: more people than that do not review at once."""

    longest_s: float = 180.0
    """A game of two hours is judged again in about half a minute on one of two cores."""


LIMITS: Final = JudgingLimits()


class JudgingWorker:
    """Runs jobs that judge games again. Callable from any thread.

    The judging is Python, which only one thread can run at a time: a job gives way after every scene, so that the game
    in play waits for a fraction of a millisecond, and its thread is nicer than all that a frame passes.
    """

    def __init__(self) -> None:
        self._places = threading.BoundedSemaphore(LIMITS.waiting)
        self._threads = ThreadPoolExecutor(1, "judging-again", initializer=lower_priority)

    def run(self, job: Callable[[Pause], Result]) -> Result:
        """Run a job and return its result.

        Raises:
            BusyError: too many jobs wait already, or this one took too long.

        """
        if not self._places.acquire(blocking=False):
            raise BusyError(f"{LIMITS.waiting} games are being judged again already. Try again in a minute.")
        try:
            return self._threads.submit(self._run, job).result()
        finally:
            self._places.release()

    def close(self) -> None:
        """End the thread after the job it runs."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def _run(job: Callable[[Pause], Result]) -> Result:
        ends_s = time.monotonic() + LIMITS.longest_s

        def pause() -> None:
            time.sleep(0)  # lets go of the interpreter
            if time.monotonic() > ends_s:
                raise BusyError(f"Judging this game again takes more than {LIMITS.longest_s:g} s. It was stopped.")

        return job(pause)
