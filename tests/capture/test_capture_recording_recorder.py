"""The recorder keeps an exact copy with an exact index, through crashes and full disks."""

from __future__ import annotations

import dataclasses
import errno
import io
import itertools
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
import pytest
from loopback_streams import jpeg, picture
from recorded_frames import BEGAN_NS, MJPEG, RAW, captured_frame, record
from waiting import WAIT_S, wait_until

from downfield.calibration.calibration import read_calibration
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording import recorder as recorder_module
from downfield.capture.recording.recorder import DISK_FULL, DISK_LOW, RECORDING_BEHIND, Recorder
from downfield.capture.recording.recording_library import RecordedFrame, index_path, read_index
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import create_file
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.capture.sources.file_sources import VideoFile, bundled_demo
from downfield.core.errors import FormatError, RefusedError


def packets(path: Path) -> list[bytes]:
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


def test_the_cameras_own_packets_are_kept_with_frame_numbers_and_times(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(30)]
    (video,) = record(tmp_path, frames)
    assert packets(video) == [frame.packet.data for frame in frames if frame.packet]
    index = read_index(index_path(video))
    assert tuple(index) == tuple(RecordedFrame(frame.index, frame.t_ns) for frame in frames)
    assert (index.header.codec, index.header.copied, index.header.source) == ("mjpeg", True, "Table Cam")


def test_a_recording_is_a_source_with_its_own_times_and_numbers(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(12)]
    (video,) = record(tmp_path, frames)
    again = list(VideoFile(video, paced=False).frames())
    assert [(frame.index, frame.t_ns) for frame in again] == [(frame.index, frame.t_ns) for frame in frames]


def test_files_are_split_by_length_and_lose_nothing(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(130)]
    videos = record(tmp_path, frames, segment_s=1.0)
    assert [video.name for video in videos] == ["0001.mkv", "0002.mkv", "0003.mkv"]
    lines = [line for video in videos for line in tuple(read_index(index_path(video)))]
    assert [line.t_ns for line in lines] == [frame.t_ns for frame in frames]
    assert sum(len(packets(video)) for video in videos) == 130


def test_an_encoded_recording_has_a_key_frame_every_half_second(tmp_path: Path) -> None:
    (path,) = record(tmp_path, [captured_frame(index, raw=True) for index in range(60)], facts=RAW)
    with av.open(str(path), "r") as container:
        keys = [number for number, packet in enumerate(container.demux(video=0)) if packet.is_keyframe]
    assert RAW.fps == 50.0
    assert max(np.diff([*keys, 60])) <= 25


def test_raw_pictures_are_encoded_and_every_file_stands_alone(tmp_path: Path) -> None:
    videos = record(tmp_path, [captured_frame(index, raw=True) for index in range(60)], RAW, segment_s=1.0)
    assert len(videos) == 2
    for video in videos:
        index = read_index(index_path(video))
        assert (index.header.codec, index.header.copied) == ("h264", False)
        with av.open(str(video)) as container:
            images = [frame.to_ndarray(format="bgr24", threads=1) for frame in container.decode(video=0)]
        assert len(images) == len(tuple(index))
        for line, image in zip(tuple(index), images, strict=True):
            assert abs(float(np.mean(image[5:35, 5:70])) - line.frame % 250) < 6


@pytest.mark.skipif(os.name != "posix", reason="elsewhere rights come with the folder")
@pytest.mark.parametrize("exists", [False, True])
def test_a_recording_is_for_its_owner_only_wherever_it_is(tmp_path: Path, *, exists: bool) -> None:
    folder = tmp_path / "disk" / "recordings"
    if exists:
        folder.mkdir(parents=True, mode=0o755)
    before = os.umask(0)
    try:
        (video,) = record(folder, [captured_frame(index) for index in range(12)])
    finally:
        os.umask(before)
    assert stat.S_IMODE(video.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (video, index_path(video))} == {0o600}
    assert exists or stat.S_IMODE(folder.stat().st_mode) == 0o700


CRASHING = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from recorded_frames import MJPEG, RAW, captured_frame
from waiting import wait_until
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.recorder import Recorder
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording import recorder as recorder_module
raw = {raw}
recorder = Recorder(Path({folder!r}), RecordingSettings(), lambda: RAW if raw else MJPEG, ActiveProblems())
recorder.record(True)
for index in range(10_000):
    recorder.frame_captured(captured_frame(index, raw=raw))
    if index == 60:
        wait_until(lambda: not len(recorder._waiting))
    if index == 75:
        print("ready", flush=True)
    wait_until(lambda: len(recorder._waiting) <= 10)
