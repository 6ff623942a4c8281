"""RTSP and other network video through PyAV: decoded here, with the packets passed on to the recorder.

Many errors of FFmpeg name none of what happened; `stream_error_text` says what each means for who typed the address.
"""

from __future__ import annotations

import errno
import http.client
import socket
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

import av
import av.container
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from downfield.capture.source import CaptureClock, CapturedFrame, PictureTimes, SourceFacts, VideoPacket, changed_size
from downfield.capture.sources.encoded_news import EXPORT_QUANTIZERS, EncodedNews
from downfield.capture.sources.http_mjpeg import error_text
from downfield.capture.sources.reconnecting import NETWORK_LIMITS
from downfield.capture.sources.source_clock import SourceClock
from downfield.capture.sources.source_types import SourceType
from downfield.core.addresses import Address, split_address, without_password
from downfield.core.errors import SourceError
from downfield.core.media.video_file import square_size_px, upright_bgr
from downfield.core.media.video_streams import STREAM_OPTIONS, pixel_aspect, video_stream
from downfield.core.platform.clock import monotonic_ns
from downfield.core.texts import plain_text

_PENDING_PACKETS: Final = 64
"""Packets remembered until the decoder returns their picture; live streams hold back a few at most."""

_HEADER_UNITS: Final[Mapping[str, frozenset[int]]] = MappingProxyType(
    {"h264": frozenset({7, 8, 9}), "hevc": frozenset({32, 33, 34, 35})}
)
"""Codecs whose key pictures may come in several parts, and the types of the units that are headers (parameter sets and
delimiters) before the slices: ITU-T H.264, table 7-1; H.265, table 7-1."""

_START_CODE: Final = b"\0\0\1"

_JOINED_NS: Final = 200_000_000
"""Parts of a picture arrive together; a camera whose times stand still gives every picture the same one."""

_MOST_REDIRECTS: Final = 4
_RTSP_PORT: Final = 554
_LINE_BYTES: Final = 65536

_FIRST_KEYS: Final = 2
"""Key pictures for whose next part the reader waits, before it knows whether the server sends several."""

OPEN_TIMEOUT_S: Final = 15.0
"""Timeout for opening: a stream's size is known with its first key picture, and cameras send one every 10 s."""

_OPTIONS: Final = {
    **STREAM_OPTIONS,
    "fflags": "nobuffer",
    "flags": "low_delay",
    "analyzeduration": str(round(OPEN_TIMEOUT_S * 1e6)),
    "probesize": str(100_000_000),
}
"""FFmpeg would give up a stream after 7 s or 5 MB without a key picture, which OBS sends every 8 s."""
_RTSP_OPTIONS: Final = {"rtsp_flags": "prefer_tcp"}
"""TCP, since a picture with holes is worse than one that arrives 20 ms later; UDP where a camera has nothing else."""


