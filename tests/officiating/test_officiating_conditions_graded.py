"""Limits that are not one number: the expected share of those who agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.officiating.conditions import GradedLimit, opposite_limit, share_accepted

LIMIT = ((-15.0, 0.0), (-15.0, 0.1), (0.0, 0.5), (5.0, 0.9), (5.0, 1.0), (25.0, 1.0), (25.0, 0.9))

limits = st.lists(st.tuples(st.integers(-20, 20), st.floats(0, 1)), min_size=1, max_size=6).map(
    lambda points: tuple(sorted(((float(at), share) for at, share in points), key=lambda point: point[0]))
)


@pytest.mark.parametrize(
    ("margin", "share"), [(-20.0, 0.0), (-15.0, 0.1), (-7.5, 0.3), (0.0, 0.5), (5.0, 1.0), (4.0, 0.82), (40.0, 0.9)]
)
def test_an_exact_margin_counts_as_many_as_agree_there(margin: float, share: float) -> None:
    assert share_accepted(LIMIT, margin, 0.0) == pytest.approx(share)


@given(limits, st.floats(-30, 30), st.floats(0.2, 20))
def test_with_an_error_it_is_the_mean_over_the_distribution(limit: GradedLimit, margin: float, sigma: float) -> None:
    at = margin + sigma * np.linspace(-8, 8, 16001)
    density = np.exp(-(((at - margin) / sigma) ** 2) / 2)
    margins, shares = np.array(limit).T
    expected = float((density * np.interp(at, margins, shares)).sum() / density.sum())
    # Where three points have one margin, the middle one is a step's inside and counts for nothing.
    assert share_accepted(limit, margin, sigma) == pytest.approx(expected, abs=0.003)


@given(limits, st.floats(-30, 30), st.floats(0.2, 20))
def test_the_opposite_limit_leaves_the_rest(limit: GradedLimit, margin: float, sigma: float) -> None:
    against = share_accepted(opposite_limit(limit), -margin, sigma)
    assert share_accepted(limit, margin, sigma) + against == pytest.approx(1.0)
