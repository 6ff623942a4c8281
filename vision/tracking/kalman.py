"""The motion of all figures: a Kalman filter over place, heading, rates and base size.

Bases are slow bodies in a plane. Between frames they keep their motion; the process noise is the amount by which it may
change: large while the board is on, since a base that meets another stops within a step, close to zero while the board
is off, and almost unlimited while a hand moves them. All figures are predicted and corrected at once.

The Kalman filter knows the heading modulo 180 degrees. Which end is the front is a separate belief (`front.py`), since
the network sometimes confuses the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools, Indices
from downfield.core.mathematics import wrap_half_turn_rad, wrap_rad

X, Y, HEADING, VX, VY, SPIN, LENGTH, WIDTH = range(8)
SIZE: Final = [LENGTH, WIDTH]
MEASURED: Final = [X, Y, HEADING, LENGTH, WIDTH]  # The elements of the state that a measurement observes, in its order
_WAY: Final = [X, Y, VX, VY, HEADING]


class MotionMode(IntEnum):
    """How a figure moves between two frames: which process noise applies to it."""

    WALKING = 0  # The board is on, or may be
    STANDING = 1  # The board is off
    UNSEEN = 2  # The figure was not detected for a while
    HANDLED = 3  # A hand is at the figure


@dataclass(frozen=True, slots=True)
class ProcessNoise:
    """The process noise of a figure's motion."""

    acceleration_mm2_s3: float  # Density of white acceleration
    turning_rad2_s3: float  # Density of white angular acceleration
    stops_after_s: float  # Time constant with which a base loses its speed


@dataclass(frozen=True, slots=True)
class KalmanLimits:
    """Thresholds and noise of the motion filter."""

    # Share of a corner's variance that lasts over frames: averaging does not reduce it, so it is not filtered
    persistent_share: float = 0.5
    # A walking base may stop within a step, but otherwise keeps going
    walking: ProcessNoise = ProcessNoise(2.0e4, 20.0, 5.0)
    standing: ProcessNoise = ProcessNoise(2.0e2, 0.2, 0.05)  # A base on a board that is off stays in place
    # An unseen base may have met another, so its speed is not extrapolated for long
    unseen: ProcessNoise = ProcessNoise(2.0e4, 20.0, 0.1)
    handled: ProcessNoise = ProcessNoise(4.0e5, 300.0, 0.3)  # A hand moves a base faster than the board does
    size_drift_mm2_per_s: float = 0.02  # Sizes are constant, but the network's error in them changes with the view
    # Share of a frame's size measurement that is new information, per second since the last frame
    size_gain_per_s: float = 0.9
    max_size_gain: float = 0.1  # Upper limit of that share in one frame
    other_size_share: float = 0.2  # Of a size that is off by more than this share an edge was measured elsewhere
    size_outlier_sigmas: float = 3.0  # Beyond this, an edge of another base was measured, and the size is not updated
    # Deviations of x and y in mm/s and of the heading in rad/s at the line-up, where all figures stand
    start_rate_sigma: tuple[float, float, float] = (3.0, 3.0, 0.05)
    resting_rate_sigma: float = 0.1  # Deviation, mm/s and rad/s, of a figure that is set to stand still
    # Normalized innovation squared of place and heading (chi squared of 3, 99.9 %); beyond, the figure was moved
    outlier_nis: float = 16.3
    usual_nis: float = 2.37  # Median of the same where errors are as stated
    misfit_figures: int = 8  # Number of figures whose median tells that errors are larger than stated
    misfit_s: float = 0.5  # Time constant of that
    max_misfit: float = 4.0  # Errors are taken to be at most so many times as large as stated


KALMAN_LIMITS: Final = KalmanLimits()

_NOISE: Final = {
    MotionMode.WALKING: KALMAN_LIMITS.walking,
    MotionMode.STANDING: KALMAN_LIMITS.standing,
    MotionMode.UNSEEN: KALMAN_LIMITS.unseen,
    MotionMode.HANDLED: KALMAN_LIMITS.handled,
}