class NetworkVideo:
    """Reads a network stream.

    Args:
        timeout_s: timeout for the next packet.

    Raises:
        SourceError: the address does not answer, or sends no video.
    """

    def __init__(self, url: str, clock: CaptureClock, *, timeout_s: float = 5.0) -> None:
        self._name = without_password(url)
        self._clock = clock
        self._closed = False
        scheme = url.partition("://")[0].lower()
        options = {**_OPTIONS, **(_RTSP_OPTIONS if scheme.startswith("rtsp") else {})}
        began_ns = monotonic_ns()
        try:
            try:
                self._container: av.container.InputContainer = av.open(
                    _encoded(url), timeout=(OPEN_TIMEOUT_S, timeout_s), options=options
                )
            except av.ArgumentError:  # what FFmpeg makes of a redirect
                moved = followed(url, timeout_s) if scheme == "rtsp" else url
                if moved == url:
                    raise
                self._container = av.open(_encoded(moved), timeout=(OPEN_TIMEOUT_S, timeout_s), options=options)
        except (av.FFmpegError, OSError, ValueError) as error:
            late = monotonic_ns() - began_ns >= OPEN_TIMEOUT_S * 1e9
            text = stream_error_text(error, scheme=scheme, late=late, has_password=url != self._name)
            raise SourceError(f"{self._name}: can't be opened: {text}") from None
        try:
            self._stream = video_stream(self._container)
        except ValueError:
            self._container.close()
            raise SourceError(f"{self._name}: carries no video") from None
        if not (self._stream.width and self._stream.height):
            self._container.close()
            raise SourceError(f"{self._name}: can't be opened: no picture arrived in time")
        self._stream.codec_context.thread_count = 1
        self._stream.codec_context.options = {**self._stream.codec_context.options, **EXPORT_QUANTIZERS}
        self._stored_size_px = (self._stream.width, self._stream.height)
        self._pixel_aspect = pixel_aspect(self._stream)
        fps = self._stream.average_rate or self._stream.guessed_rate
        self.facts = SourceFacts(
            "stream",
            self._name,
            square_size_px(self._stored_size_px, self._pixel_aspect),
            float(fps) if fps else None,
            codec=self._stream.codec_context.name,
        )

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, with the stream's own time converted to this computer's clock.

        It begins with the first picture that can be decoded; later ones that can't have no image. One that shows
        nothing new, although it was encoded again, has the image of the one before once more, bit for bit.

        Raises:
            SourceError: the stream ended, failed or timed out.
        """
        source_clock, times, news = SourceClock(), PictureTimes(), EncodedNews()
        index, shown = 0, None
        try:
            for packet, frame, arrived_ns in self._decoded():
                captured_ns, image = arrived_ns, None
                if frame is not None:
                    if (frame.width, frame.height) != self._stored_size_px:
                        raise changed_size((frame.width, frame.height), self._stored_size_px)
                    stamp_ns = arrived_ns
                    if frame.pts is not None and frame.time_base is not None:
                        stamp_ns = round(frame.pts * frame.time_base * 10**9)
                        captured_ns = source_clock.to_monotonic(stamp_ns, arrived_ns)
                    if news.shows(frame, stamp_ns) or shown is None:
                        shown = upright_bgr(frame, pixel_aspect=self._pixel_aspect)
                    image = shown
                t_ns, error_ns = times(self._clock.from_monotonic(captured_ns))
                yield CapturedFrame(index, t_ns, captured_ns, packet, image, t_sigma_ns=error_ns)
                index += 1
                if self._closed:
                    return
        except (av.FFmpegError, OSError) as error:
            if not self._closed:
                raise SourceError(f"{self._name}: the stream failed: {stream_error_text(error)}") from None
        finally:
            self._container.close()
        if not self._closed:
            raise SourceError(f"{self._name}: the stream ended")

    def close(self) -> None:
        """Stop, at the latest at the next picture or timeout."""
        self._closed = True

    def _decoded(self) -> Iterator[tuple[VideoPacket | None, VideoFrame | None, int]]:
        """Yield decoded frames with their packets; no packet where pictures are sent in another order than shown.

        A frame is None where its packet, or what it builds on, is damaged or was lost.
        """
        extradata = bytes(self._stream.codec_context.extradata or b"")
        codec = self._stream.codec_context.name
        pending: deque[tuple[int | None, VideoPacket]] = deque(maxlen=_PENDING_PACKETS)
        in_order, last_pts, began = True, None, False
        for received, arrived_ns in self._whole_pictures():
            if received.size:
                in_order = in_order and (last_pts is None or (received.pts is not None and received.pts > last_pts))
                last_pts = received.pts
                pending.append((received.pts, VideoPacket(codec, bytes(received), received.is_keyframe, extradata)))
            try:
                frames = received.decode()
            except av.InvalidDataError:
                if began:
                    yield pending[-1][1] if in_order and pending else None, None, arrived_ns
                continue
            for frame in frames:
                if not frame.is_corrupt:
                    began = True
                if began:
                    packet = next((packet for pts, packet in pending if pts == frame.pts), None)
                    yield packet if in_order else None, None if frame.is_corrupt else frame, arrived_ns

    def _whole_pictures(self) -> Iterator[tuple[Packet[VideoStream], int]]:
        """Yield packets with their time of arrival; the parts of a key picture that came as several are joined.

        A server that repeats the headers before every slice of a key picture, as GStreamer's does, makes FFmpeg take
        each for a picture of its own, half of which is missing. The last part is known by the next picture, so only
        such servers' key pictures are kept waiting for it, and the first ones of every stream.
        """
        held: tuple[Packet[VideoStream], int] | None = None
        keys, in_parts, began_ns = 0, False, 0
        for received in self._container.demux(self._stream):
            if self._closed:
                return
            arrived_ns = monotonic_ns()
            is_part = held is not None and received.is_keyframe and arrived_ns - began_ns < _JOINED_NS
            if held is not None and is_part and received.size and received.pts == held[0].pts is not None:
                held, in_parts = (_joined(held[0], received, self._stream), arrived_ns), True
                continue
            if held is not None:
                yield held
                held = None
            if received.is_keyframe and self.facts.codec in _HEADER_UNITS and (in_parts or keys < _FIRST_KEYS):
                held, keys, began_ns = (received, arrived_ns), keys + 1, arrived_ns
            else:
                yield received, arrived_ns
        if held is not None:
            yield held


def _joined(first: Packet[VideoStream], second: Packet[VideoStream], stream: VideoStream) -> Packet[VideoStream]:
    """Return one packet with the content of two parts of a picture, whose headers come once."""
    units = [unit.rstrip(b"\0") for unit in bytes(second).split(_START_CODE)]
    headers = _HEADER_UNITS[stream.codec_context.name]
    slices = [unit for unit in units if unit and _unit_type(unit, stream.codec_context.name) not in headers]
    content = bytes(first) + b"".join(_START_CODE + unit for unit in slices)
    joined = cast("Packet[VideoStream]", Packet(content))
    joined.pts, joined.dts, joined.time_base = first.pts, first.dts, first.time_base
    joined.stream, joined.is_keyframe = stream, True
    return joined


def _unit_type(unit: bytes, codec: str) -> int:
    return unit[0] & 31 if codec == "h264" else unit[0] >> 1 & 63


def followed(url: str, timeout_s: float) -> str:
    """Return the RTSP address that redirects lead to (RFC 2326, 11.3); the address itself where there are none.

    User name and password go along to the same host only.

    Raises:
        OSError: it does not answer.
        ValueError: it redirects to what is no address of RTSP, or without end.
    """
    for _ in range(_MOST_REDIRECTS):
        address = split_address(url)
        location = _location(address, timeout_s)
        if not location:
            return url
        try:
            target = split_address(location)
        except ValueError:
            raise ValueError(f"it redirects to '{plain_text(location[:80])}', which is no address") from None
        if target.scheme not in _RTSP:
            raise ValueError(f"it redirects to {plain_text(target.scheme)}://, which is not followed")
        if target.host == address.host and not target.user:
            target = replace(target, user=address.user, password=address.password)
        url = target.text
    raise ValueError(f"it redirects more than {_MOST_REDIRECTS} times")


def _location(address: Address, timeout_s: float) -> str:
    """Return where a camera redirects to; empty where it answers, or wants a password first."""
    bare = replace(address, user="", password="").text
    with socket.create_connection((address.host, address.port or _RTSP_PORT), timeout_s) as connection:
        answer = connection.makefile("rb")
        for number, method in enumerate(("OPTIONS", "DESCRIBE"), start=1):
            connection.sendall(f"{method} {bare} RTSP/1.0\r\nCSeq: {number}\r\n\r\n".encode())
            status = answer.readline(_LINE_BYTES).split()
            headers = http.client.parse_headers(answer)
            if len(status) > 1 and status[1].startswith(b"3"):
                return str(headers.get("Location", "")).strip()
            answer.read(min(int(headers.get("Content-Length", "0")), _LINE_BYTES))
    return ""


def _encoded(url: str) -> str:
    """Return an address with user name and password percent-encoded, which FFmpeg wants; others as they are."""
    try:
        address = split_address(url)
    except ValueError:
        return url  # such as udp://@:1234, which listens
    return address.text if address.user else url


_REFUSALS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (av.error.ExitError, "nothing arrived in time"),
    (
        av.error.ProtocolNotFoundError,
        "this installation's FFmpeg does not speak its protocol. Have the camera send RTSP",
    ),
    (av.error.HTTPNotFoundError, "it has no stream of that path. Name the path of the camera's video stream"),
    (av.error.HTTPForbiddenError, "it refuses the stream to this user or computer. See who may watch in its settings"),
    (av.error.HTTPServerError, "it answers with a fault of its own. Restart the camera"),
    (av.error.HTTPClientError, "it refuses the request. Name the path of the camera's video stream"),
)
"""Errors and what they mean, the narrower before the wider."""

_RTSP: Final = frozenset({"rtsp", "rtsps"})
_BY_NAME: Final = frozenset({"rtsp", "tcp", "udp", "rtp"})
"""Protocols of which FFmpeg reports an input or output error only when the host's name is not known."""

