"""What a network camera that refuses, breaks off or never answers is told as: what happened, and what to do."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from phone_film import encode
from phone_sender import moving_pictures

from downfield.capture.source import CaptureClock, CapturedFrame
from downfield.capture.sources import network_video
from downfield.capture.sources.network_video import NetworkVideo, stream_error_text
from downfield.core.errors import SourceError

CLOSES = "closes"
NO_ANSWER = "no answer"
VIDEO = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track\r\n"
SESSION = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=table\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
TRANSPORT = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
LATE, NOT_RTSP = "no whole answer in time", "not RTSP, or breaks off"


def described(text: str) -> str:
    return f"200 OK\r\nContent-Type: application/sdp\r\nContent-Length: {len(text)}\r\n\r\n{text}"


class AnsweringServer:
    """Answers each kind of RTSP request with a given text after the protocol's name; others with nothing but 200."""

    def __init__(self, answers: dict[str, str]) -> None:
        self._answers = answers
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._clients: list[socket.socket] = []
        self.place = f"127.0.0.1:{self._listening.getsockname()[1]}/table"
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        self._listening.close()
        for client in self._clients:
            client.close()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._clients.append(client)
                threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def _converse(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client.makefile("rb") as lines:
            while request := lines.readline().split():
                headers = {}
                while line := lines.readline().strip():
                    name, _, value = line.decode().partition(":")
                    headers[name.lower()] = value.strip()
                answer = self._answers.get(request[0].decode(), "200 OK\r\n\r\n")
                if answer == CLOSES:
                    client.shutdown(socket.SHUT_RDWR)
                    return
                if answer != NO_ANSWER:
                    status, _, rest = answer.partition("\r\n")
                    client.sendall(f"RTSP/1.0 {status}\r\nCSeq: {headers['cseq']}\r\n{rest}".encode())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setattr(network_video, "OPEN_TIMEOUT_S", 0.5)
        yield


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ({"OPTIONS": NO_ANSWER}, LATE),
        ({"DESCRIBE": NO_ANSWER}, LATE),
        ({"DESCRIBE": "200 OK\r\nContent-Length: 500\r\n\r\nv=0\r\n"}, LATE),
        ({"DESCRIBE": described(SESSION + VIDEO), "SETUP": NO_ANSWER}, LATE),
        ({"DESCRIBE": described(SESSION + VIDEO), "SETUP": f"200 OK\r\n{TRANSPORT}\r\n", "PLAY": NO_ANSWER}, LATE),
        ({"DESCRIBE": described(SESSION + VIDEO), "SETUP": f"200 OK\r\n{TRANSPORT}\r\n"}, "no picture arrived in time"),
        ({"OPTIONS": CLOSES}, NOT_RTSP),
        ({"DESCRIBE": CLOSES}, NOT_RTSP),
        ({"DESCRIBE": described("")}, NOT_RTSP),
        ({"DESCRIBE": described(SESSION + VIDEO), "SETUP": "461 Unsupported Transport\r\n\r\n"}, "neither by TCP nor"),
        ({"DESCRIBE": described(SESSION + VIDEO), "SETUP": "454 Session Not Found\r\n\r\n"}, "refuses the request"),
        ({"DESCRIBE": "404 Not Found\r\n\r\n"}, "no stream of that path"),
        ({"DESCRIBE": "403 Forbidden\r\n\r\n"}, "refuses the stream to this user or computer"),
        ({"DESCRIBE": "503 Service Unavailable\r\n\r\n"}, "a fault of its own"),
    ],
)
def test_a_camera_that_gives_no_stream_is_told_as_what_it_did(answers: dict[str, str], text: str) -> None:
    server = AnsweringServer(answers)
    try:
        with pytest.raises(SourceError, match=text) as caught:
            NetworkVideo(f"rtsp://{server.place}", CaptureClock())
    finally:
        server.close()
    assert str(caught.value).startswith(f"rtsp://{server.place}: can't be opened: ")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("user", "text"), [("", "wants a user name"), ("coach:secret@", "refuses the user name")])
def test_a_camera_that_wants_another_password_says_so_and_not_the_password(user: str, text: str) -> None:
    server = AnsweringServer({"DESCRIBE": '401 Unauthorized\r\nWWW-Authenticate: Basic realm="camera"\r\n\r\n'})
    try:
        with pytest.raises(SourceError, match=text) as caught:
            NetworkVideo(f"rtsp://{user}{server.place}", CaptureClock())
    finally:
        server.close()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "end"),
    [
        ("rtsp://camera.invalid/table", "by its IP address"),
        ("rtsp://coach:p@ss.invalid/word@127.0.0.1:9/table", "as %40 and %2F"),  # the password ends at the first @
        ("tcp://camera.invalid:8554", "by its IP address"),
    ],
)
def test_a_host_that_nobody_knows_is_told_as_one(address: str, end: str) -> None:
    with pytest.raises(SourceError, match=f"no computer of that name is found.*{end}$") as caught:
        NetworkVideo(address, CaptureClock())
    assert "p@ss" not in str(caught.value)


def test_an_error_of_another_protocol_is_told_as_it_is() -> None:
    assert stream_error_text(av.InvalidDataError(1, "Invalid data")) == "Invalid data"
    assert stream_error_text(OSError(errno.ECONNREFUSED, "Connection refused"), scheme="rtsp") == "Connection refused"
    assert stream_error_text(OSError(errno.EIO, "Input/output error"), scheme="rtmp") == "Input/output error"


def test_of_a_camera_whose_picture_hangs_while_its_encoder_goes_on_nothing_is_new(tmp_path: Path) -> None:
    fps, walk = 30, moving_pictures((320, 180))
    noise = np.random.default_rng(1).normal(0, 1.5, (180, 320, 3))
    pictures = [walk(number if number < 2 * fps or number > 4 * fps else 2 * fps) + noise for number in range(5 * fps)]
    images = [np.asarray(np.clip(one, 0, 255), np.uint8) for one in pictures]
    path = tmp_path / "camera.h264"
    path.write_bytes(b"".join(encode(lambda: images, fps, [0.5], 1).variants[0.5][0]))
    with av.open(str(path), options={"framerate": str(fps)}) as bare, av.open(str(tmp_path / "camera.ts"), "w") as out:
        into = out.add_stream_from_template(bare.streams.video[0])
        for number, packet in enumerate(one for one in bare.demux(video=0) if one.size):
            packet.pts = packet.dts = number * 3000
            packet.time_base, packet.stream = Fraction(1, 90_000), into
            out.mux(packet)
    frames = list[CapturedFrame]()
    with socket.create_server(("127.0.0.1", 0)) as camera:

        def send() -> None:
            client, _ = camera.accept()
            with client:
                client.sendall((tmp_path / "camera.ts").read_bytes())

        threading.Thread(target=send, daemon=True).start()
        source = NetworkVideo(f"tcp://127.0.0.1:{camera.getsockname()[1]}", CaptureClock())
        with contextlib.suppress(SourceError):  # the stream ends
            frames.extend(source.frames())
    shown = [frame.image for frame in frames]
    assert len(shown) >= 4 * fps, "more than the pictures before the first key picture are missing"
    assert all(frame.packet is not None for frame in frames)
    assert all(after is not before for before, after in pairwise(shown[: -3 * fps]))
    assert shown[-round(1.6 * fps)] is shown[-round(1.1 * fps)], "what is no new picture was taken for one"
    assert shown[-1] is not shown[-2], "it moves again"