@dataclass(slots=True)
class MotionFilter:
    """The estimated motion of every figure of the roster."""

    mean: Array  # x mm, y mm, heading rad, their rates per second, length mm, width mm; shape (n, 8)
    cov: Array  # shape (n, 8, 8)
    persistent: Array  # part of the covariance of x, y and heading that successive frames share, shape (n, 3, 3)
    measured: Array  # when last measured: x mm, y mm, their rates, heading rad, shape (n, 5)
    misfit: float = 1.0  # how many times as large as stated errors have been of late, by all figures together

    @classmethod
    def standing(cls, pose: Array, cov: Array, size_sigma_mm: Array) -> MotionFilter:
        """Return a filter of figures that stand still.

        Args:
            pose: x mm, y mm, heading rad, length mm, width mm, shape (n, 5).
            cov: covariance of the first three, shape (n, 3, 3).
            size_sigma_mm: errors of the last two, shape (n, 2).
        """
        mean = np.zeros((len(pose), 8))
        mean[:, MEASURED] = pose
        full = np.zeros((len(pose), 8, 8))
        full[:, :3, :3] = cov
        full[:, [VX, VY, SPIN], [VX, VY, SPIN]] = np.array(KALMAN_LIMITS.start_rate_sigma) ** 2
        full[:, [LENGTH, WIDTH], [LENGTH, WIDTH]] = size_sigma_mm**2
        return cls(mean, full, cov.copy(), mean[:, _WAY])

    def copy(self) -> MotionFilter:
        """Return an independent copy."""
        arrays = self.mean.copy(), self.cov.copy(), self.persistent.copy(), self.measured.copy()
        return MotionFilter(*arrays, self.misfit)

    def predict(self, step_s: float, modes: NDArray[np.int64]) -> None:
        """Predict all figures one step ahead. `modes`: the `MotionMode` of each figure, shape (n,)."""
        transition, noise = np.empty_like(self.cov), np.empty_like(self.cov)
        present = set(modes.tolist())
        for mode in MotionMode:
            if mode in present:
                rows = modes == mode
                transition[rows], noise[rows] = _transition(_NOISE[mode], step_s)
        self.mean = np.einsum("nij,nj->ni", transition, self.mean)
        self.mean[:, HEADING] = wrap_rad(self.mean[:, HEADING])
        self.cov = transition @ self.cov @ transition.transpose(0, 2, 1) + noise

    def innovation(self, rows: Indices, pose: Array) -> Array:
        """Return measured minus predicted poses, shape (k, 5), with the heading within -pi..pi."""
        off: Array = pose - self.mean[rows][:, MEASURED]
        off[:, 2] = wrap_rad(off[:, 2])
        return off

    def with_misplaced_edges(self, rows: Indices, pose: Array, noise: Array) -> Array:
        """Return covariances of measurements, (k, 5, 5), raised by half of how far off edges of other things are."""
        own_mm, out = self.mean[rows][:, SIZE], noise.copy()
        elsewhere = (off_mm := np.abs(pose[:, 3:] - own_mm)) > KALMAN_LIMITS.other_size_share * own_mm
        if not elsewhere.any():
            return noise
        variance_mm2 = np.where(elsewhere, off_mm / 2, 0.0) ** 2
        cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        axes = np.array([[cos, sin], [-sin, cos]])
        out[:, :2, :2] += np.einsum("ka,aik,ajk->kij", variance_mm2, axes, axes)
        return out

    def correct(self, rows: Indices, pose: Array, noise: Array, step_s: float) -> Array:
        """Correct figures with measurements.

        Args:
            rows: the measured figures, each at most once, shape (k,).
            pose: as in `Measurements`, the heading already facing the figure's front, shape (k, 5).
            noise: covariances of the measurements, shape (k, 5, 5).

        Returns:
            Normalized innovations squared of places and headings before the correction, 3 degrees of freedom, shape
            (k,). An outlier was moved by a cause outside the model, so its place is taken from the measurement.
        """
        off = self.innovation(rows, pose)
        mean, cov = self.mean[rows], self.cov[rows]
        white = noise * (1 - KALMAN_LIMITS.persistent_share)
        spread = cov[:, MEASURED][:, :, MEASURED] + white
        # The persistent error changes little between frames, but much between a visible corner and a hidden one.
        nis = mahalanobis(off[:, :3], spread[:, :3, :3] + KALMAN_LIMITS.persistent_share * noise[:, :3, :3])
        outlier = nis > KALMAN_LIMITS.outlier_nis
        if outlier.any():
            for axis, rate in ((X, VX), (Y, VY), (HEADING, SPIN)):
                jump = off[outlier, axis] ** 2
                cov[outlier, axis, axis] += jump
                cov[outlier, rate, rate] += jump * 4.0
        across = cov[:, :, MEASURED]
        spread = across[:, MEASURED] + white
        gain = np.linalg.solve(spread, across.transpose(0, 2, 1)).transpose(0, 2, 1)
        # A size is constant, and its error lasts as long as something hides an edge.
        likely = off[:, 3:] ** 2 < KALMAN_LIMITS.size_outlier_sigmas**2 * np.diagonal(spread, axis1=1, axis2=2)[:, 3:]
        size_gain = min(KALMAN_LIMITS.size_gain_per_s * step_s, KALMAN_LIMITS.max_size_gain)
        gain[:, SIZE] *= np.where(likely, size_gain, 0.0)[:, :, None]
        mean = mean + np.einsum("kij,kj->ki", gain, off)
        mean[:, HEADING] = wrap_rad(mean[:, HEADING])
        left = np.zeros_like(cov) + np.eye(8)
        left[:, :, MEASURED] -= gain
        cov = left @ cov @ left.transpose(0, 2, 1) + gain @ white @ gain.transpose(0, 2, 1)
        self.mean[rows] = mean
        self.cov[rows] = (cov + cov.transpose(0, 2, 1)) / 2
        self.persistent[rows] = KALMAN_LIMITS.persistent_share * noise[:, :3, :3]
        self.measured[rows] = mean[:, _WAY]
        return nis

    def note_misfit(self, nis: Array, step_s: float) -> None:
        """Update `misfit` with what `correct` returned for figures that were measured a moment before, too."""
        if len(nis) >= KALMAN_LIMITS.misfit_figures:
            now = math.sqrt(float(np.median(nis)) / KALMAN_LIMITS.usual_nis)
            now = min(max(now, 1.0), KALMAN_LIMITS.max_misfit)
            self.misfit += min(step_s / KALMAN_LIMITS.misfit_s, 1.0) * (now - self.misfit)

    def off_way_mm(self, place_mm: Array, away_ns: NDArray[np.int64]) -> Array:
        """Return distances of places from the ways on which figures may have walked on and stopped, shape (n, m).

        Args:
            place_mm: shape (m, 2).
            away_ns: time since each figure was last measured, shape (n,).
        """
        off = place_mm[None] - self.measured[:, None, :2]
        way = (self.measured[:, 2:4] * away_ns[:, None] * 1e-9)[:, None]
        share = np.clip((off * way).sum(axis=2) / np.maximum((way**2).sum(axis=2), 1e-9), 0.0, 1.0)
        distance: Array = np.linalg.norm(off - share[..., None] * way, axis=2)
        return distance

    def inflate(self, rows: Indices, place_sigma_mm: float | Array, turn_sigma_rad: float | Array) -> None:
        """Raise the deviations of figures' places and headings to at least these."""
        for axis, sigma in ((X, place_sigma_mm), (Y, place_sigma_mm), (HEADING, turn_sigma_rad)):
            self.cov[rows, axis, axis] = np.maximum(self.cov[rows, axis, axis], np.square(sigma))

    def doubt_turns(self, rows: Indices) -> None:
        """Raise the deviation of headings to what figures turned since they were measured, if they turned on."""
        self.inflate(rows, 0.0, np.abs(wrap_half_turn_rad(self.mean[rows, HEADING] - self.measured[rows, -1])))

    def stop(self, rows: Indices) -> None:
        """Set figures' rates to zero."""
        rates = [VX, VY, SPIN]
        self.mean[rows[:, None], rates] = 0.0
        for rate in rates:
            self.cov[rows, rate, :] = self.cov[rows, :, rate] = 0.0
            self.cov[rows, rate, rate] = KALMAN_LIMITS.resting_rate_sigma**2

    def relocate(self, rows: Indices, place_mm: Array) -> None:
        """Set figures' places, shape (k, 2), as if they had just been measured there."""
        self.mean[rows, :2] = place_mm
        self.measured[rows] = self.mean[rows][:, _WAY]

    def turn_around(self, rows: Bools | Indices) -> None:
        """Make figures face the other way."""
        self.mean[rows, HEADING] = wrap_rad(self.mean[rows, HEADING] + np.pi)

    def place_sigma_mm(self) -> Array:
        """Return the deviation of each figure's place, about one sigma of the worse direction, shape (n,)."""
        return np.sqrt(self.cov[:, X, X] + self.cov[:, Y, Y])


