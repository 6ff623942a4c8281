"""A Bayesian filter that decides whether near bases are apart, touching, or have just parted.

A measured gap is the true gap plus a bias plus noise. The bias is a lasting error of the network's edges and of the
calibration. It is as large as the gaps that decide calls and does not average out, so it is kept as a
distribution on a grid. Two facts narrow it down: bases don't enter each other, and a base that walks into another stops
or is turned away there and nowhere else. For every bias the filter weighs three hypotheses:

- **free**: the gap keeps its rate, with occasional random changes, and stays above the bias;
- **touching**: the gap stays at the bias. A free pair whose gap would have fallen below the bias has touched;
- **parted**: free again after a touch, a moment ago.

This distinguishes a pair that stops a little before the measured gap is 0 from a pair that passes there, and times the
touch by the instant at which the approach reached the level where the gap then stayed, whatever the bias.

The bias is an Ornstein-Uhlenbeck process, since it changes as figures walk and turn. On the grid it is a chain of
births and deaths with the rates of a reversible diffusion, whose stationary distribution is exactly normal and which
can run for any time without choosing a step (N. van Kampen, Stochastic Processes in Physics and Chemistry, V.7).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Indices
from downfield.core.mathematics import normal_cdf
from downfield.vision.contacts.gaps import GapObservations, GapState, gap_density
from downfield.vision.contacts.limits import CONTACT_LIMITS

BIAS_GRID: Final[Array] = np.linspace(-4.5, 4.5, 61)
"""The grid of biases, in units of their standard deviation, shape (m,)."""

BIAS_PRIOR: Final[Array] = np.exp(-0.5 * BIAS_GRID**2) / np.exp(-0.5 * BIAS_GRID**2).sum()
"""Prior weights of these biases, shape (m,)."""

_TINY: Final = 1e-30  # keeps weights from vanishing


@dataclass(frozen=True, slots=True)
class RateChanges:
    """Changes of the gaps' rates without a touch."""

    probability: Array  # of a change in this step, shape (n,)
    sigma_mm_s: float  # standard deviation of the rate afterward, around 0


