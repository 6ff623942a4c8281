"""NFL Strategy's clock: every cell of the table, every exception."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import RefusedError
from downfield.officiating.rulebooks.nfl_strategy.clock import (
    ClockPlay,
    LineClock,
    after_play,
    lines_moved,
    run_out_clock,
)

# (running, running and hurrying, stopped); None where it can't be.
TABLE: dict[ClockPlay, tuple[int | None, int | None, int | None]] = {
    "ordinary": (4, 2, 1),
    "kneel": (4, 4, 0),
    "spike": (0, 0, None),
    "auto_5": (3, 1, 0),
    "kickoff_returned": (None, None, 1),
    "kickoff_dead": (None, None, 0),
    "try": (None, None, 0),
}


@pytest.mark.parametrize("play", get_args(ClockPlay))
def test_lines_of_every_play(play: ClockPlay) -> None:
    running, hurrying, stopped = TABLE[play]
    for expected, is_running, hurry_up in ((running, True, False), (hurrying, True, True)):
        if expected is None:
            with pytest.raises(RefusedError, match="NFLS"):
                lines_moved(play, running=is_running, hurry_up=hurry_up)
        else:
            assert lines_moved(play, running=is_running, hurry_up=hurry_up) == expected
    for hurry_up in (False, True):
        if stopped is None:
            with pytest.raises(RefusedError, match="NFLS"):
                lines_moved(play, running=False, hurry_up=hurry_up)
        else:
            assert lines_moved(play, running=False, hurry_up=hurry_up) == stopped


def test_what_stops_the_clock_leaves_it_stopped() -> None:
    assert not after_play(LineClock(50, running=True), "ordinary", stopped=True).running


def test_runs_completions_and_kneels_leave_the_clock_running() -> None:
    assert after_play(LineClock(50), "ordinary").running
    assert after_play(LineClock(50), "kneel") == LineClock(50, running=True)


@pytest.mark.parametrize("to_warning", [1, 2, 3])
def test_a_play_with_the_clock_running_near_the_warning_ends_one_line_past_it(to_warning: int) -> None:
    clock = after_play(LineClock(12 + to_warning, running=True, warning_at=12), "ordinary")
    assert clock == LineClock(11, running=False, warning_at=None)


def test_hurrying_with_two_lines_left_ends_past_the_warning_too() -> None:
    assert after_play(LineClock(14, running=True, warning_at=12), "ordinary", hurry_up=True).left == 11


def test_hurrying_with_three_lines_left_leaves_one() -> None:
    clock = after_play(LineClock(15, running=True, warning_at=12), "ordinary", hurry_up=True)
    assert clock == LineClock(13, running=True, warning_at=12)


def test_a_play_ending_on_the_warning_stops_the_clock() -> None:
    assert after_play(LineClock(16, running=True, warning_at=12), "ordinary") == LineClock(12)
    assert after_play(LineClock(13, running=False, warning_at=12), "ordinary") == LineClock(12)


def test_a_spike_near_the_warning_takes_no_line() -> None:
    clock = after_play(LineClock(13, running=True, warning_at=12), "spike", stopped=True)
    assert clock == LineClock(13, running=False, warning_at=12)


@pytest.mark.parametrize(("left", "hurry_up"), [(3, False), (2, False), (1, False), (1, True)])
@pytest.mark.parametrize("warning_at", [None, 12])
def test_an_auto_5_always_leaves_one_more_play(left: int, hurry_up: bool, warning_at: int | None) -> None:
    start = LineClock(left + (warning_at or 0), running=True, warning_at=warning_at)
    held = after_play(start, "auto_5", stopped=True, hurry_up=hurry_up)
    assert held.to_mark == 1
    assert held.one_more
    assert not held.running
    after = after_play(held, "ordinary")
    assert after == (LineClock(0) if warning_at is None else LineClock(11))
    assert after.is_over is (warning_at is None)


def test_an_auto_5_with_time_to_spare_takes_a_line_less() -> None:
    assert after_play(LineClock(4, running=True), "auto_5", stopped=True) == LineClock(1)
    near = after_play(LineClock(14, running=True, warning_at=12), "auto_5", stopped=True, hurry_up=True)
    assert near == LineClock(13, warning_at=12)


def test_a_play_that_takes_no_line_is_not_the_one_more_play() -> None:
    held = LineClock(1, one_more=True)
    assert after_play(held, "auto_5", stopped=True) == held


def test_one_more_play_follows_an_onside_kick_its_kickers_recover() -> None:
    kicked = after_play(LineClock(1), "kickoff_returned", stopped=True, onside_recovered=True)
    assert kicked == LineClock(1, one_more=True)
    assert after_play(kicked, "ordinary").is_over
    assert after_play(LineClock(1), "kickoff_returned", stopped=True).is_over


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_the_offense_may_let_the_last_lines_run(lines: int) -> None:
    assert run_out_clock(LineClock(12 + lines, running=True, warning_at=12)) == LineClock(12)
    assert run_out_clock(LineClock(lines, running=True)).is_over


@pytest.mark.parametrize("clock", [LineClock(3), LineClock(4, running=True), LineClock(16, True, 12)])
def test_the_clock_may_not_run_out_otherwise(clock: LineClock) -> None:
    with pytest.raises(RefusedError, match="NFLS-024"):
        run_out_clock(clock)


@given(
    st.integers(1, 100),
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(get_args(ClockPlay)), st.booleans(), st.booleans()), max_size=40),
)
def test_the_clock_never_rises_and_stops_at_its_marks(
    left: int, running: bool, warned: bool, plays: list[tuple[ClockPlay, bool, bool]]
) -> None:
    clock = LineClock(left, running, None if warned or left <= 12 else 12)
    for play, hurry_up, stopped in plays:
        if clock.is_over:
            break
        try:
            after = after_play(clock, play, stopped=stopped, hurry_up=hurry_up)
        except RefusedError:
            continue
        assert 0 <= after.left <= clock.left
        assert not (after.running and after.is_over)
        if clock.warning_at is not None and after.left <= clock.warning_at:
            assert not after.running
            assert after.left >= clock.warning_at - 3
        clock = after


def test_table_names_every_play() -> None:
    assert set(TABLE) == set(get_args(ClockPlay))
    assert all(len(row) == 3 for row in itertools.chain(TABLE.values()))
