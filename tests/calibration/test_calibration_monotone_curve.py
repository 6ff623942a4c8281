"""Curves that turn only where their points do, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from downfield.calibration.field.open_focal import monotone_curve

_POINTS = st.lists(st.tuples(st.floats(0.01, 3), st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=12)


@given(_POINTS)
@settings(max_examples=150)
def test_curves_are_scipys(points: list[tuple[float, int, int]]) -> None:
    x = np.cumsum([step for step, _, _ in points])
    y = np.array([(float(a), float(b)) for _, a, b in points])
    at = np.linspace(x[0], x[-1], 57)
    np.testing.assert_allclose(monotone_curve(x, y, at), PchipInterpolator(x, y)(at), rtol=1e-9, atol=1e-9)


@given(_POINTS)
@settings(max_examples=50)
def test_a_curve_passes_its_points_and_stays_between_them(points: list[tuple[float, int, int]]) -> None:
    x = np.cumsum([step for step, _, _ in points])
    y = np.array([[float(a)] for _, a, _ in points])
    assert monotone_curve(x, y, x) == pytest.approx(y)
    for left, right, low, high in zip(x, x[1:], np.minimum(y[:-1], y[1:]), np.maximum(y[:-1], y[1:]), strict=False):
        curve = monotone_curve(x, y, np.linspace(left, right, 9))
        assert (curve >= low - 1e-9).all()
        assert (curve <= high + 1e-9).all()
