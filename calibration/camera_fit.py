"""Fits the camera to observations: one robust least-squares fit of lens, pose and bow, with its covariance.

An observation measures where a board point is seen along one direction in the picture: a point gives two observations,
a place on a line gives one, across the line. What they leave open is held by weak priors on what lenses are like; the
priors' widths are part of the covariance, so a focal length that a straight-down view can't tell stays uncertain.

A roughly described print may be longer or shorter across than the board points say; then this stretch is fitted too.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.jacobians import (
    BOW,
    DISTORTION,
    LENS,
    PARAMETERS,
    TRANSLATION,
    camera_parameters,
    project,
    with_parameters,
)
from downfield.calibration.lens.prior import LensPrior, TypicalLens, strain
from downfield.calibration.robust_least_squares import (
    ErrorGroups,
    cluster_robust_covariance,
    log_volume,
    marginal_precision,
    minimize_huber,
)
from downfield.calibration.stretch import OpenStretch
from downfield.calibration.systematic_error import SystematicError
from downfield.core.arrays import Array, Bools, Indices

BowSizes = tuple[float, float, float, float]  # of each of the bow's shapes, in the order of `camera.SHAPES`, mm


@dataclass(frozen=True, slots=True)
class FitLimits:
    """Priors and limits of fitting a camera."""

    min_focal: float = 0.2  # least focal length, as a share of the picture's width
    bow_spread_mm: BowSizes = (1.2, 0.5, 1.2, 0.8)  # standard deviations of a bowed board's sizes beforehand
    max_steps: int = 50  # largest number of steps of a fit
    loss_at_sigma: float = 2.0  # residuals beyond this many sigma count less and less


FIT_LIMITS: Final = FitLimits()
_CENTER: Final = [2, 3]  # of the parameters

FOCAL_POWERS: Final = np.array([2.0, 4.0, 1.0, 1.0, 6.0])
"""Powers of the focal length with which k1, k2, p1, p2, k3 grow when they go on moving the same pixels by as much."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Board points and where they were seen."""

    points_mm: Array  # board points, z over the surface, shape (n, 3)
    px: Array  # where they were seen, shape (n, 2)
    normals: Array  # unit directions in the picture along which `px` counts, shape (n, 2)
    sigma_px: Array  # standard deviation along them, shape (n,)
    cluster: Indices  # observations that are disturbed together share a number, shape (n,)
    # number of the line of paint each lies on if that line bounds the field; `systematic_error.LINE_END` at the end of
    # a yard line, and -1 elsewhere; shape (n,)
    boundary: Indices
    line: Indices  # number of the line of paint if it does not, and -1 elsewhere; shape (n,)

    @staticmethod
    def of_points(points_mm: Array, px: Array, sigma_px: float) -> Observations:
        """Return observations of whole points, two for each; board points (n, 2) or (n, 3), pixels (n, 2)."""
        points = np.asarray(points_mm, dtype=np.float64)
        if points.shape[1] == 2:
            points = np.column_stack([points, np.zeros(len(points))])
        n = len(points)
        return Observations(
            np.repeat(points, 2, axis=0),
            np.repeat(np.asarray(px, dtype=np.float64), 2, axis=0),
            np.tile(np.eye(2), (n, 1)),
            np.full(2 * n, sigma_px),
            np.repeat(np.arange(n), 2),
            np.full(2 * n, -1),
            np.full(2 * n, -1),
        )

    @staticmethod
    def joined(parts: Sequence[Observations]) -> Observations:
        """Return the observations of all parts; what has one cluster number in several parts is one cluster."""
        names = [field.name for field in dataclasses.fields(Observations)]
        return Observations(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @property
    def groups(self) -> ErrorGroups:
        """Which of them err together."""
        return ErrorGroups(self.cluster, self.line, self.sigma_px)

    def __getitem__(self, chosen: Indices | Bools) -> Observations:
        """Return some of the observations."""
        return Observations(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))


