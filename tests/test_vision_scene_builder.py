"""Figures as scenes have them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize, Footprint
from downfield.vision.scene_builder import figure_of
from downfield.vision.tracking.estimate import Estimate


@given(st.floats(0.01, 60), st.floats(0.01, 60))
def test_a_base_as_round_as_it_can_be_stays_one_when_its_measures_are_rounded(
    length_mm: float, width_mm: float
) -> None:
    size = BaseSize(length_mm, width_mm, 5.5, min(length_mm, width_mm) / 2)
    figure = figure_of(Estimate("dark-1", "dark", Footprint(300, 200, 10, size), np.eye(3), np.zeros(3)))
    assert abs(figure.footprint.size.corner_mm - size.corner_mm) < 0.001
