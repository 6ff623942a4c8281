"""Wrapping angles."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.core.mathematics import difference_deg, wrap_deg, wrap_half_turn_rad, wrap_rad


@pytest.mark.parametrize(
    ("angle", "wrapped"), [(0, 0), (179.5, 179.5), (180, -180), (-180, -180), (190, -170), (-190, 170), (725, 5)]
)
def test_degrees_are_wrapped_to_a_half_turn_either_way(angle: float, wrapped: float) -> None:
    assert wrap_deg(angle) == wrapped
    assert float(np.degrees(wrap_rad(np.radians(np.array(angle))))) == pytest.approx(wrapped)


@pytest.mark.parametrize(("a", "b", "apart"), [(10, 350, 20), (350, 10, 20), (-170, 170, 20), (0, 180, 180)])
def test_directions_are_at_most_half_a_turn_apart(a: float, b: float, apart: float) -> None:
    assert difference_deg(a, b) == apart


def test_lines_without_direction_are_wrapped_to_a_quarter_turn_either_way() -> None:
    wrapped = np.degrees(wrap_half_turn_rad(np.radians(np.array([0.0, 80.0, 100.0, -100.0, 181.0]))))
    assert wrapped == pytest.approx([0.0, 80.0, -80.0, 80.0, 1.0])
