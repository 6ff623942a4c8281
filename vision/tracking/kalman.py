"""What is believed of every base's movement: a Kalman filter over place, heading, their rates, and the base's size.

Bases are slow bodies in a plane. Between frames they go on as they went; how much they may have changed their mind is
the process noise: much while the board is on, since a base that meets another stops within a step, next to none while
it is off, everything while a hand is at them. All figures are predicted and corrected at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from downfield.core.angles import wrap_rad
from downfield.core.arrays import Array

Going = Literal["walking", "standing", "unseen", "handled"]

X, Y, HEADING, VX, VY, SPIN, LENGTH, WIDTH = range(8)
SIZE: Final = [LENGTH, WIDTH]
MEASURED: Final = [X, Y, HEADING, LENGTH, WIDTH]
"""Which of the state a measurement tells, in its order."""

LASTING: Final = 0.5
"""Share of a corner's variance that lasts over frames: averaging does not reduce it, so it is added, not filtered."""

_CHANGES: Final[dict[Going, tuple[float, float]]] = {
    "walking": (2.0e4, 20.0),
    "standing": (2.0e2, 0.2),
    "unseen": (2.0e4, 20.0),
    "handled": (4.0e5, 300.0),
}
"""Densities of white acceleration, mm^2/s^3 and rad^2/s^3."""

_STOPS_S: Final[dict[Going, float]] = {"walking": 5.0, "standing": 0.05, "unseen": 0.1, "handled": 0.3}
"""How long a base that is left alone goes on."""

_SIZE_DRIFT: Final = 0.02  # mm^2/s: sizes don't change, but what the network makes of them does with the view
_SIZE_NEWS_PER_S, _MOST_SIZE_NEWS = 0.9, 0.1  # share of a frame's word on a size that earlier ones have not said
_ODD_SIZE: Final = 3.0  # sigmas off beyond which an edge was taken for another's
_START_RATE: Final = (3.0, 3.0, 0.05)  # deviations of the rates at the line-up, where everybody stands
_REST_RATE: Final = 0.1  # mm/s and rad/s, of what is held to stand still
_WILD_NIS: Final = 16.3  # 99.9 % of honest places lie within: chi squared of 3


