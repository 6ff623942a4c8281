"""Encodes the program as H.264 in fragments of MP4, in a thread of its own, and only while somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

import av
import av.container
import cv2
import numpy as np
from av.video.frame import PictureType
from av.video.stream import VideoStream

from downfield.broadcast.program.live_stream import TIMES, Part
from downfield.core.arrays import Image
from downfield.core.platform.processes import lower_priority
from downfield.core.threads import BoundedQueue, supervised_thread
from downfield.review.zip_container import WriteSink

_TICKS: Final = 90_000


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """How the program is encoded: cheaply, for one more encoding on the way to the audience."""

    preset: str = "ultrafast"  # A third of the processor time of "veryfast"
    quality: str = "21"  # Constant rate factor: no difference to see beside the motion JPEG
    waiting: int = 2  # Pictures that may wait; beyond that the oldest is left out
    # A longer time between two pictures is shortened to this, since no part may be longer
    longest_gap_s: float = TIMES.part_s


OPTIONS: Final = EncoderOptions()


class FilmSink(Protocol):
    """Receives a film in parts; `FilmWriter` is one."""

    def begin(self, header: bytes) -> None:
        """Begin a take."""

    def add(self, part: Part) -> None:
        """Add the next part of the take."""

    def end(self) -> None:
        """End the take: nobody watches. Does nothing without one."""


class ProgramEncoder:
    """Fills a film with the pictures it is given. Callable from any thread.

    Args:
        failed: receives why it could not be encoded, as a phrase; the next picture begins anew.
        lower: lowers the priority of its thread; does nothing where that of the whole process is low.
    """

    def __init__(
        self, film: FilmSink, failed: Callable[[str], None] = lambda _: None, lower: Callable[[], None] = lower_priority
    ) -> None:
        self._film, self._lower = film, lower
        self._pictures: BoundedQueue[tuple[Image, int]] = BoundedQueue(OPTIONS.waiting)
        self._thread = supervised_thread(
            self._run, "program stream", failed, restarts=True, closed=lambda: self._pictures.finished
        )
        self._thread.start()

    def put(self, image: Image, t_ns: int) -> None:
        """Encode a picture, which must not be changed any more; taken at t_ns. One that waits too long is left out."""
        self._pictures.put_or_drop((image, t_ns))

    def close(self) -> None:
        """Stop encoding."""
        self._pictures.close()
        self._thread.join()

    def _run(self) -> None:
        self._lower()
        take: _Take | None = None
        try:
            while not self._pictures.finished:
                item = self._pictures.get(TIMES.unwatched_s)
                if item is None:  # nobody watches any more
                    self._end(take)
                    take = None
                    continue
                image, t_ns = item
                if take is None or take.size_px != image.shape[1::-1]:
                    if take is not None:
                        take.close()
                    take = _Take(image.shape[1::-1], self._film)
                take.put(image, t_ns)
        finally:
            self._end(take)

    def _end(self, take: _Take | None) -> None:
        if take is not None:
            take.close()
        self._film.end()


class _Take:
    """Pictures of one size without a pause, encoded and gathered to parts.

    Args:
        size_px: width and height; an odd edge is cut off.
    """

    def __init__(self, size_px: tuple[int, int], film: FilmSink) -> None:
        self.size_px = size_px
        self._film, self._sink = film, WriteSink()
        self._width, self._height = (edge - edge % 2 for edge in size_px)
        flags = "frag_every_frame+empty_moov+default_base_moof+skip_trailer"
        self._container = av.open(self._sink, "w", format="mp4", options={"movflags": flags, "flush_packets": "1"})
        options = {
            "preset": OPTIONS.preset,
            "tune": "zerolatency",
            "crf": OPTIONS.quality,
            "profile": "baseline",
            "sc_threshold": "0",
        }
        stream = self._container.add_stream("libx264", options=options)
        if not isinstance(stream, VideoStream):
            raise TypeError("libx264 is a video codec")
        stream.width, stream.height, stream.pix_fmt = self._width, self._height, "yuv420p"
        stream.codec_context.time_base = Fraction(1, _TICKS)
        stream.codec_context.thread_count = 1
        stream.codec_context.gop_size = 36_000  # key frames come when they are asked for
        self._stream = stream
        self._header = b""
        self._last_ns: int | None = None
        self._t_s = self._segment_s = 0.0
        self._fragment = b""
        self._keys: list[bool] = []
        self._part, self._part_s, self._part_key = b"", 0.0, False

    def put(self, image: Image, t_ns: int) -> None:
        """Encode a picture, (h, w, 3), BGR; the one before it is complete then."""
        shown_s = 0.0
        if self._last_ns is not None:
            shown_s = min(max((t_ns - self._last_ns) / 1e9, 1 / _TICKS), OPTIONS.longest_gap_s)
        self._last_ns = t_ns
        self._t_s += shown_s
        self._segment_s += shown_s
        key = shown_s == 0.0 or self._segment_s >= TIMES.segment_s - 1e-6
        if key:
            self._segment_s = 0.0
        self._keys.append(key)
        yuv = cv2.cvtColor(image[: self._height, : self._width], cv2.COLOR_BGR2YUV_I420)
        frame = av.VideoFrame.from_ndarray(np.asarray(yuv, dtype=np.uint8), format="yuv420p")
        frame.pts, frame.time_base = round(self._t_s * _TICKS), Fraction(1, _TICKS)
        if key:
            frame.pict_type = PictureType.I
        self._container.mux(self._stream.encode(frame))
        for kind, data in _boxes(self._sink.take()):
            if kind in {b"ftyp", b"moov"}:
                self._header += data
                if kind == b"moov":
                    self._film.begin(self._header)
            else:
                self._fragment += data
                if kind == b"mdat":
                    self._complete(shown_s)

    def close(self) -> None:
        """End it; the last picture is lost."""
        self._container.close()

    def _complete(self, shown_s: float) -> None:
        """Take a fragment, which is shown for so long; a part ends before a key frame, or when it is long enough."""
        fragment, self._fragment = self._fragment, b""
        key = self._keys.pop(0)
        if self._part and (key or self._part_s + shown_s > TIMES.part_s + 1e-6):
            self._end_part()
        if not self._part:
            self._part_key = key
        self._part += fragment
        self._part_s += shown_s
        if self._keys[0] or self._part_s + shown_s > TIMES.part_s + 1e-6:
            self._end_part()

    def _end_part(self) -> None:
        self._film.add(Part(self._part, self._part_s, self._part_key))
        self._part, self._part_s = b"", 0.0


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the boxes of MP4 in some bytes: type, and all its bytes (ISO/IEC 14496-12, 4.2)."""
    while data:
        length = int.from_bytes(data[:4], "big")
        yield data[4:8], data[:length]
        data = data[length:]
