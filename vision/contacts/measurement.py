"""PairMeasurements gaps: which bases are near, how they stand to each other, how sure that is, and how they go on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.footprint import outlines_of
from downfield.core.gap import Gaps
from downfield.vision.tracking.estimate import Estimate

Pair = tuple[str, str]


def find_near_pairs(estimates: Sequence[Estimate], within_mm: float) -> tuple[list[Estimate], NDArray[np.intp]]:
    """Figures on the board in order of ids, and the pairs of them whose circumscribed circles come so near.

    Returns:
        The figures; rows of the first and of the second of each pair, all in order of ids, shape (2, n).

    """
    able = sorted((one for one in estimates if one.posture != "lifted"), key=lambda one: one.id)
    if len(able) < 2:
        return able, np.zeros((2, 0), dtype=np.intp)
    center = np.array([(one.footprint.x_mm, one.footprint.y_mm) for one in able])
    sizes = (one.footprint.size for one in able)
    reach = np.array([math.hypot(size.length_mm, size.width_mm) / 2 for size in sizes])
    apart = np.linalg.norm(center[:, None] - center, axis=2) - reach[:, None] - reach
    return able, np.array(np.nonzero(np.triu(apart < within_mm, k=1)))


@dataclass(frozen=True, slots=True)
class PairMeasurements:
    """How n pairs stand in one frame.

    Attributes:
        pairs: their ids, each in order.
        seen: whether both of a pair were seen in this frame, or the last that was looked at, shape (n,).
        fresh: whether both were seen in this frame, shape (n,).
        velocity: of the first figures and of the second, x and y in mm/s and heading in rad/s; shape (2, n, 3).
        gaps: of the estimates.
        rate_mm_s: how fast the gaps change while both go on, shape (n,).
        variance_mm2: of the gaps, what the errors have in common taken out, shape (n,).

    """

    pairs: tuple[Pair, ...]
    seen: NDArray[np.bool_]
    fresh: NDArray[np.bool_]
    velocity: Array
    gaps: Gaps
    rate_mm_s: Array
    variance_mm2: Array

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def gap_mm(self) -> Array:
        """Signed gaps, shape (n,)."""
        return self.gaps.gap_mm

    def rows(self, which: Sequence[int]) -> PairMeasurements:
        """Some of the pairs."""
        if len(which) == len(self) and list(which) == list(range(len(self))):
            return self
        at = np.array(which, dtype=np.intp)
        return PairMeasurements(
            tuple(self.pairs[row] for row in which),
            self.seen[at],
            self.fresh[at],
            self.velocity[:, at],
            self.gaps.rows(at),
            self.rate_mm_s[at],
            self.variance_mm2[at],
        )


def measure_pairs(figures: Sequence[Estimate], pairs: NDArray[np.intp], shared: Array) -> PairMeasurements:
    """How pairs stand.

    Args:
        figures: those of which they are made.
        pairs: rows of the first figures and of the second, shape (2, n).
        shared: covariance of an error of position that all figures have in common, calibration's, mm^2, shape (2, 2).

    """
    gaps = Gaps.of(outlines_of([one.footprint for one in figures])[pairs])
    velocity = np.array([one.velocity for one in figures]).reshape(-1, 3)[pairs]
    covariance = np.array([one.covariance for one in figures]).reshape(-1, 3, 3)[pairs]
    seen = np.array([one.seen and one.posture != "unseen" for one in figures], dtype=np.bool_)
    fresh = seen & np.array([one.fresh for one in figures], dtype=np.bool_)
    slopes = gap_gradients(gaps)
    variance = np.einsum("sni,snij,snj->n", slopes, covariance, slopes)
    common = np.einsum("ni,ij,nj->n", gaps.normal, shared, gaps.normal)
    return PairMeasurements(
        pairs=tuple((figures[a].id, figures[b].id) for a, b in pairs.T.tolist()),
        seen=seen[pairs[0]] & seen[pairs[1]],
        fresh=fresh[pairs[0]] & fresh[pairs[1]],
        velocity=velocity,
        gaps=gaps,
        rate_mm_s=_rates(slopes, velocity),
        variance_mm2=np.maximum(variance - 2 * common, 0.0),
    )


def passing_corrections(before: PairMeasurements, step_s: float) -> Array:
    """What bases that go on past each other for a while make of their gaps and rates.

    A corner that slides along a face and past its end makes the gap open at once; a straight line does not know. As the
    normal turns by an angle with cosine c, of the rate there remains c times it, and something is added:
    ``gap + added + rate * step * (1 + c) / 2`` and ``c * rate + added``.

    Headings are taken to stay. Where a face slides along a face, which of its ends is nearest changes with a fraction
    of a degree, and what a heading's error does within a tenth of a second would be taken for one end's falling in.

    Args:
        before: where they start, and how they go.
        step_s: how long.

    Returns:
        Additions to gap, mm, and rate, mm/s, and the cosine; shape (n, 3).

    """
    velocity = before.velocity * (1.0, 1.0, 0.0)
    outlines = before.gaps.outlines.copy()
    outlines[..., :2] += velocity[..., :2] * step_s
    gone = Gaps.of(outlines)
    carry = np.maximum(np.einsum("ni,ni->n", before.gaps.normal, gone.normal), 0.0)
    rate_mm_s = _rates(gap_gradients(before.gaps), velocity)
    added_mm = gone.gap_mm - before.gap_mm - rate_mm_s * step_s * (1 + carry) / 2
    added_mm_s = _rates(gap_gradients(gone), velocity) - carry * rate_mm_s
    return np.stack([added_mm, added_mm_s, carry], axis=1)


def _rates(slopes: Array, velocity: Array) -> Array:
    """How fast gaps open while bases go on, mm/s, shape (n,)."""
    first, second = np.einsum("sni,sni->sn", slopes, velocity)
    rates: Array = second - first
    return rates


def gap_gradients(gaps: Gaps) -> Array:
    """How far the points of bases that are nearest move along the normal for a base's x, y and heading in radians.

    Returns:
        Shape (2, n, 3).

    """
    normal = gaps.normal
    x, y = (np.stack([gaps.point_a_mm, gaps.point_b_mm]) - gaps.outlines[..., :2]).transpose(2, 0, 1)
    slopes = np.empty((*x.shape, 3))
    slopes[..., :2] = normal
    slopes[..., 2] = x * normal[:, 1] - y * normal[:, 0]
    return slopes
