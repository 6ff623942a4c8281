"""A smooth curve through points that rises and falls only where the points do.

Cubic pieces between the points, whose slopes at inner points are weighted harmonic means of the slopes beside them, or
0 at a turn (F. Fritsch, J. Butland, SIAM Journal on Scientific and Statistical Computing 5, 1984); at the ends they
continue the first or last parabola as far as that stays monotone (C. Moler, Numerical Computing with Matlab, 3.4).
"""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array


def monotone_curve(x: Array, y: Array, at: Array) -> Array:
    """Return the curves through (x, y) at some places, shape (len(at), k).

    Args:
        x: places of the points, ascending, shape (n,), n >= 2.
        y: heights of k curves there, shape (n, k).
        at: places between the first and the last point, shape (m,).

    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    steps = np.diff(x)[:, None]
    rises = np.diff(y, axis=0) / steps
    slopes = _slopes(steps, rises)
    piece = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(steps) - 1)
    step = steps[piece]
    share = (np.asarray(at)[:, None] - x[piece][:, None]) / step
    back = 1 - share
    curve: Array = back**2 * ((1 + 2 * share) * y[piece] + share * step * slopes[piece]) + share**2 * (
        (1 + 2 * back) * y[piece + 1] - back * step * slopes[piece + 1]
    )
    return curve


def _slopes(steps: Array, rises: Array) -> Array:
    """Return the slopes at all points, shape (n, k), from the lengths and rises of the pieces between them."""
    if len(steps) == 1:
        return np.concatenate([rises, rises])
    before, after = rises[:-1], rises[1:]
    first, second = 2 * steps[1:] + steps[:-1], steps[1:] + 2 * steps[:-1]
    straight_on = before * after > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(straight_on, (first + second) / (first / before + second / after), 0.0)
    ends = [_end_slope(steps[:2], rises[:2]), _end_slope(steps[:-3:-1], rises[:-3:-1])]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slope(steps: Array, rises: Array) -> Array:
    """Return the slope at an end, shape (k,), from the two pieces next to it, the outer one first."""
    slope = ((2 * steps[0] + steps[1]) * rises[0] - steps[0] * rises[1]) / (steps[0] + steps[1])
    slope = np.where(slope * rises[0] > 0, slope, 0.0)
    turns = rises[0] * rises[1] <= 0
    steep = np.abs(slope) > 3 * np.abs(rises[0])
    limited: Array = np.where(turns & steep, 3 * rises[0], slope)
    return limited
