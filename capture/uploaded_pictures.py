"""Decodes pictures that come from outside: their format and size are checked before anything is decoded."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.media.limits import DECODER_BOUNDS, MAX_PIXELS

MAX_UPLOAD_BYTES: Final = 1 << 20
"""Of an uploaded file."""

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
