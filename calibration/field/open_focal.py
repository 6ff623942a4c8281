"""Averages over the focal lengths and bows that the paint leaves open, rather than taking the likeliest.

Seen nearly straight down, or with a lean along one of the field's axes, focal length and distance go together along a
long, curved valley that paint, proportions, bow and lens hardly tell apart. Its deepest point is chosen by noise and
may lie at its end, and the curvature there says little of how far the valley goes. So the camera is fitted at focal
lengths as far as they explain the picture, over a flat board and over a bowed one. Each is weighted by how well it
does, and the answer is the mean with the spread of all.

Neighboring observations are disturbed together, so differences of the sums of squares mean less than they seem to: they
are divided by the ratio of the clustered to the independent variance along the valley (the magnitude adjustment of
M. Ribatet, D. Cooley, A. C. Davison, Statistica Sinica 22, 2012).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera_fit import (
    FIT_LIMITS,
    BowSizes,
    CameraFit,
    Observations,
    fit_camera,
    with_scaled_focal,
)
from downfield.calibration.jacobians import LENS, camera_parameters
from downfield.calibration.lens.prior import LensPrior, TypicalLens, strain
from downfield.calibration.robust_least_squares import overstated_precision
from downfield.calibration.stretch import OpenStretch
from downfield.core.arrays import Array


def monotone_curve(x: Array, y: Array, at: Array) -> Array:
    """Return the curves through (x, y) at some places, shape (len(at), k).

    Args:
        x: places of the points, ascending, shape (n,), n >= 2.
        y: heights of k curves there, shape (n, k).
        at: places between the first and the last point, shape (m,).
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    steps = np.diff(x)[:, None]
    rises = np.diff(y, axis=0) / steps
    slopes = _slopes(steps, rises)
    piece = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(steps) - 1)
    step = steps[piece]
    share = (np.asarray(at)[:, None] - x[piece][:, None]) / step
    back = 1 - share
    return back**2 * ((1 + 2 * share) * y[piece] + share * step * slopes[piece]) + share**2 * (
        (1 + 2 * back) * y[piece + 1] - back * step * slopes[piece + 1]
    )


def _slopes(steps: Array, rises: Array) -> Array:
    """Return the slopes at all points, shape (n, k), from the lengths and rises of the pieces between them."""
    if len(steps) == 1:
        return np.concatenate([rises, rises])
    before, after = rises[:-1], rises[1:]
    first, second = 2 * steps[1:] + steps[:-1], steps[1:] + 2 * steps[:-1]
    straight_on = before * after > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(straight_on, (first + second) / (first / before + second / after), 0.0)
    ends = [_end_slope(steps[:2], rises[:2]), _end_slope(steps[:-3:-1], rises[:-3:-1])]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slope(steps: Array, rises: Array) -> Array:
    """Return the slope at an end, shape (k,), from the two pieces next to it, the outer one first."""
    slope = ((2 * steps[0] + steps[1]) * rises[0] - steps[0] * rises[1]) / (steps[0] + steps[1])
    slope = np.where(slope * rises[0] > 0, slope, 0.0)
    turns = rises[0] * rises[1] <= 0
    steep = np.abs(slope) > 3 * np.abs(rises[0])
    return np.where(turns & steep, 3 * rises[0], slope)


@dataclass(frozen=True, slots=True)
class OpenFocalLimits:
    """How focal lengths are tried."""

    sure: float = 0.03  # a focal length with a smaller relative standard deviation is not open
    # least and largest step between focal lengths that are tried, log ratio; else the fit's standard deviation
    steps: tuple[float, float] = (0.05, 0.16)
    max_steps: int = 9  # largest number of steps to either side
    max_cost: float = 5.0  # half a sum of squares over the least one from which no further focal length is tried
    held: float = 0.003  # relative spread of a focal length that is held
    # added to the log focal length's standard deviation for each by which lens or bow are unlike any that is known
    doubted_spread: float = 0.12
    finer: int = 20  # the costs are interpolated to this share of a step
    observation_stride: int = 2  # one observation in so many is fitted in a trial, counting for as many
    # Standard deviations of a flat board's bow; a bowed one's are those of any fit. Either is as likely at first.
    flat_mm: BowSizes = (0.4, 0.2, 0.4, 0.25)