@dataclass(slots=True)
class ContactFilter:
    """State of the filter for n pairs."""

    # gap_mm, rate_mm_s: measured gap of a free pair and its rate, shape (n,)
    gap_mm: Array
    rate_mm_s: Array
    cov: Array  # covariance of both, shape (n, 2, 2)
    min_gap_mm: Array  # the smallest recent gap_mm; a free pair's bias is below it, shape (n,)
    bias_sigma_mm: Array  # prior standard deviation of the bias, shape (n,)
    # free, touching, parted: weights over the bias grid, shape (n, m) each; all three together sum to 1
    free: Array
    touching: Array
    parted: Array
    onset_s: Array  # most likely start of the touch of touching and parted pairs, by bias, shape (n, m)
    onset_share: Array  # share of the touching and parted weight that began then, shape (n, m)
    parted_s: Array  # mean time since the parting of parted pairs, shape (n,)

    @classmethod
    def empty(cls) -> ContactFilter:
        """Return a filter of no pairs."""
        pairs, grid = np.zeros(0), np.zeros((0, len(BIAS_GRID)))
        return cls(pairs, pairs, np.zeros((0, 2, 2)), pairs, pairs, grid, grid, grid, grid, grid, pairs)

    @classmethod
    def start(cls, observed: GapObservations, rate_mm_s: Array, bias_sigma_mm: Array, t_s: float) -> ContactFilter:
        """Return a filter of pairs that are seen for the first time.

        Args:
            rate_mm_s: rates of the gaps, shape (n,).
            bias_sigma_mm: standard deviation of the bias, shape (n,).
        """
        gap_mm, noise_mm = observed.gap_mm, observed.noise_mm
        prior, zero = np.tile(BIAS_PRIOR, (len(gap_mm), 1)), np.zeros((len(gap_mm), len(BIAS_GRID)))
        off = gap_mm[:, None] - bias_sigma_mm[:, None] * BIAS_GRID
        cov = np.zeros((len(gap_mm), 2, 2))
        cov[:, 0, 0], cov[:, 1, 1] = noise_mm**2, CONTACT_LIMITS.first_rate_mm_s**2
        near = gap_density(off, noise_mm[:, None] ** 2)
        above = normal_cdf(off / noise_mm[:, None])
        # A pair may be seen for the first time while it already touches, as after a line-up.
        touching = CONTACT_LIMITS.first_touching * prior * near
        free = (1 - CONTACT_LIMITS.first_touching) / CONTACT_LIMITS.first_gap_spread_mm * prior * above + 1e-12 * prior
        weights = (free, touching, zero, np.full_like(prior, t_s), np.ones_like(prior))
        out = cls(gap_mm, rate_mm_s, cov, gap_mm, bias_sigma_mm, *weights, np.zeros(len(gap_mm)))
        out._normalize()
        return out

    @property
    def contact_probability(self) -> Array:
        """Probability that each pair touches, or parted less than a moment ago, shape (n,)."""
        probability: Array = (self.touching + self.parted).sum(axis=1)
        return probability

    @property
    def mean_onset_s(self) -> Array:
        """Time at which the touch began, given that there was one, shape (n,)."""
        weight = self.touching + self.parted + _TINY
        weight = weight / weight.sum(axis=1, keepdims=True)
        mean: Array = (weight * self.onset_s).sum(axis=1)
        return mean

    def select(self, rows: Indices) -> ContactFilter:
        """Return the state of some of the pairs."""
        return ContactFilter(*(getattr(self, name)[rows] for name in _FIELDS))

    def append(self, other: ContactFilter) -> ContactFilter:
        """Return these pairs followed by the others."""
        return ContactFilter(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in _FIELDS))

    def step(
        self,
        t_s: float,
        step_s: float,
        passing: Array,
        changes: RateChanges,
        bias_sigma_mm: Array,
        observed: GapObservations,
    ) -> None:
        """Predict over a time step and update with the measured gaps.

        Args:
            passing: corrections for bases that move past each other, from `passing_corrections`, shape (n, 3).
            changes: changes of the rates without a touch.
            bias_sigma_mm: standard deviation of the bias, shape (n,).
            observed: the measured gaps.
        """
        self.bias_sigma_mm = bias_sigma_mm
        self._diffuse_bias(step_s)
        bias = self._bias_levels_mm
        chance = changes.probability[:, None]
        before = _probability_above(self.min_gap_mm, self.cov, bias)
        steady, changed = self._predict_steady(step_s, passing), self._predict_changed(step_s, changes.sigma_mm_s)
        touched = self.free * (1 - chance) * self._share_crossing(steady[0], bias, before)
        touched += self.free * chance * self._share_crossing(changed[0], bias, before)
        remaining_s = self._add_touches(touched, steady[0], t_s, step_s)
        # Locked bases bounce: pairs that meet again within a moment never parted, and keep their onset.
        above = _probability_above(self.gap_mm, self.cov, bias)  # they may have been below the bias already
        touching_again = self.parted * (1 - _share_staying(np.minimum(steady[0], self.gap_mm), self.cov, bias, above))
        self.parted -= touching_again
        bounced = CONTACT_LIMITS.bounces * touched
        released = (self.touching - bounced) * (1 - np.exp(-CONTACT_LIMITS.releases_per_s * step_s))
        self.touching += touching_again - bounced - released
        # In the rest of the step, a parting pair gets no further from the bias than its speed allows.
        bounced *= observed.likelihood_at(bias, (changes.sigma_mm_s * remaining_s) ** 2)
        released *= observed.likelihood_at(bias, np.full((len(passing), 1), (changes.sigma_mm_s * step_s) ** 2 / 3))

        # Touching bases wander as well, though less than free ones: their gap is not exactly the bias. They stop too.
        wander = CONTACT_LIMITS.touching_wander * steady[2][:, :1, 0]
        resting = CONTACT_LIMITS.touching_wander * np.minimum(steady[2], changed[2])[:, :1, 0]
        at_bias = (1 - chance) * observed.likelihood_at(bias, wander) + chance * observed.likelihood_at(bias, resting)
        like_steady, steady = observed.update(*steady)
        like_changed, changed = observed.update(*changed)
        min_gap = np.minimum(self.min_gap_mm + CONTACT_LIMITS.min_gap_rises_mm_s * step_s, self.gap_mm)
        staying_steady = _share_staying(np.minimum(min_gap, steady[0]), steady[2], bias, before)
        staying_changed = _share_staying(np.minimum(min_gap, changed[0]), changed[2], bias, before)
        weight_steady = (1 - chance) * like_steady[:, None] * staying_steady
        weight_changed = chance * like_changed[:, None] * staying_changed
        loose = self.free + self.parted
        share = _changed_share(
            (loose * weight_steady).sum(axis=1),
            (loose * weight_changed).sum(axis=1),
            (1 - changes.probability) * like_steady,
            changes.probability * like_changed,
        )
        self.gap_mm, self.rate_mm_s, self.cov = _merge(steady, changed, share)
        self.min_gap_mm = np.minimum(min_gap, self.gap_mm)
        self.free = self.free * (weight_steady + weight_changed)
        parted = self.parted * ((1 - chance) * like_steady[:, None] + chance * like_changed[:, None])
        fresh = bounced + released
        stay, join = parted.sum(axis=1), fresh.sum(axis=1)
        self.parted_s = (self.parted_s + step_s) * stay / np.maximum(stay + join, 1e-300)
        self.parted = parted + fresh
        self.touching = self.touching * at_bias
        self._free_parted()
        self._normalize()

    @property
    def _bias_levels_mm(self) -> Array:
        """The biases on the grid, mm, shape (n, m)."""
        return np.asarray(self.bias_sigma_mm[:, None] * BIAS_GRID)

    def _diffuse_bias(self, step_s: float) -> None:
        drift = bias_drift(step_s)
        known = self.touching + self.parted + _TINY
        began = known * self.onset_share
        before = np.stack([self.free, self.touching, self.parted, known, began, began * self.onset_s])
        after = (before.reshape(-1, len(drift)) @ drift).reshape(before.shape)
        self.free, self.touching, self.parted, total, began, onset = after
        self.onset_s, self.onset_share = onset / began, began / total

    def _predict_steady(self, step_s: float, passing: Array) -> GapState:
        cosine = passing[:, 2]
        gap = self.gap_mm + passing[:, 0] + self.rate_mm_s * step_s * (1 + cosine) / 2
        transition = np.zeros((len(cosine), 2, 2))
        transition[:, 0, 0] = 1.0
        transition[:, 0, 1] = step_s * (1 + cosine) / 2
        transition[:, 1, 1] = cosine
        noise = CONTACT_LIMITS.wander_mm2_s3 * np.array([[step_s**3 / 3, step_s**2 / 2], [step_s**2 / 2, step_s]])
        cov = transition @ self.cov @ transition.transpose(0, 2, 1) + noise
        # A position error makes the normal turn that much earlier or later.
        slip = np.arccos(np.clip(cosine, 0.0, 1.0)) * self.bias_sigma_mm / step_s
        cov += slip[:, None, None] ** 2 * np.array([[step_s**2 / 4, step_s / 2], [step_s / 2, 1.0]])
        # The bias drifts during the step, and the measured gap with it.
        drift_var = 2 * self.bias_sigma_mm**2 * step_s / CONTACT_LIMITS.bias_memory_s
        cov[:, 0, 0] += (CONTACT_LIMITS.passing_error * passing[:, 0]) ** 2 + drift_var
        cov[:, 1, 1] += (CONTACT_LIMITS.passing_error * passing[:, 1]) ** 2
        return gap, cosine * self.rate_mm_s + passing[:, 1], cov

    def _predict_changed(self, step_s: float, sigma_mm_s: float) -> GapState:
        """Predict gap, rate and covariance when the rate changes at some instant of the step."""
        way = self.rate_mm_s * step_s
        cov = np.empty_like(self.cov)
        cov[:, 0, 0] = self.cov[:, 0, 0] + way**2 / 12 + (sigma_mm_s * step_s) ** 2 / 3
        cov[:, 0, 1] = cov[:, 1, 0] = sigma_mm_s**2 * step_s / 2
        cov[:, 1, 1] = sigma_mm_s**2
        return self.gap_mm + way / 2, np.zeros_like(way), cov

    def _add_touches(self, inflow: Array, gap: Array, t_s: float, step_s: float) -> Array:
        """Add the weight of pairs that touched in this step; return the time left after the touch, s; by bias, (n, m).

        Touches of successive steps are one event; of two separate events the more likely counts, not their mean.
        """
        way = np.minimum(gap - self.gap_mm, -1e-6)[:, None]
        share = np.clip((self._bias_levels_mm - self.gap_mm[:, None]) / way, 0.0, 1.0)
        early_s = CONTACT_LIMITS.chatter_mm / np.maximum(-way / step_s, CONTACT_LIMITS.min_approach_mm_s)
        new_onset_s = t_s - step_s * (1 - share) - early_s
        joined = self.touching + self.parted + inflow
        fresh = inflow / np.maximum(joined, 1e-300)
        old = self.onset_share * (1 - fresh)
        off = new_onset_s - self.onset_s
        same_event = off < CONTACT_LIMITS.one_approach_steps * step_s
        weight = np.where(same_event, fresh / np.maximum(old + fresh, 1e-300), fresh > old)
        self.onset_share = np.where(same_event, old + fresh, np.maximum(old, fresh))
        self.onset_s = self.onset_s + weight * off
        self.touching = self.touching + inflow
        return np.asarray(step_s * (1 - share))

    def _share_crossing(self, gap: Array, bias: Array, before: Array) -> Array:
        """Return the share of free pairs whose gap falls below the bias by the prediction, shape (n, m)."""
        return 1 - _share_staying(np.minimum(gap, self.min_gap_mm), self.cov, bias, before)

    def _free_parted(self) -> None:
        """Free the pairs that parted long enough ago and are further apart than a bounce."""
        old = self.parted_s > CONTACT_LIMITS.parted_s
        if not old.any():
            return
        gap_mm = self.gap_mm[old] - CONTACT_LIMITS.bounce_mm
        freed = self.parted[old] * _probability_above(gap_mm, self.cov[old], self._bias_levels_mm[old])
        self.free[old] += freed
        self.parted[old] -= freed
        self.min_gap_mm[old] = self.gap_mm[old]

    def _normalize(self) -> None:
        total = (self.free + self.touching + self.parted).sum(axis=1, keepdims=True)
        for name in ("free", "touching", "parted"):
            setattr(self, name, getattr(self, name) / total)