@dataclass(frozen=True, slots=True)
class CameraFit:
    """The result of a fit."""

    camera: Camera
    covariance: Array  # of `PARAMETERS`, shape (19, 19); of `PLACE_PARAMETERS`, (20, 20), where the stretch was open
    residual_px: Array  # seen minus predicted along each observation's direction, shape (n,)
    weight: Array  # how much each observation counted, 0..1, shape (n,)
    rows_px: float  # the largest displacement of a row by a rolling shutter
    lines_px: float  # standard deviation of what displaces whole lines
    cost: float  # half the robust sum of squares, priors included, for comparing fits to the same observations
    # log of the parameters' posterior over their prior volume, up to a constant of the observations and the lens's
    # prior: what a fit with wider priors has over one with narrower ones beside its cost
    log_volume: float
    strain: float  # how unlike an ordinary lens it is, root mean square of standard deviations
    systematic: SystematicError  # errors that displace many observations together, with the spreads taken
    stretch: float = 0.0  # log ratio by which the print is longer across than its points, as the camera sees


def fit_camera(
    start: Camera,
    observations: Observations,
    *,
    prior: LensPrior | None = None,
    stretch: OpenStretch | None = None,
    fine: bool = False,
    bow_spread_mm: BowSizes = FIT_LIMITS.bow_spread_mm,
    spread_of: CameraFit | None = None,
    max_steps: int = FIT_LIMITS.max_steps,
) -> CameraFit:
    """Fit lens and pose, and if `fine` also what bends the lines a little: the board's bow and a rolling shutter.

    Args:
        start: where to begin, within a few pixels; must carry a bow when `fine`.
        observations: at least as many as there are parameters.
        prior: what is known of the lens; any webcam's when None.
        stretch: how far the print may be longer or shorter across than the points; not at all when None.
        fine: whether the board may be bowed and the picture's rows displaced.
        bow_spread_mm: standard deviations of the bow's sizes before anything is measured.
        spread_of: another fit to the picture, whose spreads of the systematic errors are taken: only then can costs be
            compared; when None they are learned, if `fine`.
        max_steps: of the fit, even if it still improves.
    """
    prior = prior or TypicalLens.of(start.lens)
    rough = SystematicError.of(observations.px, observations.normals, observations.boundary, start.lens.size_px)
    rough = rough if spread_of is None else rough.with_spread_of(spread_of.systematic)
    free = np.arange(BOW.stop if fine else BOW.start)
    problem = _Problem(start, observations, prior, rough, np.array(bow_spread_mm), free, stretch)
    begin_stretch = [] if stretch is None else [stretch.begin]
    begin = np.concatenate([camera_parameters(start)[free], begin_stretch, np.zeros(rough.count)])
    values, cost = _minimize(problem, begin, max_steps)
    # How large this picture's systematic errors are is known only after a first fit.
    if fine and spread_of is None:
        problem = problem.with_learned_spread(values)
        values, cost = _minimize(problem, values, max_steps)
    camera = problem.camera_at(values)
    n = len(observations.px)
    whitened, jacobian = problem.evaluate(values)
    whitened = whitened[:n]
    weight = _weights(whitened)
    # Neighboring observations err together, so that the plain inverse of the normal matrix would promise too much.
    found, lines_px = cluster_robust_covariance(jacobian, whitened * weight, weight, observations.groups)
    # The systematic errors are of no use to anybody else.
    kept = free if stretch is None else np.append(free, len(PARAMETERS))
    covariance = np.zeros((len(PARAMETERS) + len(kept) - len(free),) * 2)
    covariance[np.ix_(kept, kept)] = found[: len(kept), : len(kept)]
    if fine:  # all of the picture aside is the principal point aside
        covariance[_CENTER, _CENTER] += problem.systematic.shift_px**2
    rows_px = problem.systematic.rows_px(problem.systematic_px(values))
    volume = log_volume(jacobian, np.append(weight, np.ones(len(jacobian) - n)))
    volume -= float(np.log(problem.bow_spread_mm).sum() + np.log(problem.systematic.spread_px).sum())
    residual_px = whitened * observations.sigma_px
    strained, longer = strain(prior, camera_parameters(camera)[LENS]), problem.stretch_at(values)
    return CameraFit(
        camera, covariance, residual_px, weight, rows_px, lines_px, cost, volume, strained, problem.systematic, longer
    )