_LIMITS: Final = OpenFocalLimits()
_FLAT, _BOWED = 0, 1
_BOWS: Final = (_LIMITS.flat_mm, FIT_LIMITS.bow_spread_mm)


def average_focal(
    fit: CameraFit, observations: Observations, prior: LensPrior | None, stretch: OpenStretch | None = None
) -> CameraFit:
    """Return the fit at the mean of the focal lengths that explain the picture, its covariance with their spread.

    Args:
        fit: the likeliest fit, over a board that may be bowed.
        prior: the lens; any webcam's when None. With a measured lens the focal length is not open.
        stretch: how far the print may be longer or shorter across than the points; not at all when None.
    """
    camera = fit.camera
    prior = prior or TypicalLens.of(camera.lens)
    focal_px = float(np.mean(camera.lens.focal_px))
    sigma = math.sqrt(fit.covariance[0, 0]) / focal_px
    if not isinstance(prior, TypicalLens):
        return fit
    if sigma < _LIMITS.sure:
        return _doubted(fit, prior)
    # In twos, since a point is observed along two directions.
    some = observations[np.arange(len(observations.px)) // 2 % _LIMITS.observation_stride == 0]
    trials = _Trials(
        dataclasses.replace(some, sigma_px=some.sigma_px / math.sqrt(_LIMITS.observation_stride)), prior, stretch, fit
    )
    posterior = trials.explore(fit, float(np.clip(sigma, *_LIMITS.steps)))
    flat, bent = posterior.trials[min(posterior.trials, key=lambda log: abs(log - posterior.mean))]
    along, twist, across, both = np.sqrt(
        (1 - posterior.bowed) * np.square(_BOWS[_FLAT]) + posterior.bowed * np.square(_BOWS[_BOWED])
    ).tolist()
    bow = (along, twist, across, both)
    whole = _Trials(observations, prior, stretch, fit)
    found = whole.held(flat, posterior.mean, bow)
    low, high = (whole.held(found, posterior.mean + side * posterior.spread, bow) for side in (-1, 1))
    valley, bend = (_values(high) - _values(low)) / 2, _values(bent) - _values(flat)
    doubt = posterior.bowed * (1 - posterior.bowed)
    spread = np.outer(valley, valley) + doubt * np.outer(bend, bend)
    strained = strain(prior, camera_parameters(found.camera)[LENS])
    return _doubted(dataclasses.replace(found, covariance=found.covariance + spread, strain=strained), prior)


@dataclass(frozen=True, slots=True)
class _Posterior:
    """What focal lengths and bows explain a picture."""

    mean: float  # of the log focal length, px
    spread: float  # its standard deviation
    bowed: float  # probability of a bowed board
    trials: dict[float, tuple[CameraFit, CameraFit]]  # fits by log focal length, over a flat and over a bowed board


@dataclass(frozen=True, slots=True)
class _Trials:
    """Fits at held focal lengths, to the same observations, with systematic errors as large as in the likeliest fit."""

    observations: Observations
    prior: TypicalLens
    stretch: OpenStretch | None
    likeliest: CameraFit

    def explore(self, fit: CameraFit, step: float) -> _Posterior:
        """Fit at focal lengths to either side as far as they are likely."""
        begin = math.log(float(np.mean(fit.camera.lens.focal_px)))
        trials = {begin: self._fit(fit, fit, begin)}
        ends = {-1: begin, 1: begin}
        while ends:
            for side, log in list(ends.items()):
                further = log + side * step
                trials[further] = self._fit(*trials[log], further)
                ends[side] = further
                costs = self._costs(trials)
                likely = costs[further].min() < min(cost.min() for cost in costs.values()) + _LIMITS.max_cost
                if not likely or abs(further - begin) > (_LIMITS.max_steps - 0.5) * step:
                    del ends[side]
        costs = self._costs(trials)
        logs = sorted(costs)
        fine = np.linspace(logs[0], logs[-1], (len(logs) - 1) * _LIMITS.finer + 1)
        smooth = monotone_curve(np.array(logs), np.array([costs[log] for log in logs]), fine)
        weight = np.exp(smooth.min() - smooth)
        weight /= weight.sum()
        either = weight.sum(axis=1)
        mean = float(either @ fine)
        return _Posterior(mean, math.sqrt(float(either @ (fine - mean) ** 2)), float(weight[:, _BOWED].sum()), trials)

    def _fit(self, near_flat: CameraFit, near_bowed: CameraFit, log: float) -> tuple[CameraFit, CameraFit]:
        near = (near_flat, near_bowed)
        flat, bowed = (self.held(fit, log, bow) for fit, bow in zip(near, _BOWS, strict=True))
        return flat, bowed

    def held(self, near: CameraFit, log: float, bow: BowSizes) -> CameraFit:
        """Return the fit at a log focal length, from one at another."""
        focal_px = math.exp(log)
        start = with_scaled_focal(near.camera, focal_px / float(np.mean(near.camera.lens.focal_px)))
        prior = dataclasses.replace(self.prior, focal=focal_px / start.lens.size_px[0], focal_spread=_LIMITS.held)
        stretch = self.stretch and dataclasses.replace(self.stretch, begin=near.stretch)
        return fit_camera(
            start,
            self.observations,
            prior=prior,
            stretch=stretch,
            fine=True,
            bow_spread_mm=bow,
            spread_of=self.likeliest,
        )

    def _costs(self, trials: dict[float, tuple[CameraFit, CameraFit]]) -> dict[float, Array]:
        """Return minus the log posterior of each focal length over a flat and a bowed board, shape (2,) each."""
        worth = self._worth(trials)
        return {log: np.array([self._cost(log, i, pair, worth) for i in range(2)]) for log, pair in trials.items()}

    def _cost(self, log: float, bow: int, pair: tuple[CameraFit, CameraFit], worth: float) -> float:
        size, at = np.abs(pair[bow].residual_px) / self.observations.sigma_px, FIT_LIMITS.loss_at_sigma
        misfit = float(np.where(size <= at, 0.5 * size**2, at * (size - 0.5 * at)).sum())  # without the priors
        known = pair[bow].cost - misfit
        lens = self.prior.focal_cost(math.exp(log) / self.prior.size_px[0])
        return misfit / worth + known + lens - (pair[bow].log_volume - pair[_FLAT].log_volume)

    def _worth(self, trials: dict[float, tuple[CameraFit, CameraFit]]) -> float:
        """Return how much less differences of the misfit mean than they seem to, along the valley or across bows."""
        logs, sigma = sorted(trials), self.observations.sigma_px
        best = min((fit for pair in trials.values() for fit in pair), key=lambda fit: fit.cost)
        errors = best.residual_px / sigma * best.weight
        effects = [trials[logs[-1]][0].residual_px - trials[logs[0]][0].residual_px]
        effects.append(trials[logs[len(logs) // 2]][1].residual_px - trials[logs[len(logs) // 2]][0].residual_px)
        groups, lines_px = self.observations.groups, self.likeliest.lines_px
        return max(overstated_precision(effect / sigma, errors, groups, lines_px) for effect in effects)


def _doubted(fit: CameraFit, prior: TypicalLens) -> CameraFit:
    """Return a fit, the less sure of its focal length the more lens or bow are unlike any that is known.

    That is a sign of a lens whose form the model has not, such as a fisheye's: then the focal length may be another.
    """
    bow = fit.camera.bow.sizes_mm if fit.camera.bow else np.zeros(1)
    bent = float((np.abs(bow) / FIT_LIMITS.bow_spread_mm[: len(bow)]).max())
    strange = max(strain(prior, camera_parameters(fit.camera)[LENS]) - 1.5, (bent - 2.5) / 2)
    if strange <= 0:
        return fit
    by_focal = fit.covariance[0] / fit.covariance[0, 0]
    off = _LIMITS.doubted_spread * strange * float(np.mean(fit.camera.lens.focal_px)) * by_focal
    return dataclasses.replace(fit, covariance=fit.covariance + np.outer(off, off))


def _values(fit: CameraFit) -> Array:
    values = np.append(camera_parameters(fit.camera), fit.stretch)
    return values[: len(fit.covariance)]
