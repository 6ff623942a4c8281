"""Recordings are ordered, searched and deleted by their numbers, whatever the computer's clock said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded_frames import MJPEG, captured_frame
from waiting import wait_until

from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.keeping import prune
from downfield.capture.recording.recorder import DISK_FULL, RECORDING_FAILED, Recorder
from downfield.capture.recording.recording_library import (
    RecordedFrame,
    RecordingIndexHeader,
    create_recording,
    find_frames,
    last_recorded_ns,
    recorded_videos,
    recording_order,
)
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.core.records import to_json

NOW_S = 1_800_000_000.0


def written(recording: Path, number: int, times_ns: list[int], dated_s: float = NOW_S) -> Path:
    """Write a recorded file of 1,000 bytes with its index."""
    video = recording / f"{number:04d}.mkv"
    video.write_bytes(bytes(1000))
    lines = [to_json(RecordingIndexHeader, RecordingIndexHeader("cam", "mjpeg", (160, 90)))]
    lines += [to_json(RecordedFrame, RecordedFrame(index, t_ns)) for index, t_ns in enumerate(times_ns)]
    video.with_suffix(".frames.jsonl").write_text("".join(f"{line}\n" for line in lines))
    os.utime(video, (dated_s, dated_s))
    return video


def test_two_runs_of_one_second_have_two_recordings(tmp_path: Path) -> None:
    names = [create_recording(tmp_path / "recordings", "19700101-000003").name for _ in range(3)]
    assert names == ["000001-19700101-000003", "000002-19700101-000003", "000003-19700101-000003"]


def test_recordings_are_ordered_by_number_and_links_that_lead_nowhere_are_passed_over(tmp_path: Path) -> None:
    old = written(create_recording(tmp_path, "20300101-000000"), 1, [5])
    new = written(create_recording(tmp_path, "19700101-000000"), 1, [7])
    (old.parent / "0002.mkv").symlink_to(tmp_path / "nowhere.mkv")
    (tmp_path / "000009-20300101-000000").symlink_to(tmp_path / "nowhere")
    assert sorted(recorded_videos(tmp_path), key=recording_order) == [old, old.parent / "0002.mkv", new]
    assert prune(tmp_path, 1_200) == [old]
    assert new.exists()


def test_a_later_run_with_an_earlier_clock_does_not_hide_the_pictures_of_the_run_before(tmp_path: Path) -> None:
    first = create_recording(tmp_path, "20260101-120000")
    written(first, 1, [1_000, 1_100])
    written(first, 2, [1_200, 1_300])
    written(create_recording(tmp_path, "19700101-000000"), 1, [10, 20])
    assert [frame.t_ns for frame in find_frames(tmp_path, 1_100, 1_200)] == [1_100, 1_200]
    assert [frame.t_ns for frame in find_frames(tmp_path, 5, 15)] == [10]
    assert last_recorded_ns(tmp_path) == 1_300


def test_an_unforeseen_error_stops_the_recording_with_an_alarm_and_it_can_be_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = ActiveProblems()
    recorder = Recorder(tmp_path, RecordingSettings(stop_below_gb=0), lambda: MJPEG, problems)
    with monkeypatch.context() as patch:
        patch.setattr("downfield.capture.recording.recorder.create_recording", lambda *_: 1 // 0)
        recorder.record(True)
        recorder.frame_captured(captured_frame(0))
        wait_until(lambda: not recorder.status().on)
        (reason,) = problems.active()
        assert reason.code == RECORDING_FAILED
        assert "ZeroDivisionError" in reason.text
    recorder.record(True)
    assert problems.active() == ()
    for index in range(1, 5):
        recorder.frame_captured(captured_frame(index))
    recorder.close()
    assert not recorder.status().on
    assert len(recorded_videos(tmp_path)) == 1


def test_room_that_comes_back_resumes_the_recording_and_a_person_who_stopped_it_is_obeyed(tmp_path: Path) -> None:
    free = {"bytes": 50e9}
    problems = ActiveProblems()
    recorder = Recorder(tmp_path, RecordingSettings(), lambda: MJPEG, problems, free_bytes=lambda _: int(free["bytes"]))

    def has(room_gb: float) -> None:
        free["bytes"] = room_gb * 1e9
        recorder._disk_checked_at = 0.0
        recorder.frame_captured(captured_frame(0))

    recorder.record(True)
    has(1.0)
    wait_until(lambda: not recorder.status().on)
    assert DISK_FULL in {reason.code for reason in problems.active()}
    has(2.1)
    wait_until(lambda: recorder._disk_checked_at > 0)
    assert not recorder.status().on
    has(9.0)
    wait_until(lambda: recorder.status().on)
    assert DISK_FULL not in {reason.code for reason in problems.active()}
    has(1.0)
    wait_until(lambda: not recorder.status().on)
    recorder.record(False)
    has(50.0)
    wait_until(lambda: recorder._disk_checked_at > 0)
    assert not recorder.status().on
    recorder.close()
