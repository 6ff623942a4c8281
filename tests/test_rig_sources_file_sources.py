"""Files as sources, and how a source is chosen by what the user writes."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import av
import cv2
import pytest
from loopback_streams import MjpegServer, picture

from downfield.core.errors import InputError
from downfield.rig.live.rig_health import ActiveProblems
from downfield.rig.sources.camera_request import CameraRequest
from downfield.rig.sources.file_sources import ImageFolder, VideoFile
from downfield.rig.sources.source import CaptureClock
from downfield.rig.sources.source_opening import SourceChoice, open_source

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
            time.sleep(0.4)
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
        kinds.append(source.facts.kind)
        source.close()
    server.close()
    assert kinds == ["clip", "images", "stream"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gone.mp4", "gone.mp4: no such file"),
        ("gopher://table", "gopher:// is not supported"),
        ("no such camera", "No camera matches"),
    ],
)
def test_a_missing_source_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_source(SourceChoice(text), CaptureClock(), ActiveProblems())


def test_a_folder_without_pictures_and_a_file_without_video_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no picture"):
        ImageFolder(tmp_path)
    text = tmp_path / "text.mp4"
    text.write_text("hello")
    with pytest.raises(InputError, match="not a readable video"):
        VideoFile(text)