"""


@pytest.mark.parametrize("raw", [False, True])
def test_kill_9_leaves_a_readable_file_and_an_exact_index(tmp_path: Path, *, raw: bool) -> None:
    code = CRASHING.format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path), raw=raw)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGKILL)
    process.wait(WAIT_S)
    process.stdout.close()
    (video,) = tmp_path.rglob("*.mkv")
    with av.open(str(video)) as container:
        count = sum(1 for _ in container.decode(video=0))
    index = read_index(index_path(video))
    half_a_second = 26
    assert count >= 61 - (half_a_second if raw else 1)
    assert len(tuple(index)) >= count
    sent = map(captured_frame, range(count))
    assert tuple(index)[:count] == tuple(RecordedFrame(frame.index, frame.t_ns) for frame in sent)
    played = [frame.t_ns for frame in VideoFile(video, paced=False).frames()]
    assert played == [line.t_ns for line in tuple(index)[:count]]


class FullDisk(io.FileIO):
    """A file on a disk that becomes full."""

    room = 60_000

    def write(self, data: object) -> int:
        if self.tell() > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)  # type: ignore[arg-type]


def test_a_full_disk_stops_the_recording_with_an_alarm(tmp_path: Path) -> None:
    notices: list[str] = []
    problems = ActiveProblems(notify=lambda level, text: notices.append(f"{level}: {text}"))
    free = 5e9
    recorder = Recorder(
        tmp_path,
        RecordingSettings(),
        lambda: MJPEG,
        problems,
        open_file=lambda path: FullDisk(path, "xb"),
        free_bytes=lambda _: int(free),
    )
    recorder.record(True)
    for index in range(40):
        recorder.frame_captured(captured_frame(index))
    wait_until(lambda: not recorder.status().on)
    for index in range(40, 60):
        recorder.frame_captured(captured_frame(index))
    recorder.close()
    assert DISK_FULL in {reason.code for reason in problems.active()}
    assert any(line.startswith("alarm: Recording stopped:") and "Calls continue" in line for line in notices)
    (video,) = tmp_path.rglob("*.mkv")
    assert len(packets(video)) >= 3


def test_low_disk_space_is_warned_of_then_stops_the_recording_which_can_resume(tmp_path: Path) -> None:
    free = {"bytes": 8_000_000_000}
    problems = ActiveProblems()
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: MJPEG, problems, free_bytes=lambda _: free["bytes"])
    recorder.record(True)

    index = itertools.count()

    def occurs(code: str) -> bool:
        recorder.frame_captured(captured_frame(next(index)))
        recorder._disk_checked_at = 0.0
        return code in {reason.code for reason in problems.active()}

    wait_until(lambda: occurs(DISK_LOW))
    assert recorder.status().on
    free["bytes"] = 1_000_000_000
    wait_until(lambda: occurs(DISK_FULL))
    assert not recorder.status().on
    with pytest.raises(RefusedError, match=r"only 1\.0 GB are left"):
        recorder.record(True)
    free["bytes"] = 50_000_000_000
    assert recorder.record(True) == "recording"
    assert DISK_FULL not in {reason.code for reason in problems.active()}
    recorder.close()


def test_a_slow_disk_drops_frames_of_the_recording_and_that_is_reported(tmp_path: Path) -> None:
    class Slow(io.FileIO):
        def write(self, data: object) -> int:
            may_write.wait(WAIT_S)
            return super().write(data)  # type: ignore[arg-type]

    problems, may_write = ActiveProblems(), threading.Event()
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: MJPEG, problems, open_file=lambda path: Slow(path, "xb"))
    recorder.record(True)
    frame = captured_frame(0)
    for _ in range(400):
        recorder.frame_captured(frame)  # waits for no disk
    assert RECORDING_BEHIND in {reason.code for reason in problems.active()}
    recorder._waiting._items.clear()
    may_write.set()
    recorder.close()


def test_a_recording_that_is_deleted_while_it_is_written_goes_on_in_the_next_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        recorder_module, "RECORDER_LIMITS", dataclasses.replace(recorder_module.RECORDER_LIMITS, disk_check_s=0.02)
    )
    folder, sealed, notices = tmp_path / "data" / "recordings", list[Path](), list[str]()
    problems = ActiveProblems(notify=lambda _, text: notices.append(text))
    recorder = Recorder(folder, RecordingSettings(), lambda: MJPEG, problems, finished=sealed.append)
    recorder.record(True)
    index = itertools.count()

    def record_until_there_is(name: str) -> None:
        def is_there() -> bool:
            recorder.frame_captured(captured_frame(next(index)))
            return bool(list(folder.rglob(name)))

        wait_until(is_there, f"{name} is written")

    record_until_there_is("0001.mkv")
    shutil.rmtree(tmp_path / "data")
    record_until_there_is("0002.mkv")
    recorder.close()
    assert [path.name for path in sealed] == ["0002.mkv"]
    assert len(notices) == 1
    assert "0001.mkv was deleted while it was written" in notices[0]


def test_a_malformed_index_is_refused_by_line(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(3)])
    path = index_path(video)
    lines = path.read_text().splitlines()
    assert json.loads(lines[0])["format"] == "downfield.frames"
    path.write_text("\n".join([*lines[:2], '{"frame": "x", "t_ns": 1}', ""]))
    with pytest.raises(FormatError, match="line 3: frame"):
        list(read_index(path))


def test_a_new_calibration_begins_a_new_file(tmp_path: Path) -> None:
    first = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    in_use = [first]
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: MJPEG, ActiveProblems(), calibration=lambda: in_use[0])

    def written() -> int:
        return sum(path.read_text().count('"t_ns"') for path in tmp_path.rglob("*.frames.jsonl"))

    recorder.record(True)
    for index in range(12):
        if index == 7:
            in_use[0] = dataclasses.replace(first, made_at="2026-03-01T10:20:30Z")
        recorder.frame_captured(captured_frame(index))
        wait_until(lambda index=index: written() > index)  # type: ignore[misc]
    recorder.close()
    videos = sorted(tmp_path.rglob("*.mkv"))
    assert [read_calibration(video.with_suffix(".calibration.json")).made_at for video in videos] == [
        "",
        "2026-03-01T10:20:30Z",
    ]
    assert [len(tuple(read_index(index_path(video)))) for video in videos] == [7, 5]


@pytest.mark.parametrize("codec", ["mjpeg", ""])
def test_a_camera_that_comes_back_with_another_size_gets_a_new_file(tmp_path: Path, codec: str) -> None:
    small = dataclasses.replace(MJPEG, codec=codec)
    facts, came_back = [small], threading.Event()

    def open_slowly(path: Path) -> BinaryIO:
        """Let all frames of before wait to be written until the camera has come back."""
        came_back.wait(WAIT_S)
        return create_file(path)

    recorder = Recorder(tmp_path, RecordingSettings(), lambda: facts[0], ActiveProblems(), open_file=open_slowly)
    recorder.record(True)
    for index in range(12):
        if index == 6:
            facts[0] = dataclasses.replace(small, size_px=(320, 180))
        image = picture(index, facts[0].size_px)
        packet = VideoPacket("mjpeg", jpeg(index, facts[0].size_px)) if codec else None
        recorder.frame_captured(CapturedFrame(index, BEGAN_NS + index * 20_000_000, 0, packet, image))
    came_back.set()
    recorder.close()
    sizes = []
    for video in sorted(tmp_path.rglob("*.mkv")):
        with av.open(str(video)) as container:
            sizes.append({(frame.width, frame.height) for frame in container.decode(video=0)})
            assert read_index(index_path(video)).header.size_px in sizes[-1]
    assert sizes == [{(160, 90)}, {(320, 180)}], "frames of before the change are in the file of before"
    kept = [len(tuple(read_index(index_path(video)))) for video in sorted(tmp_path.rglob("*.mkv"))]
    assert kept == [6, 6]


def test_a_file_begins_with_a_picture_that_is_whole(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(5)]
    frames[0] = dataclasses.replace(frames[0], packet=VideoPacket("mjpeg", b"\xff\xd8\xff half a picture"))
    (video,) = record(tmp_path, frames)
    assert [line.frame for line in tuple(read_index(index_path(video)))] == [1, 2, 3, 4]


def test_a_rig_that_is_started_on_a_full_disk_records_as_soon_as_there_is_room(tmp_path: Path) -> None:
    free_bytes, problems = [0], ActiveProblems()
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: MJPEG, problems, free_bytes=lambda _: free_bytes[0])
    recorder.record_when_possible()
    assert [(problem.code, problem.level) for problem in problems.active()] == [(DISK_FULL, "alarm")]
    assert "goes on by itself" in problems.active()[0].remedy
    assert not recorder.status().on
    free_bytes[0] = 100 * 10**9
    wait_until(lambda: recorder.status().on, "it begins by itself")
    assert problems.active() == ()
    recorder.close()