def _weights(whitened: Array) -> Array:
    """Return the robust weights of residuals of unit variance."""
    return np.minimum(1, FIT_LIMITS.loss_at_sigma / np.maximum(np.abs(whitened), 1e-9))


def _minimize(problem: _Problem, begin: Array, max_steps: int) -> tuple[Array, float]:
    lowest = np.full(len(begin), -np.inf)
    lowest[:2] = FIT_LIMITS.min_focal * problem.start.lens.size_px[0]
    scaled, cost = minimize_huber(
        problem.evaluate_scaled,
        problem.with_distortion_as_at_start(begin),
        lowest,
        loss_at=problem.loss_at,
        max_steps=max_steps,
    )
    return problem.with_distortion_in_px(scaled), cost


@dataclass(frozen=True, slots=True)
class _Problem:
    """Residuals and Jacobian of a fit by its free parameters, the stretch if it is open, and systematic errors, px."""

    start: Camera
    observations: Observations
    prior: LensPrior
    systematic: SystematicError
    bow_spread_mm: Array
    free: Indices
    stretch: OpenStretch | None = None

    @property
    def loss_at(self) -> Array:
        """Sigmas beyond which each residual counts linearly, in the order of `evaluate`.

        Paint may be anything, a lens unlike all others, and a boundary seen far aside. But a picture has no rows that
        are displaced by dozens of sigmas, and no board is so bowed, to explain what a wrong print leaves.
        """
        n, lens = len(self.observations.px), 9
        rows = n + lens + len(self.bow_spread_mm) + (self.stretch is not None) + self.systematic.count
        loss_at = np.full(rows, FIT_LIMITS.loss_at_sigma)
        loss_at[n + lens : rows - self.systematic.lines] = np.inf
        return loss_at

    def systematic_px(self, values: Array) -> Array:
        """Return the sizes of the systematic errors at values."""
        return values[len(self.free) + (self.stretch is not None) :]

    def with_learned_spread(self, values: Array) -> _Problem:
        """Return it with the spreads of the systematic errors that their sizes in a fit make likely."""
        whitened, jacobian = self.evaluate(values)
        n, known = len(self.observations.px), len(whitened) - self.systematic.count  # theirs are the last rows
        weight = np.append(_weights(whitened[:n]), np.ones(known - n))
        precision = marginal_precision(jacobian[:known], weight, self.systematic.count)
        learned = self.systematic.with_learned_spread(self.systematic_px(values), precision)
        return dataclasses.replace(self, systematic=learned)

    def stretch_at(self, values: Array) -> float:
        """Return the stretch at values, log ratio."""
        return 0.0 if self.stretch is None else float(values[len(self.free)])

    def points_mm(self, values: Array) -> Array:
        """Return the observations' board points, stretched, shape (n, 3)."""
        return self.observations.points_mm * (1.0, math.exp(self.stretch_at(values)), 1.0)

    def parameters(self, values: Array) -> Array:
        """Return the camera's parameters at values."""
        full = camera_parameters(self.start)
        full[self.free] = values[: len(self.free)]
        return full

    def camera_at(self, values: Array) -> Camera:
        """Return the camera at values."""
        return with_parameters(self.start, self.parameters(values))

    def with_distortion_in_px(self, scaled: Array) -> Array:
        """Return values by values whose distortion is that of the focal length of the start.

        Where distortion moves a pixel by so much, its coefficients change with the focal length by powers of it. With
        those taken out, paint seen straight down leaves focal length and distance open along a straight line of the
        values, not a curved one, and a fit takes a few steps rather than dozens.
        """
        values = scaled.copy()
        values[DISTORTION] *= self._focal_ratio(scaled) ** FOCAL_POWERS
        return values

    def with_distortion_as_at_start(self, values: Array) -> Array:
        """Invert `with_distortion_in_px`."""
        scaled = values.copy()
        scaled[DISTORTION] /= self._focal_ratio(values) ** FOCAL_POWERS
        return scaled

    def evaluate_scaled(self, scaled: Array) -> tuple[Array, Array]:
        """Return residuals and Jacobian as `evaluate` does, by scaled values."""
        values = self.with_distortion_in_px(scaled)
        residuals, jacobian = self.evaluate(values)
        by_focal = jacobian[:, DISTORTION] @ (FOCAL_POWERS * values[DISTORTION] / values[:2].sum())
        jacobian[:, :2] += by_focal[:, None]
        jacobian[:, DISTORTION] *= self._focal_ratio(scaled) ** FOCAL_POWERS
        return residuals, jacobian

    def _focal_ratio(self, values: Array) -> float:
        return float(values[:2].sum() / sum(self.start.lens.focal_px))

    def evaluate(self, values: Array) -> tuple[Array, Array]:
        """Return residuals and Jacobian at values, shapes (m,) and (m, len(values)).

        Observations come first, then what is known of the lens, the bow, the stretch and the systematic errors.
        """
        camera, seen, k = self.camera_at(values), self.observations, len(self.free)
        systematic_px, full = self.systematic_px(values), self.parameters(values)
        points_mm, later = self.points_mm(values), len(values) - len(systematic_px)
        px, by_point, by_parameters = project(camera, points_mm)
        off = ((seen.px - px) * seen.normals).sum(axis=1) - self.systematic.shapes @ systematic_px
        known = [
            self.prior.residual(full[LENS]),
            full[BOW] / self.bow_spread_mm,
            (values[k:later] - self.stretch.likeliest) / self.stretch.spread if self.stretch else values[k:later],
            systematic_px / self.systematic.spread_px,
        ]
        residuals = np.concatenate([np.nan_to_num(off, nan=1e3) / seen.sigma_px, *known])
        lens, bows, n = len(known[0]), len(known[1]), len(off)
        # In rows of the parameters, as `project` has its derivatives.
        jacobian = np.zeros((len(values), len(residuals)))
        by_free = by_parameters.transpose(1, 2, 0)[:, self.free]
        jacobian[:k, :n] = -np.nan_to_num(seen.normals[:, 0] * by_free[0] + seen.normals[:, 1] * by_free[1])
        if self.stretch is not None:
            jacobian[k, :n] = -np.nan_to_num((seen.normals * by_point[:, :, 1]).sum(axis=1) * points_mm[:, 1])
            jacobian[k, n + lens + bows] = 1 / self.stretch.spread
        jacobian[later:, :n] = -self.systematic.shapes.T
        jacobian[:, :n] /= seen.sigma_px
        priors = np.zeros((lens + bows, len(PARAMETERS)))
        priors[:lens, LENS] = self.prior.jacobian(full[LENS])
        priors[lens:, BOW] = np.diag(1 / self.bow_spread_mm)
        jacobian[:k, n : n + lens + bows] = priors[:, self.free].T
        jacobian[later:, n + lens + bows + (later - k) :] = np.diag(1 / self.systematic.spread_px)
        return residuals, jacobian.T


def with_scaled_focal(camera: Camera, ratio: float) -> Camera:
    """Return the camera with a longer or shorter lens, moved so that the field looks as nearly the same as it can.

    Seen straight down, focal length and distance can hardly be told apart: a fit may rest at a wrong pair, so it is
    begun from several.
    """
    values = camera_parameters(camera)
    values[:2] *= ratio
    values[DISTORTION] *= ratio**FOCAL_POWERS
    # Farther away by as much as the lens is longer: the scale in the picture stays.
    values[TRANSLATION] *= np.array([1.0, 1.0, ratio])
    return with_parameters(camera, values)
