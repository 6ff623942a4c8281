from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares

from downfield.calibration.robust_least_squares import minimize_huber
from downfield.core.arrays import Array


def curve(values: Array, x: Array) -> tuple[Array, Array]:
    """Return a decay and its derivatives by height, rate and level."""
    height, rate, level = values
    decay = np.exp(-rate * x)
    return height * decay + level, np.stack([decay, -height * x * decay, np.ones_like(x)], axis=1)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(1.0, 9.0), st.floats(0.3, 2.0), st.integers(0, 12))
# Slow decays are hardly told from straight lines: in their narrow valleys damped steps gain little, far from the end.
@example(550, 1.0, 0.30078125, 0)
@example(550, 1.0, 0.3, 0)
@example(1797, 1.0, 0.29, 4)
@example(8272, 1.03, 0.2, 3)
@example(845, 1.15, 0.13, 1)
@example(562, 1.38, 0.13, 4)
def test_the_minimum_is_that_of_an_independent_solver(seed: int, height: float, rate: float, outliers: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 4, 80)
    seen = curve(np.array([height, rate, 1.0]), x)[0] * 20 + rng.normal(0, 1, 80)
    seen[rng.choice(80, outliers, replace=False)] += 30

    def evaluate(values: Array) -> tuple[Array, Array]:
        level, slopes = curve(values, x)
        return 20 * level - seen, 20 * slopes

    begin = np.array([0.8 * height, 1.2 * rate, 0.8])
    found, cost = minimize_huber(evaluate, begin, np.full(3, -np.inf), loss_at=2.0, max_steps=60)

    def residuals(values: Array) -> Array:
        return evaluate(values)[0]

    other = least_squares(residuals, begin, loss="huber", f_scale=2.0, ftol=1e-12, xtol=1e-12)
    assert cost == pytest.approx(min(other.cost, cost), abs=0.01)
    if other.cost > cost - 0.01:
        np.testing.assert_allclose(found, other.x, rtol=0.02, atol=0.01)


def test_a_curved_valley_is_followed_to_its_end() -> None:
    def evaluate(values: Array) -> tuple[Array, Array]:
        x, y = values
        return np.array([10 * (y - x * x), 1 - x]), np.array([[-20 * x, 10.0], [-1.0, 0.0]])

    found, _ = minimize_huber(evaluate, np.array([-1.2, 1.0]), np.full(2, -np.inf), loss_at=1e9, max_steps=100)
    np.testing.assert_allclose(found, 1.0, atol=0.05)


def test_bounds_hold() -> None:
    found, _ = minimize_huber(
        lambda v: (v + 5.0, np.eye(1)), np.array([4.0]), np.array([1.5]), loss_at=1e9, max_steps=20
    )
    assert found[0] == 1.5


def test_a_start_at_the_minimum_stays() -> None:
    found, cost = minimize_huber(
        lambda v: (v - 3.0, np.eye(2)), np.full(2, 3.0), np.full(2, -np.inf), loss_at=2.0, max_steps=20
    )
    assert cost == 0
    assert found.tolist() == [3.0, 3.0]
