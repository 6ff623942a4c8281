"""The watch over a live source: stalled or frozen, it is given up and opened anew, for as long as that takes.

Each opening has a thread of its own that opens and reads. A camera driver can hang in the kernel where nothing reaches
it, so a thread that does not answer is left behind rather than waited for.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.errors import DownfieldError, SourceError
from downfield.game.published.board_topics import HealthReason
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.source import CapturedFrame, FrameSource, SourceFacts

LOST: Final = "camera_lost"
_SPARSE: Final = 16  # every so many pixels of a raw picture are looked at for change
_ENDING_S: Final = 0.3
"""How long an opening is given to let go of the camera, which the next one needs."""

_USUAL_FPS: Final = 30.0  # of a source that tells no rate


@dataclass(frozen=True, slots=True)
class ReconnectLimits:
    """How patient the watch is.

    Attributes:
        stalled_s: without a picture for so long, the source is given up. The slowest cameras send five a second.
        frozen_s: with the same picture, bit for bit, for so long; a sensor's noise alone makes every picture new.
        opening_s: for one opening; cameras take up to three seconds.
        first_wait_s, longest_wait_s: between two openings that failed, doubling from the one to the other.

    """

    stalled_s: float = 1.0
    frozen_s: float = 2.0
    opening_s: float = 6.0
    first_wait_s: float = 0.1
    longest_wait_s: float = 1.0


class ReconnectingSource:
    """A live source that comes back.

    Args:
        open_source: opens it.
        troubles: told when it is lost and back again.
        watch: how patient to be.

    Raises:
        SourceError: it can't be opened the first time.

    """

    def __init__(
        self, open_source: Callable[[], FrameSource], troubles: ActiveProblems, watch: ReconnectLimits | None = None
    ) -> None:
        self._open = open_source
        self._troubles = troubles
        self._watch = watch or ReconnectLimits()
        self._closed = threading.Event()
        self._reader = _Reader(open_source)
        self._facts = self._reader.facts(self._watch.opening_s)
        self.gaps = 0

    @property
    def facts(self) -> SourceFacts:
        """What it is, as of the last opening."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture until it is closed. After a loss the indices go on as if the lost ones had been numbered."""
        last: CapturedFrame | None = None
        while not self._closed.is_set():
            frozen, ahead = _Frozen(self._watch.frozen_s), None
            try:
                for shot in self._reader.frames(self._watch.stalled_s):
                    if ahead is None:
                        ahead = self._back(last, shot)
                    last = dataclasses.replace(shot, index=ahead + shot.index)
                    yield last
                    frozen.look(shot)
            except SourceError as error:
                self._lost(str(error))
                if not self._reopened():
                    return
            else:
                return

    def close(self) -> None:
        """End it."""
        self._closed.set()
        self._reader.close()

    def _lost(self, why: str) -> None:
        if self._closed.is_set():
            return
        self.gaps += 1
        self._troubles.add(
            HealthReason(
                code=LOST,
                level="alarm",
                text=f"No picture: {why}",
                remedy="Check the camera's cable and power. Downfield goes on trying",
            )
        )

    def _back(self, last: CapturedFrame | None, shot: CapturedFrame) -> int:
        """It sends pictures; how far its indices are ahead of the opening's own."""
        if last is None:
            self._troubles.clear(LOST, "The picture is there.")
            return 0
        gap_s = (shot.captured_ns - last.captured_ns) / 1e9
        self._troubles.clear(LOST, f"The picture is back after {gap_s:.1f} s.")
        return last.index + max(2, round(gap_s * (self._facts.fps or _USUAL_FPS))) - shot.index

    def _reopened(self) -> bool:
        """Open it anew, again and again; False when it was closed meanwhile."""
        wait_s = self._watch.first_wait_s
        while True:
            self._reader.close()
            if self._closed.wait(wait_s):
                return False
            self._reader = _Reader(self._open)
            try:
                self._facts = self._reader.facts(self._watch.opening_s)
            except DownfieldError:
                wait_s = min(2 * wait_s, self._watch.longest_wait_s)
            else:
                return True


class _Reader:
    """One opening of a source, in a thread of its own."""

    def __init__(self, open_source: Callable[[], FrameSource]) -> None:
        self._open = open_source
        self._out: queue.SimpleQueue[CapturedFrame | SourceFacts | DownfieldError | None] = queue.SimpleQueue()
        self._source: FrameSource | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="source", daemon=True)
        self._thread.start()

    def facts(self, timeout_s: float) -> SourceFacts:
        """What was opened.

        Raises:
            DownfieldError: it can't be opened, or not in time.

        """
        try:
            first = self._out.get(timeout=timeout_s)
        except queue.Empty:
            self.close()
            raise SourceError(f"it does not open within {timeout_s:g} s") from None
        if isinstance(first, DownfieldError):
            raise first
        if not isinstance(first, SourceFacts):
            raise SourceError("it was closed")
        return first

    def frames(self, timeout_s: float) -> Iterator[CapturedFrame]:
        """What it sends; ends when it was closed.

        Raises:
            SourceError: it stopped or stalled.

        """
        while True:
            try:
                item = self._out.get(timeout=timeout_s)
            except queue.Empty:
                raise SourceError(f"no picture for {timeout_s:g} s") from None
            if isinstance(item, DownfieldError):
                raise item
            if not isinstance(item, CapturedFrame):
                return
            yield item

    def close(self) -> None:
        self._closed = True
        if self._source is not None:
            self._source.close()
        if self._thread is not threading.current_thread():
            self._thread.join(_ENDING_S)

    def _run(self) -> None:
        try:
            source = self._source = self._open()
            if self._closed:
                source.close()
            self._out.put(source.facts)
            for shot in source.frames():
                self._out.put(shot)
                if self._closed:
                    return
            self._out.put(None)
        except DownfieldError as error:
            self._out.put(error)
        except Exception as error:  # whatever a driver comes up with, opening it anew is the answer
            self._out.put(SourceError(f"{type(error).__name__}: {error}"))


class _Frozen:
    """Notices a picture that does not change any more."""

    def __init__(self, after_s: float) -> None:
        self._after_ns = round(after_s * 1e9)
        self._seen: bytes | None = None
        self._since_ns = 0

    def look(self, shot: CapturedFrame) -> None:
        """Look at a picture.

        Raises:
            SourceError: it has been the same for too long.

        """
        if shot.packed is not None:
            seen = shot.packed.data
        else:
            image = shot.image if shot.image is not None else np.empty((0, 0, 3), dtype=np.uint8)
            seen = image[::_SPARSE, ::_SPARSE].tobytes()
        if seen != self._seen:
            self._seen, self._since_ns = seen, shot.captured_ns
        elif shot.captured_ns - self._since_ns > self._after_ns:
            raise SourceError(f"the picture has been frozen for {self._after_ns / 1e9:g} s")
