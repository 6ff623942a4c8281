"""How likely measured gaps are: after a free pair's prediction, and at each bias of a pair that touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from downfield.core.arrays import Array

_WILD: Final = 0.003  # share of measurements that are nonsense,
_WILD_PER_MM: Final = 0.1  # and their density

State = tuple[Array, Array, Array]
"""Gap, rate, and the covariance of both; shapes (n,), (n,) and (n, 2, 2)."""


@dataclass(frozen=True, slots=True)
class RateChanges:
    """RateChanges of the gaps' rates that no touch explains.

    Attributes:
        probability: of one in this step, shape (n,).
        sigma_mm_s: standard deviation of the rate afterwards, around 0.

    """

    probability: Array
    sigma_mm_s: float


@dataclass(frozen=True, slots=True)
class GapObservations:
    """PairMeasurements gaps of n pairs.

    Attributes:
        gap_mm: shape (n,); anything where there is none.
        noise_mm: standard deviation of what changes from frame to frame, shape (n,).
        known: which were measured, shape (n,).

    """

    gap_mm: Array
    noise_mm: Array
    known: NDArray[np.bool_]

    def weigh(self, gap: Array, rate: Array, cov: Array) -> tuple[Array, State]:
        """How likely the measurements are after a prediction, shape (n,), and what is believed then."""
        innovation = np.where(self.known, self.gap_mm - gap, 0.0)
        total = cov[:, 0, 0] + self.noise_mm**2
        gain = np.where(self.known[:, None], cov[:, :, 0] / total[:, None], 0.0)
        like = np.where(self.known, density(innovation, total), 1.0)
        after = cov - gain[:, :, None] * cov[:, None, 0, :]
        return like, (gap + gain[:, 0] * innovation, rate + gain[:, 1] * innovation, after)

    def at_level(self, bias_mm: Array, wander_mm2: Array) -> Array:
        """How likely the measurements are when the gap is 0, by bias, shape (n, m).

        Args:
            bias_mm: the biases, shape (n, m).
            wander_mm2: variance that is added, shape (n, 1) or (n, m). For bases that touch, that of a free pair's
                prediction: they bounce and roll along each other; and it must not speak for a touch that nothing
                happens.

        """
        like = density(self.gap_mm[:, None] - bias_mm, self.noise_mm[:, None] ** 2 + wander_mm2)
        return np.where(self.known[:, None], like, 1.0)


def share_above(gap: Array, cov: Array, bias_mm: Array) -> Array:
    """Probability that a measured gap is above the bias, shape (n, m)."""
    above: Array = ndtr((gap[:, None] - bias_mm) / np.sqrt(cov[:, :1, 0]))
    return above


def share_staying(gap: Array, cov: Array, bias_mm: Array, before: Array) -> Array:
    """Share of those that were above the bias that still are, shape (n, m)."""
    stay: Array = np.minimum(share_above(gap, cov, bias_mm) / np.maximum(before, 1e-12), 1.0)
    return stay


def density(off: Array, variance: Array) -> Array:
    """How likely a measurement is that is off by so much, wild ones allowed for, per mm; any shape."""
    bell = np.exp(-0.5 * off**2 / variance) / np.sqrt(2 * np.pi * variance)
    likely: Array = (1 - _WILD) * bell + _WILD * _WILD_PER_MM
    return likely


def changed_share(on: Array, changed: Array, on_alone: Array, changed_alone: Array) -> Array:
    """The share of those that changed among the free; where nobody is free, as if all were."""
    nobody = on + changed < 1e-200
    on, changed = np.where(nobody, on_alone, on), np.where(nobody, changed_alone, changed)
    share: Array = changed / np.maximum(on + changed, 1e-300)
    return share


def merged(on: State, changed: State, share: Array) -> State:
    """One state for those that went on and those that changed, with the mean and covariance of both together."""
    gap, rate = ((1 - share) * one + share * other for one, other in zip(on[:2], changed[:2], strict=True))
    off = np.stack([changed[0] - on[0], changed[1] - on[1]], axis=1)
    weight = share[:, None, None]
    spread = weight * (1 - weight) * off[:, :, None] * off[:, None, :]
    return gap, rate, (1 - weight) * on[2] + weight * changed[2] + spread
