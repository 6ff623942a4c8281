"""Pictures kept ready in memory: those of the call that was opened last, and small ones for lists.

Whoever opens a call steps through all of its pictures. In a compressed video a picture costs all those before it back
to a key frame; in order each costs one. So they are decoded in order, by a thread that gives way to the live loop, and
kept as they are sent.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import cv2
import numpy as np

from downfield.capture.footage import FootageFrame
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.files.facts import file_state, is_same_file
from downfield.core.platform.processes import lower_priority
from downfield.core.threads import only_logged, supervised_thread

Decode = Callable[[Iterable[FootageFrame]], Iterator[Image | None]]


@dataclass(frozen=True, slots=True)
class ThumbnailLimits:
    """Limits of small pictures."""

    width_px: int = 320  # Sharp on a phone at 160 CSS pixels
    quality: int = 78  # Of the JPEG: about 15 kB each
    remembered: int = 300  # Kept in memory, some 5 MB


THUMBNAIL_LIMITS: Final = ThumbnailLimits()


class Thumbnails:
    """Small pictures by name. Callable from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: tuple[str, ...], picture: Callable[[], bytes]) -> bytes:
        """Return the small JPEG of a name; none kept, it is made. Raises NotRecordedError: the picture is broken."""
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        small = _scaled_down(picture())
        with self._lock:
            self._kept[name] = small
            while len(self._kept) > THUMBNAIL_LIMITS.remembered:
                self._kept.popitem(last=False)
        return small


def _scaled_down(jpeg: bytes) -> bytes:
    data = np.frombuffer(jpeg, np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    if image is None:
        raise NotRecordedError("The picture of this call is broken.")
    height, width = image.shape[:2]
    width_px = THUMBNAIL_LIMITS.width_px
    if width > width_px:
        size = (width_px, max(1, round(height * width_px / width)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, THUMBNAIL_LIMITS.quality])[1].tobytes()


@dataclass(frozen=True, slots=True)
class ReadyLimits:
    """Limits of pictures made ready."""

    # Of JPEG pictures in memory: about 170 at 1920x1080, six seconds of a call at 30 frames/s
    kept_bytes: int = 64 << 20
    first_ns: int = 1_000_000_000  # Pictures from so long before the decisive one on are made first: there people begin
    close_timeout_s: float = 5.0  # A picture takes a tenth of a second; at low priority, beside other work, much longer


READY_LIMITS: Final = ReadyLimits()


class ReadyPictures:
    """Keeps the pictures of the calls that were opened last. Callable from any thread."""

    def __init__(self, decode: Decode, encode: Callable[[Image], bytes]) -> None:
        self._decode, self._encode = decode, encode
        self._kept: OrderedDict[FootageFrame, tuple[bytes, os.stat_result]] = OrderedDict()
        self._size = 0
        self._job = 0
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def get(self, still: FootageFrame) -> bytes | None:
        """Return a picture as JPEG; None where it is not ready, or its file is no longer the one it was read from."""
        now = file_state(still.video)
        with self._lock:
            jpeg, file = self._kept.get(still, (None, None))
            if file is None or now is None or not is_same_file(file, now):
                return None
            self._kept.move_to_end(still)
            return jpeg

    def keep(self, still: FootageFrame, file: os.stat_result | None, jpeg: bytes) -> None:
        """Keep a picture in place of those used least lately, unless its file, before it was read, was not there."""
        if file is None:
            return
        with self._lock:
            before, _ = self._kept.pop(still, (b"", None))
            self._size += len(jpeg) - len(before)
            self._kept[still] = (jpeg, file)
            while self._size > READY_LIMITS.kept_bytes:
                _, (dropped, _) = self._kept.popitem(last=False)
                self._size -= len(dropped)

    def prepare(self, stills: Sequence[FootageFrame], decisive: FootageFrame) -> None:
        """Make pictures ready, first from shortly before the decisive one on; those of another call no longer."""
        begin = next((at for at, one in enumerate(stills) if one.t_ns >= decisive.t_ns - READY_LIMITS.first_ns), 0)
        missing = [[one for one in part if self.get(one) is None] for part in (stills[begin:], stills[:begin])]
        if not any(missing):
            return
        work = partial(self._make, self._next_job(), missing)
        thread = supervised_thread(work, "ready pictures", only_logged)
        with self._lock:
            thread.start()
            self._threads = [one for one in self._threads if one.is_alive()] + [thread]

    def close(self) -> None:
        """Make no more pictures: a process that ends while one is decoded is ended by the decoder's library."""
        self._next_job()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(READY_LIMITS.close_timeout_s)

    def _next_job(self) -> int:
        with self._lock:
            self._job += 1
            return self._job

    def _make(self, job: int, parts: Sequence[Sequence[FootageFrame]]) -> None:
        lower_priority()
        made_bytes = 0
        for stills in parts:
            images = self._decode(stills)
            for still in stills:
                if job != self._job or made_bytes > READY_LIMITS.kept_bytes:
                    return
                file, image = file_state(still.video), next(images)
                if image is not None:
                    jpeg = self._encode(image)
                    self.keep(still, file, jpeg)
                    made_bytes += len(jpeg)
