"""The live feed's hub: what is true now, and numbered changes to everyone who listens.

The rig publishes from its own thread and never waits for a listener. Every listener has one bounded queue; one that
falls behind loses its queue and is given a fresh snapshot instead.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

QUEUE: Final = 256
"""Changes a listener may lag behind; at 60 a second about four seconds."""


@dataclass(frozen=True, slots=True)
class Change:
    """One message of the feed.

    Attributes:
        seq: its number; a snapshot carries that of the last change it holds.
        topic: ``"snapshot"``, or what changed.
        data: the topic's value, ready for JSON; for a snapshot all topics' values.

    """

    seq: int
    topic: str
    data: Any


class Hub:
    """Holds the latest value of every topic and tells listeners of each change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seq = 0
        self._topics: dict[str, Any] = {}
        self._listeners: set[_Listener] = set()
        self._closed = False

    def close(self) -> None:
        """Let every listener's feed end."""
        with self._lock:
            self._closed = True
            for listener in self._listeners:
                listener.wake()

    def publish(self, topic: str, data: Any) -> None:
        """Set a topic's value. Never blocks on a listener; callable from any thread."""
        with self._lock:
            self._seq += 1
            self._topics[topic] = data
            change = Change(self._seq, topic, data)
            for listener in self._listeners:
                listener.offer(change)

    def snapshot(self) -> Change:
        """Everything that is true now."""
        with self._lock:
            return Change(self._seq, "snapshot", dict(self._topics))

    async def listen(self) -> AsyncGenerator[Change]:
        """A snapshot, then every change until the hub is closed; after falling behind a snapshot again."""
        listener = _Listener(asyncio.get_running_loop())
        with self._lock:
            self._listeners.add(listener)
        try:
            yield self.snapshot()
            while not self._closed:
                for change in await listener.take():
                    yield change
                if listener.fell_behind():
                    yield self.snapshot()
        finally:
            with self._lock:
                self._listeners.discard(listener)


class _Listener:
    """One bounded queue, filled from the rig's thread and emptied in the server's loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._waiting: deque[Change] = deque()
        self._behind = False
        self._some = asyncio.Event()

    def offer(self, change: Change) -> None:
        with self._lock:
            if len(self._waiting) >= QUEUE:
                self._waiting.clear()
                self._behind = True
            if not self._behind:
                self._waiting.append(change)
        self.wake()

    def wake(self) -> None:
        """Have it look at what there is."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._some.set)

    async def take(self) -> list[Change]:
        """What has come since, at least a moment's worth."""
        await self._some.wait()
        self._some.clear()
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    def fell_behind(self) -> bool:
        """Whether changes were lost since this was last asked."""
        with self._lock:
            behind, self._behind = self._behind, False
        return behind
