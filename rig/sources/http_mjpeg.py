"""A motion-JPEG stream over HTTP (``multipart/x-mixed-replace``), as network cameras and phones send it."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from downfield.core.errors import InputError, SourceError
from downfield.rig.sources.clocks import CaptureClock, IncreasingTimestamps, SourceClock
from downfield.rig.sources.jpeg import unpack_jpeg
from downfield.rig.sources.source import CapturedFrame, SourceFacts, VideoPacket

_LARGEST_PICTURE: Final = 32 << 20
_LONGEST_LINE: Final = 4096
_MOST_HEADERS: Final = 64
_BLOCK: Final = 65536


class HttpMjpeg:
    """Reads a motion-JPEG stream. Its pictures are left packed.

    Args:
        url: ``http://`` or ``https://``, with name and password in it where the camera asks for them.
        clock: of the table.
        timeout_s: for connecting, and for silence.

    Raises:
        InputError: the address can't be one.
        SourceError: nobody answers there, or with something else.

    """

    def __init__(self, url: str, clock: CaptureClock, *, timeout_s: float = 5.0) -> None:
        address = urlsplit(url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise InputError(f"'{url}' is no address of a stream: write http://HOST:PORT/PATH")
        self._name = without_password(url)
        self._clock = clock
        self._connection = _connection(address, timeout_s)
        self._closed = threading.Event()
        try:
            self._parts = self._open(address)
            first = next(self._parts)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise SourceError(f"{self._name}: can't be opened: {reason(error)}") from None
        except BaseException:
            self.close()
            raise
        self._first = first
        self._facts = SourceFacts("stream", self._name, _size_of(first[0], self._name), None, live=True, codec="mjpeg")

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture, stamped by the camera where it sends ``X-Timestamp``, else as it comes.

        Raises:
            SourceError: the stream broke off, fell silent or is no longer one.

        """
        source_clock, rising = SourceClock(), IncreasingTimestamps()
        index = 0
        part: tuple[bytes, int, int | None] | None = self._first
        while part is not None and not self._closed.is_set():
            data, arrived_ns, stamp_ns = part
            captured_ns = arrived_ns if stamp_ns is None else source_clock.monotonic_ns(stamp_ns, arrived_ns)
            yield CapturedFrame(index, rising(self._clock.of(captured_ns)), captured_ns, VideoPacket("mjpeg", data))
            index += 1
            try:
                part = next(self._parts, None)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if not self._closed.is_set():
                    raise SourceError(f"{self._name}: the stream broke off: {reason(error)}") from None
                return
        if not self._closed.is_set():
            raise SourceError(f"{self._name}: the stream ended")

    def close(self) -> None:
        """End it, even while it waits for the next picture."""
        self._closed.set()
        connected = self._connection.sock
        if connected is not None:
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def _open(self, address: SplitResult) -> Iterator[tuple[bytes, int, int | None]]:
        target = (address.path or "/") + (f"?{address.query}" if address.query else "")
        headers = {"Accept": "multipart/x-mixed-replace", "Host": address.netloc.rpartition("@")[2]}
        if address.username:
            pair = f"{unquote(address.username)}:{unquote(address.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        self._connection.connect()
        self._connection.request("GET", target, headers=headers)
        # The answer takes the socket along when the camera closes the connection after it; `close` needs it.
        connected = self._connection.sock
        answer = self._connection.getresponse()
        self._connection.sock = connected
        if answer.status != http.client.OK:
            raise SourceError(f"{self._name}: answers {answer.status} {answer.reason}")
        kind = answer.headers.get_content_type()
        boundary = answer.headers.get_param("boundary")
        if kind != "multipart/x-mixed-replace" or not isinstance(boundary, str):
            raise SourceError(f"{self._name}: sends {kind}, not a motion-JPEG stream")
        return _parts(answer, b"--" + boundary.removeprefix("--").encode("latin-1"))


def reason(error: BaseException) -> str:
    """An error of the network in words."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def without_password(url: str) -> str:
    """An address that may be shown."""
    address = urlsplit(url)
    return address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()


def _connection(address: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    return kind(str(address.hostname), address.port, timeout=timeout_s)


def _size_of(jpeg: bytes, name: str) -> tuple[int, int]:
    image = unpack_jpeg(jpeg)
    if image is None:
        raise SourceError(f"{name}: its first picture is broken")
    return image.shape[1], image.shape[0]


def _parts(answer: http.client.HTTPResponse, boundary: bytes) -> Iterator[tuple[bytes, int, int | None]]:
    """Every picture, when it came on the monotonic clock, and the camera's own stamp, ns.

    Raises:
        ValueError: it breaks the form of such streams.

    """
    while True:
        line = answer.readline(_LONGEST_LINE)
        if not line or line.rstrip() == boundary + b"--":
            return
        if line.strip() == b"":
            continue
        if line.rstrip() != boundary:
            raise ValueError("a part does not begin with its boundary")
        headers = _headers(answer)
        length = headers.get(b"content-length")
        data = _counted(answer, length) if length is not None else _until(answer, boundary)
        if data:
            yield data, time.monotonic_ns(), _stamp_ns(headers.get(b"x-timestamp"))


def _headers(answer: http.client.HTTPResponse) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    for _ in range(_MOST_HEADERS):
        line = answer.readline(_LONGEST_LINE)
        if not line.strip():
            return headers
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip()
    raise ValueError("a part has too many headers")


def _counted(answer: http.client.HTTPResponse, length: bytes) -> bytes:
    count = int(length)
    if not 0 <= count <= _LARGEST_PICTURE:
        raise ValueError(f"a picture of {count} bytes")
    data = answer.read(count)
    if len(data) < count:
        raise ValueError("a picture is cut off")
    return data


def _until(answer: http.client.HTTPResponse, boundary: bytes) -> bytes:
    """A picture whose length is not told: to the end of its JPEG, then to the next boundary's line."""
    data = bytearray()
    while len(data) <= _LARGEST_PICTURE:
        line = answer.readline(_BLOCK)
        if not line:
            return b""
        if line.startswith(boundary):
            raise ValueError("a picture without its length and without an end")
        data += line
        end = data.rfind(b"\xff\xd9", max(0, len(data) - len(line) - 1))
        if end >= 0 and not data[end + 2 :].strip():
            return bytes(data[: end + 2])
    raise ValueError("a picture without an end")


def _stamp_ns(value: bytes | None) -> int | None:
    try:
        return None if value is None else round(float(value) * 1e9)
    except ValueError:
        return None
