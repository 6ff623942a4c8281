"""JPEG pictures unpacked, as cameras send them.

FFmpeg does it in half of OpenCV's time, and takes pictures without Huffman tables, which many USB cameras leave out.
"""

from __future__ import annotations

import threading
from types import MappingProxyType
from typing import Final

import av
import av.codec
import numpy as np
from av.video.codeccontext import VideoCodecContext

from downfield.core.arrays import Image

DECODING: Final = MappingProxyType({"idct": "xvid"})
"""FFmpeg's options: of its exact inverse transforms the fastest. A recording is unpacked as the rig unpacked it."""

_HERE = threading.local()  # a decoder serves one thread at a time


def unpack_jpeg(data: bytes) -> Image | None:
    """A picture, uint8 blue green red, shape (height, width, 3); None where it is broken."""
    if not data:
        return None
    try:
        frames = _decoder().decode(av.Packet(data))
    except av.FFmpegError:
        return None
    return _picture(frames[0].reformat(format="bgr24")) if frames else None


def _picture(frame: av.VideoFrame) -> Image:
    """The pixels of a frame in blue green red, where they lie: a copy costs the memory as much as unpacking them."""
    plane = frame.planes[0]
    if plane.line_size != 3 * plane.width:  # rows with room between them
        return np.asarray(frame.to_ndarray(), dtype=np.uint8)
    return np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.width, 3)


def _decoder() -> VideoCodecContext:
    decoder: VideoCodecContext | None = getattr(_HERE, "decoder", None)
    if decoder is None:
        made = av.codec.CodecContext.create("mjpeg", "r")
        if not isinstance(made, VideoCodecContext):
            raise TypeError("mjpeg is video")
        # A torn picture is no picture, rather than half a one with the rest made up.
        made.thread_count, made.options = 1, {**DECODING, "err_detect": "explode"}
        decoder = _HERE.decoder = made
    return decoder
