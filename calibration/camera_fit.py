"""Fits the camera to observations: one robust least-squares fit of lens, pose and bow, with its covariance.

An observation measures where a board point is seen along one direction in the picture: a point gives two observations,
a place on a line gives one, across the line. What they leave open is held by weak priors on what lenses are like; the
priors' widths are part of the covariance, so a focal length that a straight-down view can't determine keeps its
uncertainty.

The covariance is cluster-robust (the sandwich of A. C. Cameron and P. K. Trivedi): what disturbs neighboring
observations on one line (texture, compression, a worn edge) disturbs them together.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

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
from downfield.calibration.lens.prior import LensPrior, TypicalLens
from downfield.calibration.systematic_error import SystematicError
from downfield.core.arrays import Array, Bools, Indices


@dataclass(frozen=True, slots=True)
class FitLimits:
    """Priors and limits of fitting a camera."""

    shortest_focal: float = 0.2
    """Least focal length, as a share of the picture's width."""
    bow_spread_mm: tuple[float, float, float, float] = (1.2, 0.5, 1.2, 0.8)
    """Standard deviations of the bow's four sizes before anything is measured."""
    most_steps: int = 50
    """Of a fit."""
    loss_at_sigma: float = 2.0
    """Residuals beyond this many sigma count less and less."""


LIMITS: Final = FitLimits()


@dataclass(frozen=True, slots=True)
class Observations:
    """Board points and where they were seen.

    Attributes:
        points_mm: board points, z over the surface, shape (n, 3).
        px: where they were seen, shape (n, 2).
        normals: unit directions in the picture along which `px` counts, shape (n, 2).
        sigma_px: standard deviation along them, shape (n,).
        cluster: observations that are disturbed together share a number, shape (n,).
        boundary: number of the line of paint each lies on if that line bounds the field, else -1; shape (n,).

    """

    points_mm: Array
    px: Array
    normals: Array
    sigma_px: Array
    cluster: Indices
    boundary: Indices

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
        )

    def __getitem__(self, chosen: Indices | Bools) -> Observations:
        """Return some of the observations."""
        return Observations(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))


@dataclass(frozen=True, slots=True)
class CameraFit:
    """The result of a fit.

    Attributes:
        camera: the camera.
        covariance: of `PARAMETERS`, shape (p, p).
        residual_px: seen minus predicted along each observation's direction, shape (n,).
        weight: how much each observation counted, 0..1, shape (n,).
        rows_px: the largest displacement of a row by a rolling shutter.
        cost: half the robust sum of squares, priors included, for comparing fits to the same observations.
        strain: root mean square deviation of the lens from its prior, in standard deviations.

    """

    camera: Camera
    covariance: Array
    residual_px: Array
    weight: Array
    rows_px: float
    cost: float
    strain: float


def fit_camera(
    start: Camera,
    observations: Observations,
    *,
    prior: LensPrior | None = None,
    fine: bool = False,
    most_steps: int = LIMITS.most_steps,
) -> CameraFit:
    """Fit lens and pose, and if `fine` also what bends the lines a little: the board's bow and a rolling shutter.

    Args:
        start: where to begin, within a few pixels; must carry a bow when `fine`.
        observations: at least as many as there are parameters.
        prior: what is known of the lens; any webcam's when None.
        fine: whether the board may be bowed and the picture's rows displaced.
        most_steps: of the fit, even if it still improves.

    """
    prior = prior or TypicalLens(start.lens.size_px)
    rough = SystematicError.of(observations.px, observations.normals, observations.boundary, start.lens.size_px)
    problem = _Problem(start, observations, prior, rough, np.arange(BOW.stop if fine else BOW.start))
    begin = np.append(camera_parameters(start)[problem.free], np.zeros(rough.count))
    solution = _minimize(problem, begin, most_steps)
    if fine:
        seen = rough.with_learned_spread(solution.x[len(problem.free) :])
        problem = dataclasses.replace(problem, systematic=seen)
        solution = _minimize(problem, solution.x, most_steps)
    camera = problem.camera_at(solution.x)
    n = len(observations.px)
    whitened = problem.residuals(solution.x)[:n]
    weight = np.minimum(1, LIMITS.loss_at_sigma / np.maximum(np.abs(whitened), 1e-9))
    covariance = np.zeros((len(PARAMETERS), len(PARAMETERS)))
    found = _sandwich(problem.jacobian(solution.x), whitened * weight, weight, observations.cluster)
    kept = len(problem.free)  # the systematic errors are of no use to anybody else
    covariance[np.ix_(problem.free, problem.free)] = found[:kept, :kept]
    strain = float(np.sqrt(np.mean(prior.residual(camera_parameters(camera)[LENS]) ** 2)))
    rows_px = problem.systematic.rows_px(solution.x[kept:])
    return CameraFit(
        camera, covariance, whitened * observations.sigma_px, weight, rows_px, float(solution.cost), strain
    )


