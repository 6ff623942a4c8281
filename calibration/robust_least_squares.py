"""Robust least squares, their covariance where errors come in clusters, and how much their precision is overstated.

A calibration makes dozens of fits of about forty parameters to thousands of observations, by Levenberg and Marquardt's
method on reweighted normal equations. `scipy.optimize.least_squares` takes a singular value decomposition of the whole
Jacobian in each of its twenty steps, which is most of a calibration's time; normal equations of columns scaled to one
are exact enough here, and take a handful of steps.

Sources: D. W. Marquardt, SIAM J. Appl. Math. 11(2), 1963; the damping by how well a step was predicted: H. B. Nielsen,
Damping parameter in Marquardt's method, IMM-REP-1999-05; reweighting for Huber's loss: P. J. Huber, Robust Statistics,
1981, chapter 7.

The covariance is cluster-robust (the sandwich of A. C. Cameron and P. K. Trivedi, Regression Analysis of Count Data,
1998, chapter 2): what disturbs neighbors on one line (texture, compression, a worn edge) disturbs them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools, Indices


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

    By a normal matrix with a diagonal of 1, shape (k, k), a scaled gradient, and which may become less, (k,) each.
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


@dataclass(frozen=True, slots=True)
class ErrorGroups:
    """Which observations err together, shape (n,) each."""

    cluster: Indices  # of each observation, the stretch of a line
    line: Indices  # the line of paint, or -1 where a line has a place of its own in the fit
    sigma_px: Array  # standard deviation of each observation


def cluster_robust_covariance(
    jacobian: Array, weighted: Array, weight: Array, groups: ErrorGroups
) -> tuple[Array, float]:
    """Return the cluster-robust covariance, at least that of independent observations with the spread they show.

    And the standard deviation of what displaces whole lines beyond what displaces their stretches, px, which is in it.

    Args:
        jacobian: whitened, observations first, priors after them, shape (n + m, p).
        weighted: weighted whitened residuals, shape (n,).
        weight: robust weights, shape (n,).
    """
    n = len(weight)
    seen, known = jacobian[:n], jacobian[n:]
    scale = np.sqrt(1 / np.maximum((jacobian**2).sum(axis=0), 1e-300))
    seen, known = seen * scale, known * scale
    bread = np.linalg.pinv(seen.T @ (weight[:, None] * seen) + known.T @ known, rcond=1e-13, hermitian=True)
    variance = max(float((weighted**2).sum() / max(n - seen.shape[1], 1)), 0.25)
    pushes = _summed(-seen * weighted[:, None], groups.cluster)
    count = max(len(np.unique(groups.cluster)), 2)
    clustered = pushes.T @ pushes * (count / max(count - 1, 1))
    independent = seen.T @ (weight[:, None] * seen) * variance
    of_lines, lines_px = _whole_lines(seen, weighted, weight, groups, bread)
    middle = _at_least_both(clustered, independent) + known.T @ known + of_lines
    covariance: Array = bread @ middle @ bread * scale[:, None] * scale
    return (covariance + covariance.T) / 2, lines_px


def _whole_lines(seen: Array, weighted: Array, weight: Array, groups: ErrorGroups, bread: Array) -> tuple[Array, float]:
    """Return what displacements of whole lines add to the middle of the sandwich, and their standard deviation, px.

    Stretches of one line tell how well its mean place is measured; what the means scatter beyond that displaces the
    whole line (the method of moments), with the share that the fit itself takes up added.
    """
    free = groups.line >= 0
    _, cluster = np.unique(groups.cluster[free], return_inverse=True)
    _, line = np.unique(groups.line[free], return_inverse=True)
    none = np.zeros((seen.shape[1],) * 2)
    if not len(line) or len(np.unique(line)) == len(np.unique(cluster)):
        return none, 0.0
    precision, push = weight[free] / groups.sigma_px[free] ** 2, weighted[free] / groups.sigma_px[free]
    line_of = np.zeros(cluster.max() + 1, dtype=np.intp)
    line_of[cluster] = line
    of_stretch, of_line = np.bincount(cluster, precision), np.bincount(line, precision)
    at_stretch, at_line = np.bincount(cluster, push) / of_stretch, np.bincount(line, push) / of_line
    stretches = np.bincount(line_of)
    noise = np.bincount(line_of, (of_stretch * (at_stretch - at_line[line_of])) ** 2) / of_line**2
    noise *= stretches / np.maximum(stretches - 1, 1)
    pushes = _summed(seen[free] * (weight[free] / groups.sigma_px[free])[:, None], line)
    taken_up = float((((pushes @ bread) * pushes).sum(axis=1) / of_line).sum())
    whole = stretches > 1
    left = max(int(whole.sum()) - taken_up, 1.0)
    variance = max(0.0, float((at_line[whole] ** 2).sum() / left - noise[whole].mean()))
    return variance * (pushes.T @ pushes), math.sqrt(variance)


def _summed(rows: Array, group: Indices) -> Array:
    """Return the sums of the rows of every group, shape (groups, p)."""
    sums = np.zeros((int(group.max(initial=0)) + 1, rows.shape[1]))
    np.add.at(sums, group, rows)
    return sums


def _at_least_both(a: Array, b: Array) -> Array:
    """Return a matrix at least as large as both: b stretched where a exceeds it."""
    values, vectors = np.linalg.eigh(b)
    root = vectors * np.sqrt(np.maximum(values, values.max() * 1e-14))
    inverse = np.linalg.pinv(root)
    ratio, turns = np.linalg.eigh(inverse @ a @ inverse.T)
    side = root @ turns
    larger: Array = (side * np.maximum(ratio, 1.0)) @ side.T
    return larger


def log_volume(jacobian: Array, weight: Array) -> float:
    """Return half the log determinant of the covariance that independent errors would give.

    Args:
        jacobian: whitened, observations and priors, shape (n, p).
        weight: robust weights, 1 for priors, shape (n,).
    """
    scale = np.sqrt(np.maximum((jacobian**2).sum(axis=0), 1e-300))
    scaled = jacobian / scale
    _, log = np.linalg.slogdet(scaled.T @ (weight[:, None] * scaled))
    return -0.5 * float(log) - float(np.log(scale).sum())


def marginal_precision(jacobian: Array, weight: Array, last: int) -> Array:
    """Return the precision of the last parameters by independent observations, the others left open, shape (k, k).

    Args:
        jacobian: whitened, observations and what is known of the other parameters, shape (n, p).
        weight: robust weights, 1 for what is known, shape (n,).
        last: how many parameters, k.
    """
    scale = np.sqrt(np.maximum((jacobian**2).sum(axis=0), 1e-300))
    scaled = jacobian / scale
    whole = scaled.T @ (weight[:, None] * scaled)
    others = slice(0, len(whole) - last)
    inner, outer = whole[others, others], whole[others, others.stop :]
    kept = whole[others.stop :, others.stop :] - outer.T @ np.linalg.pinv(inner, rcond=1e-13, hermitian=True) @ outer
    kept = kept * scale[others.stop :, None] * scale[others.stop :]
    precision: Array = (kept + kept.T) / 2
    return precision


def overstated_precision(effect: Array, weighted: Array, groups: ErrorGroups, lines_px: float) -> float:
    """Return the ratio of a parameter's variance with clustered errors to that with independent ones, at least 1.

    Differences of half a sum of squares along the parameter mean so many times less than they seem to.

    Args:
        effect: whitened derivative of each observation by the parameter, shape (n,).
        weighted: weighted whitened residuals, shape (n,).
        lines_px: standard deviation of what displaces whole lines.
    """
    pushes = np.bincount(groups.cluster, weights=effect * weighted)
    free = groups.line >= 0
    of_lines = lines_px * np.bincount(groups.line[free], weights=effect[free] / groups.sigma_px[free])
    total = float((pushes**2).sum() + (of_lines**2).sum())
    return max(1.0, total / max(float((effect**2).sum()), 1e-300))
