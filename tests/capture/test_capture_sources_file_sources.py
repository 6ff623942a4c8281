"""Files as sources, and how a source is chosen by what the user writes."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import av
import cv2
import pytest
from loopback_streams import MjpegServer, jpeg, picture
from odd_videos import write_video
from waiting import let_run

from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recording_library import RecordingIndexHeader, index_path
from downfield.capture.recording.segment import RecordingSegment
from downfield.capture.source import CaptureClock, CapturedFrame, VideoPacket
from downfield.capture.sources.camera_request import CameraRequest
from downfield.capture.sources.file_sources import ImageFolder, VideoFile
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.errors import InputError, SourceError

TIMES_MS = (0, 33, 67, 100, 233, 267)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "uneven.mp4"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for index, t_ms in enumerate(TIMES_MS):
            frame = av.VideoFrame.from_ndarray(picture(40 * index), format="bgr24")
            frame.pts, frame.time_base = t_ms, Fraction(1, 1000)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return path


def test_a_file_played_fast_keeps_its_own_times(clip: Path) -> None:
    source = VideoFile(clip, paced=False)
    frames = list(source.frames())
    assert not source.facts.live
    assert source.facts.size_px == (160, 90)
    assert [frame.index for frame in frames] == list(range(6))
    assert [round(frame.t_ns / 1e6) for frame in frames] == list(TIMES_MS)
    assert [round(int(frame.decode().image[10, 10, 0]) / 40) for frame in frames] == list(range(6))


def test_a_file_played_at_its_own_pace_takes_its_time_and_can_be_closed(clip: Path) -> None:
    source = VideoFile(clip)
    began = time.monotonic()
    count = 0
    for _ in source.frames():
        count += 1
        if count == 4:
            assert time.monotonic() - began >= 0.099
            source.close()
    assert count == 4


def test_after_a_stall_playback_does_not_rush_to_catch_up(tmp_path: Path) -> None:
    for number in range(8):
        cv2.imwrite(str(tmp_path / f"{number}.png"), picture(number))
    times = []
    for frame in ImageFolder(tmp_path, fps=20).frames():
        if frame.index == 2:
            let_run(0.4)
        times.append(time.monotonic())
    assert times[-1] - times[3] > 0.19


def test_a_folder_is_played_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        cv2.imwrite(str(tmp_path / f"frame-{number}.png"), picture(number))
    (tmp_path / "notes.txt").write_text("not a picture")
    frames = list(ImageFolder(tmp_path, fps=25, paced=False).frames())
    assert [int(frame.decode().image[0, 0, 0]) for frame in frames] == [1, 2, 10]
    assert [frame.t_ns for frame in frames] == [0, 40_000_000, 80_000_000]


def test_a_source_is_chosen_by_its_name(clip: Path, tmp_path: Path) -> None:
    clock, problems = CaptureClock(), ActiveProblems()
    cv2.imwrite(str(tmp_path / "a.png"), picture(1))
    server = MjpegServer()
    kinds = []
    for text in (str(clip), str(tmp_path), server.url):
        source = open_source(SourceChoice(text, CameraRequest()), clock, problems)
        kinds.append((source.facts.kind, source.facts.live))
        source.close()
    server.close()
    assert kinds == [("clip", False), ("images", False), ("stream", True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gone.mp4", "gone.mp4: no such file"),
        ("gopher://ann:secret@table", "'gopher://ann@table': no source is registered as gopher. Is its package"),
        ("wached:/x.mp4", "no source is registered as wached. Is its package installed"),
        ("no such camera", "No camera matches"),
    ],
)
def test_a_missing_source_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_source(SourceChoice(text), CaptureClock(), ActiveProblems())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe", "pipe.mkv"])
def test_a_pipe_is_no_source_and_is_not_opened(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="is a pipe"):
        open_source(SourceChoice(str(tmp_path / name)), CaptureClock(), ActiveProblems())


def test_a_folder_without_pictures_and_a_file_without_video_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no picture"):
        ImageFolder(tmp_path)
    text = tmp_path / "text.mp4"
    text.write_text("hello")
    with pytest.raises(InputError, match="not a readable video"):
        VideoFile(text)


def test_a_recording_of_a_camera_that_glitches_keeps_its_numbers_and_times(tmp_path: Path) -> None:
    path = tmp_path / "0001.mkv"
    intact = [jpeg(20 * number) for number in range(9)]
    sent = [data[: len(data) // 2] if number in {2, 3, 7} else data for number, data in enumerate(intact)]
    numbers = [0, 1, 2, 3, 9, 10, 11, 12, 13]
    frames = [
        CapturedFrame(number, 10**18 + number * 16_666_667, 0, VideoPacket("mjpeg", data))
        for number, data in zip(numbers, sent, strict=True)
    ]
    header = RecordingIndexHeader("camera", "mjpeg", (160, 90), 60.0)
    segment = RecordingSegment(path, VideoPacket("mjpeg", sent[0]), header)
    for frame in frames:
        assert frame.packet is not None
        segment.add(frame, frame.packet)
    segment.close()
    source = VideoFile(path, paced=False)
    played = list(source.frames())
    assert [(frame.index, frame.t_ns) for frame in played] == [(frame.index, frame.t_ns) for frame in frames]
    assert [number for number, frame in enumerate(played) if frame.image is None] == [2, 3, 7]
    with pytest.raises(SourceError, match="frame 2: the picture is damaged"):
        played[2].decode()


def test_a_recording_whose_index_ends_too_soon_is_played_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "0001.mkv"
    header = RecordingIndexHeader("camera", "mjpeg", (160, 90), 30.0)
    segment = RecordingSegment(path, VideoPacket("mjpeg", jpeg(1)), header)
    for number in range(6):
        segment.add(CapturedFrame(number, number * 33_000_000 + 5, 0), VideoPacket("mjpeg", jpeg(number)))
    segment.close()
    lines = index_path(path).read_text().splitlines(keepends=True)
    index_path(path).write_text("".join(lines[:4]) + lines[4][:9])
    frames = list(VideoFile(path, paced=False).frames())
    assert [frame.index for frame in frames] == list(range(6))
    assert [frame.t_ns for frame in frames] == [number * 33_000_000 + 5 for number in range(6)]


def test_a_folder_with_a_damaged_picture_and_one_of_another_size_goes_on(tmp_path: Path) -> None:
    for number, size_px in enumerate([(160, 90), (160, 90), (80, 45), (160, 90)]):
        cv2.imwrite(str(tmp_path / f"{number}.png"), picture(number, size_px))
    (tmp_path / "1.png").write_bytes(b"no picture")
    frames = list(ImageFolder(tmp_path, paced=False).frames())
    assert [frame.image is None for frame in frames] == [False, True, True, False]


def test_a_leap_of_the_times_in_a_file_is_not_waited_for(tmp_path: Path) -> None:
    path = write_video(tmp_path / "leap.mkv", times=(0, 1, 30 * 3600))
    began = time.monotonic()
    assert [round(frame.t_ns / 1e9) for frame in VideoFile(path).frames()] == [0, 0, 3600]
    assert time.monotonic() - began < 20


def test_names_of_pictures_with_digits_of_every_kind_have_an_order(tmp_path: Path) -> None:
    for name in ("10", "2", "²", "3²", "a²b", "①", "٣"):
        cv2.imwrite(str(tmp_path / "x.png"), picture(1))
        (tmp_path / "x.png").rename(tmp_path / f"{name}.png")
    folder = ImageFolder(tmp_path, paced=False)
    assert folder.count == 7
    assert len(list(folder.frames())) == 7


def test_pictures_and_videos_whose_names_are_no_text_are_read(tmp_path: Path, clip: Path) -> None:
    names = ("\udcff.png", "a\nb.png", "½ Ⅷ.png")
    written = 0
    for name in names:
        with suppress(OSError, UnicodeError):  # a file system that takes no such name
            (tmp_path / name).write_bytes(cv2.imencode(".png", picture(0))[1].tobytes())
            written += 1
    assert len([frame.decode() for frame in ImageFolder(tmp_path, paced=False).frames()]) == written
    with suppress(OSError, UnicodeError):
        assert VideoFile(clip.rename(tmp_path / "\udcff.mp4"), paced=False).facts.size_px == (160, 90)
