"""The camera from sightings: one robust least-squares fit of lens, pose and bow, with its covariance.

A sighting says that a board point is seen so far along a direction in the picture: a point gives two sightings, a
place on a line gives one, across the line. What the sightings leave open is held by weak priors on what lenses are
like; their widths are part of the answer's covariance, so a focal length that a straight-down view can't know is not
pretended to be known.

The covariance is the sandwich of A. C. Cameron and P. K. Trivedi's cluster-robust form: what disturbs neighboring
sightings on one line (texture, compression, a worn edge) disturbs them together.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
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
from downfield.core.arrays import Array

Index = NDArray[np.intp]

_SHORTEST_FOCAL = 0.2  # of the picture's width
_BOW_SPREAD_MM = (1.2, 0.5, 1.2, 0.8)
_MOST_STEPS = 50
_LOSS_AT_SIGMA = 2.0  # residuals beyond this many sigma count less and less


@dataclass(frozen=True, slots=True)
class Observations:
    """What was seen where.

    Attributes:
        points_mm: board points, z over the surface, shape (n, 3).
        px: where they were seen, shape (n, 2).
        normals: unit directions in the picture along which `px` counts, shape (n, 2).
        sigma_px: standard deviation along them, shape (n,).
        cluster: sightings that are disturbed together share a number, shape (n,).
        bound: number of the line of paint each lies on if that line bounds the field, else -1; shape (n,).

    """

    points_mm: Array
    px: Array
    normals: Array
    sigma_px: Array
    cluster: Index
    bound: Index

    @staticmethod
    def of_points(points_mm: Array, px: Array, sigma_px: float) -> Observations:
        """Observations of whole points: two for each; board points (n, 2) or (n, 3), pixels (n, 2)."""
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

    def __getitem__(self, chosen: Index | NDArray[np.bool_]) -> Observations:
        """Some of the sightings."""
        return Observations(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))


@dataclass(frozen=True, slots=True)
class CameraFit:
    """The outcome of a fit.

    Attributes:
        camera: the camera.
        covariance: of `PARAMETERS`, shape (p, p).
        residual_px: seen minus predicted along each sighting's direction, shape (n,).
        weight: how much each sighting counted, 0..1, shape (n,).
        rows_px: by how much a rolling shutter displaced the picture's rows, at most.
        cost: half the robust sum of squares, priors included, for comparing fits to the same sightings.
        strain: root mean square of how far the lens had to go from what was known of it, in standard deviations.

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
    sightings: Observations,
    *,
    prior: LensPrior | None = None,
    fine: bool = False,
    most_steps: int = _MOST_STEPS,
) -> CameraFit:
    """Fit lens and pose, and when asked also what bends the paint's lines a little: the board's bow, a rolling shutter.

    Args:
        start: where to begin, within a few pixels; must carry a bow when `fine`.
        sightings: at least as many as there is to find.
        prior: what is known of the lens; any webcam's when None.
        fine: whether the board may be bowed and the picture's rows displaced.
        most_steps: when to stop even if the fit still improves.

    """
    prior = prior or TypicalLens(start.lens.size_px)
    rough = SystematicError.of(sightings.px, sightings.normals, sightings.bound, start.lens.size_px)
    problem = _Problem(start, sightings, prior, rough, np.arange(BOW.stop if fine else BOW.start))
    begin = np.append(camera_parameters(start)[problem.free], np.zeros(rough.count))
    solution = _solved(problem, begin, most_steps)
    if fine:
        seen = rough.as_seen(solution.x[len(problem.free) :])
        problem = dataclasses.replace(problem, disturbance=seen)
        solution = _solved(problem, solution.x, most_steps)
    camera = problem.camera_at(solution.x)
    n = len(sightings.px)
    whitened = problem.residuals(solution.x)[:n]
    weight = np.minimum(1, _LOSS_AT_SIGMA / np.maximum(np.abs(whitened), 1e-9))
    covariance = np.zeros((len(PARAMETERS), len(PARAMETERS)))
    found = _sandwich(problem.slopes(solution.x), whitened * weight, weight, sightings.cluster)
    kept = len(problem.free)  # the disturbances are of no use to anybody else
    covariance[np.ix_(problem.free, problem.free)] = found[:kept, :kept]
    strain = float(np.sqrt(np.mean(prior.residual(camera_parameters(camera)[LENS]) ** 2)))
    rows_px = problem.disturbance.rows_px(solution.x[kept:])
    return CameraFit(camera, covariance, whitened * sightings.sigma_px, weight, rows_px, float(solution.cost), strain)


def _solved(problem: _Problem, begin: Array, most_steps: int) -> OptimizeResult:
    lowest = np.full(len(begin), -np.inf)
    lowest[:2] = _SHORTEST_FOCAL * problem.start.lens.size_px[0]
    return least_squares(
        problem.residuals,
        np.maximum(begin, lowest * 1.01),
        problem.slopes,
        bounds=(lowest, np.inf),
        x_scale="jac",
        loss="huber",
        f_scale=_LOSS_AT_SIGMA,
        ftol=1e-7,
        xtol=1e-9,
        max_nfev=most_steps,
    )


