"""How often the network looks: as asked for, and more rarely where the computer is too slow for that."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.vision.frame_rate import DetectionRate, Look

MS = 1_000_000
SECONDS = 20


class Clock:
    """Stands still but when it is told."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def looked(fps: float, rate: DetectionRate | None = None) -> list[tuple[Look, ...]]:
    """How each frame of a while is looked at when looking takes no time."""
    rate = rate or DetectionRate()
    return [rate.due(round(number * 1e9 / fps)) for number in range(round(SECONDS * fps))]


def watched(fps: float, takes_ms: dict[Look, float], waiting: int = 0) -> tuple[DetectionRate, Counter[Look], float]:
    """How often frames are looked at in a while, and the share of it that looking takes."""
    clock, busy_ns = Clock(), 0
    rate, count = DetectionRate(clock=clock), Counter[Look]()
    for number in range(round(SECONDS * fps)):
        for look in rate.due(round(number * 1e9 / fps), waiting):
            with rate.looking(look):
                clock.now_ns += round(takes_ms[look] * MS)
            busy_ns += round(takes_ms[look] * MS)
            count[look] += 1
    return rate, count, busy_ns / (SECONDS * 1e9)


@pytest.mark.parametrize(("fps", "every"), [(15, 1), (30, 1), (50, 1), (60, 1), (80, 1), (100, 2), (120, 2), (240, 3)])
def test_of_frames_that_come_fast_only_some_are_looked_at(fps: float, every: int) -> None:
    looks = looked(fps)
    assert all(looks[::every])
    assert not any(look for number, look in enumerate(looks) if number % every)


@pytest.mark.parametrize("fps", [24, 30, 60])
def test_whole_pictures_are_looked_at_about_as_often_as_asked_for(fps: float) -> None:
    finds = sum("find" in look for look in looked(fps))
    assert 9.5 <= finds / SECONDS <= 12.5


def test_always_is_every_frame() -> None:
    assert set(looked(120, DetectionRate(0, 0))) == {("find", "follow")}


def test_a_recording_is_looked_at_alike_on_every_computer() -> None:
    rate, clockless = DetectionRate(), DetectionRate()
    waited = [rate.due(number * 16 * MS, waiting=6) for number in range(200)]
    for number, look in enumerate(waited):
        with clockless.looking("find"):
            assert clockless.due(number * 16 * MS) == look
    assert not clockless.slow


def test_a_fast_computer_looks_as_asked_for_and_at_both_at_once() -> None:
    rate, count, _ = watched(60, {"find": 8.0, "follow": 5.0})
    assert not rate.slow
    assert count["follow"] == pytest.approx(60 * SECONDS, rel=0.01)
    assert count["find"] == pytest.approx(12 * SECONDS, rel=0.01)


@pytest.mark.parametrize("takes_ms", [9.0, 15.0])
def test_where_looks_take_most_of_a_frame_every_other_one_is_enough_and_nobody_need_be_told(takes_ms: float) -> None:
    rate, count, _ = watched(60, {"find": 14.0, "follow": takes_ms})
    assert not rate.slow
    assert count["follow"] == pytest.approx(30 * SECONDS, rel=0.02)


def test_a_slower_one_gives_each_look_a_frame_of_its_own() -> None:
    clock = Clock()
    rate = DetectionRate(clock=clock)
    rate.due(0)
    both: tuple[tuple[Look, int], ...] = (("find", 32), ("follow", 22))
    for look, takes_ms in both:
        with rate.looking(look):
            clock.now_ns += takes_ms * MS
    looks = [rate.due(round(number * 1e9 / 60)) for number in range(10, 600)]
    assert max(len(look) for look in looks) == 1
    assert {("find",), ("follow",)} < set(looks)


@given(find=st.floats(1, 400), follow=st.floats(1, 400), fps=st.sampled_from([15, 30, 60, 120]))
def test_looking_never_takes_all_of_the_time(find: float, follow: float, fps: float) -> None:
    rate, count, busy = watched(fps, {"find": find, "follow": follow})
    assert busy < 0.95
    assert count["find"] > 0
    assert count["follow"] > 0
    assert rate.slow == (find / 0.2 > 8 * 83 or follow / 0.9 > 1.5 * 33) or abs(find / 0.2 - 664) < 1


def test_where_frames_wait_looks_become_rarer_and_never_end() -> None:
    _, free, _ = watched(60, {"find": 32, "follow": 22})
    _, pressed, _ = watched(60, {"find": 32, "follow": 22}, waiting=4)
    assert 4 * SECONDS < pressed["follow"] < free["follow"] / 1.5
    assert pressed["find"] > SECONDS


def test_pressure_is_told_of_until_it_is_over() -> None:
    rate = DetectionRate(clock=Clock())
    told = []
    for number in range(900):
        rate.due(round(number * 1e9 / 60), waiting=4 if 100 <= number < 300 else 0)
        told.append(rate.slow)
    assert not any(told[:100])
    assert all(told[110:300])
    assert not any(told[500:])


def test_a_first_look_that_takes_long_does_not_make_later_ones_rarer_for_long() -> None:
    """Networks warm up: their first looks take fifty times as long."""
    clock, count = Clock(), Counter[Look]()
    rate = DetectionRate(clock=clock)
    for number in range(8 * 60):
        for look in rate.due(round(number * 1e9 / 60)):
            with rate.looking(look):
                clock.now_ns += (6 if look == "follow" else 9) * MS * (1 if count[look] else 50)
            count[look] += number >= 4 * 60 or not count[look]
    assert not rate.slow
    assert count["find"] == pytest.approx(4 * 12, rel=0.1)
    assert count["follow"] == pytest.approx(4 * 60, rel=0.1)


def test_a_slow_computer_is_told_of_in_figures() -> None:
    rate, _, _ = watched(30, {"find": 200, "follow": 100})
    assert rate.slow
    assert rate.text == "looks at figures 9 times a second, at the whole picture 1 times"
