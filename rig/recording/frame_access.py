"""One picture out of a video file: exactly the one that is asked for, and no more unpacked than that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final

import av
import av.container
import numpy as np
from av.video.stream import VideoStream

from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.game.footage import FootageFrame
from downfield.rig.sources.jpeg import unpack_jpeg

MOST_UNPACKED: Final = 1200
"""Pictures between a key frame and the one asked for; encoders put one every few seconds, at most every 250."""

Timed = tuple[int, Callable[[], Image | None]]
"""A picture's time in ticks of its stream, and what unpacks it: None where it is broken."""

_SECOND_NS: Final = 1_000_000_000
_BACK_NS: Final = (0, 2 * _SECOND_NS, 10 * _SECOND_NS)
"""How much earlier to look for a key frame, when the one found shows a later picture."""


def unpack(still: FootageFrame) -> Image:
    """A picture, uint8 blue green red, shape (height, width, 3), unpacked as the rig unpacks it when it watches.

    Raises:
        NotRecordedError: the file is gone, or the picture is broken or not in it (yet).

    """
    try:
        with av.open(str(still.video)) as container:
            stream = container.streams.video[0]
            stream.codec_context.thread_count = 1
            for back_ns in _BACK_NS:
                for image in _matching(container, stream, still, still.at_ns - back_ns):
                    return image
    except (av.FFmpegError, OSError, IndexError):
        raise NotRecordedError(f"{_name(still)} can't be read any more: it was deleted or damaged") from None
    raise NotRecordedError(f"frame {still.frame} is not in {_name(still)}: it is broken, or not on the disk yet")


def _matching(
    container: av.container.InputContainer, stream: VideoStream, still: FootageFrame, from_ns: int
) -> Iterator[Image]:
    """The picture, when it is found from a place in the file on; nothing when that place is behind it."""
    tick_ns = (stream.time_base or Fraction(1, 1000)) * _SECOND_NS
    container.seek(max(0, int(from_ns / tick_ns) - 1), stream=stream)
    pictures = _jpegs(container, stream) if stream.codec_context.name == "mjpeg" else _frames(container, stream)
    before = still.rank
    for number, (ticks, unpacked) in enumerate(pictures):
        at_ns = round(ticks * tick_ns)
        if number > MOST_UNPACKED or at_ns > still.at_ns:
            return
        if at_ns == still.at_ns and before == 0:
            image = unpacked()
            if image is not None:
                yield image
            return
        before -= at_ns == still.at_ns


def _jpegs(container: av.container.InputContainer, stream: VideoStream) -> Iterator[Timed]:
    """Pictures still packed: every JPEG stands by itself."""
    for packet in container.demux(stream):
        if packet.pts is not None:
            yield packet.pts, partial(unpack_jpeg, bytes(packet))


def _frames(container: av.container.InputContainer, stream: VideoStream) -> Iterator[Timed]:
    """Pictures unpacked, each on those before it; packets that can't be are left out."""
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except av.InvalidDataError:
            continue
        for frame in frames:
            if isinstance(frame, av.VideoFrame) and frame.pts is not None:
                yield frame.pts, partial(_bgr, frame)


def _bgr(frame: av.VideoFrame) -> Image:
    return np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)


def _name(still: FootageFrame) -> str:
    return f"{still.video.parent.name}/{still.video.name}"