@dataclass(slots=True)
class Motion:
    """Where every figure of the roster is believed to be.

    Attributes:
        mean: x mm, y mm, heading rad, their rates per second, length mm, width mm; shape (n, 8).
        cov: shape (n, 8, 8).
        lasting: part of the covariance of x, y and heading that is common to successive frames, shape (n, 3, 3).

    """

    mean: Array
    cov: Array
    lasting: Array

    @classmethod
    def standing(cls, pose: Array, cov: Array, size_sigma_mm: Array) -> Motion:
        """Figures that stand.

        Args:
            pose: x mm, y mm, heading rad, length mm, width mm, shape (n, 5).
            cov: of the first three, shape (n, 3, 3).
            size_sigma_mm: of the last two, shape (n, 2).

        """
        mean = np.zeros((len(pose), 8))
        mean[:, MEASURED] = pose
        full = np.zeros((len(pose), 8, 8))
        full[:, :3, :3] = cov
        full[:, [VX, VY, SPIN], [VX, VY, SPIN]] = np.array(_START_RATE) ** 2
        full[:, [LENGTH, WIDTH], [LENGTH, WIDTH]] = size_sigma_mm**2
        return cls(mean, full, cov.copy())

    def copy(self) -> Motion:
        """Another of the same."""
        return Motion(self.mean.copy(), self.cov.copy(), self.lasting.copy())

    def predict(self, step_s: float, going: NDArray[np.str_]) -> None:
        """Carry everything forward.

        Args:
            step_s: how long.
            going: how each figure goes, a `Going`, shape (n,).

        """
        move, noise = np.empty_like(self.cov), np.empty_like(self.cov)
        present = set(going.tolist())
        for kind in _CHANGES:
            if kind in present:
                rows = going == kind
                move[rows], noise[rows] = _step(kind, step_s)
        self.mean = np.einsum("nij,nj->ni", move, self.mean)
        self.mean[:, HEADING] = wrap_rad(self.mean[:, HEADING])
        self.cov = move @ self.cov @ move.transpose(0, 2, 1) + noise

    def innovation(self, rows: NDArray[np.intp], pose: Array) -> Array:
        """Measured less believed, shape (k, 5), the heading's brought to -pi..pi."""
        off: Array = pose - self.mean[rows][:, MEASURED]
        off[:, 2] = wrap_rad(off[:, 2])
        return off

    def correct(self, rows: NDArray[np.intp], pose: Array, noise: Array, step_s: float) -> Array:
        """Take measurements in.

        Args:
            rows: whose they are, each at most once, shape (k,).
            pose: as in `Measurements`, the heading the right way round, shape (k, 5).
            noise: their covariances, shape (k, 5, 5).
            step_s: since the frame before.

        Returns:
            Squared Mahalanobis distances of places and headings before the correction, 3 degrees of freedom, shape
            (k,). Where one is beyond belief, the figure was moved by what the model doesn't know, and its place is
            taken from the measurement.

        """
        off = self.innovation(rows, pose)
        mean, cov = self.mean[rows], self.cov[rows]
        white = noise * (1 - LASTING)
        spread = cov[:, MEASURED][:, :, MEASURED] + white
        # What lasts differs from frame to frame by little, but between a corner seen and the same one hidden by much.
        nis = mahalanobis(off[:, :3], spread[:, :3, :3] + LASTING * noise[:, :3, :3])
        wild = nis > _WILD_NIS
        if wild.any():
            for axis, rate in ((X, VX), (Y, VY), (HEADING, SPIN)):
                jump = off[wild, axis] ** 2
                cov[wild, axis, axis] += jump
                cov[wild, rate, rate] += jump * 4.0
        across = cov[:, :, MEASURED]
        spread = across[:, MEASURED] + white
        gain = np.linalg.solve(spread, across.transpose(0, 2, 1)).transpose(0, 2, 1)
        # A size doesn't change, and what is mistaken about it lasts for as long as somebody hides it.
        likely = off[:, 3:] ** 2 < _ODD_SIZE**2 * np.diagonal(spread, axis1=1, axis2=2)[:, 3:]
        news = min(_SIZE_NEWS_PER_S * step_s, _MOST_SIZE_NEWS)
        gain[:, SIZE] *= np.where(likely, news, 0.0)[:, :, None]
        mean = mean + np.einsum("kij,kj->ki", gain, off)
        mean[:, HEADING] = wrap_rad(mean[:, HEADING])
        left = np.zeros_like(cov) + np.eye(8)
        left[:, :, MEASURED] -= gain
        cov = left @ cov @ left.transpose(0, 2, 1) + gain @ white @ gain.transpose(0, 2, 1)
        self.mean[rows] = mean
        self.cov[rows] = (cov + cov.transpose(0, 2, 1)) / 2
        self.lasting[rows] = LASTING * noise[:, :3, :3]
        return nis

    def loosen(self, rows: NDArray[np.intp], place_mm: float | Array, turn_rad: float | Array) -> None:
        """Let figures be anywhere within these deviations of where they were."""
        for axis, sigma in ((X, place_mm), (Y, place_mm), (HEADING, turn_rad)):
            self.cov[rows, axis, axis] = np.maximum(self.cov[rows, axis, axis], np.square(sigma))

    def rest(self, rows: NDArray[np.intp]) -> None:
        """Let figures stand still."""
        rates = [VX, VY, SPIN]
        self.mean[rows[:, None], rates] = 0.0
        for rate in rates:
            self.cov[rows, rate, :] = self.cov[rows, :, rate] = 0.0
            self.cov[rows, rate, rate] = _REST_RATE**2

    def turn_about(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Let figures face the other way."""
        self.mean[rows, HEADING] = wrap_rad(self.mean[rows, HEADING] + np.pi)

    def pose_cov(self) -> Array:
        """Covariances of x, y and heading as far as the picture's noise goes, shape (n, 3, 3)."""
        whole: Array = self.cov[:, :3, :3] + self.lasting
        return whole

    def spread_mm(self) -> Array:
        """How far off each figure may be, one sigma of the worse direction about, shape (n,)."""
        spread: Array = np.sqrt(self.cov[:, X, X] + self.cov[:, Y, Y])
        return spread


def _step(kind: Going, step_s: float) -> tuple[Array, Array]:
    """How a figure's state moves in a time, and the covariance of what it may do otherwise, shape (8, 8) each."""
    push, twist = _CHANGES[kind]
    fade = np.exp(-step_s / _STOPS_S[kind])
    reach = _STOPS_S[kind] * (1 - fade)
    move, noise = np.eye(8), np.zeros((8, 8))
    for at, rate, density in ((X, VX, push), (Y, VY, push), (HEADING, SPIN, twist)):
        move[at, rate], move[rate, rate] = reach, fade
        noise[at, at] = density * reach**3 / 3
        noise[at, rate] = noise[rate, at] = density * reach**2 / 2
        noise[rate, rate] = density * reach
    noise[LENGTH, LENGTH] = noise[WIDTH, WIDTH] = _SIZE_DRIFT * step_s
    return move, noise


def mahalanobis(off: Array, cov: Array) -> Array:
    """Squared Mahalanobis distances of vectors, shape (..., d), with covariances (..., d, d); shape (...)."""
    distance: Array = np.einsum("...i,...i->...", off, np.linalg.solve(cov, off[..., None])[..., 0])
    return distance