@dataclass(frozen=True, slots=True)
class _Problem:
    """Residuals and slopes of a fit by its free parameters and, after them, the disturbances in px."""

    start: Camera
    sightings: Observations
    prior: LensPrior
    disturbance: SystematicError
    free: Index

    def camera_at(self, values: Array) -> Camera:
        full = camera_parameters(self.start)
        full[self.free] = values[: len(self.free)]
        return with_parameters(self.start, full)

    def residuals(self, values: Array) -> Array:
        camera, seen, disturbed = self.camera_at(values), self.sightings, values[len(self.free) :]
        off = ((seen.px - camera.to_pixels(seen.points_mm)) * seen.normals).sum(axis=1)
        off -= self.disturbance.shapes @ disturbed
        full = camera_parameters(camera)
        known = [self.prior.residual(full[LENS]), full[BOW] / _BOW_SPREAD_MM, disturbed / self.disturbance.spread_px]
        return np.concatenate([np.nan_to_num(off, nan=1e3) / seen.sigma_px, *known])

    def slopes(self, values: Array) -> Array:
        camera, seen, k = self.camera_at(values), self.sightings, len(self.free)
        _, _, by_parameters = project(camera, seen.points_mm)
        off = -np.einsum("nd,ndp->np", seen.normals, np.nan_to_num(by_parameters))[:, self.free]
        known = self.prior.slopes(camera_parameters(camera)[LENS])
        m, bows = len(known), len(_BOW_SPREAD_MM)
        priors = np.zeros((m + bows, len(PARAMETERS)))
        priors[:m, LENS] = known
        priors[m:, BOW] = np.diag(1 / np.array(_BOW_SPREAD_MM))
        seen_rows = np.column_stack([off, -self.disturbance.shapes]) / seen.sigma_px[:, None]
        prior_rows = np.pad(priors[:, self.free], ((0, 0), (0, self.disturbance.count)))
        rest = np.pad(np.diag(1 / self.disturbance.spread_px), ((0, 0), (k, 0)))
        return np.concatenate([seen_rows, prior_rows, rest])


def with_scaled_focal(camera: Camera, ratio: float) -> Camera:
    """The camera with a longer or shorter lens, moved so that the field looks as nearly the same as it can.

    Seen straight down, focal length and distance can hardly be told apart: a fit may rest at a wrong pair, and is best
    begun from several.
    """
    values = camera_parameters(camera)
    values[:2] *= ratio
    values[DISTORTION] *= np.array([ratio**2, ratio**4, ratio, ratio, ratio**6])
    values[TRANSLATION] *= np.array([1.0, 1.0, ratio])
    return with_parameters(camera, values)


def _sandwich(slopes: Array, scored: Array, weight: Array, cluster: Index) -> Array:
    """Cluster-robust covariance, never smaller than the one of independent sightings with the spread they show.

    Args:
        slopes: whitened Jacobian, sightings first, priors after them, shape (n + m, p).
        scored: weighted whitened residuals, shape (n,).
        weight: robust weights, shape (n,).
        cluster: of each sighting, shape (n,).

    """
    n = len(weight)
    seen, known = slopes[:n], slopes[n:]
    scale = np.sqrt(1 / np.maximum((slopes**2).sum(axis=0), 1e-300))
    seen, known = seen * scale, known * scale
    bread = np.linalg.pinv(seen.T @ (weight[:, None] * seen) + known.T @ known, rcond=1e-13, hermitian=True)
    variance = max(float((scored**2).sum() / max(n - seen.shape[1], 1)), 0.25)
    pushes = np.zeros((int(cluster.max(initial=0)) + 1, seen.shape[1]))
    np.add.at(pushes, cluster, -seen * scored[:, None])
    groups = max(len(np.unique(cluster)), 2)
    clustered = pushes.T @ pushes * (groups / max(groups - 1, 1))
    independent = seen.T @ (weight[:, None] * seen) * variance
    middle = _larger(clustered, independent) + known.T @ known
    covariance: Array = bread @ middle @ bread * scale[:, None] * scale
    return (covariance + covariance.T) / 2


def _larger(a: Array, b: Array) -> Array:
    """The smallest simple matrix that is at least as large as both: b stretched where a exceeds it."""
    values, vectors = np.linalg.eigh(b)
    root = vectors * np.sqrt(np.maximum(values, values.max() * 1e-14))
    inverse = np.linalg.pinv(root)
    ratio, turns = np.linalg.eigh(inverse @ a @ inverse.T)
    side = root @ turns
    larger: Array = (side * np.maximum(ratio, 1.0)) @ side.T
    return larger
