"""A replay as a fragmented MP4: its first pictures can be played while the last are still being made."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import av
import cv2
import numpy as np

from downfield.review.pictures.clips import TimedImage

_TICKS: Final = 90_000
_KEY_EVERY: Final = 15  # a player that begins in the middle waits for half a second at most
_LAST_NS: Final = 100_000_000  # how long the last picture stays: players show it for no time at all


def encode_fragments(images: Iterator[TimedImage]) -> Iterator[bytes]:
    """Yield a clip in parts as its pictures come; the first part holds what a player needs to begin.

    Args:
        images: in order, at least one, all of the size of the first.
    """
    sink = _Sink()
    flags = {"movflags": "frag_every_frame+empty_moov+default_base_moof"}
    with av.open(sink, "w", format="mp4", options=flags) as container:
        first = next(images)
        options = {"preset": "ultrafast", "tune": "zerolatency", "crf": "20"}
        stream = container.add_stream("libx264", options=options)
        stream.height, stream.width = first[1].shape[:2]
        stream.pix_fmt, stream.codec_context.time_base = "yuv420p", Fraction(1, _TICKS)
        stream.codec_context.thread_count, stream.codec_context.gop_size = 1, _KEY_EVERY
        for shown_ns, image in _with_last(first, images):
            yuv = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420)
            frame = av.VideoFrame.from_ndarray(np.asarray(yuv, dtype=np.uint8), format="yuv420p")
            frame.pts, frame.time_base = round(shown_ns * _TICKS / 1e9), Fraction(1, _TICKS)
            container.mux(stream.encode(frame))
            yield from sink.taken()
        container.mux(stream.encode())
    yield from sink.taken()


def _with_last(first: TimedImage, others: Iterator[TimedImage]) -> Iterator[TimedImage]:
    last = first
    yield first
    for last in others:
        yield last
    yield last[0] + _LAST_NS, last[1]


class _Sink:
    """Takes what is written, for a container that never goes back."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Take bytes."""
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> Iterator[bytes]:
        """Yield what was written since, in one piece."""
        if self._parts:
            parts, self._parts = self._parts, []
            yield b"".join(parts)
