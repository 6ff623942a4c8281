"""Overtimes: who has won, and when it is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.officiating.consequences.periods import TOUCHDOWN_GAIN_YD, clock_overtime_over, yards_winner

TOUCHDOWN = TOUCHDOWN_GAIN_YD


@pytest.mark.parametrize(
    ("gains", "winner"),
    [
        ((7.0, 3.0), "away"),
        ((3.0, 7.0), "home"),
        ((3.0, 3.0), None),
        ((0.0, 0.0), None),
        ((-1.0, -5.0), None),
        ((0.0, -5.0), None),
        ((-1.0, 0.5), "home"),
        ((TOUCHDOWN, 49.0), "away"),
        ((TOUCHDOWN, TOUCHDOWN), None),
    ],
)
def test_more_yards_win_a_round_of_one_play_each(gains: tuple[float, float], winner: str | None) -> None:
    assert yards_winner("away", gains) == winner


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_the_order_of_the_possessions_does_not_matter(mine: float, theirs: float) -> None:
    assert yards_winner("home", (mine, theirs)) == yards_winner("away", (theirs, mine))


@pytest.mark.parametrize(
    ("ends", "lead", "left_s", "over", "clause"),
    [
        ((), 0, 600.0, False, "EFL-071"),
        (("touchdown",), 6, 500.0, True, "EFL-073"),
        (("safety",), -2, 500.0, True, "EFL-073"),
        (("field_goal",), 3, 500.0, False, "EFL-074"),
        (("field_goal", "touchdown"), -3, 400.0, True, "EFL-074"),
        (("field_goal", "nothing"), 3, 400.0, True, "EFL-074"),
        (("field_goal", "field_goal"), 0, 400.0, False, "EFL-071"),
        (("field_goal", "field_goal", "field_goal"), 3, 300.0, True, "EFL-074"),
        (("nothing",), 0, 500.0, False, "EFL-071"),
        (("nothing", "field_goal"), -3, 400.0, True, "EFL-075"),
        (("nothing", "nothing", "safety"), -2, 400.0, True, "EFL-075"),
        (("nothing", "nothing"), 0, 0.0, True, "EFL-076"),
        (("field_goal",), 3, 0.0, True, "EFL-074"),
    ],
)
def test_when_an_overtime_on_the_clock_is_over(
    ends: tuple[str, ...], lead: int, left_s: float, over: bool, clause: str
) -> None:
    points = {"touchdown": 6.0, "safety": 2.0, "field_goal": 3.0, "nothing": 0.0}
    assert clock_overtime_over([points[end] for end in ends], lead, left_s) == (over, (clause,))
