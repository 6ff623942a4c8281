"""The latest camera picture: only the newest is kept, and no viewer delays the rig."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress


class LatestPicture:
    """One JPEG picture, replaced by the next."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jpeg: bytes | None = None
        self._count = 0
        self._watchers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._closed = False

    def put(self, jpeg: bytes) -> None:
        """Replace the picture; callable from any thread."""
        with self._lock:
            self._jpeg = jpeg
            self._count += 1
            self._wake()

    @property
    def watched(self) -> bool:
        """Whether there are watchers."""
        return bool(self._watchers)

    @property
    def watchers(self) -> int:
        """How many are watching."""
        with self._lock:
            return len(self._watchers)

    @property
    def latest(self) -> bytes | None:
        """The picture; None before the first."""
        with self._lock:
            return self._jpeg

    def close(self) -> None:
        """Disconnect all watchers."""
        with self._lock:
            self._closed = True
            self._wake()

    async def next(self, timeout_s: float = 0.5) -> bytes | None:
        """Return the next picture, since the latest may be seconds old while there are no watchers.

        Args:
            timeout_s: how long to wait for it.

        Returns:
            The next picture, or the latest if none came in time; None before the first.
        """
        known = self.latest
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s), aclosing(self.watch()) as pictures:
                async for jpeg in pictures:
                    if jpeg is not known:
                        return jpeg
        return known

    async def watch(self) -> AsyncGenerator[bytes]:
        """Yield the latest picture at once, then always the newest when the last one was taken."""
        event = asyncio.Event()
        watcher = (asyncio.get_running_loop(), event)
        with self._lock:
            self._watchers.add(watcher)
        yielded = 0
        try:
            while not self._closed:
                with self._lock:
                    jpeg, count = self._jpeg, self._count
                    event.clear()
                if jpeg is not None and count != yielded:
                    yielded = count
                    yield jpeg
                else:
                    await event.wait()
        finally:
            with self._lock:
                self._watchers.discard(watcher)

    def _wake(self) -> None:
        for loop, event in self._watchers:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
