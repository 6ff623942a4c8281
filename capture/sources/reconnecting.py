"""A live source that reopens itself when it stalls, freezes, fails or changes its size, until it works again.

Each opening has its own thread, which opens the source and reads it. A camera driver can hang in the kernel and
can't be interrupted there, so a thread that does not answer is abandoned.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.capture.jpeg import jpeg_size_px
from downfield.capture.problems import CAMERA_LOST, ActiveProblems
from downfield.capture.source import CapturedFrame, FrameSource, PictureFaultError, SourceFacts, changed_size
from downfield.core.errors import DownfieldError, SourceError
from downfield.core.threads import supervised_thread
from downfield.game.published.board_topics import HealthReason

_SAMPLE_STEP: Final = 16  # Spacing of the pixels of a raw picture that are compared with the previous picture


@dataclass(frozen=True, slots=True)
class ReconnectLimits:
    """Timeouts of a live source and waits between reopening it."""

    # Reopen after this time without a frame; later where a stream sends fewer than five per second
    stalled_s: float = 1.0
    stalled_frames: float = 5.0  # Frames whose time may pass without one, by the stream's own rate
    # Reopen after this time without a first frame: a network stream waits for its next key picture
    first_frame_s: float = 1.0
    # Reopen after this time with the same picture, bit for bit; sensor noise alone makes every picture new
    frozen_s: float = 2.0
    # Reopen after this many pictures of another size in a row; some cameras send a single small one at times
    resized_frames: int = 3
    open_timeout_s: float = 6.0  # Longest time for one opening; cameras take up to three seconds
    first_wait_s: float = 0.1  # Wait before the second attempt; doubles with every failed one
    longest_wait_s: float = 1.0  # Longest wait between two attempts
    release_s: float = 0.3  # Timeout for an opening to release the camera, which the next opening needs
    lowest_fps: float = 0.2  # Rates below are not believed
    default_fps: float = 30.0  # Frame rate assumed of a source that reports none, to number the lost frames


NETWORK_LIMITS: Final = ReconnectLimits(open_timeout_s=16.0, first_frame_s=11.0)
"""For network video: key pictures may be 10 s apart, and without one there is neither a size nor a picture."""


class ReconnectingSource:
    """A live source that reconnects by itself, and reports the loss of its picture, and the end of that.

    Raises:
        SourceError: it can't be opened the first time.
    """

    def __init__(
        self, open_source: Callable[[], FrameSource], problems: ActiveProblems, limits: ReconnectLimits | None = None
    ) -> None:
        self._open = open_source
        self._problems = problems
        self._limits = limits or ReconnectLimits()
        self._closed = threading.Event()
        self._wait_s = self._limits.first_wait_s
        self._reader = _Reader(open_source, self._limits)
        self.facts = self._reader.facts()
        self._notes = self.facts.notes

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame until it is closed. After a loss, the indices leave a gap for the lost frames."""
        last: CapturedFrame | None = None
        freeze_detector = _FreezeDetector(self._limits.frozen_s)  # a frozen camera may begin anew with the same picture
        while not self._closed.is_set():
            size_check, index_offset = _SizeCheck(self._limits.resized_frames), None
            freeze_detector.begin()
            try:
                for frame in self._reader.frames():
                    if freeze_detector.is_frozen(frame):
                        continue
                    if index_offset is None:
                        index_offset = self._recovered(last, frame)
                    last = dataclasses.replace(frame, index=index_offset + frame.index)
                    yield last
                    size_check.check(frame)
            except SourceError as error:
                self._report_loss(error)
                if not self._reopen():
                    return
            else:
                return

    def close(self) -> None:
        """Stop."""
        self._closed.set()
        self._reader.close()

    def _report_loss(self, error: DownfieldError) -> None:
        if self._closed.is_set():
            return
        text, remedy = f"No picture: {error}", ""
        if isinstance(error, PictureFaultError):
            text, remedy = str(error), error.remedy
        if not remedy:
            connection = "cable" if self.facts.is_plugged_in else "network connection"
            remedy = f"Check the camera's {connection} and power. Downfield keeps trying to reconnect"
        self._problems.report(HealthReason(code=CAMERA_LOST, level="alarm", text=text, remedy=remedy))

    def _recovered(self, last: CapturedFrame | None, frame: CapturedFrame) -> int:
        """Report that frames arrive; return the offset of this opening's frame indices."""
        self._wait_s = self._limits.first_wait_s
        if last is None:
            self._problems.resolve(CAMERA_LOST, "The camera is sending pictures.")
            return 0
        gap_s = (frame.captured_ns - last.captured_ns) / 1e9
        self._problems.resolve(CAMERA_LOST, f"The camera picture is back after {gap_s:.1f} s.")
        for note in self.facts.notes:
            if note not in self._notes:  # it did not refuse this before
                self._problems.notify("warning", f"{self.facts.name}: {note}.")
        self._notes = self.facts.notes
        lost_frames = max(2, round(gap_s * (self.facts.fps or self._limits.default_fps)))
        return last.index + lost_frames - frame.index

    def _reopen(self) -> bool:
        """Reopen the source, repeatedly if needed; return False if it was closed meanwhile."""
        while True:
            self._reader.close()
            if self._closed.wait(self._wait_s):
                return False
            self._wait_s = min(2 * self._wait_s, self._limits.longest_wait_s)
            self._reader = _Reader(self._open, self._limits)
            try:
                self.facts = self._reader.facts()
            except DownfieldError as error:  # such as a password that was changed while the camera was away
                self._report_loss(error)
                continue
            return True