_FIELDS: Final = tuple(field.name for field in fields(ContactFilter))


def _probability_above(gap: Array, cov: Array, bias_mm: Array) -> Array:
    """Return the probability that a gap is above the bias, shape (n, m)."""
    return normal_cdf((gap[:, None] - bias_mm) / np.sqrt(cov[:, :1, 0]))


def _share_staying(gap: Array, cov: Array, bias_mm: Array, before: Array) -> Array:
    """Return the share of pairs above the bias before the step that stay above it, shape (n, m)."""
    return np.minimum(_probability_above(gap, cov, bias_mm) / np.maximum(before, 1e-12), 1.0)


def _changed_share(steady: Array, changed: Array, steady_alone: Array, changed_alone: Array) -> Array:
    """Return the share of free pairs whose rate changed; if no weight is free, by the likelihoods alone."""
    none_free = steady + changed < 1e-200
    steady, changed = np.where(none_free, steady_alone, steady), np.where(none_free, changed_alone, changed)
    return changed / np.maximum(steady + changed, 1e-300)


def _merge(steady: GapState, changed: GapState, share: Array) -> GapState:
    """Merge two states into one with the mean and covariance of both together."""
    gap, rate = ((1 - share) * a + share * b for a, b in zip(steady[:2], changed[:2], strict=True))
    off = np.stack([changed[0] - steady[0], changed[1] - steady[1]], axis=1)
    weight = share[:, None, None]
    spread = weight * (1 - weight) * off[:, :, None] * off[:, None, :]
    return gap, rate, (1 - weight) * steady[2] + weight * changed[2] + spread


