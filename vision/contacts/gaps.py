"""Measured gaps between bases: the near pairs, the rates and noise of their gaps, and their history."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from downfield.core.arrays import Array, Bools, Indices
from downfield.core.footprint import Gaps, outlines_of
from downfield.vision.contacts.limits import CONTACT_LIMITS
from downfield.vision.measuring.estimate import Estimate

Pair = tuple[str, str]

GapState: TypeAlias = tuple[Array, Array, Array]
"""Gap, rate, and the covariance of both; shapes (n,), (n,) and (n, 2, 2)."""

# Median and mean of the absolute second difference of white noise of unit standard deviation.
_MEDIAN_BEND: Final = 0.6745 * math.sqrt(6.0)
_MEAN_BEND: Final = math.sqrt(12.0 / math.pi)


def find_near_pairs(estimates: Sequence[Estimate], within_mm: float) -> tuple[list[Estimate], Indices]:
    """Find pairs of figures on the board whose circumscribed circles are within a distance.

    Returns:
        The figures on the board in order of ids, and the rows of each pair's first and second figure, shape (2, n).
    """
    figures = sorted((figure for figure in estimates if figure.posture != "lifted"), key=lambda figure: figure.id)
    if len(figures) < 2:
        return figures, np.zeros((2, 0), dtype=np.intp)
    centers = np.array([(figure.footprint.x_mm, figure.footprint.y_mm) for figure in figures])
    sizes = (figure.footprint.size for figure in figures)
    radius = np.array([math.hypot(size.length_mm, size.width_mm) / 2 for size in sizes])
    distance = np.linalg.norm(centers[:, None] - centers, axis=2) - radius[:, None] - radius
    return figures, np.array(np.nonzero(np.triu(distance < within_mm, k=1)))


@dataclass(frozen=True, slots=True)
class PairMeasurements:
    """The gaps of n pairs in one frame."""

    pairs: tuple[Pair, ...]
    seen: Bools  # whether both figures were seen in the latest frame that was detected, shape (n,)
    fresh: Bools  # whether both were seen in this frame, shape (n,)
    velocity: Array  # of the first and of the second figures, x and y in mm/s and heading in rad/s; shape (2, n, 3)
    gaps: Gaps  # of the estimated footprints
    rate_mm_s: Array  # rate of the gaps while both figures keep their motion, shape (n,)
    variance_mm2: Array  # variance of the gaps, without the position errors that all figures share, shape (n,)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def gap_mm(self) -> Array:
        """Signed gaps, shape (n,)."""
        return self.gaps.gap_mm

    def select(self, rows: Sequence[int]) -> PairMeasurements:
        """Return some of the pairs."""
        if len(rows) == len(self) and list(rows) == list(range(len(self))):
            return self
        at = np.array(rows, dtype=np.intp)
        return PairMeasurements(
            tuple(self.pairs[row] for row in rows),
            self.seen[at],
            self.fresh[at],
            self.velocity[:, at],
            self.gaps.rows(at),
            self.rate_mm_s[at],
            self.variance_mm2[at],
        )


def measure_pairs(figures: Sequence[Estimate], pairs: Indices, shared_mm2: Array) -> PairMeasurements:
    """Measure the gaps of pairs.

    Args:
        figures: the figures the pairs are made of.
        pairs: rows of each pair's first and second figure, shape (2, n).
        shared_mm2: covariance of the position error that all figures share (the calibration's), shape (2, 2).
    """
    gaps = Gaps.of(outlines_of([figure.footprint for figure in figures])[pairs])
    velocity = np.array([figure.velocity for figure in figures]).reshape(-1, 3)[pairs]
    covariance = np.array([figure.covariance for figure in figures]).reshape(-1, 3, 3)[pairs]
    seen = np.array([figure.seen and figure.posture != "unseen" for figure in figures], dtype=np.bool_)
    fresh = seen & np.array([figure.fresh for figure in figures], dtype=np.bool_)
    gradients = gap_gradients(gaps)
    variance = np.einsum("sni,snij,snj->n", gradients, covariance, gradients)
    common = np.einsum("ni,ij,nj->n", gaps.normal, shared_mm2, gaps.normal)
    return PairMeasurements(
        pairs=tuple((figures[a].id, figures[b].id) for a, b in pairs.T.tolist()),
        seen=seen[pairs[0]] & seen[pairs[1]],
        fresh=fresh[pairs[0]] & fresh[pairs[1]],
        velocity=velocity,
        gaps=gaps,
        rate_mm_s=_gap_rates(gradients, velocity),
        variance_mm2=np.maximum(variance - 2 * common, 0.0),
    )


def gap_gradients(gaps: Gaps) -> Array:
    """Return the movement of each base's nearest point along the normal per mm in x and y and per radian of heading.

    Returns:
        Shape (2, n, 3).
    """
    normal = gaps.normal
    x, y = (np.stack([gaps.point_a_mm, gaps.point_b_mm]) - gaps.outlines[..., :2]).transpose(2, 0, 1)
    gradients = np.empty((*x.shape, 3))
    gradients[..., :2] = normal
    gradients[..., 2] = x * normal[:, 1] - y * normal[:, 0]
    return gradients


def passing_corrections(before: PairMeasurements, step_s: float) -> Array:
    """Return corrections to gaps and rates for bases that move past each other.

    A corner that slides along a face and past its end makes the gap open at once. As the normal turns by an angle with
    cosine c, the rate keeps c times its value and a correction is added:
    ``gap + added + rate * step * (1 + c) / 2`` and ``c * rate + added``.

    Headings are held fixed. Where faces slide along each other, a fraction of a degree decides which ends are nearest,
    and a heading error would look like an end closing in.

    Args:
        before: the pairs at the start of the step.

    Returns:
        Corrections of gap in mm and rate in mm/s, and the cosine; shape (n, 3).
    """
    velocity = before.velocity * (1.0, 1.0, 0.0)
    outlines = before.gaps.outlines.copy()
    outlines[..., :2] += velocity[..., :2] * step_s
    after = Gaps.of(outlines)
    cosine = np.maximum(np.einsum("ni,ni->n", before.gaps.normal, after.normal), 0.0)
    rate_mm_s = _gap_rates(gap_gradients(before.gaps), velocity)
    added_mm = after.gap_mm - before.gap_mm - rate_mm_s * step_s * (1 + cosine) / 2
    added_mm_s = _gap_rates(gap_gradients(after), velocity) - cosine * rate_mm_s
    return np.stack([added_mm, added_mm_s, cosine], axis=1)


def _gap_rates(gradients: Array, velocity: Array) -> Array:
    """Return the rate at which gaps open while bases keep their motion, mm/s, shape (n,)."""
    first, second = np.einsum("sni,sni->sn", gradients, velocity)
    rates: Array = second - first
    return rates


@dataclass(frozen=True, slots=True)
class GapObservations:
    """Measured gaps of n pairs with their noise, as the contact filter takes them."""

    gap_mm: Array  # shape (n,); any value where nothing was measured
    noise_mm: Array  # standard deviation of the part of the error that changes from frame to frame, shape (n,)
    known: Bools  # which gaps were measured, shape (n,)

    def update(self, gap: Array, rate: Array, cov: Array) -> tuple[Array, GapState]:
        """Update predicted gaps with these observations (Kalman filter).

        Returns:
            The likelihood of the observations, shape (n,), and the updated state.
        """
        innovation = np.where(self.known, self.gap_mm - gap, 0.0)
        total = cov[:, 0, 0] + self.noise_mm**2
        gain = np.where(self.known[:, None], cov[:, :, 0] / total[:, None], 0.0)
        likelihood = np.where(self.known, gap_density(innovation, total), 1.0)
        updated = cov - gain[:, :, None] * cov[:, None, 0, :]
        return likelihood, (gap + gain[:, 0] * innovation, rate + gain[:, 1] * innovation, updated)

    def likelihood_at(self, bias_mm: Array, wander_mm2: Array) -> Array:
        """Return the likelihood of the observations if the true gap is 0, for every bias, shape (n, m).

        Args:
            bias_mm: the biases, shape (n, m).
            wander_mm2: added variance, shape (n, 1) or (n, m). For touching bases it is that of a free pair's
                prediction, since they bounce and roll along each other; else stillness alone would suggest a touch.
        """
        likelihood = gap_density(self.gap_mm[:, None] - bias_mm, self.noise_mm[:, None] ** 2 + wander_mm2)
        return np.where(self.known[:, None], likelihood, 1.0)


def gap_density(error: Array, variance: Array) -> Array:
    """Return the probability density per mm of measurement errors, outliers included; any shape."""
    normal, share = np.exp(-0.5 * error**2 / variance) / np.sqrt(2 * np.pi * variance), CONTACT_LIMITS.outlier_share
    density: Array = (1 - share) * normal + share * CONTACT_LIMITS.outlier_density_per_mm
    return density


@dataclass(frozen=True, slots=True)
class _PairNoise:
    """The last two gaps of a pair, and its noise relative to the nominal one."""

    last_mm: float = math.nan
    older_mm: float = math.nan
    factor: float = 1.0


class GapNoise:
    """Learns the noise of measured gaps from their second differences, which are near 0 in smooth movement.

    All pairs together show the quality of the picture within a few frames. A pair whose bases are hard to see, because
    of their color or of a figure in front, is noisier than the others, so its own noise is measured as well.
    """

    def __init__(self) -> None:
        self._pairs: dict[Pair, _PairNoise] = {}
        self._common = 1.0

    def add(self, pairs: PairMeasurements) -> None:
        """Update the noise with the gaps of a frame."""
        bends, known = [], {}
        columns = (pairs.gap_mm.tolist(), _nominal_noise_mm(pairs).tolist(), pairs.seen.tolist(), pairs.fresh.tolist())
        for pair, gap_mm, sigma_mm, seen, fresh in zip(pairs.pairs, *columns, strict=True):
            before = self._pairs.get(pair, _PairNoise())
            if not fresh:
                if seen:  # the frame was not detected
                    known[pair] = before
                continue
            factor, bend = before.factor, abs(gap_mm - 2 * before.last_mm + before.older_mm) / sigma_mm
            if not math.isnan(bend):
                bends.append(bend / _MEDIAN_BEND)
                now = min(bend / _MEAN_BEND, CONTACT_LIMITS.max_noise_factor)
                factor += CONTACT_LIMITS.own_noise_gain * (now - factor)
            known[pair] = _PairNoise(gap_mm, before.last_mm, factor)
        self._pairs = known
        if bends:
            gain = 1 - (1 - CONTACT_LIMITS.common_noise_gain) ** len(bends)
            self._common += gain * (statistics.median(bends) - self._common)

    def observations(self, pairs: PairMeasurements) -> GapObservations:
        """Return the measured gaps with their learned noise."""
        own = [self._pairs[pair].factor if pair in self._pairs else 1.0 for pair in pairs.pairs]
        factor = np.clip(np.maximum(np.array(own), self._common), 1.0, CONTACT_LIMITS.max_noise_factor)
        return GapObservations(gap_mm=pairs.gap_mm, noise_mm=_nominal_noise_mm(pairs) * factor, known=pairs.fresh)


def _nominal_noise_mm(pairs: PairMeasurements) -> Array:
    return np.sqrt(CONTACT_LIMITS.noise_share * pairs.variance_mm2 + CONTACT_LIMITS.min_noise_mm**2)


@dataclass(slots=True)
class GapHistory:
    """The recently measured gaps of all near pairs.

    Frame by frame, the filter times a touch from the approach known at that time. A few frames later both sides of the
    touch are known, and `refine_onset_s` times it again.
    """

    _gaps: dict[Pair, deque[tuple[float, float, float]]] = field(default_factory=dict)

    def add(self, pairs: PairMeasurements, noise_mm: Array, t_s: float, continued: Container[Pair]) -> None:
        """Keep the gaps of a frame.

        Args:
            pairs: the near pairs; all others are forgotten.
            noise_mm: standard deviation of the error that changes from frame to frame, shape (n,).
            continued: pairs whose history continues; the history of all others, which a hand has moved, starts over.
        """
        kept = {pair: self._gaps[pair] if pair in continued and pair in self._gaps else deque() for pair in pairs.pairs}
        for row in np.flatnonzero(pairs.fresh).tolist():
            gaps = kept[pairs.pairs[row]]
            if not gaps or gaps[-1][0] < t_s:  # otherwise the frame is filtered again
                gaps.append((t_s, float(pairs.gap_mm[row]), float(noise_mm[row])))
            while gaps[0][0] < t_s - CONTACT_LIMITS.history_s:
                gaps.popleft()
        self._gaps = kept

    def of(self, pair: Pair) -> Sequence[tuple[float, float, float]]:
        """Return when a pair was lately measured, its gaps and their noise."""
        return self._gaps.get(pair, ())

    def refine_onset_s(self, pair: Pair, about_s: float) -> float:
        """Return the time at which a pair met, given an estimate; the estimate itself if too little was measured."""
        gaps = [gap for gap in self._gaps.get(pair, ()) if gap[0] <= about_s + CONTACT_LIMITS.fit_after_s]
        before = sum(gap[0] < about_s for gap in gaps)
        early = sum(gap[0] < about_s - CONTACT_LIMITS.fit_before_s for gap in gaps)
        used = gaps[min(early, max(before - CONTACT_LIMITS.min_fit_gaps_before, 0)) :]
        if len(used) < CONTACT_LIMITS.min_fit_gaps:
            return about_s
        return about_s + fit_onset_s(*(np.array(used) - (about_s, 0.0, 0.0)).T)


def fit_onset_s(t_s: Array, gap_mm: Array, noise_mm: Array) -> float:
    """Fit the instant at which a gap stopped closing: a steady approach before it, a constant level after it.

    An approach is steady only for a short time, so earlier gaps count less.

    Args:
        t_s: times of the measurements relative to the estimate, shape (n,).
        gap_mm: measured gaps with any lasting bias, shape (n,).
        noise_mm: standard deviation of the rest of their error, shape (n,).

    Returns:
        The most likely instant within 60 ms of 0; 0 if none is likely.
    """
    most_s, step_s = CONTACT_LIMITS.search_s, CONTACT_LIMITS.search_step_s
    instants = np.arange(-most_s, most_s + step_s / 2, step_s)
    before_s = np.maximum(instants[:, None] - t_s, 0.0)
    variance = noise_mm**2 + CONTACT_LIMITS.approach_wander_mm2_s3 * before_s**3 / 3
    weight = 1 / variance
    # Least squares in two unknowns, level and speed, one problem for each instant.
    a, b, c = weight.sum(axis=1), (weight * before_s).sum(axis=1), (weight * before_s**2).sum(axis=1)
    c += CONTACT_LIMITS.approach_speed_mm_s**-2
    level, closing = weight @ gap_mm, (weight * before_s) @ gap_mm
    speed = np.maximum((a * closing - b * level) / (a * c - b * b), CONTACT_LIMITS.min_approach_mm_s)
    residual = gap_mm - ((level - b * speed) / a)[:, None] - speed[:, None] * before_s
    freedom = CONTACT_LIMITS.fit_degrees_of_freedom
    tails = (freedom + 1) * np.log1p(residual**2 / variance / freedom)
    cost = (np.log(variance) + tails).sum(axis=1) + (speed / CONTACT_LIMITS.approach_speed_mm_s) ** 2
    best = int(cost.argmin())
    if best in {0, len(instants) - 1}:  # the minimum lies outside the range
        return 0.0
    return float(instants[best] - CONTACT_LIMITS.chatter_mm / speed[best])
