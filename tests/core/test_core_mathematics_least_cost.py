"""Pairs of least cost, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from downfield.core.arrays import Array
from downfield.core.mathematics import least_cost_pairs

_SIDES = st.tuples(st.integers(0, 9), st.integers(0, 9))


def assert_as_cheap_as_scipys(cost: Array) -> None:
    rows, columns = least_cost_pairs(cost)
    assert len(rows) == min(cost.shape) == len(set(rows.tolist())) == len(set(columns.tolist()))
    assert rows.tolist() == sorted(rows.tolist())
    best = cost[linear_sum_assignment(cost)].sum()
    assert cost[rows, columns].sum() == pytest.approx(best, rel=1e-12, abs=1e-9)


@given(arrays(np.float64, _SIDES, elements=st.floats(-1e6, 1e6)))
@settings(max_examples=150)
def test_any_costs_are_as_cheap_as_scipys(cost: Array) -> None:
    assert_as_cheap_as_scipys(cost)


@given(arrays(np.float64, _SIDES, elements=st.integers(0, 3).map(float)))
@settings(max_examples=150)
def test_many_equal_costs_are_as_cheap_as_scipys(cost: Array) -> None:
    assert_as_cheap_as_scipys(cost)


@given(st.integers(0, 2**32 - 1), st.integers(1, 22), st.integers(0, 30))
@settings(max_examples=100)
def test_a_trackers_costs_give_scipys_pairs(seed: int, figures: int, detections: int) -> None:
    # As in the tracker: most pairs impossible, some contested, and a column of its own for every figure that is missed.
    rng = np.random.default_rng(seed)
    places, found = rng.uniform(0, 12, (figures, 2)), rng.uniform(0, 12, (detections, 2))
    apart = np.square(places[:, None] - found[None]).sum(axis=2)
    pairs = np.where(apart < 25, apart, 1e6)
    cost = np.concatenate([pairs, np.where(np.eye(figures, dtype=bool), 30.0, 1e6)], axis=1)
    expected = linear_sum_assignment(cost)[1]
    assert least_cost_pairs(cost)[1].tolist() == expected.tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_cost_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        least_cost_pairs(np.array([[1.0, bad]]))


def test_costs_are_not_changed() -> None:
    cost = np.array([[1.0, 2.0], [1.0, 3.0], [0.5, 9.0]])
    least_cost_pairs(cost)
    assert cost.tolist() == [[1.0, 2.0], [1.0, 3.0], [0.5, 9.0]]
