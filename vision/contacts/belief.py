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

from downfield.core.arrays import Array
from downfield.vision.contacts.bias import GRID, LASTS_S, PRIOR, drift
from downfield.vision.contacts.likelihood import (
    GapObservations,
    RateChanges,
    State,
    changed_share,
    density,
    merged,
    share_above,
    share_staying,
)
from downfield.vision.contacts.onset import CHATTER_MM, SLOWEST_MM_S

MOMENT_S: Final = 0.1
"""Locked bases bounce: those that meet again sooner than this never parted, and a touch is told for as long."""

_TOUCHING_AT_FIRST: Final = 0.3  # share of pairs first seen as near as touching that do touch
_SPREAD_MM: Final = 5.0  # over which the gaps of the others lie
_RATE_MM_S: Final = 20.0  # deviation of the rate of a pair first seen
_WANDER: Final = 50.0  # mm^2/s^3: density of the acceleration of walking bases
_TURN_ERROR: Final = 0.1  # share by which the effect of turning past each other is wrong
_WANDERS_TOO: Final = 0.6  # share of a free pair's wandering that touching bases are taken to do too
_RELAXES_MM_S: Final = 0.5  # how fast the least gap is forgotten
_RELEASE_PER_S: Final = 0.5  # how often bases that touch part
_NOTHING: Final = 1e-30  # weight
_ONE_APPROACH_STEPS: Final = 1.5  # touches of successive steps are one occasion, of which the noise hides the step
_BOUNCE_MM: Final = 0.3  # how far bases that push each other may come apart
_BOUNCES: Final = 0.2  # share of touches after which they part at once


