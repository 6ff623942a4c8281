"""Robust nonlinear least squares by Levenberg and Marquardt's method on reweighted normal equations.

A calibration makes dozens of fits of about forty parameters to thousands of observations.
`scipy.optimize.least_squares` takes a singular value decomposition of the whole Jacobian in each of its twenty steps,
which is most of a calibration's time; normal equations of columns scaled to one are exact enough here, and take a
handful of steps.

Sources: D. W. Marquardt, SIAM J. Appl. Math. 11(2), 1963; the damping by how well a step was predicted: H. B. Nielsen,
Damping parameter in Marquardt's method, IMM-REP-1999-05; reweighting for Huber's loss: P. J. Huber, Robust Statistics,
1981, chapter 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools


@dataclass(frozen=True, slots=True)
class LeastSquaresLimits:
    """How a minimum is approached, and when it is reached."""

    first_damping: float = 1e-6  # relative to the scaled normal matrix, whose diagonal is 1
    min_damping: float = 1e-12  # keeps the matrix invertible where the parameters hardly differ in effect
    max_damping: float = 1e6  # where no shorter step lowers the cost, it is as low as rounding lets it be
    min_relief: float = 0.05  # least factor of the damping, after a step that lowered the cost just as predicted
    growth: float = 4.0  # factor of the damping after a step that did not lower the cost; then twice as much
    # half the sum of squares is at its minimum where neither the last step nor an undamped next one lowers it by more:
    # that moves no parameter by 0.05 sigma
    tolerance: float = 1e-3
    max_final_damping: float = 1e-3  # a step with more damping is never the last one


_LIMITS: Final = LeastSquaresLimits()

Evaluate = Callable[[Array], tuple[Array, Array]]
"""Returns residuals, shape (n,), and their Jacobian, shape (n, k), at parameters, shape (k,)."""


def minimize_huber(
    evaluate: Evaluate, begin: Array, lowest: Array, *, loss_at: Array | float, max_steps: int
) -> tuple[Array, float]:
    """Minimize half the sum of Huber's loss of residuals.

    Args:
        evaluate: the problem; its residuals have unit variance.
        begin: parameters to begin at, shape (k,).
        lowest: least values of the parameters, shape (k,); minus infinity where there is none.
        loss_at: residuals beyond this count linearly; one for all, or one for each, infinite where none does.

    Returns:
        The parameters, shape (k,), and half the robust sum of squares there.
    """
    values, damping = np.maximum(begin, lowest), _LIMITS.first_damping
    residuals, jacobian = evaluate(values)
    cost = _cost(residuals, loss_at)
    normal, slope, scale = _normal_equations(residuals, jacobian, loss_at)
    growth = _LIMITS.growth
    for _ in range(max_steps):
        step = np.linalg.solve(normal + np.diag(np.full(len(values), damping)), slope)
        trial = np.maximum(values - step * scale, lowest)
        trial_residuals, trial_jacobian = evaluate(trial)
        gained = cost - _cost(trial_residuals, loss_at)
        predicted = 0.5 * float(step @ (damping * step + slope))
        if not gained > 0:
            if damping > _LIMITS.max_damping or _undamped_gain(normal, slope, values > lowest) < _LIMITS.tolerance:
                break
            damping, growth = damping * growth, growth * 2
            continue
        values, cost = trial, cost - gained
        normal, slope, scale = _normal_equations(trial_residuals, trial_jacobian, loss_at)
        # Along a narrow curved valley even a little damping makes steps short: a small gain alone proves nothing.
        nearly_free = gained < _LIMITS.tolerance and damping < _LIMITS.max_final_damping
        if nearly_free and _undamped_gain(normal, slope, values > lowest) < _LIMITS.tolerance:
            break
        relief = max(_LIMITS.min_relief, 1 - (2 * gained / max(predicted, 1e-300) - 1) ** 3)
        damping, growth = max(damping * relief, _LIMITS.min_damping), _LIMITS.growth
    return values, cost


def _cost(residuals: Array, loss_at: Array | float) -> float:
    size = np.abs(residuals)
    return float(np.where(size <= loss_at, 0.5 * size * size, loss_at * (size - 0.5 * loss_at)).sum())


def _undamped_gain(normal: Array, slope: Array, above_lowest: Bools) -> float:
    """Return by how much a full step would lower the cost if residuals were linear in the parameters.

    Args:
        normal: normal matrix with a diagonal of 1, shape (k, k).
        slope: scaled gradient, shape (k,).
        above_lowest: whether a parameter may become less, shape (k,).
    """
    movable = above_lowest | (slope < 0)
    matrix = normal[np.ix_(movable, movable)] + _LIMITS.min_damping * np.eye(len(slope[movable]))
    return 0.5 * float(slope[movable] @ np.linalg.solve(matrix, slope[movable]))


def _normal_equations(residuals: Array, jacobian: Array, loss_at: Array | float) -> tuple[Array, Array, Array]:
    """Return the normal matrix with a diagonal of 1, shape (k, k), the scaled gradient, and the scale, (k,) each."""
    weight = np.minimum(1.0, loss_at / np.maximum(np.abs(residuals), 1e-12))
    weighted = jacobian * weight[:, None]
    normal = jacobian.T @ weighted
    scale = 1 / np.sqrt(np.maximum(np.diag(normal), 1e-300))
    return normal * scale[:, None] * scale, (weighted.T @ residuals) * scale, scale
