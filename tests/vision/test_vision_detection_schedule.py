"""The detection rate: as requested, and lower where the computer is too slow for that."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.vision.detection_schedule import DetectionRate, DetectorRun

MS = 1_000_000
SECONDS = 20


class Clock:
    """Moves only when it is set."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def runs_of(fps: float, rate: DetectionRate | None = None) -> list[tuple[DetectorRun, ...]]:
    """The detector runs due on each frame if they take no time."""
    rate = rate or DetectionRate()
    return [rate.due(round(number * 1e9 / fps)) for number in range(round(SECONDS * fps))]


def simulated(
    fps: float, takes_ms: dict[DetectorRun, float], waiting: int = 0
) -> tuple[DetectionRate, Counter[DetectorRun], float]:
    """The number of detector runs, and the share of the time that they take."""
    clock, busy_ns = Clock(), 0
    rate, count = DetectionRate(clock=clock), Counter[DetectorRun]()
    for number in range(round(SECONDS * fps)):
        for run in rate.due(round(number * 1e9 / fps), waiting):
            with rate.timed(run):
                clock.now_ns += round(takes_ms[run] * MS)
            busy_ns += round(takes_ms[run] * MS)
            count[run] += 1
    return rate, count, busy_ns / (SECONDS * 1e9)


@pytest.mark.parametrize(("fps", "every"), [(15, 1), (30, 1), (50, 1), (60, 1), (80, 1), (100, 2), (120, 2), (240, 3)])
def test_at_a_high_frame_rate_the_detector_skips_frames(fps: float, every: int) -> None:
    runs = runs_of(fps)
    assert all(runs[::every])
    assert not any(due for number, due in enumerate(runs) if number % every)


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_full_frame_runs_are_about_as_frequent_as_requested(fps: float) -> None:
    count = sum("full_frame" in due for due in runs_of(fps))
    assert 9.5 <= count / SECONDS <= 12.5


def test_an_interval_of_0_is_every_frame() -> None:
    assert set(runs_of(120, DetectionRate(0, 0))) == {("full_frame", "figures")}


def test_times_may_begin_anywhere() -> None:
    assert DetectionRate().due(-5_000_000_000) == DetectionRate().due(0) != ()


def test_the_runs_on_a_recording_do_not_depend_on_the_computer() -> None:
    rate, clockless = DetectionRate(), DetectionRate()
    waited = [rate.due(number * 16 * MS, waiting=6) for number in range(200)]
    for number, due in enumerate(waited):
        with clockless.timed("full_frame"):
            assert clockless.due(number * 16 * MS) == due
    assert not clockless.slow


def test_a_fast_computer_keeps_the_requested_rates_with_both_runs_on_one_frame() -> None:
    rate, count, _ = simulated(60, {"full_frame": 8.0, "figures": 5.0})
    assert not rate.slow
    assert count["figures"] == pytest.approx(60 * SECONDS, rel=0.01)
    assert count["full_frame"] == pytest.approx(12 * SECONDS, rel=0.01)


@pytest.mark.parametrize("takes_ms", [9.0, 15.0])
def test_runs_that_take_most_of_a_frame_halve_the_rate_without_a_warning(takes_ms: float) -> None:
    rate, count, _ = simulated(60, {"full_frame": 14.0, "figures": takes_ms})
    assert not rate.slow
    assert count["figures"] == pytest.approx(30 * SECONDS, rel=0.02)


def test_a_slower_computer_gives_each_run_a_frame_of_its_own() -> None:
    clock = Clock()
    rate = DetectionRate(clock=clock)
    rate.due(0)
    both: tuple[tuple[DetectorRun, int], ...] = (("full_frame", 32), ("figures", 22))
    for run, takes_ms in both:
        with rate.timed(run):
            clock.now_ns += takes_ms * MS
    due = [rate.due(round(number * 1e9 / 60)) for number in range(10, 600)]
    assert max(len(runs) for runs in due) == 1
    assert {("full_frame",), ("figures",)} < set(due)


@given(full_frame=st.floats(1, 400), figures=st.floats(1, 400), fps=st.sampled_from([15, 30, 60, 120]))
def test_runs_never_take_all_of_the_time(full_frame: float, figures: float, fps: float) -> None:
    rate, count, busy = simulated(fps, {"full_frame": full_frame, "figures": figures})
    assert busy < 0.95
    assert count["full_frame"] > 0
    assert count["figures"] > 0
    slow = full_frame / 0.2 > 8 * 83 or figures / 0.9 > 1.5 * 33
    assert rate.slow == slow or abs(full_frame / 0.2 - 664) < 1


def test_where_frames_wait_runs_become_rarer_but_never_end() -> None:
    _, free, _ = simulated(60, {"full_frame": 32, "figures": 22})
    _, pressed, _ = simulated(60, {"full_frame": 32, "figures": 22}, waiting=4)
    assert 4 * SECONDS < pressed["figures"] < free["figures"] / 1.5
    assert pressed["full_frame"] > SECONDS


def test_the_warning_lasts_until_frames_no_longer_wait() -> None:
    rate = DetectionRate(clock=Clock())
    slow = []
    for number in range(900):
        rate.due(round(number * 1e9 / 60), waiting=4 if 100 <= number < 300 else 0)
        slow.append(rate.slow)
    assert not any(slow[:100])
    assert all(slow[110:300])
    assert not any(slow[500:])


def test_slow_first_runs_do_not_make_later_ones_rarer_for_long() -> None:
    """Networks warm up: their first runs take fifty times as long."""
    clock, count = Clock(), Counter[DetectorRun]()
    rate = DetectionRate(clock=clock)
    for number in range(8 * 60):
        for run in rate.due(round(number * 1e9 / 60)):
            with rate.timed(run):
                clock.now_ns += (6 if run == "figures" else 9) * MS * (1 if count[run] else 50)
            count[run] += number >= 4 * 60 or not count[run]
    assert not rate.slow
    assert count["full_frame"] == pytest.approx(4 * 12, rel=0.1)
    assert count["figures"] == pytest.approx(4 * 60, rel=0.1)


def test_a_slow_computer_is_reported_with_its_rates() -> None:
    rate, _, _ = simulated(30, {"full_frame": 200, "figures": 100})
    assert rate.slow
    assert rate.summary == "runs 9 times per second on figures and once on the full frame"
