"""Converts detections to measurements on the board: place, heading and size of every base, with their errors.

The four corners of a base's top are projected down to the board through the full camera model at the base's height,
each with the covariance of its pixels, and a rectangle is fitted to them. Hidden corners take part with their larger
noise, so the fit's covariance includes what the image does not show of a half-hidden base, and a tracker that knows the
base's size can use the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.jacobians import locate
from downfield.core.arrays import Array, Bools, Indices
from downfield.core.field.model import FieldModel
from downfield.core.frame import Detection
from downfield.core.mathematics import wrap_rad
from downfield.models.base_sizes import CORNER_CORRELATION, SIZE_CORRECTION_LIMITS, errors_by_direction, estimate_sizes
from downfield.vision.measuring.falls import FallSigns, find_fall_signs

PLACE, POSE, SIZE = slice(0, 2), slice(0, 3), slice(3, 5)
"""Of a measurement: x and y mm; these and the heading in radians; length and width mm."""

_CORNERS, _CENTER, _HELMET, _POINTS = slice(0, 4), 4, 5, 6  # points of a figure, and their number
_CENTERS: Final = slice(_CENTER, None, _POINTS)  # among the points of all figures
# Inverse correlations of errors along and across, for x and y of all corners, shape (2, 8, 8).
_INVERSE_CORRELATION: Final = (
    np.asarray(np.linalg.inv(CORNER_CORRELATION.transpose(2, 0, 1))).repeat(2, axis=1).repeat(2, axis=2)
)
_ENDS, _SIDES = np.array([0.5, 0.5, -0.5, -0.5]), np.array([0.5, -0.5, -0.5, 0.5])  # of corners: front, left


@dataclass(frozen=True, slots=True)
class MeasurementLimits:
    """Heights, errors and priors of measuring bases."""

    helmet_mm: float = 32.0  # Height of a helmet's middle over the board; figures are 27 to 40 mm high
    fallen_helmet_mm: float = 10.0  # The same height for a fallen figure
    # Error of a corner in full view, in an image of `reference_width_px`, if the network gives none
    seen_corner_px: float = 0.65
    hidden_corner_px: float = 2.2  # Error of a corner that the network has to guess
    # Corner score (0..1) of a corner in full view; the error is linear between this and `hidden_score`
    seen_score: float = 0.8
    hidden_score: float = 0.35  # Corner score of a corner that has to be guessed
    reference_width_px: float = 1920.0  # Image width for which the corner errors hold
    # Limit of the correlation of a base's length and width once other bases' sizes are known
    max_size_correlation: float = 0.95
    usual_size_mm: tuple[float, float] = (30.0, 18.0)  # A base's usual length and width, as a weak prior
    # Deviation of the usual size; keeps the fit sound when two corners are guesses
    usual_size_sigma_mm: tuple[float, float] = (5.0, 4.0)
    fit_rounds: int = 3  # Gauss-Newton steps of the fit
    # Misfit that 95 % of correct fits stay below: chi squared of 8 coordinates and 2 prior sizes, less 5 fitted
    fit_chi2: float = 11.1
    min_size_mm: float = 1.0  # Least length and width during the fit
    # Error of a fallen base's center, which is detected half a base from where the figure stood
    fallen_sigma_mm: float = 8.0
    unknown_sigma: float = 1.0e3  # Error, rad or mm, of quantities that were not measured


MEASUREMENT_LIMITS: Final = MeasurementLimits()
_USUAL: Final = np.array([0.0, 0.0, 0.0, *MEASUREMENT_LIMITS.usual_size_mm])
_USUAL_INFORMATION: Final = np.diag(
    [0.0, 0.0, 0.0, *(sigma_mm**-2.0 for sigma_mm in MEASUREMENT_LIMITS.usual_size_sigma_mm)]
)


@dataclass(frozen=True, slots=True)
class Measurements:
    """The figures of one frame, measured on the board; one row for each detection."""

    detections: tuple[Detection, ...]
    pose: Array  # x mm, y mm, heading in radians, length mm, width mm; shape (m, 5)
    covariance: Array  # covariance of the pose from the image noise alone, shape (m, 5, 5)
    systematic: Array  # covariance of x and y from the calibration's error, which lasts; shape (m, 2, 2)
    by_height: Array  # change of x and y with the assumed height of the base top, mm per mm, shape (m, 2)
    fallen: Array  # log-odds that the figure has fallen, from this image alone, shape (m,)
    signs: FallSigns  # what they follow from
    visible: Array  # approximate visible share of the base's top, shape (m,)
    helmet_mm: tuple[tuple[float, float] | None, ...]  # helmets' centers projected to the board; None where not visible
    front: Array  # the network's confidence in which end is the front, 0..1, shape (m,)
    light: Array  # log-odds that the jersey is the light one, 0 where unknown, shape (m,)
    colors: Array  # from `teams.sample_colors`, NaN where not sampled, shape (m, p, 3)

    def __len__(self) -> int:
        return len(self.detections)

    @property
    def scores(self) -> Array:
        """Confidence of each detection, 0..1, shape (m,)."""
        return np.array([detection.score for detection in self.detections])

    @property
    def place_sigma_mm(self) -> Array:
        """Error of each place, one sigma in both directions together, shape (m,)."""
        return np.sqrt(self.covariance[:, 0, 0] + self.covariance[:, 1, 1])

    @property
    def jump_sigma_mm(self) -> Array:
        """The same where it may explain a jump, shape (m,): the vague place of a base on its edge does not."""
        return np.where(self.fallen > 0, 0.0, self.place_sigma_mm)

    def select(self, keep: Bools) -> Measurements:
        """Return the rows to keep, given as a mask of shape (m,)."""
        return Measurements(
            detections=tuple(detection for detection, kept in zip(self.detections, keep, strict=True) if kept),
            pose=self.pose[keep],
            covariance=self.covariance[keep],
            systematic=self.systematic[keep],
            by_height=self.by_height[keep],
            fallen=self.fallen[keep],
            signs=self.signs.select(keep),
            visible=self.visible[keep],
            helmet_mm=tuple(helmet for helmet, kept in zip(self.helmet_mm, keep, strict=True) if kept),
            front=self.front[keep],
            light=self.light[keep],
            colors=self.colors[keep],
        )


def measure(detections: Sequence[Detection], calibration: Calibration, height_mm: float) -> Measurements:
    """Return the measurements of all figures among detections.

    Args:
        detections: all of one image; those off the board are left out, such as figures on the bench beside it.
        calibration: the calibration when the image was taken.
        height_mm: height of base tops over the board.
    """
    figures = tuple(detection for detection in detections if len(detection.corners_px) == 4)
    count = len(figures)
    camera = calibration.camera
    # All points are projected to the board at once: each figure's four corners, their center, and the helmet.
    points_px = np.array([_points_px(figure) for figure in figures], dtype=np.float64).reshape(count, _POINTS, 2)
    heights = np.full((count, _POINTS), height_mm)
    heights[:, _HELMET] = [
        MEASUREMENT_LIMITS.fallen_helmet_mm if figure.kind == "fallen" else MEASUREMENT_LIMITS.helmet_mm
        for figure in figures
    ]
    *located, by_parameters = locate(camera, points_px.reshape(-1, 2), heights.ravel(), select=_CENTERS)
    places, by_pixel, by_height = (values.reshape(count, _POINTS, *values.shape[1:]) for values in located)
    corners = places[:, _CORNERS]
    on_board = _on_board(corners.mean(axis=1), calibration.field)
    if not on_board.all():
        inside = [figure for figure, kept in zip(figures, on_board.tolist(), strict=True) if kept]
        return measure(inside, calibration, height_mm)
    has_scores = [len(figure.corner_scores) == 4 for figure in figures]
    seen = (MEASUREMENT_LIMITS.seen_score,) * 4
    each = [figure.corner_scores if has else seen for figure, has in zip(figures, has_scores, strict=True)]
    scores = np.array(each).reshape(count, 4)
    sigma_px = _sigma_px(figures, scores, camera.lens.size_px[0] / MEASUREMENT_LIMITS.reference_width_px)
    pose, covariance = _fit(corners, _weights(points_px[:, _CORNERS], sigma_px, by_pixel[:, _CORNERS]))
    # A base seen from its edge looks short, so its apparent size is used before sizes are made consistent.
    standing = places[:, _HELMET] + by_height[:, _HELMET] * (MEASUREMENT_LIMITS.helmet_mm - heights[:, _HELMET, None])
    signs = find_fall_signs(figures, pose[:, SIZE], pose[:, 2], standing - pose[:, PLACE])
    fallen = signs.log_odds()
    lies = fallen > 0
    _apply_likely_sizes(pose, covariance, np.flatnonzero(~lies))
    covariance[lies] = np.diag([MEASUREMENT_LIMITS.fallen_sigma_mm**2] * 2 + [MEASUREMENT_LIMITS.unknown_sigma**2] * 3)
    return Measurements(
        detections=figures,
        pose=pose,
        covariance=covariance,
        systematic=calibration.error_of(by_pixel[:, _CENTER], by_parameters),
        by_height=by_height[:, _CORNERS].mean(axis=1),
        fallen=fallen,
        signs=signs,
        visible=np.where(has_scores, np.clip(scores, 0.0, 1.0).mean(axis=1), 1.0),
        helmet_mm=tuple((x, y) if np.isfinite(x) else None for x, y in places[:, _HELMET].tolist()),
        front=np.clip(2 * np.array([figure.front_score for figure in figures]) - 1, 0.0, 1.0),
        light=np.zeros(count),
        colors=np.full((count, 0, 3), np.nan),
    )


def _on_board(place_mm: Array, field: FieldModel) -> Bools:
    x_low, y_low, x_high, y_high = field.board_mm
    x, y = place_mm.T
    inside: Bools = (x > x_low) & (x < x_high) & (y > y_low) & (y < y_high)
    return inside


def _points_px(figure: Detection) -> list[tuple[float, float]]:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = figure.corners_px
    center = (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    return [*figure.corners_px, center, figure.helmet_px or (np.nan, np.nan)]


def _sigma_px(figures: Sequence[Detection], scores: Array, scale: float) -> Array:
    """Return errors of corners along and across, px, (m, 4, 2): the network's, otherwise by corner scores, (m, 4).

    `scale`: width of the image relative to `reference_width_px`.
    """
    limits = MEASUREMENT_LIMITS
    hidden = np.clip((limits.seen_score - scores) / (limits.seen_score - limits.hidden_score), 0.0, 1.0)
    spread_px = limits.seen_corner_px + hidden * (limits.hidden_corner_px - limits.seen_corner_px)
    sigma: Array = np.repeat(scale * spread_px[..., None], 2, axis=2)
    known = [row for row, figure in enumerate(figures) if len(figure.corner_sigma_px) == 4]
    if known:
        network_px = np.array([figures[row].corner_sigma_px for row in known])
        sigma[known] = errors_by_direction(network_px, scores[known])
    return sigma


def _weights(corners_px: Array, sigma_px: Array, by_pixel: Array) -> Array:
    """Return inverse covariances of all four corners' places on the board, mm^-2.

    The correlations of corners' errors along the base, and of those across it, are the same for all bases: the inverse
    is made of these correlations' inverses, with pixels as they move with places.

    Args:
        corners_px: shape (m, 4, 2).
        sigma_px: along the base and across it, shape (m, 4, 2).
        by_pixel: change of places with pixels, mm per px, shape (m, 4, 2, 2).

    Returns:
        Over x and y of the first corner, the second and so on; shape (m, 8, 8).
    """
    heading = _heading(corners_px)  # some angle even where front and rear are one point
    cos, sin = np.cos(heading), np.sin(heading)
    axes = np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)
    slope = by_pixel @ axes[:, None] * sigma_px[:, :, None]
    (a, b), (c, d) = slope.transpose(2, 3, 0, 1)
    area = a * d - b * c
    along, across = (np.stack(error, axis=2).reshape(-1, 8) for error in ((d / area, -b / area), (-c / area, a / area)))
    weights: Array = _INVERSE_CORRELATION[0] * (along[:, :, None] * along[:, None])
    weights += _INVERSE_CORRELATION[1] * (across[:, :, None] * across[:, None])
    return weights


def _fit(corners: Array, weight: Array) -> tuple[Array, Array]:
    """Fit rectangles to corners, shape (m, 4, 2), of weights (m, 8, 8): poses (m, 5) and covariances (m, 5, 5)."""
    count = len(corners)
    pose = np.empty((count, 5))
    pose[:, PLACE], pose[:, 2] = corners.mean(axis=1), _heading(corners)
    pose[:, SIZE] = MEASUREMENT_LIMITS.usual_size_mm
    for last in [False] * MEASUREMENT_LIMITS.fit_rounds + [True]:
        model, slope = (values.reshape(count, 8, *values.shape[3:]) for values in _corners(pose))
        residual = corners.reshape(count, 8) - model
        pull = slope.transpose(0, 2, 1) @ weight
        information = pull @ slope + _USUAL_INFORMATION
        if last:
            break
        gradient = np.einsum("mpi,mi->mp", pull, residual) + (_USUAL - pose) @ _USUAL_INFORMATION
        pose = pose + np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        pose[:, SIZE] = np.maximum(pose[:, SIZE], MEASUREMENT_LIMITS.min_size_mm)
    unusual = pose - _USUAL
    misfit = np.einsum("mi,mij,mj->m", residual, weight, residual)
    misfit = misfit + np.einsum("mp,mp->m", unusual @ _USUAL_INFORMATION, unusual)
    pose[:, 2] = wrap_rad(pose[:, 2])
    larger = np.maximum(1.0, misfit / MEASUREMENT_LIMITS.fit_chi2)[:, None, None]
    return pose, np.linalg.inv(information) * larger


def _heading(corners: Array) -> Array:
    """Return headings of bases by their corners, shape (m, 4, 2), in radians, shape (m,)."""
    x, y = (corners[:, 0] + corners[:, 1] - (corners[:, 2] + corners[:, 3])).T
    heading: Array = np.arctan2(y, x)
    return heading


def _apply_likely_sizes(pose: Array, covariance: Array, rows: Indices) -> None:
    """Correct, in place, the sizes of some poses, shape (m, 5), and covariances by the sizes of the other bases.

    Place and heading follow: if a base was measured too short at its front, its center moves ahead.
    """
    if len(rows) < SIZE_CORRECTION_LIMITS.min_bases:
        return
    size, cov = pose[rows, SIZE], covariance[rows]
    noise = np.diagonal(cov[:, SIZE, SIZE], axis1=1, axis2=2)
    likely, left = estimate_sizes(np.log(size), noise / size**2)
    gain = np.linalg.solve(cov[:, SIZE, SIZE], cov[:, SIZE]).transpose(0, 2, 1)
    grown = size * np.expm1(likely - np.log(size))
    pose[rows] += np.einsum("mik,mk->mi", gain, grown)
    known = np.zeros((len(rows), 2, 2))
    known[:, [0, 1], [0, 1]] = left * size**2 - noise
    # Length and width can't be more correlated than their remaining errors allow.
    joint = cov[:, SIZE, SIZE][:, 0, 1]
    limit = MEASUREMENT_LIMITS.max_size_correlation * (left * size**2).prod(axis=1) ** 0.5
    known[:, [0, 1], [1, 0]] = (np.clip(joint, -limit, limit) - joint)[:, None]
    covariance[rows] = cov + gain @ known @ gain.transpose(0, 2, 1)


def _corners(pose: Array) -> tuple[Array, Array]:
    """Return corners of rectangles, shape (m, 4, 2), and their derivatives by the five numbers, shape (m, 4, 2, 5)."""
    cos, sin = np.cos(pose[:, 2, None]), np.sin(pose[:, 2, None])
    slope = np.zeros((len(pose), 4, 2, 5))
    slope[..., 0, 0] = slope[..., 1, 1] = 1.0
    slope[..., 0, 3], slope[..., 1, 3] = _ENDS * cos, _ENDS * sin
    slope[..., 0, 4], slope[..., 1, 4] = -_SIDES * sin, _SIDES * cos
    off = slope[..., 3] * pose[:, None, 3:4] + slope[..., 4] * pose[:, None, 4:5]  # from the center
    slope[..., 0, 2], slope[..., 1, 2] = -off[..., 1], off[..., 0]
    return pose[:, None, PLACE] + off, slope
