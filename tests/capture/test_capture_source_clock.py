"""Time stamps of cameras are believed only while they agree with the arrival of the pictures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.capture.sources.source_clock import SourceClock

MS = 1_000_000
BOOT_NS = 5 * 10**13

WRONG: dict[str, Callable[[int], int]] = {
    "always zero": lambda _: 0,
    "always the same": lambda _: 1_700_000_000 * 10**9,
    "in bursts of four": lambda i: 10**15 + i // 4 * 132 * MS,
    "in bursts with small steps": lambda i: 10**15 + i // 4 * 132 * MS + i % 4 * MS,
    "whole seconds": lambda i: 10**15 + i * 33 // 1000 * 1000 * MS,
    "at half the rate": lambda i: 10**15 + i * 33 * MS // 2,
    "at twice the rate": lambda i: 10**15 + i * 66 * MS,
    "counting frames": lambda i: i,
    "backward": lambda i: 10**15 - i * 33 * MS,
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_stamps_are_replaced_by_the_arrivals(kind: str) -> None:
    clock = SourceClock()
    times = [clock.to_monotonic(WRONG[kind](i), BOOT_NS + i * 33 * MS) for i in range(600)]
    late_ms = [(BOOT_NS + i * 33 * MS - t_ns) / MS for i, t_ns in enumerate(times)]
    assert not clock.believed
    assert all(0 <= late <= 1100 for late in late_ms)
    assert max(late_ms[100:]) - min(late_ms[100:]) < 1


def test_a_stamp_of_this_computers_clock_that_stands_still_is_noticed() -> None:
    clock = SourceClock()
    times = [clock.to_monotonic(BOOT_NS, BOOT_NS + i * 33 * MS) for i in range(200)]
    assert not clock.believed
    assert BOOT_NS + 199 * 33 * MS - times[-1] < 40 * MS


@pytest.mark.parametrize("jump_ns", [-3_600 * 10**9, -2 * 10**9, -200 * MS, 2 * 10**9, 10**18])
def test_after_a_jump_of_the_cameras_clock_the_times_go_on(jump_ns: int) -> None:
    clock = SourceClock()
    times = [
        clock.to_monotonic(10**18 + i * 33 * MS + (jump_ns if i >= 100 else 0), BOOT_NS + i * 33 * MS + i % 3 * MS)
        for i in range(300)
    ]
    assert all(abs(BOOT_NS + i * 33 * MS - t_ns) < 5 * MS for i, t_ns in enumerate(times))


@given(st.lists(st.integers(0, 25), min_size=200, max_size=200), st.integers(0, 10**19))
def test_right_stamps_are_believed_through_the_networks_jitter(jitter_ms: list[int], epoch_ns: int) -> None:
    clock = SourceClock()
    times = []
    for i, delay in enumerate(jitter_ms):
        times.append(clock.to_monotonic(epoch_ns + i * 33 * MS, BOOT_NS + i * 33 * MS + delay * MS))
    assert clock.believed
    assert all(t_ns <= BOOT_NS + i * 33 * MS + jitter_ms[i] * MS for i, t_ns in enumerate(times))


def test_stamps_that_have_become_right_are_believed_again() -> None:
    clock = SourceClock()
    for i in range(600):
        clock.to_monotonic(0 if i < 100 else 10**15 + i * 33 * MS, BOOT_NS + i * 33 * MS)
    assert clock.believed


def test_a_stall_of_the_network_does_not_cost_the_stamps_their_credit() -> None:
    clock = SourceClock()
    for i in range(400):
        arrived_ns = BOOT_NS + i * 33 * MS
        if 200 <= i < 220:
            arrived_ns = BOOT_NS + 220 * 33 * MS + (i - 200) * MS
        t_ns = clock.to_monotonic(10**15 + i * 33 * MS, arrived_ns)
        assert abs(BOOT_NS + i * 33 * MS - t_ns) < 5 * MS or not clock.believed
    assert clock.believed
