"""Covariance of robust least squares whose errors come in clusters, and how much their precision is overstated.

The covariance is cluster-robust (the sandwich of A. C. Cameron and P. K. Trivedi, Regression Analysis of Count Data,
1998, chapter 2): what disturbs neighboring observations on one line (texture, compression, a worn edge) disturbs them
together.
"""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array, Indices


def cluster_robust_covariance(jacobian: Array, weighted: Array, weight: Array, cluster: Indices) -> Array:
    """Return the cluster-robust covariance, at least that of independent observations with the spread they show.

    Args:
        jacobian: whitened, observations first, priors after them, shape (n + m, p).
        weighted: weighted whitened residuals, shape (n,).
        weight: robust weights, shape (n,).
        cluster: of each observation, shape (n,).
    """
    n = len(weight)
    seen, known = jacobian[:n], jacobian[n:]
    scale = np.sqrt(1 / np.maximum((jacobian**2).sum(axis=0), 1e-300))
    seen, known = seen * scale, known * scale
    bread = np.linalg.pinv(seen.T @ (weight[:, None] * seen) + known.T @ known, rcond=1e-13, hermitian=True)
    variance = max(float((weighted**2).sum() / max(n - seen.shape[1], 1)), 0.25)
    pushes = np.zeros((int(cluster.max(initial=0)) + 1, seen.shape[1]))
    np.add.at(pushes, cluster, -seen * weighted[:, None])
    groups = max(len(np.unique(cluster)), 2)
    clustered = pushes.T @ pushes * (groups / max(groups - 1, 1))
    independent = seen.T @ (weight[:, None] * seen) * variance
    middle = _at_least_both(clustered, independent) + known.T @ known
    covariance: Array = bread @ middle @ bread * scale[:, None] * scale
    return (covariance + covariance.T) / 2


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


def overstated_precision(effect: Array, weighted: Array, cluster: Indices) -> float:
    """Return the ratio of a parameter's variance with clustered errors to that with independent ones, at least 1.

    Differences of half a sum of squares along the parameter mean so many times less than they seem to.

    Args:
        effect: whitened derivative of each observation by the parameter, shape (n,).
        weighted: weighted whitened residuals, shape (n,).
        cluster: of each observation, shape (n,).
    """
    pushes = np.bincount(cluster, weights=effect * weighted)
    return max(1.0, float((pushes**2).sum() / max(float((effect**2).sum()), 1e-300)))
