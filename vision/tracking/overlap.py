"""Bases are solid: where believed places overlap, the likeliest ones that do not.

In a scrum bases of one color stand flush, and their ends can't be told apart in the picture. A place that is off by
millimeters then shows as an overlap with a neighbor that is seen better, and no two bases overlap. Of all places
without overlaps the likeliest is taken, to first order, pair by pair: each gives way by what it is not sure of. How
sure it is remains: that bases do not overlap says little of those that stand apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from downfield.core.angles import wrap_deg
from downfield.core.arrays import Array
from downfield.core.footprint import Footprint, Gaps, outlines_of
from downfield.vision.contacts.measurement import find_near_pairs, gap_gradients
from downfield.vision.tracking.estimate import Estimate

SLACK_MM: Final = 0.3
"""An overlap that sizes not known better may make; what it says of a contact is weighed by `ContactTracker`."""

NEAR_MM: Final = 0.1
"""So near to the slack an overlap is near enough: who overlaps by no more than both together stays."""

_MOST_MM: Final = 12.0  # more is no error of a place, but of somebody's who is somewhere else
_SWEEPS: Final = 4


def apart(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """What is believed of figures, with those moved that overlap others.

    Those that lie, are in a hand or are not seen are left out.

    Args:
        estimates: of a frame.

    """
    able, pairs = find_near_pairs([one for one in estimates if one.seen and one.posture == "upright"], 0.0)
    if not pairs.size:
        return tuple(estimates)
    outlines = outlines_of([one.footprint for one in able])
    covariance = np.array([one.covariance for one in able])
    moved: set[int] = set()
    for _ in range(_SWEEPS):
        gaps = Gaps.of(outlines[pairs])
        rows = np.flatnonzero((gaps.gap_mm < -SLACK_MM - NEAR_MM) & (gaps.gap_mm > -_MOST_MM))
        if not len(rows):
            break
        step = np.zeros((len(able), 3))
        slopes = gap_gradients(gaps)
        for row in rows[np.argsort(gaps.gap_mm[rows])].tolist():
            a, b = pairs[:, row].tolist()
            opened_mm = slopes[1, row] @ step[b] - slopes[0, row] @ step[a]
            lacks_mm = -SLACK_MM - gaps.gap_mm[row] - opened_mm
            if lacks_mm <= 0:
                continue
            way_a, way_b = covariance[a] @ slopes[0, row], covariance[b] @ slopes[1, row]
            share = lacks_mm / (slopes[0, row] @ way_a + slopes[1, row] @ way_b)
            step[a] -= way_a * share
            step[b] += way_b * share
            moved |= {a, b}
        outlines[:, :2] += step[:, :2]
        outlines[:, 2] += np.degrees(step[:, 2])
        pairs = pairs[:, np.isin(pairs, list(moved)).any(axis=0)]  # of all others nothing has changed
    better = {able[row].id: _at(able[row], outlines[row]) for row in moved}
    return tuple(better.get(one.id, one) for one in estimates)


def _at(estimate: Estimate, outline: Array) -> Estimate:
    x_mm, y_mm, heading_deg = outline[:3].tolist()
    return replace(estimate, footprint=Footprint(x_mm, y_mm, wrap_deg(heading_deg), estimate.footprint.size))
