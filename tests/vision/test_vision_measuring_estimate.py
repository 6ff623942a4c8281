"""The estimated size of a base, and the figure that an estimate becomes in a scene."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize, Footprint
from downfield.vision.measuring.estimate import Estimate, estimate_base_size

ROSTER = BaseSize(30.0, 18.0, 5.5, 1.5)


@given(st.floats(20, 40), st.floats(10, 26))
def test_the_size_lies_between_the_measured_one_and_the_rosters(length_mm: float, width_mm: float) -> None:
    size = estimate_base_size(length_mm, width_mm, ROSTER)
    for measured, roster, estimated in ((length_mm, 30.0, size.length_mm), (width_mm, 18.0, size.width_mm)):
        assert min(measured, roster) - 1e-9 <= estimated <= max(measured, roster) + 1e-9
    assert (size.height_mm, size.corner_mm) == (5.5, 1.5)


def test_the_roster_decides_where_the_measurement_hardly_differs() -> None:
    assert estimate_base_size(30.5, 18.3, ROSTER).length_mm == pytest.approx(30.14, abs=0.03)


def test_the_roster_of_another_base_is_ignored() -> None:
    assert estimate_base_size(33.0, 18.0, ROSTER).length_mm == pytest.approx(33.0, abs=0.01)


@given(st.floats(0.01, 60), st.floats(0.01, 60))
def test_a_fully_rounded_base_stays_one_when_its_size_is_rounded(length_mm: float, width_mm: float) -> None:
    size = BaseSize(length_mm, width_mm, 5.5, min(length_mm, width_mm) / 2)
    figure = Estimate("dark-1", "dark", Footprint(300, 200, 10, size), np.eye(3), np.zeros(3)).to_figure()
    assert abs(figure.footprint.size.corner_mm - size.corner_mm) < 0.001
