"""What is believed of pairs of bases that are near each other: apart, touching, or parted a moment ago.

A measured gap is the true gap, plus an error that lasts (`bias`: where the network puts an edge, what the calibration
leaves), plus noise. The bias is as large as what decides a call and never averages out, so it is not guessed: it is
kept as a distribution on a grid. Two pieces of knowledge narrow it down. Bases don't enter each other; and a base that
walks into another stops, or is turned away, there and nowhere else. So three hypotheses are weighed for every bias:

- **free**: the measured gap goes on as it went, changes its rate now and then for no reason, and stays above the bias;
- **touching**: it stays at the bias. A free pair whose gap would have fallen below the bias has touched;
- **parted**: free again after a touch, a moment ago.

A pair that stops a little before the measured gap is 0 is so told from one that passes there, and the instant of the
touch is when the approach reached the level at which the gap then stayed, whatever the bias.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from downfield.vision.contacts_likelihood import (
    BIAS_MM,
    STEP_MM,
    Changes,
    Seen,
    State,
    bias_weights,
    density,
    share_above,
    share_falling,
    share_staying,
)
from downfield.vision.footprint import Array

MOMENT_S: Final = 0.1
"""Locked bases bounce: those that meet again sooner than this never parted, and a touch is told for as long."""

_BIAS_LASTS_S: Final = 4.0  # then it may be another: figures have walked to where the picture is another
_BIAS_DRIFT_MM: Final = 0.05  # how far it drifts in a second
_TOUCHING_AT_FIRST: Final = 0.3  # share of pairs first seen as near as touching that do touch
_SPREAD_MM: Final = 5.0  # over which the gaps of the others lie
_RATE_MM_S: Final = 20.0  # deviation of the rate of a pair first seen
_WANDER: Final = 50.0  # mm^2/s^3: density of the acceleration of walking bases
_TURN_ERROR: Final = 0.1  # share by which the effect of turning past each other is wrong
_WANDERS_TOO: Final = 0.6  # share of a free pair's wandering that touching bases are taken to do too
_RELAXES_MM_S: Final = 0.5  # how fast the least gap is forgotten
_RELEASE_PER_S: Final = 0.5  # how often bases that touch part
_NOTHING: Final = 1e-30  # weight
_BOUNCE_MM: Final = 0.3  # how far bases that push each other may come apart
_BOUNCES: Final = 0.2  # share of touches after which they part at once


@dataclass(slots=True)
class Belief:
    """Beliefs about n pairs.

    Attributes:
        gap_mm, rate_mm_s: of the measured gap of a free pair, shape (n,).
        cov: of both, shape (n, 2, 2).
        least_mm: the least gap_mm of late: a free pair's bias is below it, shape (n,).
        free, touching, parted: weights over the bias grid, shape (n, m) each; all three together sum to 1.
        since_s: when the touch began, by bias, of touching and parted pairs, shape (n, m).
        since_var: its variance by noise, shape (n, m).
        parted_s: mean time since the parting of those that parted, shape (n,).

    """

    gap_mm: Array
    rate_mm_s: Array
    cov: Array
    least_mm: Array
    free: Array
    touching: Array
    parted: Array
    since_s: Array
    since_var: Array
    parted_s: Array

    @classmethod
    def none(cls) -> Belief:
        """No pairs."""
        one, many = np.zeros(0), np.zeros((0, len(BIAS_MM)))
        return cls(one, one, np.zeros((0, 2, 2)), one, many, many, many, many, many, one)

    @classmethod
    def first(cls, seen: Seen, rate_mm_s: Array, bias_mm: Array, t_s: float) -> Belief:
        """Pairs seen for the first time.

        Args:
            seen: what is measured.
            rate_mm_s: rates of the gaps, shape (n,).
            bias_mm: standard deviation of the bias, shape (n,).
            t_s: now.

        """
        prior, gap_mm, noise_mm = bias_weights(bias_mm), seen.gap_mm, seen.noise_mm
        cov = np.zeros((len(gap_mm), 2, 2))
        cov[:, 0, 0], cov[:, 1, 1] = noise_mm**2, _RATE_MM_S**2
        near = density(gap_mm[:, None] - BIAS_MM, noise_mm[:, None] ** 2)
        above = ndtr((gap_mm[:, None] - BIAS_MM) / noise_mm[:, None])
        touching = _TOUCHING_AT_FIRST * prior * near
        free = (1 - _TOUCHING_AT_FIRST) / _SPREAD_MM * prior * above + 1e-12 * prior
        nothing = np.zeros_like(prior)
        since = np.full_like(prior, t_s)
        out = cls(gap_mm, rate_mm_s, cov, gap_mm, free, touching, nothing, since, nothing.copy(), np.zeros(len(gap_mm)))
        out._normalise()
        return out

    @property
    def touch(self) -> Array:
        """Probability that each pair touches, or parted less than a moment ago, shape (n,)."""
        touch: Array = (self.touching + self.parted).sum(axis=1)
        return touch

    @property
    def onset_s(self) -> tuple[Array, Array]:
        """When the touch began, and its standard deviation, shape (n,) each; as if there was one."""
        weight = self.touching + self.parted + _NOTHING
        weight = weight / weight.sum(axis=1, keepdims=True)
        mean = (weight * self.since_s).sum(axis=1)
        spread = (weight * (self.since_var + (self.since_s - mean[:, None]) ** 2)).sum(axis=1)
        return mean, np.sqrt(spread)

    @property
    def bias_mm(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the bias over all hypotheses, shape (n,) each."""
        weight = self.free + self.touching + self.parted
        mean = weight @ BIAS_MM
        return mean, np.sqrt(np.maximum(weight @ BIAS_MM**2 - mean**2, 0.0))

    def rows(self, which: NDArray[np.intp]) -> Belief:
        """The beliefs about some of the pairs."""
        return Belief(*(getattr(self, field.name)[which] for field in fields(self)))

    def joined(self, more: Belief) -> Belief:
        """These pairs and then those."""
        return Belief(
            *(np.concatenate([getattr(self, field.name), getattr(more, field.name)]) for field in fields(self))
        )

    def step(self, t_s: float, step_s: float, turn: Array, changes: Changes, bias_mm: Array, seen: Seen) -> None:
        """Let time pass and take note of what is measured then.

        Args:
            t_s: now.
            step_s: since the last step.
            turn: what the bases' going past each other makes of gap and rate, shape (n, 3); as of
                `contacts_measure.turns`.
            changes: of the rate without a touch.
            bias_mm: standard deviation of the bias, shape (n,).
            seen: what is measured.

        """
        self._let_bias_change(step_s, bias_mm)
        chance = changes.probability[:, None]
        before = share_above(self.least_mm, self.cov)
        on, changed = self._going_on(step_s, turn), self._changing(step_s, changes.sigma_mm_s)
        crossing = (1 - chance) * self._crossing(on[0], before) + chance * self._crossing(changed[0], before)
        met = self.free * crossing
        self._touch_by(met, on[0], t_s, step_s)
        again = self.parted * share_falling(self.gap_mm, on[0], self.cov)
        self.parted -= again
        release = self.touching * (1 - np.exp(-_RELEASE_PER_S * step_s)) + _BOUNCES * met
        self.touching += again - release

        level = seen.at_level(_WANDERS_TOO * on[2][:, 0, 0])
        (like_on, on), (like_changed, changed) = seen.weigh(*on), seen.weigh(*changed)
        least = np.minimum(self.least_mm + _RELAXES_MM_S * step_s, self.gap_mm)
        weight_on = (1 - chance) * like_on[:, None] * share_staying(np.minimum(least, on[0]), on[2], before)
        weight_changed = (
            chance * like_changed[:, None] * share_staying(np.minimum(least, changed[0]), changed[2], before)
        )
        released = release * like_changed[:, None] * share_above(changed[0], changed[2])
        loose = self.free + self.parted
        share = _share(
            (loose * weight_on).sum(axis=1),
            (loose * weight_changed).sum(axis=1),
            (1 - changes.probability) * like_on,
            changes.probability * like_changed,
        )
        self.gap_mm, self.rate_mm_s, self.cov = _merged(on, changed, share)
        self.least_mm = np.minimum(least, self.gap_mm)
        self.free = self.free * (weight_on + weight_changed)
        parted = self.parted * ((1 - chance) * like_on[:, None] + chance * like_changed[:, None])
        self._age(parted.sum(axis=1), released.sum(axis=1), step_s)
        self.parted = parted + released
        self.touching = self.touching * level
        self._forget_parting()
        self._normalise()

    def _let_bias_change(self, step_s: float, bias_mm: Array) -> None:
        """Let biases drift, and now and then become others; onsets go along with those that have them."""
        fresh = 1 - np.exp(-step_s / _BIAS_LASTS_S)
        prior = bias_weights(bias_mm)
        spread = min(0.5 * _BIAS_DRIFT_MM**2 * step_s / STEP_MM**2, 0.25)

        def changed(weight: Array) -> Array:
            moved = weight * (1 - 2 * spread)
            moved[:, 1:] += spread * weight[:, :-1]
            moved[:, :-1] += spread * weight[:, 1:]
            out: Array = (1 - fresh) * moved + fresh * weight.sum(axis=1, keepdims=True) * prior
            return out

        known = self.touching + self.parted + _NOTHING
        then = changed(known)
        onset = changed(known * self.since_s) / then
        self.since_var = np.maximum(changed(known * (self.since_var + self.since_s**2)) / then - onset**2, 0.0)
        self.since_s = onset
        self.free, self.touching, self.parted = changed(self.free), changed(self.touching), changed(self.parted)

    def _going_on(self, step_s: float, turn: Array) -> State:
        """Gap, rate and covariance when nothing happens."""
        carry = turn[:, 2]
        gap = self.gap_mm + turn[:, 0] + self.rate_mm_s * step_s * (1 + carry) / 2
        move = np.zeros((len(carry), 2, 2))
        move[:, 0, 0] = 1.0
        move[:, 0, 1] = step_s * (1 + carry) / 2
        move[:, 1, 1] = carry
        noise = _WANDER * np.array([[step_s**3 / 3, step_s**2 / 2], [step_s**2 / 2, step_s]])
        cov = move @ self.cov @ move.transpose(0, 2, 1) + noise
        cov[:, 0, 0] += (_TURN_ERROR * turn[:, 0]) ** 2
        cov[:, 1, 1] += (_TURN_ERROR * turn[:, 1]) ** 2
        return gap, carry * self.rate_mm_s + turn[:, 1], cov

    def _changing(self, step_s: float, sigma_mm_s: float) -> State:
        """The same when the rate becomes another at some instant of the step."""
        way = self.rate_mm_s * step_s
        cov = np.empty_like(self.cov)
        cov[:, 0, 0] = self.cov[:, 0, 0] + way**2 / 12 + (sigma_mm_s * step_s) ** 2 / 3
        cov[:, 0, 1] = cov[:, 1, 0] = sigma_mm_s**2 * step_s / 2
        cov[:, 1, 1] = sigma_mm_s**2
        return self.gap_mm + way / 2, np.zeros_like(way), cov

    def _touch_by(self, inflow: Array, gap: Array, t_s: float, step_s: float) -> None:
        """Add pairs that touched in this step, by bias, to those that touch."""
        way = np.minimum(gap - self.gap_mm, -1e-6)[:, None]
        share = np.clip((BIAS_MM - self.gap_mm[:, None]) / way, 0.0, 1.0)
        noise = np.minimum(self.cov[:, :1, 0] / (way / step_s) ** 2, step_s**2) + step_s**2 / 100
        known = self.touching + self.parted
        fresh = inflow / np.maximum(known + inflow, 1e-300)
        when = t_s - step_s * (1 - share)
        off = when - self.since_s
        self.since_s = self.since_s + fresh * off
        self.since_var = (1 - fresh) * self.since_var + fresh * noise + fresh * (1 - fresh) * off**2
        self.touching = self.touching + inflow

    def _crossing(self, gap: Array, before: Array) -> Array:
        """Share of free pairs whose gap falls below the bias on the way to a predicted gap, shape (n, m)."""
        return 1 - share_staying(np.minimum(gap, self.least_mm), self.cov, before)

    def _age(self, stay: Array, join: Array, step_s: float) -> None:
        self.parted_s = (self.parted_s + step_s) * stay / np.maximum(stay + join, 1e-300)

    def _forget_parting(self) -> None:
        """Those that parted long enough ago, and are apart by more than a bounce, are free."""
        old = self.parted_s > MOMENT_S
        gone = self.parted[old] * share_above(self.gap_mm[old] - _BOUNCE_MM, self.cov[old])
        self.free[old] += gone
        self.parted[old] -= gone
        self.least_mm[old] = self.gap_mm[old]

    def _normalise(self) -> None:
        total = (self.free + self.touching + self.parted).sum(axis=1, keepdims=True)
        for name in ("free", "touching", "parted"):
            setattr(self, name, getattr(self, name) / total)


def _share(on: Array, changed: Array, on_alone: Array, changed_alone: Array) -> Array:
    """The share of those that changed among the free; where nobody is free, as if all were."""
    nobody = on + changed < 1e-200
    on, changed = np.where(nobody, on_alone, on), np.where(nobody, changed_alone, changed)
    share: Array = changed / np.maximum(on + changed, 1e-300)
    return share


def _merged(on: State, changed: State, share: Array) -> State:
    gap, rate = ((1 - share) * one + share * other for one, other in zip(on[:2], changed[:2], strict=True))
    off = np.stack([changed[0] - on[0], changed[1] - on[1]], axis=1)
    weight = share[:, None, None]
    spread = weight * (1 - weight) * off[:, :, None] * off[:, None, :]
    return gap, rate, (1 - weight) * on[2] + weight * changed[2] + spread
