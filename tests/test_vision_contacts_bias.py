"""The bias's drift: a process that forgets at its rate and whose distribution at rest stays what it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.vision.contacts.bias import GRID, LASTS_S, PRIOR, drift

STEPS_S = st.floats(0.002, 0.25)


@settings(max_examples=30, deadline=None)
@given(STEPS_S)
def test_drifting_keeps_every_weight_and_leaves_the_prior_as_it_is(step_s: float) -> None:
    step = drift(step_s)
    assert step.sum(axis=1) == pytest.approx(np.ones(len(GRID)))
    assert pytest.approx(PRIOR) == PRIOR @ step


@settings(max_examples=30, deadline=None)
@given(STEPS_S, STEPS_S)
def test_two_steps_are_one_long_one(one_s: float, other_s: float) -> None:
    assert drift(one_s) @ drift(other_s) == pytest.approx(drift(one_s + other_s), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(STEPS_S, st.floats(-2.5, 2.5))
def test_a_bias_fades_and_spreads_as_ornstein_and_uhlenbeck_say(step_s: float, start: float) -> None:
    row = int(np.abs(GRID - start).argmin())
    weight = drift(step_s)[row]
    mean = weight @ GRID
    assert mean == pytest.approx(GRID[row] * math.exp(-step_s / LASTS_S), abs=0.01)
    spread = weight @ (GRID - mean) ** 2
    assert spread == pytest.approx(1 - math.exp(-2 * step_s / LASTS_S), rel=0.05)
