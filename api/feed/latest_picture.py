"""The latest camera picture, for everyone who watches: only the newest is kept, nobody delays the rig."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress


class LatestPicture:
    """One JPEG, replaced by the next."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jpeg: bytes | None = None
        self._count = 0
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._closed = False

    def put(self, jpeg: bytes) -> None:
        """Replace the picture; callable from any thread."""
        with self._lock:
            self._jpeg = jpeg
            self._count += 1
            self._wake()

    @property
    def watched(self) -> bool:
        """Whether anybody watches now."""
        return bool(self._waiting)

    @property
    def latest(self) -> bytes | None:
        """The picture now; None before the first."""
        with self._lock:
            return self._jpeg

    @property
    def watchers(self) -> int:
        """How many watch now."""
        with self._lock:
            return len(self._waiting)

    def close(self) -> None:
        """Let everybody's watching end."""
        with self._lock:
            self._closed = True
            self._wake()

    async def now(self, within_s: float = 0.5) -> bytes | None:
        """The next picture: while nobody watches, the latest may be seconds old. That one where no other comes in time.

        Args:
            within_s: how long to wait for it.

        """
        known = self.latest
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s), aclosing(self.watch()) as pictures:
                async for jpeg in pictures:
                    if jpeg is not known:
                        return jpeg
        return known

    async def watch(self) -> AsyncGenerator[bytes]:
        """The latest picture at once, then each that is newest when the last was taken."""
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            self._waiting.add(entry)
        seen = 0
        try:
            while not self._closed:
                with self._lock:
                    jpeg, count = self._jpeg, self._count
                    event.clear()
                if jpeg is not None and count != seen:
                    seen = count
                    yield jpeg
                else:
                    await event.wait()
        finally:
            with self._lock:
                self._waiting.discard(entry)

    def _wake(self) -> None:
        for loop, event in self._waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)
