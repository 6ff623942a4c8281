"""The last seconds of the program as low-latency HLS.

H.264 is in segments and parts with their playlist. Names and tags are those of RFC 8216, with the partial segments,
blocking reloads and preload hints of its second edition (draft-pantos-hls-rfc8216bis). Nothing is kept on a disk.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StreamTimes:
    """Lengths of the stream's pieces, and how long it goes on."""

    # Longest part: a player can show a picture that much after it was encoded, and asks four times a second
    part_s: float = 0.25
    # Length of a segment, which begins with a key frame: a player that joins waits for half of it
    segment_s: float = 1.0
    segments: int = 8  # Segments that can be had, for players that are some seconds behind
    with_parts: int = 3  # Latest segments whose parts are named in the playlist
    unwatched_s: float = 6.0  # The encoder stops this long after the last request
    wait_s: float = 4.0  # Longest wait for something that is asked for ahead of time
    # Longest wait for the first playlist: what draws and encodes is started by asking for it, which takes seconds on a
    # busy computer; players give up after 10 s
    start_s: float = 9.0


TIMES: Final = StreamTimes()


@dataclass(frozen=True, slots=True)
class Part:
    """One fragment of MP4: some pictures."""

    data: bytes
    seconds: float  # how long its pictures are shown
    independent: bool  # whether it begins with a key frame, and with it a segment


@dataclass(slots=True)
class _Segment:
    number: int
    take: int
    parts: list[Part] = field(default_factory=list)
    complete: bool = False

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)