class _Reader:
    """One opening of a source, in its own thread."""

    def __init__(self, open_source: Callable[[], FrameSource], limits: ReconnectLimits) -> None:
        self._open, self._limits = open_source, limits
        self._stalled_s = limits.stalled_s
        self._output: queue.SimpleQueue[CapturedFrame | SourceFacts | DownfieldError | None] = queue.SimpleQueue()
        self._source: FrameSource | None = None
        self._closed = False
        self._thread = supervised_thread(self._run, "source", self._report_failure)
        self._thread.start()

    def facts(self) -> SourceFacts:
        """Wait until the source is open, and return its facts.

        Raises:
            DownfieldError: it can't be opened, or not in time.
        """
        try:
            first = self._output.get(timeout=self._limits.open_timeout_s)
        except queue.Empty:
            self.close()
            raise SourceError(f"it does not open within {self._limits.open_timeout_s:g} s") from None
        if isinstance(first, DownfieldError):
            raise first
        if not isinstance(first, SourceFacts):
            raise SourceError("it was closed")
        if first.fps is not None and first.fps >= self._limits.lowest_fps:
            self._stalled_s = max(self._limits.stalled_s, self._limits.stalled_frames / first.fps)
        return dataclasses.replace(first, live=True)

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield its frames until it is closed. Raises SourceError: it stopped or stalled."""
        timeout_s = max(self._limits.first_frame_s, self._stalled_s)
        while True:
            try:
                item = self._output.get(timeout=timeout_s)
            except queue.Empty:
                raise PictureFaultError(f"No picture for {timeout_s:g} s") from None
            timeout_s = self._stalled_s
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
            self._thread.join(self._limits.release_s)

    def _run(self) -> None:
        try:
            source = self._source = self._open()
            if self._closed:
                source.close()
            self._output.put(source.facts)
            for frame in source.frames():
                self._output.put(frame)
                if self._closed:
                    return
            self._output.put(None)
        except DownfieldError as error:
            self._output.put(error)

    def _report_failure(self, cause: str) -> None:
        """Pass an error on: drivers raise all kinds of errors, and reopening is the remedy for all."""
        self._output.put(SourceError(cause))


class _FreezeDetector:
    """Detects a picture that no longer changes.

    A camera that was frozen may begin each opening with the same picture, whether it is frozen still or not: others may
    follow, so it has as long as any to send one.
    """

    def __init__(self, after_s: float) -> None:
        self._after_ns = round(after_s * 1e9)
        self._content: bytes | None = None
        self._unchanged_since_ns: int | None = None
        self._was_frozen = False

    def begin(self) -> None:
        """Give a camera that was opened again its time to send another picture."""
        self._unchanged_since_ns = None

    def is_frozen(self, frame: CapturedFrame) -> bool:
        """Compare a frame with the one before; return whether it is still the picture that a camera froze with.

        Raises:
            SourceError: the picture has not changed for too long.
        """
        if frame.packet is not None:
            content = frame.packet.data
        else:
            image = frame.image if frame.image is not None else np.empty((0, 0, 3), dtype=np.uint8)
            content = image[::_SAMPLE_STEP, ::_SAMPLE_STEP].tobytes()
        if content != self._content:
            self._content, self._unchanged_since_ns, self._was_frozen = content, frame.captured_ns, False
        elif self._unchanged_since_ns is None:
            self._unchanged_since_ns = frame.captured_ns
        elif frame.captured_ns - self._unchanged_since_ns > self._after_ns:
            self._was_frozen = True
            raise PictureFaultError(
                f"The picture has been frozen for {self._after_ns / 1e9:g} s",
                "It is opened again and again. If that does not help, switch the camera off and on",
            )
        return self._was_frozen


class _SizeCheck:
    """Detects a stream whose pictures no longer have the size of its first one: its facts are read by opening it."""

    def __init__(self, after_frames: int) -> None:
        self._after_frames = after_frames
        self._size_px: tuple[int, int] | None = None
        self._resized = 0

    def check(self, frame: CapturedFrame) -> None:
        """Compare a frame's size with the first one's. Raises SourceError: several in a row have another one."""
        size_px = None
        if frame.image is not None:
            size_px = (frame.image.shape[1], frame.image.shape[0])
        elif frame.packet is not None:
            size_px = jpeg_size_px(frame.packet.data)
        self._size_px = self._size_px or size_px
        if size_px is None or self._size_px is None or size_px == self._size_px:
            self._resized = 0
            return
        self._resized += 1
        if self._resized >= self._after_frames:
            raise changed_size(size_px, self._size_px)
