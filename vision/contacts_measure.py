"""Measured gaps: which bases are near, how they stand to each other, how sure that is, and how they go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from downfield.vision.estimate import Estimate
from downfield.vision.footprint import Array, Footprint
from downfield.vision.gap import Gap, signed_gaps

Pair = tuple[str, str]


def near_pairs(estimates: Sequence[Estimate], within_mm: float) -> list[tuple[Estimate, Estimate]]:
    """Pairs on the board whose circumscribed circles come so near, each in order of ids; all in order of ids."""
    able = sorted((one for one in estimates if one.posture != "lifted"), key=lambda one: one.id)
    if len(able) < 2:
        return []
    centre = np.array([(one.footprint.x_mm, one.footprint.y_mm) for one in able])
    reach = np.array([np.hypot(one.footprint.size.length_mm, one.footprint.size.width_mm) / 2 for one in able])
    apart = np.linalg.norm(centre[:, None] - centre, axis=2) - reach[:, None] - reach
    return [(able[a], able[b]) for a, b in np.argwhere(np.triu(apart < within_mm, k=1)).tolist()]


@dataclass(frozen=True, slots=True)
class Measured:
    """How one pair stands in one frame.

    Attributes:
        a, b: the figures.
        gap: of the estimates.
        rate_mm_s: how fast the gap changes while both go on.
        variance_mm2: of the gap, what the errors have in common taken out.

    """

    a: Estimate
    b: Estimate
    gap: Gap
    rate_mm_s: float
    variance_mm2: float

    @property
    def pair(self) -> Pair:
        """Ids in order."""
        return self.a.id, self.b.id

    @property
    def seen(self) -> bool:
        """Whether both were seen in this frame."""
        return all(one.seen and one.posture != "unseen" for one in (self.a, self.b))


def measured(pairs: Sequence[tuple[Estimate, Estimate]], shared: Array) -> list[Measured]:
    """How pairs stand.

    Args:
        pairs: the figures.
        shared: covariance of an error of position that all figures have in common, calibration's, mm^2, shape (2, 2).

    """
    gaps = signed_gaps([a.footprint for a, _ in pairs], [b.footprint for _, b in pairs])
    return [_measured(a, b, gap, shared) for (a, b), gap in zip(pairs, gaps, strict=True)]


def turns(before: Sequence[Measured], step_s: float) -> Array:
    """What bases that go on past each other for a while make of their gaps and rates.

    A corner that slides along a face and past its end makes the gap open at once; a straight line does not know. As the
    normal turns by an angle with cosine c, of the rate there remains c times it, and something is added:
    ``gap + added + rate * step * (1 + c) / 2`` and ``c * rate + added``.

    Args:
        before: where they start, and how they go.
        step_s: how long.

    Returns:
        Additions to gap, mm, and rate, mm/s, and the cosine; shape (n, 3).

    """
    if not before:
        return np.zeros((0, 3))
    gone = [(_gone_on(one.a, step_s), _gone_on(one.b, step_s)) for one in before]
    gaps = signed_gaps([a.footprint for a, _ in gone], [b.footprint for _, b in gone])
    out = np.empty((len(before), 3))
    for row, (one, (a, b), gap) in enumerate(zip(before, gone, gaps, strict=True)):
        carry = max(float(np.dot(one.gap.normal, gap.normal)), 0.0)
        added_mm = gap.gap_mm - one.gap.gap_mm - one.rate_mm_s * step_s * (1 + carry) / 2
        out[row] = added_mm, _rate(a, b, gap) - carry * one.rate_mm_s, carry
    return out


def _gone_on(one: Estimate, step_s: float) -> Estimate:
    at, (vx, vy, spin) = one.footprint, one.velocity.tolist()
    moved = Footprint(
        at.x_mm + vx * step_s, at.y_mm + vy * step_s, at.heading_deg + float(np.degrees(spin)) * step_s, at.size
    )
    return replace(one, footprint=moved)


def _measured(a: Estimate, b: Estimate, gap: Gap, shared: Array) -> Measured:
    normal = np.array(gap.normal)
    to_a, to_b = _slope(a, gap.point_a_mm, normal), _slope(b, gap.point_b_mm, normal)
    variance = to_a @ a.covariance @ to_a + to_b @ b.covariance @ to_b
    own = max(float(variance - 2 * normal @ shared @ normal), 0.0)
    return Measured(a, b, gap, float(to_b @ b.velocity - to_a @ a.velocity), own)


def _rate(a: Estimate, b: Estimate, gap: Gap) -> float:
    normal = np.array(gap.normal)
    to_a, to_b = _slope(a, gap.point_a_mm, normal), _slope(b, gap.point_b_mm, normal)
    return float(to_b @ b.velocity - to_a @ a.velocity)


def _slope(one: Estimate, point: tuple[float, float], normal: Array) -> Array:
    """How far a point of a base moves along the normal for a base's x, y and heading in radians; shape (3,)."""
    x, y = point[0] - one.footprint.x_mm, point[1] - one.footprint.y_mm
    return np.array([normal[0], normal[1], x * normal[1] - y * normal[0]])
