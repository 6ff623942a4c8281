"""The bias_drift of the gap's bias: it forgets at its rate and keeps its stationary distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.vision.contacts.filter import BIAS_GRID, BIAS_PRIOR, bias_drift
from downfield.vision.contacts.limits import CONTACT_LIMITS

STEPS_S = st.floats(0.002, 0.25)


@given(STEPS_S)
def test_drift_keeps_every_weight_and_leaves_the_prior_unchanged(step_s: float) -> None:
    step = bias_drift(step_s)
    assert step.sum(axis=1) == pytest.approx(np.ones(len(BIAS_GRID)))
    assert pytest.approx(BIAS_PRIOR) == BIAS_PRIOR @ step


@given(STEPS_S, STEPS_S)
def test_two_steps_equal_one_long_step(first_s: float, second_s: float) -> None:
    assert bias_drift(first_s) @ bias_drift(second_s) == pytest.approx(bias_drift(first_s + second_s), abs=1e-6)


@given(STEPS_S, st.floats(-2.5, 2.5))
def test_the_bias_follows_an_ornstein_uhlenbeck_process(step_s: float, start: float) -> None:
    row = int(np.abs(BIAS_GRID - start).argmin())
    weight = bias_drift(step_s)[row]
    mean = weight @ BIAS_GRID
    assert mean == pytest.approx(BIAS_GRID[row] * math.exp(-step_s / CONTACT_LIMITS.bias_memory_s), abs=0.01)
    spread = weight @ (BIAS_GRID - mean) ** 2
    assert spread == pytest.approx(1 - math.exp(-2 * step_s / CONTACT_LIMITS.bias_memory_s), rel=0.05)