class LiveStream:
    """The last seconds of the program. Callable from any thread; the waiting methods on an event loop.

    Args:
        first_take: number of the first take; a service that starts again takes another, so that players see that the
            film is not the one before, though its segments have the same numbers.
    """

    def __init__(self, first_take: int = 0) -> None:
        self._lock = threading.Lock()
        self._headers: dict[int, bytes] = {}
        self._segments: deque[_Segment] = deque()
        self._take = first_take - 1
        self._next_number = 0
        self._asked_at = -math.inf
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._closed = False

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for a piece of the stream, or asked for one lately."""
        return bool(self._waiting) or time.monotonic() - self._asked_at < TIMES.unwatched_s

    def begin(self, header: bytes) -> int:
        """Begin a take, and return its number; players are told that what follows is another film."""
        with self._lock:
            self._end_segment()
            self._take += 1
            self._headers[self._take] = header
            return self._take

    def add(self, take: int, part: Part) -> None:
        """Add the next part of a take, unless another has begun since; an independent one begins a segment."""
        with self._lock:
            if take != self._take or take not in self._headers:
                return
            if part.independent:
                self._end_segment()
                self._segments.append(_Segment(self._next_number, self._take))
                self._next_number += 1
            if not self._segments or self._segments[-1].take != self._take:
                return  # nothing can be shown before a key frame
            self._segments[-1].parts.append(part)
            while len(self._segments) > TIMES.segments:
                self._segments.popleft()
            kept = {segment.take for segment in self._segments}
            self._headers = {take: header for take, header in self._headers.items() if take in kept}
            self._wake()

    def forget(self, take: int) -> None:
        """Forget a take and those before it; numbers go on, so that no player takes new segments for old ones."""
        with self._lock:
            while self._segments and self._segments[0].take <= take:
                self._segments.popleft()
            self._headers = {later: header for later, header in self._headers.items() if later > take}

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._lock:
            self._closed = True
            self._wake()

    async def playlist(self, number: int | None = None, part: int | None = None, query: str = "") -> str | None:
        """Return the playlist, once it names a segment, or a part of it, that is asked for.

        Args:
            number: of the segment; None for the playlist as it is, once there is one.
            part: index of the part in the segment; None for the whole segment.
            query: appended to every address in it, such as ``"?key=..."``.

        Returns:
            None if there is none in time: no picture comes.
        """
        wait_s = TIMES.wait_s if self._segments else TIMES.start_s
        return await self._wait_for(lambda: self._playlist(query) if self._has(number, part) else None, wait_s=wait_s)

    async def header(self, take: int) -> bytes | None:
        """Return what a player needs before the segments of a take; None for an unknown one."""
        self._asked()
        with self._lock:
            return self._headers.get(take)

    async def segment(self, number: int) -> bytes | None:
        """Return a complete segment; None if it is gone, or not there in time."""
        return await self._wait_for(lambda: self._whole(number), lambda: self._is_gone(number))

    async def part(self, number: int, index: int) -> bytes | None:
        """Return a part, also the next one to come; None if it is gone, or not there in time."""
        return await self._wait_for(lambda: self._partial(number, index), lambda: self._never_comes(number, index))

    def _end_segment(self) -> None:
        if self._segments:
            self._segments[-1].complete = True

    def _asked(self) -> None:
        self._asked_at = time.monotonic()

    def _find(self, number: int) -> _Segment | None:
        return next((segment for segment in self._segments if segment.number == number), None)

    def _has(self, number: int | None, part: int | None) -> bool:
        if not self._segments or not self._segments[-1].parts:
            return False
        last = self._segments[-1]
        if number is None or number < last.number:
            return True
        if number > last.number:
            return False
        return last.complete if part is None else len(last.parts) > part

    def _whole(self, number: int) -> bytes | None:
        segment = self._find(number)
        return None if segment is None or not segment.complete else b"".join(part.data for part in segment.parts)

    def _partial(self, number: int, index: int) -> bytes | None:
        segment = self._find(number)
        return None if segment is None or index >= len(segment.parts) else segment.parts[index].data

    def _is_gone(self, number: int) -> bool:
        """Return whether a segment never comes any more; one further ahead than the next is not waited for either."""
        return number > self._next_number or (number < self._next_number and self._find(number) is None)

    def _never_comes(self, number: int, index: int) -> bool:
        """Return whether a part never comes any more: its segment is gone, or complete without it."""
        segment = self._find(number)
        return self._is_gone(number) if segment is None else segment.complete and index >= len(segment.parts)

    async def _wait_for(
        self, get: Callable[[], T | None], hopeless: Callable[[], bool] = lambda: False, wait_s: float | None = None
    ) -> T | None:
        """Return what `get` returns, as soon as it is not None; the caller's question keeps the encoder going."""
        event = asyncio.Event()
        waiter = (asyncio.get_running_loop(), event)
        until = time.monotonic() + (TIMES.wait_s if wait_s is None else wait_s)
        with self._lock:
            self._waiting.add(waiter)
        try:
            while True:
                with self._lock:
                    event.clear()
                    found = get()
                    if found is not None or hopeless() or self._closed:
                        return found
                try:
                    async with asyncio.timeout(until - time.monotonic()):
                        await event.wait()
                except TimeoutError:
                    return None
        finally:
            self._asked()
            with self._lock:
                self._waiting.discard(waiter)

    def _wake(self) -> None:
        for loop, event in self._waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def _playlist(self, query: str) -> str:
        longest = max([segment.seconds for segment in self._segments] + [TIMES.segment_s + TIMES.part_s])
        first = self._segments[0]
        lines = [
            "#EXTM3U",
            "#EXT-X-VERSION:9",
            f"#EXT-X-TARGETDURATION:{math.ceil(longest)}",
            f"#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK={3 * TIMES.part_s:.3f}",
            f"#EXT-X-PART-INF:PART-TARGET={TIMES.part_s:.3f}",
            f"#EXT-X-MEDIA-SEQUENCE:{first.number}",
            f"#EXT-X-DISCONTINUITY-SEQUENCE:{first.take}",
        ]
        take = None
        named_from = len(self._segments) - TIMES.with_parts
        for place, segment in enumerate(self._segments):
            if segment.take != take:
                lines += [] if take is None else ["#EXT-X-DISCONTINUITY"]
                lines.append(f'#EXT-X-MAP:URI="program/take-{segment.take}.mp4{query}"')
                take = segment.take
            if place >= named_from:
                lines += [_part_line(segment, index, query) for index in range(len(segment.parts))]
            if segment.complete:
                lines += [f"#EXTINF:{segment.seconds:.5f},", f"program/{segment.number}.m4s{query}"]
        last = self._segments[-1]
        number, index = (last.number + 1, 0) if last.complete else (last.number, len(last.parts))
        lines.append(f'#EXT-X-PRELOAD-HINT:TYPE=PART,URI="program/{number}.{index}.m4s{query}"')
        return "\n".join(lines) + "\n"


class FilmWriter:
    """Writes takes into a stream that others write, too: what it ends is never another's take."""

    def __init__(self, stream: LiveStream) -> None:
        self._stream = stream
        self._take: int | None = None

    def begin(self, header: bytes) -> None:
        """Begin a take."""
        self._take = self._stream.begin(header)

    def add(self, part: Part) -> None:
        """Add the next part of the take; it is left out if another writer has begun one since."""
        if self._take is not None:
            self._stream.add(self._take, part)

    def end(self) -> None:
        """Forget the take, if one was begun: nobody watches, or it can't go on."""
        if self._take is not None:
            self._stream.forget(self._take)
            self._take = None


def _part_line(segment: _Segment, index: int, query: str) -> str:
    part = segment.parts[index]
    independent = ",INDEPENDENT=YES" if part.independent else ""
    return f'#EXT-X-PART:DURATION={part.seconds:.5f},URI="program/{segment.number}.{index}.m4s{query}"{independent}'
