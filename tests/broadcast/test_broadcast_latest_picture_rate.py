"""Pictures for viewers give way to calls: half as many while frames come late, few while frames are dropped."""

from __future__ import annotations

import time
from itertools import count, pairwise

import pytest

from downfield.broadcast.latest_picture import PICTURE_RATE_LIMITS, PictureRate
from downfield.rig.live.rig_health import LATE_MS, FrameMeter


class Computer:
    """A computer that is as late and as loaded as a test says."""

    def __init__(self) -> None:
        self.late = self.overloaded = False
        self.rate = PictureRate(30.0, 6.0, lambda: self.late, lambda: self.overloaded)
        self._frames = count()

    def fps_at(self, now_s: float, skipped: int = 0) -> float:
        for _ in range(skipped):
            next(self._frames)
        return self.rate.fps(next(self._frames), now_s)


def test_pictures_come_half_as_often_for_a_while_once_frames_are_late() -> None:
    computer = Computer()
    assert computer.fps_at(0.0) == 30.0
    computer.late = True
    assert computer.fps_at(1.0) == 15.0
    computer.late = False  # thanks to the lower rate
    assert computer.fps_at(0.9 + PICTURE_RATE_LIMITS.first_late_s) == 15.0
    assert computer.fps_at(1.1 + PICTURE_RATE_LIMITS.first_late_s) == 30.0


def test_a_full_rate_that_makes_frames_late_again_is_tried_ever_less_often() -> None:
    computer = Computer()
    tries: list[float] = []
    now_s = 0.0
    while now_s < 1000:
        computer.late = True  # as soon as the full rate is tried
        if computer.fps_at(now_s) == 15.0 and (not tries or computer.rate._late_until > tries[-1]):
            tries.append(computer.rate._late_until)
        now_s += 1.0
    steps = [after - before for before, after in pairwise(tries)]
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(PICTURE_RATE_LIMITS.longest_late_s, abs=2)
    computer.late = False
    long_after = tries[-1] + 10 * PICTURE_RATE_LIMITS.longest_late_s
    assert computer.fps_at(long_after) == 30.0
    computer.late = True
    computer.fps_at(long_after + 1)
    computer.late = False
    assert computer.fps_at(long_after + 2 + PICTURE_RATE_LIMITS.first_late_s) == 30.0  # the past is forgotten


def test_dropped_frames_and_overload_leave_few_pictures_and_a_pause_is_no_drop() -> None:
    computer = Computer()
    assert computer.fps_at(0.0) == 30.0
    assert computer.fps_at(0.1, skipped=1) == 6.0
    assert computer.fps_at(0.2 + PICTURE_RATE_LIMITS.overload_s) == 30.0
    computer.overloaded = True
    assert computer.fps_at(3.0) == 6.0
    computer.overloaded = False
    computer.rate.pause()
    assert computer.fps_at(10.0, skipped=50) == 30.0


@pytest.mark.parametrize(("late_ms", "expected"), [(0.5 * LATE_MS, False), (2 * LATE_MS, True)])
def test_frames_are_late_by_the_median_of_the_last_second(late_ms: float, *, expected: bool) -> None:
    meter = FrameMeter()
    assert not meter.is_late()
    for _ in range(20):
        meter.frame_published(time.monotonic_ns() - round(late_ms * 1e6))
    meter.frame_published(time.monotonic_ns() - round(50 * LATE_MS * 1e6))  # one alone is no sign
    assert meter.is_late() is expected
