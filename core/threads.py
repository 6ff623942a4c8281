"""Threads that never end in silence, and a bounded queue between two that never lets its producer fall behind.

A failure is logged and reported, and work that goes on is begun again. No thread of Downfield is started otherwise;
`tests/test_structure.py` holds that.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, Generic, TypeVar

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


T = TypeVar("T")

_BURST_RECOVERY_S: Final = 2.0  # time without extra capacity for bursts after an item was dropped


class BoundedQueue(Generic[T]):
    """A bounded first-in, first-out queue between two threads, which drops the oldest items or makes the producer wait.

    Args:
        burst_capacity: number of further items it holds while no item was dropped lately. A short stall then drops
            nothing, and under constant overload no item waits longer.
    """

    def __init__(self, capacity: int, burst_capacity: int = 0) -> None:
        self.dropped = 0
        self._capacity, self._burst_capacity = capacity, burst_capacity
        self._dropped_at = -math.inf
        self._items: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    def put_or_drop(self, item: T) -> bool:
        """Add an item at once; when full, drop the oldest. Returns whether nothing was dropped."""
        with self._changed:
            if self._closed:
                return True
            now = time.monotonic()
            capacity = self._capacity + (self._burst_capacity if now - self._dropped_at > _BURST_RECOVERY_S else 0)
            full = len(self._items) >= capacity
            if full:
                self._dropped_at = now
            while len(self._items) >= capacity:
                self._items.popleft()
                self.dropped += 1
            self._items.append(item)
            self._changed.notify_all()
            return not full

    def put(self, item: T) -> None:
        """Add an item as soon as there is room; do nothing once the queue is closed."""
        with self._changed:
            while len(self._items) >= self._capacity and not self._closed:
                self._changed.wait()
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()

    def close(self) -> None:
        """Accept no more items; the consumer still gets the remaining ones."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def get(self, timeout_s: float | None = None) -> T | None:
        """Return the next item; None if none came in time, or the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed, timeout_s)
            if not self._items:
                return None
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    @property
    def finished(self) -> bool:
        """Whether the queue is closed and empty."""
        with self._changed:
            return self._closed and not self._items

    def __iter__(self) -> Iterator[T]:
        """Yield items until the queue is closed and empty."""
        while (item := self.get()) is not None:
            yield item