@dataclass(slots=True)
class ContactFilter:
    """Beliefs about n pairs.

    Attributes:
        gap_mm, rate_mm_s: of the measured gap of a free pair, shape (n,).
        cov: of both, shape (n, 2, 2).
        least_mm: the least gap_mm of late: a free pair's bias is below it, shape (n,).
        spread_mm: standard deviation of the bias before anything is known of it, shape (n,).
        free, touching, parted: weights over the bias grid, shape (n, m) each; all three together sum to 1.
        since_s: when the touch most likely began, by bias, of touching and parted pairs, shape (n, m).
        since_var: its variance by noise, shape (n, m).
        main: share of the touching and parted that began then, shape (n, m).
        parted_s: mean time since the parting of those that parted, shape (n,).

    """

    gap_mm: Array
    rate_mm_s: Array
    cov: Array
    least_mm: Array
    spread_mm: Array
    free: Array
    touching: Array
    parted: Array
    since_s: Array
    since_var: Array
    main: Array
    parted_s: Array

    @classmethod
    def none(cls) -> ContactFilter:
        """No pairs."""
        one, many = np.zeros(0), np.zeros((0, len(GRID)))
        return cls(one, one, np.zeros((0, 2, 2)), one, one, many, many, many, many, many, many, one)

    @classmethod
    def first(cls, seen: GapObservations, rate_mm_s: Array, bias_mm: Array, t_s: float) -> ContactFilter:
        """Pairs seen for the first time.

        Args:
            seen: what is measured.
            rate_mm_s: rates of the gaps, shape (n,).
            bias_mm: standard deviation of the bias, shape (n,).
            t_s: now.

        """
        gap_mm, noise_mm = seen.gap_mm, seen.noise_mm
        prior = np.tile(PRIOR, (len(gap_mm), 1))
        off = gap_mm[:, None] - bias_mm[:, None] * GRID
        cov = np.zeros((len(gap_mm), 2, 2))
        cov[:, 0, 0], cov[:, 1, 1] = noise_mm**2, _RATE_MM_S**2
        near = density(off, noise_mm[:, None] ** 2)
        above = ndtr(off / noise_mm[:, None])
        touching = _TOUCHING_AT_FIRST * prior * near
        free = (1 - _TOUCHING_AT_FIRST) / _SPREAD_MM * prior * above + 1e-12 * prior
        nothing = np.zeros_like(prior)
        since = np.full_like(prior, t_s)
        known, young = np.ones_like(prior), np.zeros(len(gap_mm))
        out = cls(gap_mm, rate_mm_s, cov, gap_mm, bias_mm, free, touching, nothing, since, nothing.copy(), known, young)
        out._normalize()
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
        mean = weight @ GRID
        return self.spread_mm * mean, self.spread_mm * np.sqrt(np.maximum(weight @ GRID**2 - mean**2, 0.0))

    def rows(self, which: NDArray[np.intp]) -> ContactFilter:
        """The beliefs about some of the pairs."""
        return ContactFilter(*(getattr(self, name)[which] for name in _NAMES))

    def joined(self, more: ContactFilter) -> ContactFilter:
        """These pairs and then those."""
        return ContactFilter(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in _NAMES))

    def step(
        self, t_s: float, step_s: float, turn: Array, changes: RateChanges, bias_mm: Array, seen: GapObservations
    ) -> None:
        """Let time pass and take note of what is measured then.

        Args:
            t_s: now.
            step_s: since the last step.
            turn: what the bases' going past each other makes of gap and rate, shape (n, 3); as of
                `passing_corrections`.
            changes: of the rate without a touch.
            bias_mm: standard deviation of the bias, shape (n,).
            seen: what is measured.

        """
        self.spread_mm = bias_mm
        self._let_bias_drift(step_s)
        bias = self._levels_mm
        chance = changes.probability[:, None]
        before = share_above(self.least_mm, self.cov, bias)
        on, changed = self._going_on(step_s, turn), self._changing(step_s, changes.sigma_mm_s)
        met = self.free * (1 - chance) * self._crossing(on[0], bias, before)
        met += self.free * chance * self._crossing(changed[0], bias, before)
        left_s = self._touch_by(met, on[0], t_s, step_s)
        again = self.parted * self._falling(on[0], bias)
        self.parted -= again
        bounced = _BOUNCES * met
        released = (self.touching - bounced) * (1 - np.exp(-_RELEASE_PER_S * step_s))
        self.touching += again - bounced - released
        # In what is left of the step, who parts gets no further from the bias than speed allows.
        bounced *= seen.at_level(bias, (changes.sigma_mm_s * left_s) ** 2)
        released *= seen.at_level(bias, np.full((len(turn), 1), (changes.sigma_mm_s * step_s) ** 2 / 3))

        level = seen.at_level(bias, _WANDERS_TOO * on[2][:, :1, 0])
        (like_on, on), (like_changed, changed) = seen.weigh(*on), seen.weigh(*changed)
        least = np.minimum(self.least_mm + _RELAXES_MM_S * step_s, self.gap_mm)
        weight_on = (1 - chance) * like_on[:, None] * share_staying(np.minimum(least, on[0]), on[2], bias, before)
        weight_changed = (
            chance * like_changed[:, None] * share_staying(np.minimum(least, changed[0]), changed[2], bias, before)
        )
        loose = self.free + self.parted
        share = changed_share(
            (loose * weight_on).sum(axis=1),
            (loose * weight_changed).sum(axis=1),
            (1 - changes.probability) * like_on,
            changes.probability * like_changed,
        )
        self.gap_mm, self.rate_mm_s, self.cov = merged(on, changed, share)
        self.least_mm = np.minimum(least, self.gap_mm)
        self.free = self.free * (weight_on + weight_changed)
        parted = self.parted * ((1 - chance) * like_on[:, None] + chance * like_changed[:, None])
        fresh = bounced + released
        self._age(parted.sum(axis=1), fresh.sum(axis=1), step_s)
        self.parted = parted + fresh
        self.touching = self.touching * level
        self._forget_parting()
        self._normalize()

    @property
    def _levels_mm(self) -> Array:
        """The biases that are weighed, shape (n, m)."""
        return np.asarray(self.spread_mm[:, None] * GRID)

    def _let_bias_drift(self, step_s: float) -> None:
        """Let biases drift; onsets go along with those that have them."""
        step = drift(step_s)
        known = self.touching + self.parted + _NOTHING
        began = known * self.main
        moments = began, began * self.since_s, began * (self.since_var + self.since_s**2)
        drifting = np.stack([self.free, self.touching, self.parted, known, *moments])
        drifted = (drifting.reshape(-1, len(step)) @ step).reshape(drifting.shape)
        self.free, self.touching, self.parted, then, main, onset, square = drifted
        self.since_s, self.main = onset / main, main / then
        self.since_var = np.maximum(square / main - self.since_s**2, 0.0)

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
        # A place that is off by its error makes the normal turn that much earlier or later.
        slip = np.arccos(np.clip(carry, 0.0, 1.0)) * self.spread_mm / step_s
        cov += slip[:, None, None] ** 2 * np.array([[step_s**2 / 4, step_s / 2], [step_s / 2, 1.0]])
        cov[:, 0, 0] += (_TURN_ERROR * turn[:, 0]) ** 2 + 2 * self.spread_mm**2 * step_s / LASTS_S
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

    def _touch_by(self, inflow: Array, gap: Array, t_s: float, step_s: float) -> Array:
        """Add pairs that touched in this step, by bias, to those that touch.

        Touches of successive steps are one occasion; of two occasions the likelier one counts, not the middle.

        Returns:
            What is left of the step after the touch, by bias, s, shape (n, m).

        """
        way = np.minimum(gap - self.gap_mm, -1e-6)[:, None]
        share = np.clip((self._levels_mm - self.gap_mm[:, None]) / way, 0.0, 1.0)
        noise = np.minimum(self.cov[:, :1, 0] / (way / step_s) ** 2, step_s**2) + step_s**2 / 100
        early_s = CHATTER_MM / np.maximum(-way / step_s, SLOWEST_MM_S)
        when = t_s - step_s * (1 - share) - early_s
        joined = self.touching + self.parted + inflow
        fresh = inflow / np.maximum(joined, 1e-300)
        old = self.main * (1 - fresh)
        off = when - self.since_s
        one = off < _ONE_APPROACH_STEPS * step_s
        weight = np.where(one, fresh / np.maximum(old + fresh, 1e-300), fresh > old)
        self.main = np.where(one, old + fresh, np.maximum(old, fresh))
        self.since_s = self.since_s + weight * off
        self.since_var = (1 - weight) * self.since_var + weight * noise + weight * (1 - weight) * off**2
        self.touching = self.touching + inflow
        return np.asarray(step_s * (1 - share))

    def _crossing(self, gap: Array, bias: Array, before: Array) -> Array:
        """Share of free pairs whose gap falls below the bias on the way to a predicted gap, shape (n, m)."""
        return 1 - share_staying(np.minimum(gap, self.least_mm), self.cov, bias, before)

    def _falling(self, gap: Array, bias: Array) -> Array:
        """The same of parted pairs, which may have been below it."""
        above = share_above(self.gap_mm, self.cov, bias)
        return 1 - share_staying(np.minimum(gap, self.gap_mm), self.cov, bias, above)

    def _age(self, stay: Array, join: Array, step_s: float) -> None:
        self.parted_s = (self.parted_s + step_s) * stay / np.maximum(stay + join, 1e-300)

    def _forget_parting(self) -> None:
        """Those that parted long enough ago, and are apart by more than a bounce, are free."""
        old = self.parted_s > MOMENT_S
        if not old.any():
            return
        gone = self.parted[old] * share_above(self.gap_mm[old] - _BOUNCE_MM, self.cov[old], self._levels_mm[old])
        self.free[old] += gone
        self.parted[old] -= gone
        self.least_mm[old] = self.gap_mm[old]

    def _normalize(self) -> None:
        total = (self.free + self.touching + self.parted).sum(axis=1, keepdims=True)
        for name in ("free", "touching", "parted"):
            setattr(self, name, getattr(self, name) / total)


_NAMES: Final = tuple(field.name for field in fields(ContactFilter))
