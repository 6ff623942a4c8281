"""Covariance of robust least squares whose errors come in clusters, and how much their precision is overstated.

The covariance is cluster-robust (the sandwich of A. C. Cameron and P. K. Trivedi, Regression Analysis of Count Data,
1998, chapter 2): what disturbs neighboring observations on one line (texture, compression, a worn edge) disturbs them
together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from downfield.core.arrays import Array, Indices


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
