"""From one thread to the next: bounded, in order, and either losing the oldest or making the giver wait."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_LATELY_S: Final = 2.0


class BoundedQueue(Generic[T]):
    """A bounded queue between two threads.

    Args:
        room: how many it holds.
        spare: how many more while nothing was lost lately. A short halt then costs nothing, and where what comes is
            steadily too much, nothing waits longer for it.

    """

    def __init__(self, room: int, spare: int = 0) -> None:
        self._room, self._spare = room, spare
        self._lost_at = -math.inf
        self._waiting: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, item: T) -> bool:
        """Put something in, at once; without room the oldest is lost and counted.

        Returns:
            Whether nothing was lost.

        """
        with self._changed:
            if self._closed:
                return True
            now = time.monotonic()
            room = self._room + (self._spare if now - self._lost_at > _LATELY_S else 0)
            lost = len(self._waiting) >= room
            if lost:
                self._lost_at = now
            while len(self._waiting) >= room:
                self._waiting.popleft()
                self.dropped += 1
            self._waiting.append(item)
            self._changed.notify_all()
            return not lost

    def put(self, item: T) -> None:
        """Put something in, as soon as there is room; once closed it is left out."""
        with self._changed:
            while len(self._waiting) >= self._room and not self._closed:
                self._changed.wait()
            if not self._closed:
                self._waiting.append(item)
                self._changed.notify_all()

    def close(self) -> None:
        """Take nothing more; whoever takes gets what is there, and then the end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self, timeout_s: float | None = None) -> T | None:
        """The next thing; None when nothing came in time, or it is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed, timeout_s)
            if not self._waiting:
                return None
            item = self._waiting.popleft()
            self._changed.notify_all()
            return item

    @property
    def ended(self) -> bool:
        """Whether it is closed and empty."""
        with self._changed:
            return self._closed and not self._waiting

    def __iter__(self) -> Iterator[T]:
        """Everything until it is closed and empty."""
        while (item := self.take()) is not None:
            yield item
