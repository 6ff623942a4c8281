"""The camera from sightings: one robust least-squares fit of lens, pose and bow, with its covariance.

A sighting says that a board point is seen so far along a direction in the picture: a point gives two sightings, a
place on a line gives one, across the line. What the sightings leave open is held by weak priors on what lenses are
like; their widths are part of the answer's covariance, so a focal length that a straight-down view can't know is not
pretended to be known.

The covariance is the sandwich of A. C. Cameron and P. K. Trivedi's cluster-robust form: what disturbs neighbouring
sightings on one line (texture, compression, a worn edge) disturbs them together.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from downfield.calibration.camera import Camera
from downfield.calibration.jacobians import (
    BOW,
    DISTORTION,
    LENS,
    PARAMETERS,
    TRANSLATION,
    parameters_of,
    project,
    with_parameters,
)
from downfield.calibration.lens_prior import LensPrior, TypicalLens

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_SHORTEST_FOCAL = 0.2  # of the picture's width
_BOW_SPREAD_MM = (1.2, 0.5, 1.2, 0.8)
_LOSS_AT_SIGMA = 2.0  # residuals beyond this many sigma count less and less


@dataclass(frozen=True, slots=True)
class Sightings:
    """What was seen where.

    Attributes:
        points_mm: board points, z over the surface, shape (n, 3).
        px: where they were seen, shape (n, 2).
        normals: unit directions in the picture along which `px` counts, shape (n, 2).
        sigma_px: standard deviation along them, shape (n,).
        cluster: sightings that are disturbed together share a number, shape (n,).

    """

    points_mm: Array
    px: Array
    normals: Array
    sigma_px: Array
    cluster: Index

    @staticmethod
    def of_points(points_mm: Array, px: Array, sigma_px: float) -> Sightings:
        """Sightings of whole points: two for each; board points (n, 2) or (n, 3), pixels (n, 2)."""
        points = np.asarray(points_mm, dtype=np.float64)
        if points.shape[1] == 2:
            points = np.column_stack([points, np.zeros(len(points))])
        n = len(points)
        return Sightings(
            np.repeat(points, 2, axis=0),
            np.repeat(np.asarray(px, dtype=np.float64), 2, axis=0),
            np.tile(np.eye(2), (n, 1)),
            np.full(2 * n, sigma_px),
            np.repeat(np.arange(n), 2),
        )

    def __getitem__(self, chosen: Index | NDArray[np.bool_]) -> Sightings:
        """Some of the sightings."""
        return Sightings(*(getattr(self, field.name)[chosen] for field in dataclasses.fields(self)))

    @staticmethod
    def joined(parts: list[Sightings]) -> Sightings:
        """All sightings of several sets, their clusters kept apart."""
        first = np.cumsum([0, *(int(part.cluster.max(initial=-1)) + 1 for part in parts[:-1])])
        clusters = [part.cluster + shift for part, shift in zip(parts, first, strict=True)]
        return Sightings(
            np.concatenate([part.points_mm for part in parts]),
            np.concatenate([part.px for part in parts]),
            np.concatenate([part.normals for part in parts]),
            np.concatenate([part.sigma_px for part in parts]),
            np.concatenate(clusters),
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """The outcome of a fit.

    Attributes:
        camera: the camera.
        covariance: of `PARAMETERS`, shape (p, p).
        residual_px: seen minus predicted along each sighting's direction, shape (n,).
        weight: how much each sighting counted, 0..1, shape (n,).
        cost: half the robust sum of squares, priors included, for comparing fits to the same sightings.
        strain: root mean square of how far the lens had to go from what was known of it, in standard deviations.

    """

    camera: Camera
    covariance: Array
    residual_px: Array
    weight: Array
    cost: float
    strain: float


def fit_camera(start: Camera, sightings: Sightings, *, prior: LensPrior | None = None, bend_board: bool = False) -> Fit:
    """Fit lens, pose and, when asked, the board's bow.

    Args:
        start: where to begin, within a few pixels; must carry a bow when `bend_board`.
        sightings: at least as many as there is to find.
        prior: what is known of the lens; any webcam's when None.
        bend_board: whether the board may be bowed.

    """
    prior = prior or TypicalLens(start.lens.size_px)
    free = np.arange(BOW.stop if bend_board else BOW.start)
    bow_root = np.diag(1 / np.array(_BOW_SPREAD_MM))
    whole = parameters_of(start)

    def camera_at(values: Array) -> Camera:
        full = whole.copy()
        full[free] = values
        return with_parameters(start, full)

    def residuals(values: Array) -> Array:
        full = parameters_of(camera_at(values))
        off = sightings.px - camera_at(values).to_pixels(sightings.points_mm)
        seen = np.nan_to_num(_along(sightings.normals, off), nan=1e3) / sightings.sigma_px
        return np.concatenate([seen, prior.residual(full[LENS]), bow_root @ full[BOW]])

    def slopes(values: Array) -> Array:
        camera = camera_at(values)
        _, _, by_parameters = project(camera, sightings.points_mm)
        seen = -np.einsum("nd,ndp->np", sightings.normals, np.nan_to_num(by_parameters))
        known = prior.slopes(parameters_of(camera)[LENS])
        rows = np.zeros((len(known) + len(bow_root), len(whole)))
        rows[: len(known), LENS] = known
        rows[len(known) :, BOW] = bow_root
        return np.concatenate([seen / sightings.sigma_px[:, None], rows])[:, free]

    lowest = np.full(len(free), -np.inf)
    lowest[:2] = _SHORTEST_FOCAL * start.lens.size_px[0]
    solution = least_squares(
        residuals,
        np.maximum(whole[free], lowest * 1.01),
        slopes,
        bounds=(lowest, np.inf),
        x_scale="jac",
        loss="huber",
        f_scale=_LOSS_AT_SIGMA,
        ftol=1e-7,
        xtol=1e-9,
        max_nfev=50,
    )
    camera = camera_at(solution.x)
    n = len(sightings.px)
    whitened = residuals(solution.x)[:n]
    weight = np.minimum(1, _LOSS_AT_SIGMA / np.maximum(np.abs(whitened), 1e-9))
    covariance = np.zeros((len(PARAMETERS), len(PARAMETERS)))
    covariance[np.ix_(free, free)] = _sandwich(slopes(solution.x), whitened * weight, weight, sightings.cluster)
    strain = float(np.sqrt(np.mean(prior.residual(parameters_of(camera)[LENS]) ** 2)))
    return Fit(camera, covariance, whitened * sightings.sigma_px, weight, float(solution.cost), strain)


def at_other_focal(camera: Camera, ratio: float) -> Camera:
    """The camera with a longer or shorter lens, moved so that the field looks as nearly the same as it can.

    Seen straight down, focal length and distance can hardly be told apart: a fit may rest at a wrong pair, and is best
    begun from several.
    """
    values = parameters_of(camera)
    values[:2] *= ratio
    values[DISTORTION] *= np.array([ratio**2, ratio**4, ratio, ratio, ratio**6])
    values[TRANSLATION] *= np.array([1.0, 1.0, ratio])
    return with_parameters(camera, values)


def _along(directions: Array, vectors: Array) -> Array:
    along: Array = (directions * vectors).sum(axis=1)
    return along


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
