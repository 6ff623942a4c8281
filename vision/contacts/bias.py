"""The lasting error of a measured gap, the bias: a distribution on a grid, and how it drifts.

Where the network puts an edge and what the calibration leaves hardly changes from frame to frame, but it does change as
figures walk and turn. So the bias is taken for an Ornstein-Uhlenbeck process: whatever the gap's error is worth at a
time, normally distributed with that spread, and forgotten over `LASTS_S`. The grid is in units of the spread, so it is
as fine for a base measured on its edges as it is wide for one that is half hidden.

On the grid the process is a chain of births and deaths with the rates of a reversible diffusion, whose distribution at
rest is the normal one exactly and which can be run for any time without choosing a step (its generator is symmetric up
to a scaling: N. van Kampen, Stochastic Processes in Physics and Chemistry, V.7).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from downfield.core.arrays import Array

LASTS_S: Final = 2.0
"""After this time a bias remembers 1/e of what it was: a figure has walked on by some base lengths."""

GRID: Final[Array] = np.linspace(-4.5, 4.5, 61)
"""The biases that are weighed, in units of their standard deviation, shape (m,)."""

_STEP: Final = float(GRID[1] - GRID[0])

PRIOR: Final[Array] = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()
"""Their weights before anything is known, shape (m,)."""


def _modes() -> tuple[Array, Array]:
    """Decay rates of the chain, per s, shape (m,), and its symmetric modes, columns of (m, m)."""
    hop = 1 / (LASTS_S * _STEP**2)
    up = hop * np.sqrt(PRIOR[1:] / PRIOR[:-1])
    down = hop * np.sqrt(PRIOR[:-1] / PRIOR[1:])
    leaving = np.append(up, 0.0) + np.insert(down, 0, 0.0)
    beside = np.sqrt(up * down)
    rates, modes = np.linalg.eigh(np.diag(-leaving) + np.diag(beside, 1) + np.diag(beside, -1))
    return np.minimum(rates, 0.0), modes


_RATES, _MODES = _modes()
_ROOT: Final[Array] = np.sqrt(PRIOR)


@lru_cache(maxsize=8)
def _drift(step_ns: int) -> Array:
    kept: Array = (_MODES * np.exp(_RATES * step_ns * 1e-9)) @ _MODES.T
    return np.maximum(kept / _ROOT[:, None] * _ROOT, 0.0)


def drift(step_s: float) -> Array:
    """Probabilities to come from one bias (row) to another (column) in a time; shape (m, m), rows summing to 1."""
    return _drift(round(step_s * 1e9))
