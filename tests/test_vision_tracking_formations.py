"""Formations that are known further up the field and turned about, and none where there is nothing to know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.vision.tracking.formations import ELSEWHERE_MM, misfit_mm, recall

WEDGE = np.array([[0.0, 0.0], [40.0, 30.0], [40.0, -35.0], [95.0, 5.0], [150.0, 80.0]])
LINE = np.array([[0.0, 0.0], [0.0, 45.0], [5.0, 90.0], [0.0, 140.0], [10.0, 190.0]])
ALIKE = np.zeros((5, 5))
AHEAD = np.array([300.0, 0.0])
EVERY_OTHER = np.array([0, 1, 0, 1, 0])


def unlike(jerseys: Array, theirs: Array) -> Array:
    """How much further off stands count that show another jersey."""
    return np.where(jerseys[:, None] != theirs[None], 400.0, 0.0)


@given(
    st.permutations(range(5)),
    st.tuples(st.floats(-600, 600), st.floats(-300, 300)),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_a_formation_is_known_wherever_it_stands_and_whichever_way(
    order: list[int], move: tuple[float, float], turned: bool, seed: int
) -> None:
    """Everybody within a few millimeters of his place, told in any order."""
    stands = WEDGE * (-1 if turned else 1) + move + np.random.default_rng(seed).uniform(-3, 3, WEDGE.shape)
    places = recall([LINE, WEDGE], stands[order], ALIKE)
    assert places is not None
    assert np.linalg.norm(places - stands, axis=1).max() < 8


def test_who_was_not_seen_then_has_no_place_now() -> None:
    known = WEDGE.copy()
    known[2] = np.nan
    places = recall([known], WEDGE + AHEAD, ALIKE)
    assert places is not None
    assert np.isnan(places).any(axis=1).tolist() == [False, False, True, False, False]
    assert places[[0, 1, 3, 4]] == pytest.approx(WEDGE[[0, 1, 3, 4]] + AHEAD)


def test_jerseys_tell_a_formation_from_the_same_one_turned_about() -> None:
    """Of two men behind each other either may be the front one, but not if one is dark and one light."""
    two = np.array([[0.0, 0.0], [50.0, 0.0]])
    dark_ahead = recall([two], two, unlike(np.array([0, 1]), np.array([1, 0])))
    assert dark_ahead is not None
    assert dark_ahead == pytest.approx(two[::-1])


def test_nothing_is_remembered_where_nobody_was_seen() -> None:
    assert recall([], WEDGE, ALIKE) is None
    assert recall([np.full((5, 2), np.nan)], WEDGE, ALIKE) is None


def test_men_of_another_team_in_all_places_leave_a_formation_where_it_was() -> None:
    places = recall([WEDGE], WEDGE + AHEAD, np.full((5, 5), 400.0))
    assert places is not None
    assert misfit_mm(places, WEDGE + AHEAD, np.full((5, 5), 400.0)) == 5 * ELSEWHERE_MM


def test_a_misfit_is_how_far_men_are_from_their_places_and_elsewhere_counts_alike() -> None:
    stands = WEDGE.copy()
    stands[0] += (3.0, 4.0)
    assert misfit_mm(WEDGE, stands, ALIKE) == pytest.approx(5.0)
    stands[4] += (900.0, 0.0)
    assert misfit_mm(WEDGE, stands, ALIKE) == pytest.approx(5.0 + ELSEWHERE_MM)
    assert misfit_mm(WEDGE, stands[:4], ALIKE[:, :4]) == pytest.approx(5.0 + ELSEWHERE_MM)
