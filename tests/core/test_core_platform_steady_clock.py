"""The clock that messages are dated by does not move when the computer's clock is set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from downfield.core.platform.clock import SteadyClock

HOUR_NS = 3_600_000_000_000


@given(jumps_ns=st.lists(st.integers(-10 * HOUR_NS, 10 * HOUR_NS)), start_ns=st.integers(0, 2**61))
def test_a_jump_of_the_wall_clock_moves_nothing(jumps_ns: list[int], start_ns: int) -> None:
    wall_ns, ticks_ns = start_ns, 0
    clock = SteadyClock(lambda: wall_ns, lambda: ticks_ns)
    for count, jump_ns in enumerate(jumps_ns, start=1):
        wall_ns += jump_ns
        ticks_ns += 1_000_000
        assert clock.now_ns() == start_ns + count * 1_000_000
