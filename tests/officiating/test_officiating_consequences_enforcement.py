"""Penalties walked off: half the distance, midpoints, whole yards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import RefusedError
from downfield.officiating.consequences.enforcement import walk_off, walk_off_return


@pytest.mark.parametrize(
    ("spot", "yards", "expected"),
    [
        (40, 5, 45),
        (40, -10, 30),
        (20, -10, 10),
        (18, -10, 9),
        (12, -15, 6),
        (92, 5, 96),
        (90, 5, 95),
        (91, 5, 95.5),
        (11, -10, 5.5),
        (0, -5, 0),
        (100, 5, 100),
    ],
)
def test_a_penalty_is_never_more_than_half_the_distance(spot: float, yards: float, expected: float) -> None:
    assert walk_off(spot, yards) == expected


@pytest.mark.parametrize(("spot", "yards", "expected"), [(91, 5, 95), (11, -10, 6), (40, 5, 45), (7, -10, 4)])
def test_a_half_yard_shortens_the_penalty(spot: float, yards: float, expected: float) -> None:
    assert walk_off(spot, yards, whole=True) == expected


def test_without_half_the_distance_the_goal_line_is_the_end() -> None:
    assert walk_off(7, -10, half_the_distance=False) == 0
    assert walk_off(97, 5, half_the_distance=False) == 100


def test_a_spot_in_an_end_zone_is_refused() -> None:
    with pytest.raises(RefusedError, match="goal lines"):
        walk_off(103, -5)


def test_the_examples_of_the_rulebook() -> None:
    assert walk_off_return(10, 32, 10, by_returners=True) == 10 + 11 - 10
    assert walk_off_return(30, 36, 10, by_returners=True) == 30 + 3 - 10
    assert walk_off_return(30, 36, 10, by_returners=False) == 46


def test_an_odd_return_is_rounded_for_the_offender() -> None:
    assert walk_off_return(30, 37, 10, by_returners=True) == 24


@given(st.floats(0, 100), st.floats(-30, 30))
def test_the_ball_stays_in_the_field_and_goes_the_right_way(spot: float, yards: float) -> None:
    after = walk_off(spot, yards)
    assert 0 <= after <= 100
    assert abs(after - spot) <= abs(yards) + 1e-9
    assert (after - spot) * yards >= 0


@given(st.floats(0, 100), st.floats(1, 15))
def test_penalties_in_both_directions_mirror_each_other(spot: float, yards: float) -> None:
    assert walk_off(spot, yards) == pytest.approx(100 - walk_off(100 - spot, -yards))


@given(st.integers(0, 100), st.sampled_from([5, 10, 15]))
def test_whole_yards_shorten_a_penalty_by_at_most_half_a_yard(spot: int, yards: int) -> None:
    for way in (yards, -yards):
        exact, whole = walk_off(spot, way), walk_off(spot, way, whole=True)
        assert whole == int(whole)
        assert 0 <= abs(exact - spot) - abs(whole - spot) <= 0.5
