"""Formations that men have stood in: who is who after hands have set everybody up anew.

A coach sets his men up in few formations, over and over, each man in his own place of it. So where men stand as they
did at an earlier line-up, only further up the field, nearer to a sideline, or turned about after the teams changed
ends, each is taken for the one who stood in that place then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.optimize import linear_sum_assignment

from downfield.core.arrays import Array

ELSEWHERE_MM: Final = 60.0
"""From his place: so far off, a man might as well be anywhere; neighbors stand nearer."""

_IN_PLACE_MM: Final = 20.0  # who stands so near to his place says how the formation lies


def recall(formations: Sequence[Array], stands_mm: Array, unlike_mm: Array) -> Array | None:
    """The earlier formation that is most like how men stand now, laid over them.

    Args:
        formations: where each of the n men stood at some line-up, shape (n, 2), board mm, NaN where that is not known.
        stands_mm: where m men stand now, shape (m, 2).
        unlike_mm: how much further off a stand counts for each man, as when its jersey is the other one, shape (n, m).

    Returns:
        Where each of them should stand, shape (n, 2), NaN where that is not known; None where nothing is remembered.

    """
    ways = [formation * sign for formation in formations for sign in (1.0, -1.0)]
    laid = [_laid(way, stands_mm, unlike_mm) for way in ways if np.isfinite(way).any()]
    return min(laid, key=lambda places: misfit_mm(places, stands_mm, unlike_mm), default=None)


def misfit_mm(places_mm: Array, stands_mm: Array, unlike_mm: Array) -> float:
    """How far men stand from their places, all together; whoever has no place, or nobody in it, as if elsewhere.

    Args:
        places_mm: shape (n, 2), NaN where not known.
        stands_mm: shape (m, 2).
        unlike_mm: as of `recall`.

    """
    apart = _apart(places_mm, stands_mm, unlike_mm)
    who, where = linear_sum_assignment(apart)
    return float(apart[who, where].sum()) + ELSEWHERE_MM * (len(places_mm) - len(who))


def _laid(places: Array, stands: Array, unlike: Array) -> Array:
    """A formation moved to where it is most like how men stand: one of them in his place, and then all on average."""
    known = np.flatnonzero(np.isfinite(places).all(axis=1))
    men, at = np.nonzero(unlike[known] == 0.0)
    moves = stands[at] - places[known[men]]
    if not len(moves):
        return places
    off = [_apart(places[known] + move, stands, unlike[known]).min(axis=1).sum() for move in moves]
    laid: Array = places + moves[int(np.argmin(off))]
    apart = _apart(laid, stands, unlike)
    who, where = linear_sum_assignment(apart)
    near = apart[who, where] < _IN_PLACE_MM
    if near.any():
        laid = laid + np.median(stands[where[near]] - laid[who[near]], axis=0)
    return laid


def _apart(places: Array, stands: Array, unlike: Array) -> Array:
    """How far every stand is from every place, at most `ELSEWHERE_MM`, shape (n, m)."""
    apart = np.linalg.norm(places[:, None] - stands[None], axis=2) + unlike
    limited: Array = np.fmin(apart, ELSEWHERE_MM)  # and so where a place is not known
    return limited
