"""Pictures for viewers: only the newest is kept, no viewer delays the rig, fewer are drawn while frames come late."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final


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

        The latest where none comes in time; None before the first.
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


@dataclass(frozen=True, slots=True)
class PictureRateLimits:
    """When pictures are drawn less often, and for how long."""

    first_late_s: float = 10.0  # Duration of the half rate once frames were late
    # It is twice as long every time frames are late again soon after the full rate was tried, up to this
    longest_late_s: float = 160.0
    overload_s: float = 2.0  # Duration of the lowest rate after the last sign of overload


PICTURE_RATE_LIMITS: Final = PictureRateLimits()


class PictureRate:
    """The rate of one kind of pictures, by how the computer keeps up with the frames.

    Args:
        full_fps: rate while it does; half of it while frames come late.
        overloaded_fps: rate while frames are dropped or detections are too rare.
        overloaded: whether the computer is too slow for its work.
    """

    def __init__(
        self, full_fps: float, overloaded_fps: float, late: Callable[[], bool], overloaded: Callable[[], bool]
    ) -> None:
        self._full_fps, self._overloaded_fps = full_fps, overloaded_fps
        self._late, self._overloaded = late, overloaded
        self._last_index: int | None = None
        self._overloaded_until = self._late_until = -math.inf
        self._late_s = PICTURE_RATE_LIMITS.first_late_s

    def pause(self) -> None:
        """Forget the last frame: the next one is not compared with it."""
        self._last_index = None

    def fps(self, index: int, now_s: float) -> float:
        """Return the rate from a frame on, by its index in the source and a clock that never goes back."""
        dropped = self._last_index is not None and index > self._last_index + 1
        self._last_index = index
        if dropped or self._overloaded():
            self._overloaded_until = now_s + PICTURE_RATE_LIMITS.overload_s
        if now_s >= self._late_until and self._late():
            again = now_s < self._late_until + self._late_s
            self._late_s = (
                min(2 * self._late_s, PICTURE_RATE_LIMITS.longest_late_s) if again else PICTURE_RATE_LIMITS.first_late_s
            )
            self._late_until = now_s + self._late_s
        if now_s < self._overloaded_until:
            return self._overloaded_fps
        return self._full_fps / 2 if now_s < self._late_until else self._full_fps
