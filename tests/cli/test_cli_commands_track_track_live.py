"""Tracking a live stream until Ctrl-C, and what is refused for one."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import cast

import av
import cv2
import pytest
from loopback_streams import MjpegServer, jpeg
from rig_fakes import FakeSource
from tracked_tables import FIELD, Table, look_of, standing
from typer.testing import CliRunner
from waiting import WAIT_S, let_run, wait_until

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.capture.sources.file_sources import bundled_demo
from downfield.cli.commands.track import live_scenes
from downfield.cli.main import app
from downfield.core.frame import Frame
from downfield.core.track_files import TrackFile
from downfield.vision.pipeline import Vision

CALIBRATION = bundled_demo().with_suffix(".calibration.json")


def demo_pictures(count: int) -> list[bytes]:
    with av.open(str(bundled_demo())) as clip:
        frames = [
            frame.to_ndarray(format="bgr24", threads=1) for frame in itertools.islice(clip.decode(video=0), count)
        ]
    return [cv2.imencode(".jpg", frame)[1].tobytes() for frame in frames]


@pytest.fixture(scope="module")
def stream() -> Iterator[MjpegServer]:
    """Serve the line-up of the bundled recording, forward and backward, as a network camera does."""
    forward = demo_pictures(12)
    pictures = forward + forward[-2:0:-1]
    server = MjpegServer(fps=6, encoded=lambda number: pictures[(number - 1) % len(pictures)])
    yield server
    server.close()


def test_a_stream_is_tracked_until_ctrl_c(stream: MjpegServer, tmp_path: Path) -> None:
    out = tmp_path / "game.tracks.jsonl"
    command = [sys.executable, "-m", "downfield", "track", stream.url, "-c", str(CALIBRATION), "-o", str(out)]
    part = out.with_name(out.name + ".part")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:

        def is_tracked() -> bool:
            assert process.poll() is None, process.communicate()[1]
            return part.exists() and part.stat().st_size > 100_000

        wait_until(is_tracked, "tracks are written")
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=WAIT_S)[1]
    assert process.returncode == 0, output
    tracks = TrackFile(out)
    scenes = list(tracks)
    # How many figures a busy computer finds in time is not tested here.
    count = len(tracks.header.players)
    assert f"{count} figures" in output
    assert 0 < count <= 22
    assert tracks.header.fps < 15
    assert all(before.t_ns < after.t_ns for before, after in pairwise(scenes))
    assert len(scenes[-1].figures) == count
    assert not part.exists()


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    look = look_of(Table({"dark-7": standing(300, 200, 0)}, 0.1).players)
    write_calibration(tmp_path / "c.json", Calibration(FIELD, look.camera, "truth"))
    return ["-c", str(tmp_path / "c.json"), "-o", str(tmp_path / "out.tracks.jsonl")]


@pytest.mark.parametrize("ending", ["", ".part"])
def test_a_game_that_was_tracked_live_is_not_overwritten(
    words: list[str], tmp_path: Path, stream: MjpegServer, ending: str
) -> None:
    there = tmp_path / f"out.tracks.jsonl{ending}"
    there.write_text("a game")
    result = CliRunner().invoke(app, ["track", stream.url, *words])
    assert result.exit_code != 0
    assert f"{there}: exists" in str(result.exception)
    assert there.read_text() == "a game"


@pytest.mark.parametrize("option", ["--independent", "--thorough"])
def test_options_too_slow_for_a_live_source_are_refused(words: list[str], stream: MjpegServer, option: str) -> None:
    result = CliRunner().invoke(app, ["track", stream.url, *words, option])
    assert result.exit_code != 0
    assert f"{option} takes longer" in str(result.exception)


def test_a_missing_recording_is_named(words: list[str]) -> None:
    result = CliRunner().invoke(app, ["track", "nowhere.mp4", *words])
    assert "nowhere.mp4: no such file" in str(result.exception)


def test_the_device_file_of_a_camera_is_not_taken_for_a_recording(words: list[str]) -> None:
    result = CliRunner().invoke(app, ["track", "/dev/null", *words])
    assert "/dev/null" in str(result.exception)
    assert "no such file" not in str(result.exception)


class FakeVision:
    """Notes the frames it processes."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self.processed: list[int] = []
        self._pause_s = pause_s

    def detect(self, frame: Frame, waiting: int) -> None:
        """Looks at nothing."""

    def update(self, frame: Frame, _: object) -> int:
        let_run(self._pause_s)
        self.processed.append(frame.index)
        return frame.index


class PacketSource(FakeSource):
    """Sends given packets."""

    def __init__(self, packets: list[bytes]) -> None:
        super().__init__(len(packets), live=True)
        self._packets = packets

    def frames(self) -> Iterator[CapturedFrame]:
        for index, data in enumerate(self._packets):
            yield CapturedFrame(index, index, index, VideoPacket("mjpeg", data))


def test_a_damaged_picture_is_reported_and_skipped() -> None:
    notices: list[str] = []
    vision = FakeVision()
    source = PacketSource([jpeg(1), b"no picture", jpeg(3)])
    list(live_scenes(cast("Vision", vision), source, notices.append))
    assert vision.processed == [0, 2]
    assert any("frame 1" in text and "damaged" in text for text in notices)


def test_live_frames_that_come_too_fast_are_dropped_oldest_first_and_counted() -> None:
    notices: list[str] = []
    vision = FakeVision(pause_s=0.005)
    list(live_scenes(cast("Vision", vision), FakeSource(200, live=True), notices.append))
    assert vision.processed[-1] == 199
    assert vision.processed == sorted(vision.processed)
    assert f"{200 - len(vision.processed)} frames were dropped" in notices[-1]


def test_no_frame_of_a_recording_is_dropped() -> None:
    notices: list[str] = []
    vision = FakeVision(pause_s=0.001)
    list(live_scenes(cast("Vision", vision), FakeSource(120, live=False), notices.append))
    assert vision.processed == list(range(120))
    assert not notices