_LATE: Final = "it gave no whole answer in time. Look whether the address and port are the camera's, and restart it"
_NOT_RTSP: Final = "its answer is not RTSP, or breaks off. Look whether the address and port are the camera's"
_NO_TRANSPORT: Final = "it sends neither by TCP nor by UDP to a single viewer. Change that in its settings"

_NO_HOST: Final = "no computer of that name is found. Name the camera by its IP address"
_ESCAPED: Final = "In a password write @ and / as %40 and %2F"


def stream_error_text(error: Exception, *, scheme: str = "", late: bool = False, has_password: bool = False) -> str:
    """Return what an error of a network stream means, as a phrase.

    Args:
        error: of FFmpeg or the operating system.
        scheme: of the stream's address while it is opened; empty later.
        late: whether the time for opening was over. FFmpeg is interrupted then, and reports whatever it was at: often
            invalid data, or an operation that is not permitted.
        has_password: whether a user name or a password was sent.
    """
    if isinstance(error, av.error.HTTPUnauthorizedError):
        if has_password:
            return "it refuses the user name or the password"
        return "it wants a user name and a password. Write them as rtsp://USER:PASSWORD@HOST/PATH"
    text = next((text for kind, text in _REFUSALS if isinstance(error, kind)), None)
    if text is not None:
        return text
    if late:
        return _LATE
    number = getattr(error, "errno", None)
    if scheme in _BY_NAME and number == errno.EIO:
        return f"{_NO_HOST}. {_ESCAPED}" if has_password else _NO_HOST
    if scheme in _RTSP and isinstance(error, av.InvalidDataError):
        return _NOT_RTSP
    if scheme in _RTSP and number == errno.EPROTONOSUPPORT:
        return _NO_TRANSPORT
    return error_text(error)


NETWORK_VIDEO: Final = SourceType(lambda choice, clock: NetworkVideo(choice.text, clock), limits=NETWORK_LIMITS)
