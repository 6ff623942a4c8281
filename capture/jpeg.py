"""Decodes the JPEG pictures that cameras send, and uploaded pictures, whose format and size are checked before.

FFmpeg takes half of OpenCV's time, and accepts pictures without Huffman tables, which many USB cameras leave out.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

import av
import av.codec
import cv2
import numpy as np
from av.video.codeccontext import VideoCodecContext
from numpy.typing import NDArray

from downfield.core.arrays import Image
from downfield.core.media.video_file import is_turned, upright_bgr
from downfield.core.media.video_streams import DECODER_BOUNDS, JPEG_DECODER, MAX_PIXELS

FRAME_HEADERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a header with the picture's size (ITU-T T.81, table B.1); the others in the range are tables."""

_THREAD = threading.local()  # a decoder serves one thread at a time


def decode_jpeg(data: bytes) -> Image | None:
    """Return a picture, uint8 BGR, shape (height, width, 3); None if it is damaged or too large.

    It is turned as its EXIF note says: a phone that streams writes one, and so it is turned where it is played again.
    """
    frame = decode_jpeg_frame(data)
    if frame is None:
        return None
    return upright_bgr(frame) if is_turned(frame) else _pixels(frame.reformat(format="bgr24", threads=1))


def decode_jpeg_frame(data: bytes) -> av.VideoFrame | None:
    """Return a picture in the colors that it is stored in; None if it is damaged or too large."""
    if not data:
        return None
    try:
        frames = _decoder().decode(av.Packet(data))
    except av.FFmpegError:
        return None
    return frames[0] if frames else None


def jpeg_size_px(data: bytes) -> tuple[int, int] | None:
    """Return width and height by a picture's header, without decoding it; None if there is no such header."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in FRAME_HEADERS:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 1 if marker == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4])  # any number of 0xFF may fill up
    return None


def _pixels(frame: av.VideoFrame) -> Image:
    """Return the pixels of a BGR frame without copying them: a copy costs as much memory traffic as decoding."""
    plane = frame.planes[0]
    if plane.line_size != 3 * plane.width:  # rows with padding between them
        return np.asarray(frame.to_ndarray(), dtype=np.uint8)
    return np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.width, 3)


def _decoder() -> VideoCodecContext:
    decoder: VideoCodecContext | None = getattr(_THREAD, "decoder", None)
    if decoder is None:
        created = av.codec.CodecContext.create("mjpeg", "r")
        if not isinstance(created, VideoCodecContext):
            raise TypeError("mjpeg is a video codec")
        created.thread_count, created.options = 1, {**JPEG_DECODER, **DECODER_BOUNDS}
        decoder = _THREAD.decoder = created
    return decoder


MAX_UPLOAD_BYTES: Final = 1 << 20  # Of an uploaded file

_READERS: Final[Mapping[bytes, str]] = MappingProxyType(
    {b"\x89PNG\r\n\x1a\n": "png_pipe", b"\xff\xd8\xff": "jpeg_pipe", b"RIFF": "webp_pipe"}
)
"""The format by the first bytes of a file."""


def decode_uploaded(data: bytes, flags: int = cv2.IMREAD_COLOR) -> NDArray[Any] | None:
    """Return an uploaded PNG, JPEG or WebP file as OpenCV reads it; None when it is none, or is too large."""
    if len(data) > MAX_UPLOAD_BYTES or not 0 < _declared_pixels(data) <= MAX_PIXELS:
        return None
    with suppress(cv2.error):
        return cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    return None


def _declared_pixels(data: bytes) -> int:
    """Return how many pixels a picture's header says; 0 when it has none."""
    reader = next((name for start, name in _READERS.items() if data.startswith(start)), None)
    if reader is None:
        return 0
    try:
        with av.open(io.BytesIO(data), format=reader, options=dict(DECODER_BOUNDS)) as picture:
            stream = picture.streams.video[0]
            return stream.width * stream.height
    except (av.FFmpegError, IndexError, ValueError):
        return 0
