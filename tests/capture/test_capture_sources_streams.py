"""Network sources on real loopback streams: what they deliver, and that they reconnect."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise

import av
import numpy as np
import pytest
from loopback_streams import MjpegServer, RtspServer, jpeg, picture
from mjpeg_dialects import DialectServer
from waiting import WAIT_S, wait_until

from downfield.capture.problems import CAMERA_LOST, ActiveProblems
from downfield.capture.source import CaptureClock, CapturedFrame, FrameSource, SourceFacts
from downfield.capture.sources import network_video
from downfield.capture.sources.http_mjpeg import HttpMjpeg
from downfield.capture.sources.network_video import NetworkVideo
from downfield.capture.sources.reconnecting import ReconnectingSource, ReconnectLimits
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.errors import InputError, SourceError

QUICK = ReconnectLimits(stalled_s=0.3, frozen_s=0.3, open_timeout_s=2.0, first_wait_s=0.02, longest_wait_s=0.1)


@pytest.fixture
def server() -> Iterator[MjpegServer]:
    serving = MjpegServer()
    yield serving
    serving.close()


@pytest.mark.parametrize("with_length", [True, False])
def test_motion_jpeg_arrives_encoded_unchanged_and_in_order(*, with_length: bool) -> None:
    server = MjpegServer(with_length=with_length)
    clock = CaptureClock()
    source = HttpMjpeg(server.url, clock)
    frames = list(islice(source.frames(), 8))
    source.close()
    server.close()
    assert source.facts.size_px == (160, 90)
    assert [frame.index for frame in frames] == list(range(8))
    assert [frame.packet.data for frame in frames if frame.packet] == [jpeg(value) for value in range(1, 9)]
    assert all(before.t_ns < after.t_ns <= clock.now_ns() for before, after in pairwise(frames))
    assert abs(int(frames[3].decode().image[10, 10, 0]) - 4) <= 2


def test_capture_times_come_from_the_cameras_own_stamps() -> None:
    ticks = iter(range(1000))
    server = MjpegServer(stamp=lambda: 1_000_000 + next(ticks) * 0.02)
    source = HttpMjpeg(server.url, CaptureClock())
    times = [frame.t_ns for frame in islice(source.frames(), 20)]
    source.close()
    server.close()
    steps_ms = [(after - before) / 1e6 for before, after in pairwise(times)]
    assert all(step < 20.5 for step in steps_ms)
    assert sorted(steps_ms)[len(steps_ms) // 2] == pytest.approx(20.0, abs=0.1)


def test_closing_ends_a_waiting_stream(server: MjpegServer) -> None:
    source = HttpMjpeg(server.url, CaptureClock())
    frames = source.frames()
    next(frames)
    server.stalls.set()
    source.close()
    assert len(list(frames)) <= 8


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("http:///nowhere", InputError, "is not the address of a stream"),
        ("http://127.0.0.1:9/x", SourceError, "can't be opened"),
    ],
)
def test_an_address_without_a_stream_is_refused(url: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        HttpMjpeg(url, CaptureClock())


@pytest.mark.parametrize("answer", [b"SIP/2.0 200 OK\r\n\r\n", b"\xff\xd8\xff\xe0\0\x10JFIF\r\n\r\n", b"\0\r\n\r\n"])
def test_an_answer_that_is_not_http_is_refused_without_its_bytes(answer: bytes) -> None:
    with (
        DialectServer(lambda _: answer) as server,
        pytest.raises(SourceError, match=r"can't be opened: its answer is not HTTP$"),
    ):
        HttpMjpeg(f"http://{server.place}/video", CaptureClock())


def test_an_error_page_is_refused(server: MjpegServer) -> None:
    server.refuses.set()
    with pytest.raises(SourceError, match="answered 503"):
        HttpMjpeg(server.url, CaptureClock())


def test_a_password_is_not_shown() -> None:
    with pytest.raises(SourceError) as caught:
        HttpMjpeg("http://coach:secret@127.0.0.1:9/x", CaptureClock())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("failure", ["cut", "stall", "freeze"])
def test_a_lost_stream_is_reported_and_comes_back_with_a_gap_in_its_indices(server: MjpegServer, failure: str) -> None:
    notify: list[str] = []
    problems = ActiveProblems(notify=lambda _, text: notify.append(text))
    clock = CaptureClock()
    source = ReconnectingSource(lambda: HttpMjpeg(server.url, clock), problems, QUICK)
    frames = source.frames()
    before = list(islice(frames, 5))[-1]
    event = {"cut": server.refuses, "stall": server.stalls, "freeze": server.freezes}[failure]
    if failure == "cut":
        server.cut()
    event.set()

    def until_lost() -> None:
        wait_until(problems.active)
        event.clear()

    helper = threading.Thread(target=until_lost)
    helper.start()
    last, gap = before, 1
    for frame in islice(frames, 200):
        gap = max(gap, frame.index - last.index)
        last = frame
        if gap > 1:
            break
    helper.join(WAIT_S)
    source.close()
    assert gap >= 2
    assert last.t_ns > before.t_ns
    assert any({"cut": "stream", "stall": "No picture for", "freeze": "frozen for"}[failure] in text for text in notify)
    assert "The camera picture is back" in notify[-1]
    assert CAMERA_LOST not in {reason.code for reason in problems.active()}


def test_a_camera_that_begins_anew_with_its_frozen_picture_is_not_back() -> None:
    notify: list[str] = []
    opened: list[int] = []
    frozen = threading.Event()
    frozen.set()
    server = MjpegServer(encoded=lambda number: jpeg(7 if frozen.is_set() else number))

    def opening() -> HttpMjpeg:
        opened.append(len(notify))
        if len(opened) == 4:
            frozen.clear()
        return HttpMjpeg(server.url, CaptureClock())

    source = ReconnectingSource(opening, ActiveProblems(notify=lambda _, text: notify.append(text)), QUICK)
    for _ in source.frames():
        if len(opened) >= 4:
            break
    source.close()
    server.close()
    assert opened == [0, 1, 1, 1]  # told once, not at each opening
    assert [text[:26] for text in notify] == ["The picture has been froze", "The camera picture is back"]


def test_a_camera_that_begins_each_opening_with_the_picture_that_it_froze_with_comes_back() -> None:
    """Such as one that sends a recording from its beginning to everybody who connects."""
    thawed = threading.Event()

    def opening() -> FrameSource:
        return RepeatingSource([0] * 10_000 if not thawed.is_set() else [0] * 3 + list(range(1, 10_000)))

    problems = ActiveProblems(notify=lambda _, text: notify.append(text))
    notify: list[str] = []
    source = ReconnectingSource(opening, problems, replace(QUICK, frozen_s=0.2))
    thawing = threading.Timer(0.7, thawed.set)
    thawing.start()
    indices = []
    for frame in source.frames():
        indices.append(frame.index)
        if thawed.is_set() and frame.image is not None and frame.image[0, 0, 0] > 3:
            break
    source.close()
    assert not problems.active()
    assert len(notify) == 2, notify
    assert indices == sorted(set(indices))


class RepeatingSource:
    """Sends pictures of given brightness, 50 a second."""

    def __init__(self, brightness: list[int]) -> None:
        self.facts = SourceFacts("stream", "repeating", (16, 16), 50.0, live=True)
        self._brightness, self._closed = brightness, threading.Event()

    def frames(self) -> Iterator[CapturedFrame]:
        for index, brightness in enumerate(self._brightness):
            image = np.full((16, 16, 3), brightness % 256, np.uint8)
            now_ns = time.monotonic_ns()
            yield CapturedFrame(index, now_ns, now_ns, image=image)
            if self._closed.wait(0.02):
                return

    def close(self) -> None:
        self._closed.set()


def test_a_stream_that_changes_its_size_while_it_sends_is_opened_again() -> None:
    sizes = [(160, 90)] * 5 + [(96, 54)] + [(160, 90)] * 5 + [(320, 180)] * 1000  # one small picture is no change
    server = MjpegServer(encoded=lambda number: jpeg(number, sizes[number]))
    notify: list[str] = []
    problems = ActiveProblems(notify=lambda _, text: notify.append(text))
    source = ReconnectingSource(lambda: HttpMjpeg(server.url, CaptureClock()), problems, QUICK)
    facts_px = [source.facts.size_px]
    for frame in islice(source.frames(), 60):
        facts_px.append(source.facts.size_px)
        if frame.decode().image.shape == (180, 320, 3) == (*source.facts.size_px[::-1], 3):
            break
    source.close()
    server.close()
    assert list(dict.fromkeys(facts_px)) == [(160, 90), (320, 180)]
    assert facts_px.count((160, 90)) > 12
    assert notify[0].startswith("The camera sends pictures of 320x180 pixels in place of 160x90.")
    assert not any("cable" in text for text in notify)


def test_why_a_lost_stream_does_not_open_again_is_shown() -> None:
    """A camera that answered, and then wants a password that it did not want before, has no loose cable."""
    wants_password = threading.Event()

    def answer(_: str) -> bytes:
        if wants_password.is_set():
            return b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n'
        return b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=b\r\n\r\n" + b"".join(parts)

    parts = [b"--b\r\nContent-Type: image/jpeg\r\n\r\n" + jpeg(number) + b"\r\n" for number in range(30)]
    problems = ActiveProblems()
    with DialectServer(answer) as server:
        source = ReconnectingSource(lambda: HttpMjpeg(f"http://{server.place}/video", CaptureClock()), problems, QUICK)
        reading = threading.Thread(target=lambda: list(source.frames()), daemon=True)
        wants_password.set()
        reading.start()
        texts: set[str] = set()

        def is_wanted() -> bool:
            texts.update(problem.text for problem in problems.active())
            return any("password" in text for text in texts)

        wait_until(is_wanted, lambda: texts)
        source.close()
        reading.join(WAIT_S)
    assert any("wants a user name and a password" in text for text in texts), texts


def test_a_hanging_driver_is_abandoned() -> None:
    def hangs() -> HttpMjpeg:
        threading.Event().wait()
        raise AssertionError

    with pytest.raises(SourceError, match="does not open within"):
        ReconnectingSource(hangs, ActiveProblems(), ReconnectLimits(open_timeout_s=0.1))


def test_rtsp_delivers_frames_times_and_packets_to_copy() -> None:
    server = RtspServer()
    clock = CaptureClock()
    source = NetworkVideo(server.url, clock, timeout_s=5.0)
    frames = list(islice(source.frames(), 12))
    source.close()
    server.close()
    assert source.facts.codec == "h264"
    assert source.facts.size_px == (160, 96)
    assert all(before.t_ns < after.t_ns for before, after in pairwise(frames))
    assert [frame.packet.codec for frame in frames if frame.packet] == ["h264"] * 12
    assert any(frame.packet.is_keyframe for frame in frames if frame.packet)
    values = [int(frame.decode().image[10, 10, 1]) for frame in frames]
    assert values == sorted(values)
    assert abs(values[0] - int(picture(values[0], (160, 96))[10, 10, 1])) <= 6


def test_an_rtsp_address_without_a_server_is_refused() -> None:
    with pytest.raises(SourceError, match="can't be opened"):
        NetworkVideo("rtsp://127.0.0.1:9/x", CaptureClock(), timeout_s=1.0)


@pytest.mark.parametrize("udp", [False, True])
def test_rtsp_joined_long_before_the_next_key_picture_starts_by_tcp_or_udp(*, udp: bool) -> None:
    server = RtspServer(fps=50, udp=udp, key_every=80, joined_at=5)
    choice = SourceChoice(server.url)
    source = open_source(choice, CaptureClock(), ActiveProblems())
    frames = list(islice(source.frames(), 12))
    source.close()
    server.close()
    assert source.facts.size_px == (160, 96)
    assert [frame.index for frame in frames] == list(range(12))
    assert all(frame.image is not None for frame in frames)


def test_a_stream_with_lost_packets_goes_on() -> None:
    server = RtspServer(fps=100, size_px=(640, 384), key_every=10, lost=frozenset(range(60, 90)))
    source = NetworkVideo(server.url, CaptureClock())
    frames = list(islice(source.frames(), 60))
    source.close()
    server.close()
    assert sum(frame.image is not None for frame in frames) > 20
    assert frames[-1].index == 59


@pytest.mark.parametrize("slices", [1, 2, 4])
def test_key_pictures_that_are_sent_in_parts_with_headers_between_are_whole(slices: int) -> None:
    server = RtspServer(fps=60, key_every=8, slices=slices)
    source = NetworkVideo(server.url, CaptureClock())
    frames = list(islice(source.frames(), 40))
    source.close()
    server.close()
    assert all(frame.image is not None for frame in frames), "half of a picture was taken for one"
    assert all(frame.packet is not None for frame in frames), "the recording would have to be encoded here"
    steps = [after.t_ns - before.t_ns for before, after in pairwise(frames)]
    assert sum(step < 1_000_000 for step in steps) <= 2, "pictures came twice"  # the first ones may come together
    first = next(frame for frame in frames if frame.packet and frame.packet.is_keyframe)
    assert first.packet is not None
    with av.open(io.BytesIO(first.packet.extradata + first.packet.data), "r", format="h264") as container:
        (again,) = container.decode(video=0)
    assert np.array_equal(again.to_ndarray(format="bgr24"), first.decode().image), "a copied packet is no whole picture"


def test_a_stream_from_which_nothing_arrives_is_told_as_that() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(network_video, "OPEN_TIMEOUT_S", 0.5)
            with pytest.raises(SourceError, match="nothing arrived in time"):
                NetworkVideo(address, CaptureClock())


class StallingSource:
    """Sends some frames, and then none until it is closed."""

    def __init__(self, fps: float | None, count: int) -> None:
        self.facts = SourceFacts("stream", "stalling", (160, 90), fps, live=True)
        self._count, self._closed = count, threading.Event()

    def frames(self) -> Iterator[CapturedFrame]:
        for index in range(self._count):
            yield CapturedFrame(index, index, index, image=picture(index))
        self._closed.wait()

    def close(self) -> None:
        self._closed.set()


@pytest.mark.parametrize(
    ("fps", "count", "told"),
    [(None, 0, "0.4 s"), (None, 1, "0.1 s"), (100.0, 1, "0.1 s"), (20.0, 1, "0.25 s"), (0.001, 1, "0.1 s")],
)
def test_a_stall_is_what_is_one_for_this_stream(fps: float | None, count: int, told: str) -> None:
    reported = threading.Event()
    problems = ActiveProblems(changed=reported.set)
    limits = ReconnectLimits(stalled_s=0.1, first_frame_s=0.4)
    source = ReconnectingSource(lambda: StallingSource(fps, count), problems, limits)
    reading = threading.Thread(target=lambda: list(source.frames()), daemon=True)
    reading.start()
    assert reported.wait(WAIT_S)
    texts = [problem.text for problem in problems.active()]
    source.close()
    reading.join()
    assert texts == [f"No picture for {told}"]