def _bias_modes() -> tuple[Array, Array]:
    """Return the decay rates of the bias chain, 1/s, shape (m,), and its symmetric modes, columns of (m, m)."""
    spacing = float(BIAS_GRID[1] - BIAS_GRID[0])
    hop = 1 / (CONTACT_LIMITS.bias_memory_s * spacing**2)
    up = hop * np.sqrt(BIAS_PRIOR[1:] / BIAS_PRIOR[:-1])
    down = hop * np.sqrt(BIAS_PRIOR[:-1] / BIAS_PRIOR[1:])
    leaving = np.append(up, 0.0) + np.insert(down, 0, 0.0)
    neighbors = np.sqrt(up * down)
    rates, modes = np.linalg.eigh(np.diag(-leaving) + np.diag(neighbors, 1) + np.diag(neighbors, -1))
    return np.minimum(rates, 0.0), modes


_RATES, _MODES = _bias_modes()
_ROOT: Final[Array] = np.sqrt(BIAS_PRIOR)


@lru_cache(maxsize=8)
def _bias_drift(step_ns: int) -> Array:
    kept: Array = (_MODES * np.exp(_RATES * step_ns * 1e-9)) @ _MODES.T
    return np.maximum(kept / _ROOT[:, None] * _ROOT, 0.0)


def bias_drift(step_s: float) -> Array:
    """Return the transition probabilities between biases, from row to column; shape (m, m), rows summing to 1."""
    return _bias_drift(round(step_s * 1e9))
