"""The clocks of sources: time stamps of cameras on this computer's clock, always increasing."""

from __future__ import annotations

import time

from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_clock import SourceClock


def test_kernel_stamps_are_kept_and_the_offset_of_other_clocks_comes_from_the_fastest_packet() -> None:
    kernel, other = SourceClock(), SourceClock()
    assert kernel.to_monotonic(1_000_000_000, 1_030_000_000) == 1_000_000_000
    delays_ms = [9, 3, 30, 5]
    times_ns = [
        other.to_monotonic(10**15 + i * 20_000_000, 5 * 10**12 + i * 20_000_000 + delay * 1_000_000)
        for i, delay in enumerate(delays_ms)
    ]
    assert [round((t_ns - 5 * 10**12) / 1e6) - i * 20 for i, t_ns in enumerate(times_ns)] == [9, 3, 3, 3]


def test_a_time_of_day_is_converted_to_both_clocks_of_a_frame() -> None:
    clock = CaptureClock()
    t_ns = time.time_ns() - 2_000_000_000
    assert abs(clock.from_monotonic(clock.monotonic_at(t_ns)) - t_ns) < 500_000_000
    clock.start_after(t_ns + 3_600_000_000_000)
    assert clock.from_monotonic(clock.monotonic_at(t_ns)) > t_ns + 3_000_000_000_000


def test_the_capture_clock_never_goes_back_behind_the_game() -> None:
    far = 4_000_000_000_000_000_000
    clock = CaptureClock()
    clock.start_after(1)
    assert clock.now_ns() < far
    clock.start_after(far)
    assert clock.now_ns() > far
