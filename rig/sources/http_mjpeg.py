"""Motion JPEG over HTTP (``multipart/x-mixed-replace``), as network cameras and phones send it.

libavformat's mpjpeg demuxer was tried instead: it drops ``X-Timestamp`` (its time stamps only count 1, 2, 3), so that
capture times and latency could not be measured, and it can't be interrupted while it waits for the next picture.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from downfield.core.addresses import Address, split_address, without_password
from downfield.core.errors import InputError, SourceError
from downfield.rig.sources.jpeg import decode_jpeg
from downfield.rig.sources.source import (
    CaptureClock,
    CapturedFrame,
    IncreasingTimestamps,
    SourceFacts,
    VideoPacket,
)
from downfield.rig.sources.source_clock import SourceClock


@dataclass(frozen=True, slots=True)
class MjpegLimits:
    """Limits of a stream's content, so that no server can fill this computer's memory."""

    picture_bytes: int = 32 << 20
    """Largest picture."""

    line_bytes: int = 4096
    """Longest line of a part's header."""

    headers: int = 64
    """Most header lines in a part."""

    block_bytes: int = 65536
    """Bytes read at a time from a picture whose length was not given."""


LIMITS: Final = MjpegLimits()

Part = tuple[bytes, int, int | None]
"""A picture, its arrival on the monotonic clock, and the camera's own time stamp, all in ns."""


class HttpMjpeg:
    """Reads a motion-JPEG stream, and leaves its pictures encoded.

    Args:
        url: ``http://`` or ``https://``, with user name and password where the camera requires them.
        clock: the capture clock.
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
        self._connection = _connection(address, timeout_s)
        self._closed = threading.Event()
        try:
            self._parts = self._open(address)
            first = next(self._parts)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise SourceError(f"{self._name}: can't be opened: {error_text(error)}") from None
        except BaseException:
            self.close()
            raise
        self._first = first
        size_px = _picture_size(first[0], self._name)
        self._facts = SourceFacts("stream", self._name, size_px, None, live=True, codec="mjpeg")

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, stamped by the camera where it sends ``X-Timestamp``, otherwise on arrival.

        Raises:
            SourceError: the stream ended, timed out or is malformed.

        """
        source_clock, increasing = SourceClock(), IncreasingTimestamps()
        index = 0
        part: Part | None = self._first
        while part is not None and not self._closed.is_set():
            data, arrived_ns, stamp_ns = part
            captured_ns = arrived_ns if stamp_ns is None else source_clock.to_monotonic(stamp_ns, arrived_ns)
            t_ns = increasing(self._clock.from_monotonic(captured_ns))
            yield CapturedFrame(index, t_ns, captured_ns, VideoPacket("mjpeg", data))
            index += 1
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
        connected = self._connection.sock
        if connected is not None:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def _open(self, address: Address) -> Iterator[Part]:
        headers = {"Accept": "multipart/x-mixed-replace", "Host": address.place}
        if address.user:
            pair = f"{address.user}:{address.password}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        self._connection.connect()
        self._connection.request("GET", address.target, headers=headers)
        # If the camera closes the connection after its response, the response takes the socket along; `close` needs it.
        connected = self._connection.sock
        response = self._connection.getresponse()
        self._connection.sock = connected
        if response.status != http.client.OK:
            raise SourceError(f"{self._name}: answered {response.status} {response.reason}")
        content_type = response.headers.get_content_type()
        boundary = response.headers.get_param("boundary")
        if content_type != "multipart/x-mixed-replace" or not isinstance(boundary, str):
            raise SourceError(f"{self._name}: sends {content_type}, not a motion-JPEG stream")
        return _parts(response, b"--" + boundary.removeprefix("--").encode("latin-1"))


def error_text(error: BaseException) -> str:
    """Return the text of a network error."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _connection(address: Address, timeout_s: float) -> http.client.HTTPConnection:
    connection_class = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    return connection_class(address.host, address.port, timeout=timeout_s)


def _picture_size(jpeg: bytes, name: str) -> tuple[int, int]:
    image = decode_jpeg(jpeg)
    if image is None:
        raise SourceError(f"{name}: the first picture is damaged")
    return image.shape[1], image.shape[0]


def _parts(response: http.client.HTTPResponse, boundary: bytes) -> Iterator[Part]:
    """Yield every picture of a stream.

    Raises:
        ValueError: the stream is malformed.

    """
    while True:
        line = response.readline(LIMITS.line_bytes)
        if not line or line.rstrip() == boundary + b"--":
            return
        if line.strip() == b"":
            continue
        if line.rstrip() != boundary:
            raise ValueError("a part does not begin with the boundary")
        headers = _read_headers(response)
        length = headers.get(b"content-length")
        data = _read_length(response, length) if length is not None else _read_to_boundary(response, boundary)
        if data:
            yield data, time.monotonic_ns(), _stamp_ns(headers.get(b"x-timestamp"))


def _read_headers(response: http.client.HTTPResponse) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    for _ in range(LIMITS.headers):
        line = response.readline(LIMITS.line_bytes)
        if not line.strip():
            return headers
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip()
    raise ValueError("a part has too many headers")


def _read_length(response: http.client.HTTPResponse, length: bytes) -> bytes:
    count = int(length)
    if not 0 <= count <= LIMITS.picture_bytes:
        raise ValueError(f"a picture of {count} bytes is too large")
    data = response.read(count)
    if len(data) < count:
        raise ValueError("a picture is truncated")
    return data


def _read_to_boundary(response: http.client.HTTPResponse, boundary: bytes) -> bytes:
    """Return a picture whose length was not given: to the end of its JPEG, which must be followed by the boundary."""
    data = bytearray()
    while len(data) <= LIMITS.picture_bytes:
        line = response.readline(LIMITS.block_bytes)
        if not line:
            return b""
        if line.startswith(boundary):
            raise ValueError("a picture has neither a length nor an end")
        data += line
        end = data.rfind(b"\xff\xd9", max(0, len(data) - len(line) - 1))
        if end >= 0 and not data[end + 2 :].strip():
            return bytes(data[: end + 2])
    raise ValueError("a picture has no end")


def _stamp_ns(value: bytes | None) -> int | None:
    try:
        return None if value is None else round(float(value) * 1e9)
    except ValueError:
        return None
