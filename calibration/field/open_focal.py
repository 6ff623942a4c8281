"""Averages over the focal lengths that the paint leaves open, rather than taking the likeliest.

Seen nearly straight down, focal length and distance go together along a long, curved valley that paint, bow and lens
hardly tell apart. Its deepest point is chosen by noise and may lie at its end, and the curvature there says little of
how far the valley goes. So the camera is fitted at several focal lengths, each is weighted by how well it explains the
picture, and the answer is the mean with the spread of all.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.interpolate import PchipInterpolator

from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera, with_scaled_focal
from downfield.calibration.jacobians import LENS, camera_parameters
from downfield.calibration.lens.prior import LensPrior, TypicalLens
from downfield.core.arrays import Array


@dataclass(frozen=True, slots=True)
class OpenFocalLimits:
    """How focal lengths are tried."""

    sure: float = 0.03
    """A focal length with a smaller relative standard deviation is not open."""
    step: float = 0.14
    """Between focal lengths that are tried, log ratio,"""
    steps: int = 3
    """and how many to either side."""
    held: float = 0.003
    """Relative spread of a focal length that is held."""
    finer: int = 20
    """The costs are interpolated to this share of a step."""
    every: int = 2
    """Of the observations that a trial is fitted to, each counting for as many."""


LIMITS: Final = OpenFocalLimits()


def average_focal(fit: CameraFit, observations: Observations, prior: LensPrior | None) -> CameraFit:
    """Return the fit at the mean of the focal lengths that explain the picture, its covariance with their spread.

    Args:
        fit: the likeliest fit.
        observations: what it was fitted to.
        prior: the lens; any webcam's when None. With a measured lens the focal length is not open.

    """
    camera = fit.camera
    prior = prior or TypicalLens(camera.lens.size_px)
    focal_px = float(np.mean(camera.lens.focal_px))
    if not isinstance(prior, TypicalLens) or math.sqrt(fit.covariance[0, 0]) / focal_px < LIMITS.sure:
        return fit
    some = observations[np.arange(0, len(observations.px), LIMITS.every)]
    some = dataclasses.replace(some, sigma_px=some.sigma_px / math.sqrt(LIMITS.every))
    trials = {0: _held(fit, some, prior, focal_px)}
    for side in (-1, 1):
        for i in range(1, LIMITS.steps + 1):
            trials[side * i] = _held(trials[side * (i - 1)], some, prior, focal_px * math.exp(side * i * LIMITS.step))
    order = sorted(trials)
    logs = np.array(order) * LIMITS.step
    cost = np.array([trials[i].cost for i in order]) + [
        0.5 * ((math.log(focal_px / camera.lens.size_px[0] / prior.focal) + log) / prior.focal_spread) ** 2
        for log in logs
    ]
    mean, spread = _moments(logs, cost)
    nearest = trials[round(mean / LIMITS.step)]
    found = _held(nearest, observations, prior, focal_px * math.exp(mean))
    low, high = (_scaled_parameters(found, observations, prior, sign * spread) for sign in (-1, 1))
    along = (high - low) / 2
    strain = float(np.sqrt(np.mean(prior.residual(camera_parameters(found.camera)[LENS]) ** 2)))
    return dataclasses.replace(found, covariance=found.covariance + np.outer(along, along), strain=strain)


def _held(near: CameraFit, observations: Observations, prior: TypicalLens, focal_px: float) -> CameraFit:
    """Return the fit at a focal length, from one at another."""
    start = with_scaled_focal(near.camera, focal_px / float(np.mean(near.camera.lens.focal_px)))
    held = dataclasses.replace(prior, focal=focal_px / start.lens.size_px[0], focal_spread=LIMITS.held)
    return fit_camera(start, observations, prior=held, fine=True)


def _scaled_parameters(near: CameraFit, observations: Observations, prior: TypicalLens, log: float) -> Array:
    focal_px = float(np.mean(near.camera.lens.focal_px)) * math.exp(log)
    return camera_parameters(_held(near, observations, prior, focal_px).camera)


def _moments(logs: Array, cost: Array) -> tuple[float, float]:
    """Return mean and standard deviation of a log focal length by half its sums of squares at some, rising."""
    fine = np.linspace(logs[0], logs[-1], (len(logs) - 1) * LIMITS.finer + 1)
    smooth = PchipInterpolator(logs, cost)(fine)
    weight = np.exp(smooth.min() - smooth)
    weight /= weight.sum()
    mean = float(weight @ fine)
    return mean, math.sqrt(float(weight @ (fine - mean) ** 2))
