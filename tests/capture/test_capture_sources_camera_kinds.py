"""Kinds of network cameras as people report them: each is read whole, or refused with what to do."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice

import av
import pytest
from av.video.stream import VideoStream
from loopback_streams import RtspServer, jpeg, picture
from mjpeg_dialects import DialectServer

from downfield.capture.source import CaptureClock
from downfield.capture.sources import network_video
from downfield.capture.sources.http_mjpeg import HttpMjpeg
from downfield.capture.sources.network_video import NetworkVideo
from downfield.core.errors import SourceError

SIZE = (64, 32)
PICTURES = [jpeg(value, SIZE) for value in range(1, 7)]
PREVIEW = jpeg(9, (16, 8))
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=cut\r\n"


def with_comment(data: bytes) -> bytes:
    return data[:2] + b"\xff\xfe" + (len(PREVIEW) + 2).to_bytes(2, "big") + PREVIEW + data[2:]


def parts(pictures: list[bytes], *, length: bool = True, before: bytes = b"--cut") -> bytes:
    body = b""
    for data in pictures:
        body += before + b"\r\nContent-Type: image/jpeg\r\n"
        body += (b"Content-Length: %d\r\n" % len(data) if length else b"") + b"\r\n" + data + b"\r\n"
    return body + before + b"\r\n\r\n"


def whole(body: bytes, head: str = HEAD) -> Callable[[str], bytes]:
    return lambda _: head.encode() + b"\r\n" + body


def with_cookie(request: str) -> bytes:
    if "Cookie: session=abc; other=1" not in request:
        return (
            b"HTTP/1.1 302 Found\r\nSet-Cookie: session=abc; Path=/\r\nSet-Cookie: other=1; HttpOnly\r\n"
            b"Location: /video\r\nContent-Length: 0\r\n\r\n"
        )
    return whole(parts(PICTURES))(request)


def to_browsers(request: str) -> bytes:
    is_browser = "User-Agent: Mozilla/5.0" in request
    return whole(parts(PICTURES))(request) if is_browser else b"HTTP/1.1 403 Forbidden\r\n\r\n"


MOTION_JPEG: dict[str, Callable[[str], bytes]] = {
    "a preview in a comment of each picture": whole(parts([with_comment(data) for data in PICTURES])),
    "the same without lengths": whole(parts([with_comment(data) for data in PICTURES], length=False)),
    "a preview behind each picture, in its length": whole(parts([data + PREVIEW for data in PICTURES])),
    "a preview behind each picture, without lengths": whole(parts([data + PREVIEW for data in PICTURES], length=False)),
    "a preview behind padding": whole(parts([data + b"\0" * 40 + PREVIEW for data in PICTURES])),
    "two previews behind each picture": whole(parts([data + PREVIEW + PREVIEW for data in PICTURES])),
    "previews inside and behind": whole(parts([with_comment(data) + PREVIEW for data in PICTURES])),
    "no end marker, right lengths": whole(parts([data[:-2] for data in PICTURES])),
    "no end marker, a boundary with more dashes": whole(parts([data[:-2] for data in PICTURES], before=b"----cut")),
    "150 header lines": whole(parts(PICTURES), HEAD + "".join(f"X-Line-{n}: {n}\r\n" for n in range(150))),
    "ICY": whole(parts(PICTURES), HEAD.replace("HTTP/1.1", "ICY")),
    "ICY without a reason": whole(parts(PICTURES), HEAD.replace("HTTP/1.1 200 OK", "ICY 200")),
    "cookies that must come back": with_cookie,
    "browsers only": to_browsers,
    "boundaries alone": whole(parts(PICTURES, length=False)),
    "no boundaries at all": whole(b"".join(PICTURES)),
    "pictures one behind the other, as large": whole(b"\0".join(PICTURES)),
    "a boundary of another name": whole(parts(PICTURES, before=b"--other")),
    "HTTP/1.0": whole(parts(PICTURES), HEAD.replace("1.1", "1.0")),
    "another media type": whole(parts(PICTURES), "HTTP/1.1 200 OK\r\nContent-Type: video/mjpeg\r\n"),
    "no media type": whole(parts(PICTURES), "HTTP/1.1 200 OK\r\n"),
    "a page before the pictures": whole(b"<html></html>\r\n" + parts(PICTURES)),
}


@pytest.mark.parametrize("kind", MOTION_JPEG)
def test_motion_jpeg_of_this_kind_is_read_whole(kind: str) -> None:
    with DialectServer(MOTION_JPEG[kind]) as server:
        source = HttpMjpeg(f"http://{server.place}/", CaptureClock())
        frames = list(islice(source.frames(), len(PICTURES)))
        source.close()
    assert source.facts.size_px == SIZE
    assert [frame.index for frame in frames] == list(range(len(PICTURES)))
    for frame, sent in zip(frames, PICTURES, strict=True):
        assert frame.packet is not None
        assert frame.packet.data in {sent, with_comment(sent)}
        assert frame.decode().image.shape == (SIZE[1], SIZE[0], 3)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"ICY 401 Denied\r\n\r\n", "wants a user name and a password"),
        (b"ICY 404 Not here\r\n\r\n", "answered 404 Not here"),
        (b"ICY\r\n\r\n", "its answer is not HTTP"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "answered 403 Forbidden"),
        (HEAD.encode() + b"X: 1\r\n" * 5000 + b"\r\n", "more than 1000 headers"),
        (HEAD.encode() + b"\r\n" + b"".join(data[: len(data) // 2] for data in PICTURES), "ended before its first"),
    ],
)
def test_motion_jpeg_that_can_not_be_read_is_refused_with_the_reason(answer: bytes, text: str) -> None:
    with DialectServer(lambda _: answer) as server, pytest.raises(SourceError, match=text):
        HttpMjpeg(f"http://{server.place}/", CaptureClock())


def transport_stream(key_every: int, seconds: int, *, fps: int = 30) -> bytes:
    """Return MPEG-TS that was joined just behind a key picture."""
    out = io.BytesIO()
    with av.open(out, "w", format="mpegts") as container:
        stream = container.add_stream("libx264", rate=fps)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        options = {"preset": "ultrafast", "tune": "zerolatency", "g": str(key_every), "keyint_min": str(key_every)}
        stream.options = {**options, "sc_threshold": "0", "crf": "45"}
        joined_at = 0
        for index in range(fps * seconds):
            frame = av.VideoFrame.from_ndarray(picture(1, (160, 96)), format="bgr24")
            frame.pts, frame.time_base = index, Fraction(1, fps)
            container.mux(stream.encode(frame))
            joined_at = out.tell() if index == 0 else joined_at
        container.mux(stream.encode())
    return out.getvalue()[joined_at:]


@contextlib.contextmanager
def sent_by_tcp(data: bytes) -> Iterator[str]:
    """Serve bytes to one client, and then nothing more until the end."""
    listening, ended = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def run() -> None:
        with contextlib.suppress(OSError):
            client, _ = listening.accept()
            with client:
                client.sendall(data)
                ended.wait(60)

    threading.Thread(target=run, daemon=True).start()
    try:
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ended.set()
        listening.close()


@pytest.mark.parametrize("key_every", [30, 249, 300])
def test_mpeg_ts_joined_long_before_its_next_key_picture_is_opened(key_every: int) -> None:
    with sent_by_tcp(transport_stream(key_every, 30)) as url:
        source = NetworkVideo(url, CaptureClock())
        frames = list(islice(source.frames(), 2))
        source.close()
    assert source.facts.size_px == (160, 96)
    assert all(frame.image is not None for frame in frames)


@contextlib.contextmanager
def redirecting(target: str, at: str = "DESCRIBE") -> Iterator[str]:
    """Serve RTSP that redirects when it is asked by a method."""
    listening = socket.create_server(("127.0.0.1", 0))
    own = f"rtsp://127.0.0.1:{listening.getsockname()[1]}/cam"

    def run() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, contextlib.suppress(OSError, IndexError):
                    lines = client.makefile("rb")
                    while request := lines.readline().split():
                        number = b"0"
                        while line := lines.readline().strip():
                            number = line.split()[1] if line.lower().startswith(b"cseq") else number
                        status = b"302 Moved" if request[0] == at.encode() else b"200 OK"
                        place = (target or own).encode()
                        client.sendall(b"RTSP/1.0 %s\r\nCSeq: %s\r\nLocation: %s\r\n\r\n" % (status, number, place))

    threading.Thread(target=run, daemon=True).start()
    try:
        yield own
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()


@pytest.mark.parametrize("at", ["OPTIONS", "DESCRIBE"])
def test_an_rtsp_redirect_is_followed(at: str) -> None:
    server = RtspServer()
    with redirecting(server.url, at) as url, redirecting(url) as first:
        source = NetworkVideo(first, CaptureClock())
        assert next(source.frames()).image is not None
        source.close()
    server.close()


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("http://127.0.0.1/video", "redirects to http://, which is not followed"),
        ("", "redirects more than 4 times"),
        ("rtsp://", "redirects to 'rtsp://', which is no address"),
    ],
)
def test_an_rtsp_redirect_that_leads_nowhere_is_told(target: str, text: str) -> None:
    with redirecting(target) as url, pytest.raises(SourceError, match=text):
        NetworkVideo(url, CaptureClock())


class StandingTimes(RtspServer):
    """A camera whose RTP times stand still."""

    def _arrived(self) -> Iterator[bytes]:
        for packet in super()._arrived():
            yield packet[:4] + bytes(4) + packet[8:]


@pytest.mark.parametrize("key_every", [1, 10])
def test_a_camera_whose_times_stand_still_gives_its_pictures(key_every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_video, "OPEN_TIMEOUT_S", 2.0)
    server = StandingTimes(key_every=key_every)
    source = NetworkVideo(server.url, CaptureClock())
    frames = list(islice(source.frames(), 12))
    source.close()
    server.close()
    times = [frame.t_ns for frame in frames]
    assert times == sorted(set(times))
    assert sum(frame.image is not None for frame in frames) >= 8
