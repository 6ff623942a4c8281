"""The cumulative normal distribution, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from downfield.core.mathematics import normal_cdf


@given(st.lists(st.floats(-8.0, 60.0), min_size=1, max_size=40))
@settings(max_examples=200)
def test_probabilities_are_scipys_to_13_digits(values: list[float]) -> None:
    z = np.array(values)
    np.testing.assert_allclose(normal_cdf(z), ndtr(z), rtol=1e-13)


@given(st.floats(-37.0, -8.0))
def test_small_probabilities_keep_their_size(z: float) -> None:
    assert normal_cdf(np.array(z)) == pytest.approx(float(ndtr(z)), rel=1e-8, abs=0)


def test_a_fine_grid_rises_from_0_to_1() -> None:
    z = np.linspace(-45, 12, 200_001)
    probabilities = normal_cdf(z)
    assert probabilities[0] == 0
    assert probabilities[-1] == 1
    assert (np.diff(probabilities) >= -4e-16).all()
    assert np.abs(probabilities - ndtr(z)).max() < 5e-16


def test_infinite_values_are_certain_and_nan_stays_nan() -> None:
    assert normal_cdf(np.array([[-np.inf, np.inf], [np.nan, 0.0]])).tolist()[0] == [0, 1]
    assert np.isnan(normal_cdf(np.array([np.nan]))).all()


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 1, 5)])
def test_the_answer_has_the_shape_of_the_question_and_leaves_it_alone(shape: tuple[int, ...]) -> None:
    z = np.full(shape, 0.5)
    assert normal_cdf(z).shape == shape
    assert (z == 0.5).all()
