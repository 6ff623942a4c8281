"""Small pictures for lists: a decisive picture scaled down, and kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.core.errors import NotRecordedError


@dataclass(frozen=True, slots=True)
class ThumbnailLimits:
    """Limits of small pictures."""

    width_px: int = 320
    """Sharp on a phone at 160 CSS pixels."""

    quality: int = 78
    """Of the JPEG: about 15 kB each."""

    remembered: int = 300
    """Kept in memory, some 5 MB."""


THUMBNAIL_LIMITS: Final = ThumbnailLimits()


class Thumbnails:
    """Small pictures by name. Callable from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: tuple[str, ...], picture: Callable[[], bytes]) -> bytes:
        """Return a small picture as JPEG.

        Args:
            name: of the picture; another picture has another name.
            picture: returns the picture in full, as JPEG, where no small one is kept.

        Raises:
            NotRecordedError: the picture can't be read.
        """
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        small = scaled_down(picture())
        with self._lock:
            self._kept[name] = small
            while len(self._kept) > THUMBNAIL_LIMITS.remembered:
                self._kept.popitem(last=False)
        return small


def scaled_down(jpeg: bytes, width_px: int = THUMBNAIL_LIMITS.width_px) -> bytes:
    """Return a picture no wider than this, as JPEG.

    Raises:
        NotRecordedError: it can't be read.
    """
    data = np.frombuffer(jpeg, np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    if image is None:
        raise NotRecordedError("The picture of this call is broken.")
    height, width = image.shape[:2]
    if width > width_px:
        size = (width_px, max(1, round(height * width_px / width)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, THUMBNAIL_LIMITS.quality])[1].tobytes()
