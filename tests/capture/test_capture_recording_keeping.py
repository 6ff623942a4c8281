"""What is kept of recordings: room is made in time, by the order of the files, and never by a wrong clock."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_frames import MJPEG, captured_frame
from waiting import wait_until

from downfield.capture.problems import ActiveProblems
from downfield.capture.recording import keeping
from downfield.capture.recording.keeping import RecordingAges, RecordingKeeper, prune
from downfield.capture.recording.recorder import DISK_FULL, Recorder
from downfield.capture.recording.recording_library import create_recording, recorded_videos
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.core.platform.system import free_bytes

DAY_S = 86_400
DAY_NS = DAY_S * 10**9
NOW_NS = 1_800_000_000 * 10**9


def written(recording: Path, number: int, size: int = 1000) -> Path:
    video = recording / f"{number:04d}.mkv"
    video.write_bytes(bytes(size))
    return video


class Clock:
    """A computer's clock that can be set, and one that can't."""

    def __init__(self) -> None:
        self.wall_ns, self.run_ns = NOW_NS, 5

    def go(self, days: float) -> None:
        self.wall_ns += round(days * DAY_NS)
        self.run_ns += round(days * DAY_NS)

    def ages(self, folder: Path) -> RecordingAges:
        return RecordingAges(folder, lambda: self.wall_ns, lambda: self.run_ns)


def live(clock: Clock, ages: RecordingAges, days: float) -> frozenset[str]:
    """Run for days, half a day at a time; return what is older than 30 days in the end."""
    old = ages.older_than(30)
    while days > 0:
        clock.go(min(days, 0.5))
        days -= 0.5
        old = ages.older_than(30)
    return old


def test_a_recording_is_old_after_its_days_and_a_day_of_running_whatever_its_dates_are(tmp_path: Path) -> None:
    clock = Clock()
    video = written(create_recording(tmp_path, "19700101-000000"), 1)
    os.utime(video, (3.0, 3.0))
    ages = clock.ages(tmp_path)
    assert live(clock, ages, 31) == frozenset()
    assert live(clock, ages, 3) == {video.parent.name}
    new = written(create_recording(tmp_path, "20260101-000000"), 1)
    assert live(clock, ages, 30) == {video.parent.name}
    assert prune(tmp_path, 10**9, aged=ages.older_than(30), current=new.parent) == [video]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(-60 * 365, 730), st.floats(0, 0.9), st.booleans()), min_size=1, max_size=3))
def test_no_clock_that_was_wrong_for_less_than_a_day_makes_anything_old(jumps: list[tuple[float, float, bool]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, clock = Path(place), Clock()
        ages = clock.ages(folder)
        written(create_recording(folder, "20270101-000000"), 1)
        assert live(clock, ages, 2) == frozenset()
        for days, lasting, is_restarted in jumps:
            clock.wall_ns += round(days * DAY_NS)
            ages = clock.ages(folder) if is_restarted else ages
            written(create_recording(folder, "20270101-000000"), 1)
            assert live(clock, ages, lasting) == frozenset()
            clock.wall_ns -= round(days * DAY_NS)
            ages = clock.ages(folder) if is_restarted else ages
            assert live(clock, ages, 2) == frozenset(), f"{days} days"


def test_damaged_notes_of_ages_make_nothing_old(tmp_path: Path) -> None:
    written(create_recording(tmp_path, "20260101-000000"), 1)
    (tmp_path / "ages.json").write_text('{"seen": 3')
    clock = Clock()
    assert live(clock, clock.ages(tmp_path), 2) == frozenset()


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.sets(st.integers(0, 11)),
    st.sets(st.integers(0, 3)),
    st.integers(0, 8_000),
    st.integers(-2_000, 8_000),
)
def test_the_files_made_first_go_first_what_is_needed_and_the_last_one_stay(
    runs: list[int], needed: set[int], aged: set[int], keep_bytes: int, short_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, made = Path(place), list[Path]()
        for files in runs:
            recording = create_recording(folder, "20260101-120000")
            made += [written(recording, number) for number in range(1, files + 1)]
        kept = {made[number] for number in needed if number < len(made)}
        old = {f"{number + 1:06d}-20260101-120000" for number in aged}
        gone = prune(
            folder, keep_bytes, aged=old, short_bytes=short_bytes, needed=kept.__contains__, current=made[-1].parent
        )
        assert [video for video in made if not video.exists()] == gone
        assert made[-1].exists()
        for_age = [video for video in gone if video.parent.name in old]
        for_room = [video for video in gone if video not in for_age]
        assert not kept & set(gone), "neither for room nor for age"
        assert not any(video.parent == made[-1].parent for video in for_age) or short_bytes > 0 or keep_bytes < 12_000
        left = [video for video in made[:-1] if video.exists() and video not in kept]
        is_room = 1000 * (len(made) - len(gone)) <= keep_bytes and 1000 * len(gone) >= short_bytes
        assert is_room or not left
        for video in for_room:
            assert not [before for before in made[: made.index(video)] if before in left], "an older one was left"


def test_only_files_that_a_recorder_named_are_deleted_with_what_lies_beside_them(tmp_path: Path) -> None:
    for name in ("000001-20260101-120000", "000002-20260102-120000", "000003-20260103-120000"):
        (tmp_path / name).mkdir()
        for file in ("0001.mkv", "0001.frames.jsonl", "0001.calibration.json", "0001.again.json"):
            (tmp_path / name / file).write_bytes(bytes(1000))
    (tmp_path / "holiday").mkdir()
    (tmp_path / "holiday" / "0001.mkv").write_bytes(bytes(9000))
    assert prune(tmp_path, 100_000) == []
    assert [path.parent.name for path in prune(tmp_path, 8500)] == ["000001-20260101-120000"]
    assert not (tmp_path / "000001-20260101-120000").exists()
    assert (tmp_path / "holiday" / "0001.mkv").exists()


SCALE = 100_000
"""Sizes are so much smaller: 128 GB are 1.28 MB, a minute of motion JPEG 12 kB."""

MINUTE = 1_200_000_000 // SCALE
ROOM = 128_000_000_000 // SCALE


def test_twelve_hours_of_games_fit_on_128_gb_and_all_that_a_dispute_needs_is_there(tmp_path: Path) -> None:
    """Scaled: 80 % of the files show calls of signed games; idle time is worth one file in two minutes of play."""
    recording, needed, put_again = create_recording(tmp_path, "20260101-120000"), set[Path](), set[Path]()

    def free(_: Path) -> int:
        return ROOM - sum(sizes.values())

    limits = RecordingSettings(keep_gb=1e6, warn_below_gb=10 / SCALE, stop_below_gb=2 / SCALE)
    keeper = RecordingKeeper(tmp_path, limits, needed=needed.__contains__, free=free, ages=Clock().ages(tmp_path))
    sizes = dict[Path, int]()
    fullest, deleted = 0.0, 0
    for minute in range(12 * 60):
        video = written(recording, minute + 1, MINUTE)
        sizes[video] = MINUTE
        if minute % 5 < 4:
            needed.add(video)
        is_break = minute % 60 >= 45  # between games: the processor is idle
        again = [path for path in list(sizes)[:-10] if path not in put_again]
        for path in again[: 3 if is_break else minute % 2]:
            path.write_bytes(bytes(MINUTE // 12))
            sizes[path] = MINUTE // 12
            put_again.add(path)
        if free(tmp_path) < 10 * keeping.GB // SCALE:
            for gone in keeper.make_room(recording):
                del sizes[gone]
                deleted += 1
        fullest = max(fullest, 1 - free(tmp_path) / ROOM)
        assert free(tmp_path) > 2 * keeping.GB // SCALE, f"the disk is full after {minute} minutes"
    assert all(path.exists() for path in needed), "what a dispute may need was deleted"
    assert deleted <= 12 * 60 - len(needed)
    assert fullest < 1


def test_a_disk_that_is_full_of_old_recordings_never_stops_the_recording(tmp_path: Path) -> None:
    before = create_recording(tmp_path, "20260101-120000")
    old = [written(before, number, 4000) for number in range(1, 30)]
    problems, notices = ActiveProblems(), list[str]()
    problems = ActiveProblems(notify=lambda _, text: notices.append(text))

    def free(folder: Path) -> int:
        return 30 * 4000 - sum(path.stat().st_size for path in recorded_videos(folder) if path in old)

    limits = RecordingSettings(warn_below_gb=20_000 / 1e9, stop_below_gb=5_000 / 1e9)
    recorder = Recorder(tmp_path, limits, lambda: MJPEG, problems, free_bytes=free)
    recorder.record_when_possible()
    index = itertools.count()

    def is_made() -> bool:
        recorder._disk_checked_at = 0.0
        recorder.frame_captured(captured_frame(next(index)))
        return recorder.status().on and not old[0].exists()

    wait_until(is_made, "room is made, and the recording goes on")
    recorder.close()
    assert DISK_FULL not in {reason.code for reason in problems.active()}
    assert old[-1].exists()
    assert any("Deleted the oldest recording" in text for text in notices)


def test_a_disk_without_inodes_is_full_and_recording_goes_on_when_there_are_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inodes = [0]

    class Found:
        f_files, f_bavail, f_frsize, f_blocks, f_bfree = 1000, 10**9, 4096, 10**9, 10**9

        @property
        def f_favail(self) -> int:
            return inodes[0]

    monkeypatch.setattr(os, "statvfs", lambda _: Found())
    assert free_bytes(tmp_path) == 0
    problems = ActiveProblems()
    recorder = Recorder(tmp_path, RecordingSettings(warn_below_gb=0, stop_below_gb=0.001), lambda: MJPEG, problems)
    recorder.record_when_possible()
    (reason,) = problems.active()
    assert reason.code == DISK_FULL
    assert "no inodes" in reason.text
    inodes[0] = 900
    wait_until(lambda: recorder.status().on, "it goes on by itself")
    recorder.close()
    Found.f_files = 0
    inodes[0] = 0
    assert free_bytes(tmp_path) > 0, "a file system that counts no inodes"
