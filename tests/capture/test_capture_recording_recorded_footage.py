"""Footage returns exactly the requested frame, from recordings and clips of any encoding, or a clear refusal."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_frames import MJPEG, RAW, captured_frame, record
from striped_pictures import clip, number_in_stripes

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.capture.recording.frame_reader import FrameReader
from downfield.capture.recording.recorded_footage import ClipFootage, RecordedFootage
from downfield.capture.recording.recording_library import RecordingIndexHeader, find_frames, index_path
from downfield.capture.recording.segment import RecordingSegment
from downfield.capture.source import CapturedFrame
from downfield.capture.sources.file_sources import VideoFile, bundled_demo
from downfield.core.errors import NotRecordedError

ALL = (0, 2**63 - 1)


def played(
    path: Path, count: int | None = None, earlier: Collection[int] = ()
) -> tuple[ClipFootage, list[CapturedFrame]]:
    """Play the first frames of a clip; return its footage and those frames."""
    footage = ClipFootage(path, lambda: None, earlier)
    frames = list(VideoFile(path, paced=False).frames())[:count]
    for frame in frames:
        footage.frame_captured(frame)
    return footage, frames


@pytest.mark.parametrize("every_key", [250, 12, 1])
def test_every_frame_of_a_clip_is_the_one_that_was_played(tmp_path: Path, every_key: int) -> None:
    footage, frames = played(clip(tmp_path / "play.mp4", every_key=every_key))
    stills = footage.between(*ALL, time.time_ns())
    assert [(still.frame, still.t_ns) for still in stills] == [(frame.index, frame.t_ns) for frame in frames]
    for still, frame in zip(reversed(stills), reversed(frames), strict=True):  # backward, as a reviewer may step
        image = footage.picture(still)
        assert frame.image is not None
        assert np.array_equal(image, frame.image)
        assert number_in_stripes(image) == still.frame


def test_a_clip_offers_the_played_frames_each_once(tmp_path: Path) -> None:
    footage, frames = played(clip(tmp_path / "play.mp4"), 20)
    for frame in frames[:10]:  # and from its beginning again
        footage.frame_captured(frame)
    assert [still.frame for still in footage.between(*ALL, time.time_ns())] == list(range(20))
    some = footage.between(frames[3].t_ns, frames[5].t_ns, time.time_ns())
    assert [still.frame for still in some] == [3, 4, 5]


@pytest.mark.parametrize("raw", [False, True])
def test_every_frame_of_a_recording_is_exact_across_files_and_gaps(tmp_path: Path, *, raw: bool) -> None:
    frames = [captured_frame(index, raw=raw) for index in range(110)]
    videos = record(tmp_path, frames, RAW if raw else MJPEG, segment_s=1.0)
    assert len(videos) == 3 or raw
    stills = find_frames(tmp_path, frames[5].t_ns, frames[105].t_ns)
    assert [(still.frame, still.t_ns) for still in stills] == [(frame.index, frame.t_ns) for frame in frames[5:106]]
    watched = {
        frame.index: frame.decode().image for video in videos for frame in VideoFile(video, paced=False).frames()
    }
    for still in stills[::7]:
        assert np.array_equal(FrameReader().read(still), watched[still.frame])
        if not raw:
            live = next(frame for frame in frames if frame.index == still.frame)
            assert np.array_equal(FrameReader().read(still), live.decode().image)


def test_frames_with_the_same_time_in_the_file_are_told_apart(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(12)]
    stuck = [
        replace(frame, t_ns=frames[4].t_ns + frame.index - 4) if 4 < frame.index < 8 else frame for frame in frames[:10]
    ]
    record(tmp_path, stuck)
    stills = find_frames(tmp_path, *ALL)
    assert [still.rank for still in stills] == [0, 0, 0, 0, 0, 1, 2, 3, 0, 0]
    assert [still.frame for still in stills if not still.is_alone] == [4, 5, 6, 7]
    for still, frame in zip(stills, stuck, strict=True):
        assert np.array_equal(FrameReader().read(still), frame.decode().image)


def test_the_file_being_written_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = tmp_path / "000001-20260101-120000"
    frames = [captured_frame(index) for index in range(40)]
    assert frames[0].packet is not None
    writing = RecordingSegment(folder / "0001.mkv", frames[0].packet, RecordingIndexHeader("cam", "mjpeg", (160, 90)))
    for frame in frames:
        assert frame.packet is not None
        writing.add(frame, frame.packet)
    stills = find_frames(tmp_path, frames[30].t_ns, frames[39].t_ns)
    assert np.array_equal(FrameReader().read(stills[0]), frames[30].decode().image)
    writing.close()
    with index_path(folder / "0001.mkv").open("a", encoding="utf-8") as index:  # indexed, and not on the disk yet
        index.write(f'{{"frame":99,"t_ns":{frames[39].t_ns + 20_000_000}}}\n')
    late = find_frames(tmp_path, frames[39].t_ns + 1, ALL[1])
    with pytest.raises(NotRecordedError, match=r"Frame 99 is not in 000001-20260101-120000/0001\.mkv"):
        FrameReader().read(late[0])


def test_one_damaged_picture_is_refused_and_its_neighbors_are_not(tmp_path: Path) -> None:
    frames = [captured_frame(index) for index in range(9)]
    packed = frames[4].packet
    assert packed is not None
    frames[4] = replace(frames[4], packet=replace(packed, data=packed.data[:300]))
    record(tmp_path, frames)
    stills = find_frames(tmp_path, *ALL)
    with pytest.raises(NotRecordedError, match="damaged"):
        FrameReader().read(stills[4])
    assert np.array_equal(FrameReader().read(stills[5]), frames[5].decode().image)


def test_what_was_not_recorded_or_was_deleted_is_refused_with_what_to_do(tmp_path: Path) -> None:
    footage = RecordedFootage(tmp_path / "none")
    with pytest.raises(NotRecordedError, match="Switch recording on"):
        footage.between(18 * 10**17, 18 * 10**17 + 1, 0)
    with pytest.raises(NotRecordedError, match="Name it: downfield export GAME --video VIDEO"):
        footage.between(10**10, 10**10 + 1, 0)  # a video's time counts from its beginning
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)])
    stills = RecordedFootage(tmp_path).between(*ALL, 0)
    assert RecordedFootage(tmp_path).picture(stills[0]).shape == (90, 160, 3)
    with pytest.raises(NotRecordedError, match="No recording holds"):
        RecordedFootage(tmp_path).between(0, stills[0].t_ns - 1, 0)
    video.unlink()
    with pytest.raises(NotRecordedError, match="deleted or damaged"):
        RecordedFootage(tmp_path).picture(stills[0])
    index_path(video).write_text("nonsense\n")
    assert find_frames(tmp_path, *ALL) == ()


def test_only_files_named_by_a_recorder_are_searched(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)])
    video.parent.rename(tmp_path / "holiday")
    assert find_frames(tmp_path, *ALL) == ()


def test_an_earlier_game_is_not_shown_with_frames_of_the_present_file(tmp_path: Path) -> None:
    earlier_ns = time.time_ns()
    footage, _ = played(clip(tmp_path / "play.mp4", 5), earlier=[earlier_ns])
    with pytest.raises(NotRecordedError, match="played before this file was opened"):
        footage.between(*ALL, earlier_ns)
    with pytest.raises(NotRecordedError, match="no frame of that time"):
        footage.between(10**15, 10**15 + 1, time.time_ns())


@pytest.mark.parametrize("hours", [-100_000, -1, 0, 1])
def test_the_game_in_play_has_its_frames_though_the_clock_was_set_since_the_file_was_opened(
    tmp_path: Path, hours: int
) -> None:
    earlier_ns = time.time_ns()
    footage, frames = played(clip(tmp_path / "play.mp4", 5), earlier=[earlier_ns])
    assert len(footage.between(*ALL, earlier_ns + hours * 3_600_000_000_000 + 1)) == len(frames)


def calibration_for(size_px: tuple[int, int]) -> Calibration:
    made = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    return replace(made, camera=replace(made.camera, lens=replace(made.camera.lens, size_px=size_px)))


def test_a_recorded_frame_comes_with_the_calibration_beside_it_or_with_the_reason_why_not(tmp_path: Path) -> None:
    (video,) = record(tmp_path, [captured_frame(index) for index in range(5)])
    footage = RecordedFootage(tmp_path)
    still = footage.between(*ALL, 0)[2]
    assert footage.calibration(still).calibration is None
    assert "no calibration yet" in footage.calibration(still).origin
    path = video.with_suffix(".calibration.json")
    write_calibration(path, replace(calibration_for((160, 90)), made_at="2026-03-01T10:20:30Z", method="field"))
    kept = footage.calibration(still)
    assert kept.calibration is not None
    assert kept.origin == "Calibration of 2026-03-01 10:20 UTC, as stored with the recording."
    assert kept.fitting((160, 90)) == kept
    assert kept.fitting((320, 180)).calibration is None
    assert "320x180" in kept.fitting((320, 180)).origin
    path.write_text("{}")
    assert footage.calibration(still).calibration is None
    assert "0001.calibration.json is damaged" in footage.calibration(still).origin


def test_each_frame_of_a_clip_has_the_calibration_it_was_first_played_with(tmp_path: Path) -> None:
    first, second = calibration_for((160, 90)), calibration_for((320, 180))
    in_use: list[Calibration | None] = [None]
    footage = ClipFootage(clip(tmp_path / "play.mp4", 9), lambda: in_use[0])
    frames = list(VideoFile(tmp_path / "play.mp4", paced=False).frames())
    for frame in frames:
        in_use[0] = [None, first, second][frame.index // 3]
        footage.frame_captured(frame)
    footage.frame_captured(frames[0])  # played again, with another calibration
    found = [footage.calibration(still).calibration for still in footage.between(*ALL, time.time_ns())]
    assert found == [None] * 3 + [first] * 3 + [second] * 3
