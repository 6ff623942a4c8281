"""Motion JPEG over HTTP, as network cameras, phones and hobby boards send it.

libavformat's mpjpeg demuxer was tried instead: it drops ``X-Timestamp`` (its time stamps only count 1, 2, 3), so that
capture times and latency could not be measured, and it can't be interrupted while it waits for the next picture.
"""

from __future__ import annotations

import contextlib
import http.client
import ssl
import threading
from collections.abc import Generator, Iterator
from typing import Final

from downfield.capture.jpeg import decode_jpeg
from downfield.capture.source import (
    CaptureClock,
    CapturedFrame,
    IncreasingTimestamps,
    SourceFacts,
    VideoPacket,
)
from downfield.capture.sources.http_connection import HttpStream, open_http
from downfield.capture.sources.jpeg_stream import JpegScanner, StreamedJpeg
from downfield.capture.sources.source_clock import SourceClock
from downfield.capture.sources.source_types import SourceType
from downfield.core.addresses import split_address, without_password
from downfield.core.errors import InputError, SourceError
from downfield.core.platform.clock import monotonic_ns
from downfield.core.text.plain_text import plain_text

_READ_BYTES: Final = 65536
"""Most bytes read at a time; fewer if fewer have arrived."""

_FIRST_PICTURES: Final = 10
"""Damaged pictures at the beginning, where a camera joins in the middle of one, before the stream is given up."""

_ACCEPT: Final = "multipart/x-mixed-replace, image/jpeg, */*;q=0.5"

Part = tuple[StreamedJpeg, int]
"""A picture, and its arrival on the monotonic clock, ns."""


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
        self._facts = SourceFacts("stream", self._name, size_px, None, live=True, codec="mjpeg")

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, stamped by the camera where its ``X-Timestamp`` is right, otherwise on arrival.

        Pictures that broke off leave a gap in the frame numbers.

        Raises:
            SourceError: the stream ended, timed out or holds no pictures.
        """
        source_clock, increasing = SourceClock(), IncreasingTimestamps()
        part: Part | None = self._first
        while part is not None and not self._closed.is_set():
            picture, arrived_ns = part
            captured_ns = arrived_ns
            if picture.stamp_ns is not None:
                captured_ns = source_clock.to_monotonic(picture.stamp_ns, arrived_ns)
            t_ns = increasing(self._clock.from_monotonic(captured_ns))
            index = picture.number - self._first[0].number
            yield CapturedFrame(index, t_ns, captured_ns, VideoPacket("mjpeg", picture.data))
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
    """Yield every picture of the stream.

    Raises:
        ValueError: there are no pictures in it.
    """
    scanner = JpegScanner()
    if not response.chunked:
        response.length = None  # a stream ends when the connection does, whatever length was announced for it
    with response:
        while data := response.read1(_READ_BYTES):
            for picture in scanner.feed(data):
                yield picture, monotonic_ns()


HTTP: Final = SourceType(lambda choice, clock: HttpMjpeg(choice.text, clock))
