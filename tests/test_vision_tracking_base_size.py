"""What a base's size is believed to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize
from downfield.vision.tracking.base_size import believed_size

TOLD = BaseSize(30.0, 18.0, 5.5, 1.5)


@given(st.floats(20, 40), st.floats(10, 26))
def test_it_lies_between_what_is_seen_and_what_is_told(length_mm: float, width_mm: float) -> None:
    size = believed_size(length_mm, width_mm, TOLD)
    for seen, told, got in ((length_mm, 30.0, size.length_mm), (width_mm, 18.0, size.width_mm)):
        assert min(seen, told) - 1e-9 <= got <= max(seen, told) + 1e-9
    assert (size.height_mm, size.corner_mm) == (5.5, 1.5)


def test_a_roster_is_believed_where_the_picture_hardly_differs() -> None:
    assert believed_size(30.5, 18.3, TOLD).length_mm == pytest.approx(30.14, abs=0.03)


def test_a_roster_of_another_base_is_not() -> None:
    assert believed_size(33.0, 18.0, TOLD).length_mm == pytest.approx(33.0, abs=0.01)
