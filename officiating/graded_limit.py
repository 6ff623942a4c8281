"""Limits that are not one number: how many people would agree that a rule is met, by how far it is met.

Where a rulebook gives a word and no tolerance ("square"), tables argue from one angle on and agree again from another.
"""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist
from typing import Final

GradedLimit = tuple[tuple[float, float], ...]
"""Margin and share of those who agree there, ascending by margin; straight lines between, two points at one margin are
a step, constant beyond the ends. Empty for a limit that is one number."""

_NORMAL: Final = NormalDist()


def share_accepted(limit: GradedLimit, margin: float, sigma: float) -> float:
    """Return the expected share of those who agree that a limit is met, 0..1.

    Args:
        margin: measured, in the limit's unit.
        sigma: its standard deviation; 0 where it is exact. On a step, the side of more agreement counts.
    """
    if sigma <= 0:
        return _share_at(limit, margin)
    ends = [(at - margin) / sigma for at, _ in limit]
    total = limit[0][1] * _NORMAL.cdf(ends[0]) + limit[-1][1] * (1.0 - _NORMAL.cdf(ends[-1]))
    for (a, b), ((x_a, y_a), (x_b, y_b)) in zip(itertools.pairwise(ends), itertools.pairwise(limit), strict=True):
        if x_b > x_a:
            slope = (y_b - y_a) / (x_b - x_a)
            inside = _NORMAL.cdf(b) - _NORMAL.cdf(a)
            total += (y_a + slope * (margin - x_a)) * inside - slope * sigma * (_density(b) - _density(a))
    return min(1.0, max(0.0, total))


def opposite_limit(limit: GradedLimit) -> GradedLimit:
    """Return how many agree that a limit is not met, by how far it is not."""
    return tuple((-at, 1.0 - share) for at, share in reversed(limit))


def _share_at(limit: GradedLimit, margin: float) -> float:
    at = [share for x, share in limit if x == margin]
    if at:
        return max(at)
    if margin < limit[0][0]:
        return limit[0][1]
    for (x_a, y_a), (x_b, y_b) in itertools.pairwise(limit):
        if x_a < margin < x_b:
            return y_a + (y_b - y_a) * (margin - x_a) / (x_b - x_a)
    return limit[-1][1]


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
