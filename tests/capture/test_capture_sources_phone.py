"""The camera of a phone: its pictures with the sender's times, and what is no new picture is never one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from aiortc.rtp import RtpPacket
from phone_film import encode
from phone_sender import FPS, PhoneSender, moving_pictures
from waiting import wait_until

from downfield.capture.problems import CAMERA_LOST, ActiveProblems
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_library import RecordingIndexHeader, index_path, recorded_videos
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.source import CaptureClock, CapturedFrame, PictureFaultError
from downfield.capture.sources import phone_link
from downfield.capture.sources.phone import PHONE_LIMITS, PhoneCamera
from downfield.capture.sources.phone_link import PhoneLink, PhoneState
from downfield.capture.sources.phone_session import PhoneSession, RtpPictures, SentPicture
from downfield.capture.sources.reconnecting import ReconnectingSource
from downfield.capture.sources.source_types import type_of
from downfield.core.errors import InputError, RefusedError, SourceError
from downfield.core.media.video_file import upright_bgr
from downfield.core.platform.clock import monotonic_ns
from downfield.core.records import from_json

SIZE = (320, 180)


@pytest.fixture
def link() -> PhoneLink:
    return PhoneLink()


@pytest.fixture
def phone() -> Iterator[PhoneSender]:
    made = PhoneSender(moving_pictures(SIZE))
    yield made
    made.close()


def connect(link: PhoneLink, phone: PhoneSender, sender: str = "phone") -> None:
    phone.connect(lambda offer: link.accept(offer, sender, "Ann's phone")[1])


def take(camera: PhoneCamera | ReconnectingSource, count: int) -> list[CapturedFrame]:
    frames = camera.frames()
    return [next(frames) for _ in range(count)]


@pytest.mark.parametrize("codec", ["H264", "VP8"])
def test_pictures_come_with_the_times_of_the_sender(link: PhoneLink, codec: str) -> None:
    phone = PhoneSender(moving_pictures(SIZE), codec)
    try:
        connect(link, phone)
        camera = PhoneCamera(CaptureClock(), SIZE, link)
        assert (camera.facts.name, camera.facts.size_px, camera.facts.codec) == ("Ann's phone", SIZE, codec.lower())
        frames = take(camera, 2 * FPS)
        camera.close()
    finally:
        phone.close()
    steps = [after.t_ns - before.t_ns for before, after in pairwise(frames)]
    multiples = [step * FPS / 1e9 for step in steps]
    assert all(step > 0 for step in steps)
    near = sum(abs(step - max(1, round(step))) < 0.1 for step in multiples)
    assert near > 0.8 * len(steps), multiples
    assert all(frame.t_ns >= 0 and frame.captured_ns <= frame.t_ns for frame in frames)
    assert [frame.index for frame in frames] == sorted({frame.index for frame in frames})


def test_the_recording_copies_what_the_phone_sent(link: PhoneLink, phone: PhoneSender, tmp_path: Path) -> None:
    connect(link, phone)
    camera = PhoneCamera(CaptureClock(), SIZE, link)
    recorder = Recorder(tmp_path, RecordingSettings(stop_below_gb=0), lambda: camera.facts, ActiveProblems())
    recorder.record_when_possible()
    frames = take(camera, FPS)
    for frame in frames:
        recorder.frame_captured(frame)
    camera.close()
    recorder.close()
    (video,) = recorded_videos(tmp_path)
    header = from_json(RecordingIndexHeader, index_path(video).read_text().splitlines()[0], path="index")
    assert (header.copied, header.codec, header.size_px) == (True, "h264", SIZE)
    with av.open(str(video)) as container:
        pictures = [upright_bgr(picture) for picture in container.decode(video=0)]
    assert len(pictures) == len(frames)
    assert all(np.array_equal(kept, frame.decode().image) for kept, frame in zip(pictures, frames, strict=True)), (
        "they were encoded again"
    )


def test_a_smaller_picture_of_the_same_shape_keeps_the_scale_of_the_calibration(
    link: PhoneLink, phone: PhoneSender
) -> None:
    connect(link, phone)
    camera = PhoneCamera(CaptureClock(), (640, 360), link)
    (frame,) = take(camera, 1)
    camera.close()
    assert camera.facts.size_px == (640, 360)
    assert camera.facts.notes == ("it sends 320x180, which is scaled to 640x360",)
    assert frame.decode().image.shape == (360, 640, 3)
    assert frame.packet is None, "the recording would have another size than its index says"


def test_pictures_that_grow_are_scaled_alike_until_they_have_the_size_of_the_calibration(
    link: PhoneLink, phone: PhoneSender
) -> None:
    connect(link, phone)
    camera = PhoneCamera(CaptureClock(), (640, 360), link)
    phone.camera = moving_pictures((480, 270))
    frames = camera.frames()
    assert {next(frames).decode().image.shape for _ in range(FPS)} == {(360, 640, 3)}
    phone.camera = moving_pictures((640, 360))
    with pytest.raises(SourceError, match="640x360 pixels in place of 320x180"):
        list(frames)
    camera.close()


def test_a_picture_of_another_shape_is_opened_with_its_own_size(link: PhoneLink, phone: PhoneSender) -> None:
    phone.camera = moving_pictures((180, 320))
    connect(link, phone)
    camera = PhoneCamera(CaptureClock(), SIZE, link)
    assert camera.facts.size_px == (180, 320)
    phone.camera = moving_pictures(SIZE)
    with pytest.raises(SourceError, match="320x180 pixels in place of 180x320"):
        for _ in camera.frames():
            pass
    camera.close()


def test_a_frozen_camera_sends_no_new_picture(link: PhoneLink, phone: PhoneSender) -> None:
    connect(link, phone)
    problems = ActiveProblems()
    link.follow(problems)
    camera = PhoneCamera(CaptureClock(), SIZE, link)
    frames = camera.frames()
    first = next(frames)
    frozen = phone.camera(3)
    phone.camera = lambda _: frozen
    shown = until(frames, lambda _: is_frozen(problems))
    assert next(frames).image is shown.image is not first.image, "what is no new picture was taken for one"
    phone.camera = moving_pictures(SIZE)
    until(frames, lambda frame: frame.image is not shown.image)
    assert not is_frozen(problems)
    camera.close()


def until(frames: Iterator[CapturedFrame], condition: Callable[[CapturedFrame], bool]) -> CapturedFrame:
    return next(frame for frame, _ in zip(frames, range(20 * FPS), strict=False) if condition(frame))


def is_frozen(problems: ActiveProblems) -> bool:
    return any(one.text == "The picture has been frozen for 1.5 s" for one in problems.active())


class FilmSession(PhoneSession):
    """A phone of which each picture of a film comes when it is read, whatever else the computer does."""

    def __init__(self, packets: list[bytes], keys: list[bool], fps: int) -> None:
        super().__init__("phone", "Ann's phone")
        self._film = [
            SentPicture("h264", packet, at_ns, at_ns, is_key, 0)
            for number, (packet, is_key) in enumerate(zip(packets, keys, strict=True))
            for at_ns in [monotonic_ns() + number * 1_000_000_000 // fps]
        ]

    def next(self, timeout_s: float) -> SentPicture | None:  # noqa: ARG002  none is waited for
        return self._film.pop(0) if self._film else None


@pytest.mark.parametrize("fps", [30, 60])
def test_a_program_that_encodes_the_same_picture_again_and_again_is_frozen(link: PhoneLink, fps: int) -> None:
    noise, walk = np.random.default_rng(1).normal(0, 1.5, (180, 320, 3)), moving_pictures(SIZE)
    pictures = [walk(number if number < fps or number > 4 * fps else fps) + noise for number in range(5 * fps)]
    images = [np.asarray(np.clip(one, 0, 255), np.uint8) for one in pictures]
    film = encode(lambda: images, fps, [fps / 60], 1)
    link._session = FilmSession(film.variants[fps / 60][0], film.keys[0], fps)
    problems = ActiveProblems()
    link.follow(problems)
    camera, shown, told = PhoneCamera(CaptureClock(), SIZE, link), list[CapturedFrame](), list[bool]()
    for _, frame in zip(range(5 * fps), camera.frames(), strict=False):
        shown.append(frame)
        told.append(is_frozen(problems))
    assert all(frame.packet is not None for frame in shown), "the recording needs every packet"
    assert fps < told.index(True) <= 3 * fps, "it is said within two seconds"
    assert all(told[3 * fps : 4 * fps])
    assert shown[3 * fps].image is shown[4 * fps - 1].image, "what is no new picture was taken for one"
    assert shown[8].image is not shown[7].image
    assert shown[-1].image is not shown[-2].image
    assert not told[-1], "it moves again"
    camera.close()


def test_a_camera_that_something_else_uses_is_named_and_goes_on_by_itself(link: PhoneLink, phone: PhoneSender) -> None:
    connect(link, phone)
    problems = ActiveProblems()
    source = ReconnectingSource(lambda: PhoneCamera(CaptureClock(), SIZE, link), problems, PHONE_LIMITS)
    frames = source.frames()
    next(frames)
    phone.pause(True)
    link.note_state(PhoneState(taken=True))
    with Following(frames) as wait_for_frame:
        wait_until(lambda: any(one.code == CAMERA_LOST for one in problems.active()), "the loss was not reported")
        text = next(one.text for one in problems.active() if one.code == CAMERA_LOST)
        assert text == "No picture for 1 s: something else uses the phone's camera, such as a call"
        phone.pause(False)
        link.note_state(PhoneState())
        wait_for_frame()
    assert all(one.code != CAMERA_LOST for one in problems.active())
    source.close()


def test_a_network_of_which_no_picture_comes_whole_is_named(
    link: PhoneLink, phone: PhoneSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(link, phone)
    camera = PhoneCamera(CaptureClock(), SIZE, link)
    frames = camera.frames()
    next(frames)
    monkeypatch.setattr(PhoneSession, "deliver", lambda session, *_: session.note_loss())
    with pytest.raises(PictureFaultError, match="No picture for 1 s: the network is too slow") as raised:
        list(frames)
    assert "access point" in raised.value.remedy
    camera.close()


def test_a_phone_that_left_is_taken_up_again_when_it_is_back(link: PhoneLink, phone: PhoneSender) -> None:
    connect(link, phone)
    problems = ActiveProblems()
    source = ReconnectingSource(lambda: PhoneCamera(CaptureClock(), SIZE, link), problems, PHONE_LIMITS)
    frames = source.frames()
    before = next(frames)
    assert link.end("phone")
    assert not link.end("phone"), "it has ended already"
    with Following(frames) as wait_for_frame:
        wait_until(lambda: "No phone is connected" in str(problems.active()), lambda: problems.active())
        again = PhoneSender(moving_pictures(SIZE))
        connect(link, again)
        after = wait_for_frame()
    assert after.t_ns > before.t_ns
    assert after.index > before.index + 1, "a gap is lost pictures"
    source.close()
    again.close()


def test_another_connection_of_the_phone_takes_the_place_of_the_first(link: PhoneLink, phone: PhoneSender) -> None:
    connect(link, phone)
    first = link.session
    again = PhoneSender(moving_pictures(SIZE))
    connect(link, again)
    assert first is not None
    assert first.ended
    assert link.session is not None
    assert link.session is not first
    assert not link.end("somebody else")
    again.close()


def test_a_browser_begins_fast_enough_for_a_key_picture(link: PhoneLink, phone: PhoneSender) -> None:
    answers: list[str] = []

    def accept(offer: str) -> str:
        answers.append(link.accept(offer, "phone", "Ann's phone")[1])
        return answers[0]

    phone.connect(accept)
    lines = answers[0].splitlines()
    formats = [line.partition(":")[2].partition(" ")[0] for line in lines if "H264/" in line or "VP8/" in line]
    assert formats
    for number in formats:
        (parameters,) = [line for line in lines if line.startswith(f"a=fmtp:{number} ")]
        assert "x-google-start-bitrate=4000" in parameters


def limits_told(delay_ms: Callable[[int], int], packet_bytes: int) -> list[int]:
    """What a sender is told while a packet comes every hundredth of a second for ten seconds, bits a second."""
    estimator, told = phone_link._limit_estimator(), list[int]()
    for number in range(1000):
        sent_ms = 10 * number
        limit = estimator.add(sent_ms + delay_ms(number), int(sent_ms * 2**18 / 1000) % 2**24, packet_bytes, 7)
        told += [] if limit is None else [limit[0]]
    return told


def test_a_camera_over_a_table_at_rest_is_not_taken_for_a_slow_network() -> None:
    assert set(limits_told(lambda _: 20, 100)) == {12_000_000}


def test_a_network_in_which_packets_pile_up_limits_the_sender() -> None:
    told = limits_told(lambda number: 20 + 4 * max(number - 500, 0), 5000)
    assert told[0] == 12_000_000
    assert 1_500_000 <= min(told) < 4_500_000


def test_without_a_phone_the_source_says_what_to_do(link: PhoneLink) -> None:
    with pytest.raises(SourceError, match=r"No phone is connected\. Scan the terminal's code"):
        PhoneCamera(CaptureClock(), SIZE, link)
    named = type_of("phone://camera")
    assert named is not None
    assert named.live


@pytest.mark.parametrize("offer", ["", "hello", "v=0", "v=0\r\nnonsense", "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF x\r\n"])
def test_what_is_no_offer_is_refused(link: PhoneLink, offer: str) -> None:
    with pytest.raises((InputError, RefusedError), match=r"SDP|no video"):
        link.accept(offer, "phone", "Ann's phone")
    assert link.session is None


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (PhoneState(hidden=True), "phone_hidden"),
        (PhoneState(taken=True), "phone_taken"),
        (PhoneState(turned=True), "phone_turned"),
        (PhoneState(battery=0.15), "phone_battery"),
        (PhoneState(limited="cpu"), "phone_slow"),
        (PhoneState(limited="bandwidth"), "phone_network"),
        (PhoneState(battery=0.15, charging=True), ""),
        (PhoneState(battery=0.9), ""),
    ],
)
def test_what_is_wrong_with_the_phone_is_a_problem_of_the_rig_until_it_is_over(state: PhoneState, code: str) -> None:
    assert [one.code for one in state.problems()] == ([code] if code else [])


def test_problems_of_the_phone_follow_it_to_the_rig(
    link: PhoneLink, phone: PhoneSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(link, phone)
    problems = ActiveProblems()
    link.follow(problems)
    link.note_state(PhoneState(battery=0.15))
    link.ask("other", "Bo's phone")
    assert {one.code for one in problems.active()} == {"phone_battery", "phone_asks"}
    link.note_state(PhoneState())
    assert [one.text for one in problems.active()] == ["Another phone, 'Bo's phone', wants to be the camera"]
    link.end("other")
    assert problems.active() == (), "it was refused, and asks no more"
    link.ask("other", "Bo's phone")
    monkeypatch.setattr(phone_link, "LINK_LIMITS", replace(phone_link.LINK_LIMITS, asking_ns=-1))
    link.report()
    assert problems.active() == (), "it has given up"


def test_what_a_phone_said_is_forgotten_when_another_takes_its_place(link: PhoneLink, phone: PhoneSender) -> None:
    connect(link, phone)
    problems = ActiveProblems()
    link.follow(problems)
    link.note_state(PhoneState(hidden=True))
    assert {one.code for one in problems.active()} == {"phone_hidden"}
    link.ask("other", "Bo's phone")
    other = PhoneSender(moving_pictures(SIZE))
    connect(link, other, "other")
    assert problems.active() == ()
    link.note_state(PhoneState(hidden=True))
    link.end("other")
    assert problems.active() == (), "it is removed"
    other.close()


class Following:
    """Reads frames in a thread, as the loop does; gives a function that waits for the next one."""

    def __init__(self, frames: Iterator[CapturedFrame]) -> None:
        self._frames, self._found = frames, list[CapturedFrame]()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Callable[[], CapturedFrame]:
        self._thread.start()
        return self._wait

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._thread.join(30)

    def _run(self) -> None:
        self._closed = False
        for frame in self._frames:
            self._found.append(frame)
            if self._closed:
                return

    def _wait(self) -> CapturedFrame:
        before = len(self._found)
        wait_until(lambda: len(self._found) > before, "no frame came")
        return self._found[-1]


def test_of_a_network_that_loses_packets_no_damaged_picture_is_used(
    link: PhoneLink, phone: PhoneSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, dropped = RtpPictures.add, list[int]()

    def lossy(buffer: RtpPictures, packet: RtpPacket) -> tuple[bool, None]:
        if packet.sequence_number % 33:  # three percent
            return add(buffer, packet)
        dropped.append(packet.sequence_number)  # also where it is sent again
        return False, None

    monkeypatch.setattr(RtpPictures, "add", lossy)
    connect(link, phone)
    source = ReconnectingSource(lambda: PhoneCamera(CaptureClock(), SIZE, link), ActiveProblems(), PHONE_LIMITS)
    frames = take(source, 2 * FPS)
    source.close()
    assert dropped, "nothing was lost"
    assert frames[-1].index > len(frames) - 1, "lost pictures leave gaps"
    lit = [int((frame.decode().image[:, :, 1] > 130).sum()) for frame in frames]
    assert all(abs(one - 64 * 64) < 500 for one in lit), lit
    assert all(after.t_ns > before.t_ns for before, after in pairwise(frames))


def test_nothing_waits_any_more_once_the_program_ends(link: PhoneLink, phone: PhoneSender) -> None:
    connect(link, phone)
    loop = link._loop
    assert loop is not None
    assert asyncio.all_tasks(loop)
    link.close()
    assert link.session is None
    wait_until(lambda: not asyncio.all_tasks(loop))
