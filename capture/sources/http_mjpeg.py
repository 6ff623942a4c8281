"""Motion JPEG over HTTP, as network cameras, phones and hobby boards send it.

libavformat's mpjpeg demuxer was tried instead: it drops ``X-Timestamp`` (its time stamps only count 1, 2, 3), so that
capture times and latency could not be measured, and it can't be interrupted while it waits for the next picture.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import ssl
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Final

from downfield.capture.jpeg import FRAME_HEADERS, decode_jpeg
from downfield.capture.source import CaptureClock, CapturedFrame, PictureTimes, SourceFacts, VideoPacket
from downfield.capture.sources.http_connection import HttpStream, open_http
from downfield.capture.sources.source_clock import SourceClock
from downfield.capture.sources.source_types import SourceType
from downfield.core.addresses import split_address, without_password
from downfield.core.errors import InputError, SourceError
from downfield.core.platform.clock import monotonic_ns
from downfield.core.texts import plain_text

_READ_BYTES: Final = 65536  # Most bytes read at a time; fewer if fewer have arrived

_FIRST_PICTURES: Final = 10
"""Damaged pictures at the beginning, where a camera joins in the middle of one, before the stream is given up."""

_ACCEPT: Final = "multipart/x-mixed-replace, image/jpeg, */*;q=0.5"


# Bounds, so that no server can fill this computer's memory
_PICTURE_BYTES: Final = 32 << 20  # Largest picture
_BETWEEN_BYTES: Final = 4 << 20  # Most bytes between two pictures: sound, headers and padding
_HEADER_BYTES: Final = 4096  # Bytes before a picture that are searched for its time stamp

_START: Final = b"\xff\xd8\xff"
_END: Final = b"\xff\xd9"
_MARKER: Final = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
"""A marker within entropy-coded data: not a stuffed zero, not a restart marker. Of several bytes 0xFF before it, the
last: a pattern that begins with one byte is found 15 times as fast as one that begins with any number of it."""

_STAMP: Final = re.compile(
    rb"(?:^|[\r\n])[ \t]*x-timestamp[ \t]*:[ \t]*([0-9]{1,12}(?:\.[0-9]{1,12})?)[ \t]*[\r\n]", re.IGNORECASE
)

_END_OF_IMAGE: Final = 0xD9
_START_OF_SCAN: Final = 0xDA
_APPLICATION: Final = frozenset({*range(0xE0, 0xF0), 0xFE})
"""Markers of data that may hold another picture, as a preview: of an application, and a comment."""

_LENGTH: Final = re.compile(rb"(?:^|[\r\n])[ \t]*content-length[ \t]*:[ \t]*([0-9]{1,9})[ \t]*[\r\n]", re.IGNORECASE)
_NEXT_PART: Final = re.compile(rb"[\r\n]+--")
_PADDING: Final = b"\0\xff\r\n \t"
_STANDALONE: Final = frozenset({0x01, *range(0xD0, 0xD8)})
_MARKERS: Final = frozenset({0x01, *range(0xC0, 0xFF)} - {0xD8})
"""Markers that may follow the first one of a picture, which is the start of another picture where it comes again."""


@dataclass(frozen=True, slots=True)
class StreamedJpeg:
    """A picture found in a stream."""

    number: int  # its number in the stream, from 0; a gap means pictures that broke off
    data: bytes  # from its first marker to its last
    stamp_ns: int | None  # the camera's own time stamp; None if it sends none


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
        self._size = self._last_size = (0, 0)  # height and width, of this picture and of the last one

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
                if len(self._bytes) > _PICTURE_BYTES:
                    raise ValueError(f"a picture has no end within {_PICTURE_BYTES >> 20} MB")
                return
            if end > 0:
                if not self._is_preview():
                    data = bytes(self._bytes[:end])
                    data += b"" if data.endswith(_END) else _END
                    yield StreamedJpeg(self._number, data, _stamp_ns(self._header))
                    self._number, self._last_size = self._number + 1, self._size
                self._skip(end)
            else:
                # What had pixels was a picture; less is noise that looks like the beginning of one.
                self._number += self._had_scan
                self._skip(1)

    def _skip(self, count: int) -> None:
        """Drop bytes at the beginning, up to which everything was examined."""
        del self._bytes[:count]
        self._begun = self._in_scan = self._had_scan = False
        self._position, self._header, self._size = 0, b"", (0, 0)

    def _is_preview(self) -> bool:
        """Return whether this picture follows a larger one with nothing between: it is no picture of the stream."""
        return not self._header.strip(_PADDING) and self._size < self._last_size

    def _announced_end(self) -> int:
        """Return the length of a picture without an end marker, as its part announces it; 0 where it does not."""
        found = _LENGTH.findall(self._header)
        length = int(found[-1]) if found else 0
        is_right = self._had_scan and length <= len(self._bytes) and _NEXT_PART.match(self._bytes, length) is not None
        return length if is_right else 0

    def _find_start(self) -> bool:
        start = self._bytes.find(_START)
        if start < 0:
            if len(self._bytes) > _BETWEEN_BYTES:
                raise ValueError(f"no JPEG picture in {_BETWEEN_BYTES >> 20} MB")
            return False
        self._header = bytes(self._bytes[max(0, start - _HEADER_BYTES) : start])
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
                return self._announced_end()  # no marker, or the start of another picture
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
            if code in FRAME_HEADERS:
                height, width = (int.from_bytes(self._bytes[at + place : at + place + 2], "big") for place in (4, 6))
                self._size = height, width
            self._position, self._in_scan = end, code == _START_OF_SCAN
            self._had_scan = self._had_scan or self._in_scan
        return self._announced_end() or None

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


Part = tuple[StreamedJpeg, int]  # A picture, and its arrival on the monotonic clock, ns


class HttpMjpeg:
    """Reads a motion-JPEG stream, and leaves its pictures encoded.

    Args:
        url: ``http://`` or ``https://``, with user name and password where the camera requires them.
        timeout_s: timeout for connecting, and for the next picture.

    Raises:
        InputError: the address is malformed.
        SourceError: the address does not answer, or is not a motion-JPEG stream.
    """

    def __init__(self, url: str, clock: CaptureClock, *, timeout_s: float = 5.0) -> None:
        self._name = without_password(url)
        try:
            address = split_address(url)
        except ValueError as error:
            raise InputError(f"'{self._name}' is not the address of a stream ({error}).") from None
        if address.scheme not in {"http", "https"}:
            raise InputError(f"'{self._name}' is not the address of a stream. Write http://HOST:PORT/PATH.")
        self._clock = clock
        self._closed = threading.Event()
        self._stream: HttpStream | None = None
        self._parts = _no_parts()
        try:
            self._stream = open_http(address, _ACCEPT, timeout_s)
            self._parts = _read_parts(self._stream.response)
            _check_kind(self._stream.response)
            self._first, size_px = self._first_picture()
        except SourceError as error:
            self.close()
            raise SourceError(f"{self._name}: {error}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise SourceError(f"{self._name}: can't be opened: {error_text(error)}") from None
        except BaseException:
            self.close()
            raise
        self.facts = SourceFacts("stream", self._name, size_px, None, codec="mjpeg")

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, stamped by the camera where its ``X-Timestamp`` is right, otherwise on arrival.

        Pictures that broke off leave a gap in the frame numbers.

        Raises:
            SourceError: the stream ended, timed out or holds no pictures.
        """
        source_clock, times = SourceClock(), PictureTimes()
        part: Part | None = self._first
        while part is not None and not self._closed.is_set():
            picture, arrived_ns = part
            captured_ns = arrived_ns
            if picture.stamp_ns is not None:
                captured_ns = source_clock.to_monotonic(picture.stamp_ns, arrived_ns)
            t_ns, error_ns = times(self._clock.from_monotonic(captured_ns))
            index = picture.number - self._first[0].number
            yield CapturedFrame(index, t_ns, captured_ns, VideoPacket("mjpeg", picture.data), t_sigma_ns=error_ns)
            try:
                part = next(self._parts, None)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self._closed.is_set():
                    raise SourceError(f"{self._name}: the stream failed: {error_text(error)}") from None
                return
        if not self._closed.is_set():
            raise SourceError(f"{self._name}: the stream ended")

    def close(self) -> None:
        """Stop, even while waiting for the next picture."""
        self._closed.set()
        if self._stream is not None:
            self._stream.close()
        with contextlib.suppress(ValueError):  # it is being read, which ends with its connection
            self._parts.close()

    def _first_picture(self) -> tuple[Part, tuple[int, int]]:
        """Return the first picture that can be decoded, and its width and height."""
        for _ in range(_FIRST_PICTURES):
            part: Part | None = next(self._parts, None)
            if part is None:
                raise SourceError("the stream ended before its first picture")
            image = decode_jpeg(part[0].data)
            if image is not None:
                return part, (image.shape[1], image.shape[0])
        raise SourceError("the first pictures are damaged")


