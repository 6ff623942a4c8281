"""Mathematics that several rooms need: wrapped angles, the normal distribution, and pairs of least cost.

The cumulative normal distribution of whole arrays is expanded about the nearest of many places, at which Python's own
`math.erfc` says the value exactly; the derivatives there follow from the density by the recurrence of Hermite
polynomials (M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.2.31 to 33). The linear assignment
problem: most rows of a tracker's costs have a cheapest column of their own, and then that is the answer; the others are
added one by one along a shortest augmenting path over reduced costs (R. Jonker, A. Volgenant, Computing 38, 1987; for
more columns than rows D. Crouse, IEEE Transactions on Aerospace and Electronic Systems 52, 2016). scipy has both
(`ndtr`, `linear_sum_assignment`, the oracles of the tests), at 125 MB on every rig.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Indices


def wrap_deg(angle_deg: float) -> float:
    """Bring an angle to -180..180 degrees (180 itself becomes -180)."""
    return (angle_deg + 180.0) % 360.0 - 180.0


def difference_deg(a_deg: float, b_deg: float) -> float:
    """Return how far two directions are apart, 0..180 degrees."""
    return abs(wrap_deg(a_deg - b_deg))


def wrap_rad(angle_rad: Array) -> Array:
    """Bring angles to -pi..pi radians (pi itself becomes -pi)."""
    wrapped: Array = (angle_rad + np.pi) % (2 * np.pi) - np.pi
    return wrapped


def wrap_half_turn_rad(angle_rad: Array) -> Array:
    """Bring angles of undirected lines to -pi/2..pi/2 radians (pi/2 itself becomes -pi/2)."""
    wrapped: Array = (angle_rad + np.pi / 2) % np.pi - np.pi / 2
    return wrapped


_LEAST: Final = -39.0  # below, the distribution is less than any double
_MOST: Final = 9.0  # above, it is 1
_PER_UNIT: Final = 256
_ORDER: Final = 5  # half a step to the sixth power over 6! is below the rounding of a double


def normal_cdf(z: Array) -> Array:
    """Return the probability that a standard normal variable is at most z, in the shape of z; NaN for NaN.

    The relative error is below 1e-13 down to z = -8, and below 1e-8 where probabilities are still doubles.
    """
    z = np.asarray(z, dtype=np.float64)
    within = np.fmin(np.fmax(z, _LEAST), _MOST)
    steps = (within - _LEAST) * _PER_UNIT
    nearest = np.rint(steps)
    off = (steps - nearest) / _PER_UNIT
    at = nearest.astype(np.intp)
    coefficients = _coefficients()
    total = coefficients[_ORDER][at]
    for coefficient in coefficients[_ORDER - 1 :: -1]:
        total *= off
        total += coefficient[at]
    return np.asarray(np.where(np.isnan(z), np.nan, total))


@cache
def _coefficients() -> Array:
    """Return the Taylor coefficients about each place, shape (order + 1, places)."""
    places = np.arange(round((_MOST - _LEAST) * _PER_UNIT) + 1) / _PER_UNIT + _LEAST
    derivatives = [np.array([0.5 * math.erfc(-z / math.sqrt(2)) for z in places.tolist()])]
    derivatives.append(np.exp(-0.5 * places**2) / math.sqrt(2 * math.pi))
    derivatives.append(-places * derivatives[1])
    for k in range(1, _ORDER - 1):
        derivatives.append(-places * derivatives[k + 1] - k * derivatives[k])
    coefficients = np.array([derivative / math.factorial(k) for k, derivative in enumerate(derivatives)])
    coefficients.setflags(write=False)
    return coefficients


def least_cost_pairs(cost: Array) -> tuple[Indices, Indices]:
    """Return the rows and columns of the pairs, as many as the shorter side has, rows ascending.

    Args:
        cost: of every pair, shape (n, m), finite; any of equally cheap answers is returned.

    Raises:
        ValueError: a cost is not finite.
    """
    cost = np.asarray(cost, dtype=np.float64)
    if not np.isfinite(cost).all():
        raise ValueError("A cost is not finite.")
    if not cost.size:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    if cost.shape[0] <= cost.shape[1]:
        return np.arange(len(cost)), _columns(cost)
    rows = _columns(np.ascontiguousarray(cost.T))
    order = np.argsort(rows)
    return rows[order], order


def _columns(cost: Array) -> Indices:
    """Return the column of each row, of costs with no more rows than columns."""
    cheapest: Indices = cost.argmin(axis=1)
    owners, first = np.unique(cheapest, return_index=True)
    if len(owners) == len(cost):
        return cheapest
    row_price, column_price = cost.min(axis=1), np.zeros(cost.shape[1])
    column_of, row_of = np.full(len(cost), -1), np.full(cost.shape[1], -1)
    column_of[first], row_of[owners] = owners, first
    for row in np.flatnonzero(column_of < 0):
        _add_row(int(row), cost, row_price, column_price, column_of, row_of)
    return column_of


def _add_row(
    start: int, cost: Array, row_price: Array, column_price: Array, column_of: Indices, row_of: Indices
) -> None:
    """Pair one more row by the shortest path to an unpaired column, and keep reduced costs from falling below 0."""
    length, previous = np.full(len(row_of), np.inf), np.zeros(len(row_of), dtype=np.intp)
    reached, passed = np.zeros(len(row_of), dtype=bool), [start]
    row, so_far = start, 0.0
    while True:
        by_row = so_far + cost[row] - row_price[row] - column_price
        shorter = (by_row < length) & ~reached
        length[shorter], previous[shorter] = by_row[shorter], row
        column = int(np.where(reached, np.inf, length).argmin())
        so_far = float(length[column])
        reached[column] = True
        if row_of[column] < 0:
            break
        row = int(row_of[column])
        passed.append(row)
    between = passed[1:]
    row_price[start] += so_far
    row_price[between] += so_far - length[column_of[between]]
    column_price[reached] -= so_far - length[reached]
    while True:
        row = int(previous[column])
        row_of[column], (column_of[row], column) = row, (column, int(column_of[row]))
        if row == start:
            return