def _transition(noise: ProcessNoise, step_s: float) -> tuple[Array, Array]:
    """Return the state transition over a time step and the covariance of its process noise, shape (8, 8) each."""
    fade = np.exp(-step_s / noise.stops_after_s)
    reach = noise.stops_after_s * (1 - fade)
    transition, covariance = np.eye(8), np.zeros((8, 8))
    push, twist = noise.acceleration_mm2_s3, noise.turning_rad2_s3
    for axis, rate, density in ((X, VX, push), (Y, VY, push), (HEADING, SPIN, twist)):
        transition[axis, rate], transition[rate, rate] = reach, fade
        covariance[axis, axis] = density * reach**3 / 3
        covariance[axis, rate] = covariance[rate, axis] = density * reach**2 / 2
        covariance[rate, rate] = density * reach
    covariance[LENGTH, LENGTH] = covariance[WIDTH, WIDTH] = KALMAN_LIMITS.size_drift_mm2_per_s * step_s
    return transition, covariance


def mahalanobis(off: Array, cov: Array) -> Array:
    """Return squared Mahalanobis distances of vectors, shape (..., d), with covariances (..., d, d); shape (...)."""
    distance: Array = np.einsum("...i,...i->...", off, np.linalg.solve(cov, off[..., None])[..., 0])
    return distance
