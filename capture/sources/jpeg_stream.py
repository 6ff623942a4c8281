"""Finds the JPEG pictures in a stream of bytes by their own markers (ISO/IEC 10918-1, Annex B).

Motion JPEG comes in many dialects: boundaries with and without dashes, or other ones than announced; no first boundary;
lengths that are missing or wrong; padding; sound between the pictures. What all of them share is the JPEG itself, so
only that is relied on. Before it, a camera's time stamp is read where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class JpegStreamLimits:
    """Limits of a stream's content, so that no server can fill this computer's memory."""

    picture_bytes: int = 32 << 20
    """Largest picture."""

    between_bytes: int = 4 << 20
    """Most bytes between two pictures: sound, headers and padding."""

    header_bytes: int = 4096
    """Bytes before a picture that are searched for its time stamp."""


_LIMITS: Final = JpegStreamLimits()

_START: Final = b"\xff\xd8\xff"
_MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
"""A marker within entropy-coded data: not a stuffed zero, not a restart marker. Of several bytes 0xFF before it, the
last: a pattern that begins with one byte is found 15 times as fast as one that begins with any number of it."""

_STAMP: Final = re.compile(
    rb"(?:^|[\r\n])[ \t]*x-timestamp[ \t]*:[ \t]*([0-9]{1,12}(?:\.[0-9]{1,12})?)[ \t]*[\r\n]", re.IGNORECASE
)

_END_OF_IMAGE: Final = 0xD9
_START_OF_SCAN: Final = 0xDA
_APPLICATION: Final = frozenset(range(0xE0, 0xF0))
_STANDALONE: Final = frozenset({0x01, *range(0xD0, 0xD8)})
_MARKERS: Final = frozenset({0x01, *range(0xC0, 0xFF)} - {0xD8})
"""Markers that may follow the first one of a picture, which is the start of another picture where it comes again."""


@dataclass(frozen=True, slots=True)
class StreamedJpeg:
    """A picture found in a stream.

    Attributes:
        number: its number in the stream, from 0; a gap means pictures that broke off.
        data: from its first marker to its last.
        stamp_ns: the camera's own time stamp; None if it sends none.
    """

    number: int
    data: bytes
    stamp_ns: int | None


class JpegScanner:
    """Cuts pictures out of the bytes of a stream as they arrive."""

    def __init__(self) -> None:
        self._number = 0
        self._bytes = bytearray()
        self._begun = False  # whether the bytes begin with a picture
        self._position = 0  # up to which they were examined
        self._in_scan = False  # whether that is within entropy-coded data
        self._had_scan = False  # whether entropy-coded data began
        self._header = b""

    def feed(self, data: bytes) -> Iterator[StreamedJpeg]:
        """Add bytes and yield every picture that they complete.

        Raises:
            ValueError: there is no picture, or no end of one, in more bytes than any camera sends.
        """
        self._bytes += data
        while True:
            if not self._begun and not self._find_start():
                return
            end = self._find_end()
            if end is None:
                if len(self._bytes) > _LIMITS.picture_bytes:
                    raise ValueError(f"a picture has no end within {_LIMITS.picture_bytes >> 20} MB")
                return
            if end > 0:
                yield StreamedJpeg(self._number, bytes(self._bytes[:end]), _stamp_ns(self._header))
                self._number += 1
                self._skip(end)
            else:
                # What had pixels was a picture; less is noise that looks like the beginning of one.
                self._number += self._had_scan
                self._skip(1)

    def _skip(self, count: int) -> None:
        """Drop bytes at the beginning, up to which everything was examined."""
        del self._bytes[:count]
        self._begun = self._in_scan = self._had_scan = False
        self._position, self._header = 0, b""

    def _find_start(self) -> bool:
        start = self._bytes.find(_START)
        if start < 0:
            if len(self._bytes) > _LIMITS.between_bytes:
                raise ValueError(f"no JPEG picture in {_LIMITS.between_bytes >> 20} MB")
            return False
        self._header = bytes(self._bytes[max(0, start - _LIMITS.header_bytes) : start])
        del self._bytes[:start]
        self._begun, self._position = True, 2
        return True

    def _find_end(self) -> int | None:
        """Return the picture's length; None until its end has arrived, 0 if it is no picture or was cut off."""
        while not self._in_scan or self._pass_scan():
            at = self._position
            while at < len(self._bytes) and self._bytes[at] == 0xFF:
                at += 1
            if at >= len(self._bytes):
                return None
            code = self._bytes[at]
            if at == self._position or code not in _MARKERS:
                return 0  # no marker, or the start of another picture
            if code == _END_OF_IMAGE:
                return at + 1
            if code in _STANDALONE:
                self._position = at + 1
                continue
            end = at + 1 + int.from_bytes(self._bytes[at + 1 : at + 3], "big")
            if at + 3 >= len(self._bytes):
                return None
            # Only an application's data may hold a picture, as a thumbnail; in anything else, it is cut off.
            start = self._bytes.find(_START, at, (at + 3 if code in _APPLICATION else end) + 1)
            if end < at + 3 or start >= 0:
                return 0
            if end >= len(self._bytes):
                return None
            self._position, self._in_scan = end, code == _START_OF_SCAN
            self._had_scan = self._had_scan or self._in_scan
        return None

    def _pass_scan(self) -> bool:
        """Go on to the marker after the entropy-coded data; return whether it has arrived."""
        marker = _MARKER.search(self._bytes, self._position)
        if marker is not None:
            self._position, self._in_scan = marker.start(), False
            return True
        # The last bytes may be the beginning of a marker.
        self._position = max(self._position, len(self._bytes) - 1)
        while self._position > 2 and self._bytes[self._position - 1] == 0xFF:
            self._position -= 1
        return False


def _stamp_ns(header: bytes) -> int | None:
    """Return the last time stamp in the text before a picture."""
    stamps = _STAMP.findall(header)
    return round(float(stamps[-1]) * 1e9) if stamps else None