def _minimize(problem: _Problem, begin: Array, most_steps: int) -> OptimizeResult:
    lowest = np.full(len(begin), -np.inf)
    lowest[:2] = LIMITS.shortest_focal * problem.start.lens.size_px[0]
    return least_squares(
        problem.residuals,
        np.maximum(begin, lowest * 1.01),
        problem.jacobian,
        bounds=(lowest, np.inf),
        x_scale="jac",
        loss="huber",
        f_scale=LIMITS.loss_at_sigma,
        ftol=1e-7,
        xtol=1e-9,
        max_nfev=most_steps,
    )


@dataclass(frozen=True, slots=True)
class _Problem:
    """Residuals and Jacobian of a fit by its free parameters and, after them, the systematic errors in px."""

    start: Camera
    observations: Observations
    prior: LensPrior
    systematic: SystematicError
    free: Indices

    def camera_at(self, values: Array) -> Camera:
        full = camera_parameters(self.start)
        full[self.free] = values[: len(self.free)]
        return with_parameters(self.start, full)

    def residuals(self, values: Array) -> Array:
        camera, seen, systematic_px = self.camera_at(values), self.observations, values[len(self.free) :]
        off = ((seen.px - camera.to_pixels(seen.points_mm)) * seen.normals).sum(axis=1)
        off -= self.systematic.shapes @ systematic_px
        full = camera_parameters(camera)
        known = [
            self.prior.residual(full[LENS]),
            full[BOW] / LIMITS.bow_spread_mm,
            systematic_px / self.systematic.spread_px,
        ]
        return np.concatenate([np.nan_to_num(off, nan=1e3) / seen.sigma_px, *known])

    def jacobian(self, values: Array) -> Array:
        camera, seen, k = self.camera_at(values), self.observations, len(self.free)
        _, _, by_parameters = project(camera, seen.points_mm)
        off = -np.einsum("nd,ndp->np", seen.normals, np.nan_to_num(by_parameters))[:, self.free]
        known = self.prior.jacobian(camera_parameters(camera)[LENS])
        m, bows = len(known), len(LIMITS.bow_spread_mm)
        priors = np.zeros((m + bows, len(PARAMETERS)))
        priors[:m, LENS] = known
        priors[m:, BOW] = np.diag(1 / np.array(LIMITS.bow_spread_mm))
        seen_rows = np.column_stack([off, -self.systematic.shapes]) / seen.sigma_px[:, None]
        prior_rows = np.pad(priors[:, self.free], ((0, 0), (0, self.systematic.count)))
        rest = np.pad(np.diag(1 / self.systematic.spread_px), ((0, 0), (k, 0)))
        return np.concatenate([seen_rows, prior_rows, rest])


def with_scaled_focal(camera: Camera, ratio: float) -> Camera:
    """Return the camera with a longer or shorter lens, moved so that the field looks as nearly the same as it can.

    Seen straight down, focal length and distance can hardly be told apart: a fit may rest at a wrong pair, so it is
    begun from several.
    """
    values = camera_parameters(camera)
    values[:2] *= ratio
    values[DISTORTION] *= np.array([ratio**2, ratio**4, ratio, ratio, ratio**6])
    values[TRANSLATION] *= np.array([1.0, 1.0, ratio])
    return with_parameters(camera, values)


def _sandwich(jacobian: Array, weighted: Array, weight: Array, cluster: Indices) -> Array:
    """Return the cluster-robust covariance, at least that of independent observations with the spread they show.

    Args:
        jacobian: whitened, observations first, priors after them, shape (n + m, p).
        weighted: weighted whitened residuals, shape (n,).
        weight: robust weights, shape (n,).
        cluster: of each observation, shape (n,).

    """
    n = len(weight)
    seen, known = jacobian[:n], jacobian[n:]
    scale = np.sqrt(1 / np.maximum((jacobian**2).sum(axis=0), 1e-300))
    seen, known = seen * scale, known * scale
    bread = np.linalg.pinv(seen.T @ (weight[:, None] * seen) + known.T @ known, rcond=1e-13, hermitian=True)
    variance = max(float((weighted**2).sum() / max(n - seen.shape[1], 1)), 0.25)
    pushes = np.zeros((int(cluster.max(initial=0)) + 1, seen.shape[1]))
    np.add.at(pushes, cluster, -seen * weighted[:, None])
    groups = max(len(np.unique(cluster)), 2)
    clustered = pushes.T @ pushes * (groups / max(groups - 1, 1))
    independent = seen.T @ (weight[:, None] * seen) * variance
    middle = _at_least_both(clustered, independent) + known.T @ known
    covariance: Array = bread @ middle @ bread * scale[:, None] * scale
    return (covariance + covariance.T) / 2


def _at_least_both(a: Array, b: Array) -> Array:
    """Return a matrix at least as large as both: b stretched where a exceeds it."""
    values, vectors = np.linalg.eigh(b)
    root = vectors * np.sqrt(np.maximum(values, values.max() * 1e-14))
    inverse = np.linalg.pinv(root)
    ratio, turns = np.linalg.eigh(inverse @ a @ inverse.T)
    side = root @ turns
    larger: Array = (side * np.maximum(ratio, 1.0)) @ side.T
    return larger