def _no_parts() -> Generator[Part, None, None]:
    yield from ()


def error_text(error: BaseException) -> str:
    """Return the text of a network error."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted here: {error.verify_message}. Write http://, or name a file with the"
            " certificate in SSL_CERT_FILE"
        )
    if isinstance(error, ssl.SSLError):
        return f"it does not speak TLS as this computer does ({error.reason}). Write http:// if it has no https"
    if isinstance(error, http.client.BadStatusLine) and not isinstance(error, http.client.RemoteDisconnected):
        return "its answer is not HTTP"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _check_kind(response: http.client.HTTPResponse) -> None:
    """Refuse what can't be a stream of pictures: pages, single pictures, and what is compressed once more."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding != "identity":
        raise SourceError(f"sends its pictures compressed ({plain_text(encoding[:20])}), which was not requested")
    kind = response.headers.get_content_type()
    if kind.startswith("text/") and response.headers.get("Content-Type"):
        raise SourceError(f"sends {kind}, not a motion-JPEG stream. Name the path of the camera's video stream")
    if kind == "image/jpeg" and response.headers.get("Content-Length"):
        raise SourceError(
            "sends a single picture, not a motion-JPEG stream. Name the path of the camera's video stream"
        )


def _read_parts(response: http.client.HTTPResponse) -> Generator[Part, None, None]:
    """Yield every picture of the stream. Raises ValueError: there are no pictures in it."""
    scanner = JpegScanner()
    if not response.chunked:
        response.length = None  # a stream ends when the connection does, whatever length was announced for it
    with response:
        while data := response.read1(_READ_BYTES):
            for picture in scanner.feed(data):
                yield picture, monotonic_ns()


HTTP: Final = SourceType(lambda choice, clock: HttpMjpeg(choice.text, clock))
