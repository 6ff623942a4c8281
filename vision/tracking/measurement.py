"""Detections as measurements on the board: place, heading and size of every base seen, with their errors.

The four corners of a base's top are brought down to the board through the full camera at the base's height, each with
the covariance of its pixels; a rectangle is fitted to them. Hidden corners take part with their larger noise, so what
the picture doesn't say about a half-hidden base shows in the fit's covariance, and a tracker that knows the base's size
makes the best of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.calibration import Calibration
from downfield.calibration.jacobians import locate
from downfield.core.angles import wrap_rad
from downfield.core.arrays import Array
from downfield.core.field import FieldModel
from downfield.core.frame import Detection
from downfield.models.base_sizes import FEWEST, estimate_sizes
from downfield.models.corner_errors import CORNER_CORRELATION, errors_by_direction
from downfield.vision.tracking.fall_evidence import lying_odds

PLACE, POSE, SIZE = slice(0, 2), slice(0, 3), slice(3, 5)
"""Of a measurement: x and y mm; these and the heading in radians; length and width mm."""

Place = tuple[float, float]


_CORNERS, _MIDDLE, _HELMET, _POINTS = slice(0, 4), 4, 5, 6  # of what is seen of a figure
_MIDDLES: Final = slice(_MIDDLE, None, _POINTS)  # of what is seen of all of them
# Inverse correlations of errors along and across, for x and y of all corners, shape (2, 8, 8).
_BY_ERRORS: Final = np.asarray(np.linalg.inv(CORNER_CORRELATION.transpose(2, 0, 1))).repeat(2, axis=1).repeat(2, axis=2)
_ENDS, _SIDES = np.array([0.5, 0.5, -0.5, -0.5]), np.array([0.5, -0.5, -0.5, 0.5])  # of corners: front, left

HELMET_MM: Final = 32.0
"""Height of a helmet's middle over the board, about: figures are 27 to 40 mm high."""

_LYING_HELMET_MM: Final = 10.0
_SEEN_PX: Final = 0.65  # error of a corner in full view, in a picture `_WIDTH_PX` wide
_HIDDEN_PX: Final = 2.2  # and of one that has to be guessed
_SEEN_SCORE, _HIDDEN_SCORE = 0.8, 0.35  # corner scores that stand for either; between them the error runs straight
_WIDTH_PX: Final = 1920.0
_LIKELY_MM: Final = (30.0, 18.0)  # a base's usual size, and how much bases differ: hardly a constraint, but one that
_SPREAD_MM: Final = (5.0, 4.0)  # keeps the fit sound when two corners are guesses
_LIKELY: Final = np.array([0.0, 0.0, 0.0, *_LIKELY_MM])  # a pose that nothing is known of, and its information
_PRIOR: Final = np.diag([0.0, 0.0, 0.0, *(spread_mm**-2.0 for spread_mm in _SPREAD_MM)])
_ROUNDS: Final = 3
_MISFIT: Final = 11.1  # 95 % of honest fits leave less: chi squared of 8 coordinates and 2 likely sides, less 5 fitted
_LYING_MM: Final = 8.0  # error of the middle of a base that lies: it is seen half a base from where it stood
_UNKNOWN_RAD: Final = 1.0e3  # of what a measurement doesn't tell


@dataclass(frozen=True, slots=True)
class Measurements:
    """The figures of one frame, as measured; rows are `detections`.

    Attributes:
        detections: them.
        pose: x mm, y mm, heading in radians, length mm, width mm; shape (m, 5).
        covariance: of these, by the noise of the picture alone, shape (m, 5, 5).
        systematic: of x and y, by what lasts: the calibration's error; shape (m, 2, 2).
        by_height: how x and y move with the height of what was seen, mm per mm, shape (m, 2).
        fallen: log-odds that the figure lies, by this picture alone, shape (m,).
        visible: share of the base's top that is seen, about; shape (m,).
        helmet_mm: helmets' centers brought down to the board; None where not seen.
        front: how sure the network is which end is the front, 0..1, shape (m,).
        light: log-odds that the jersey is the light one, 0 where nothing is known, shape (m,).
        colors: as of `teams.sample_colors`, NaN where nobody looked, shape (m, p, 3).

    """

    detections: tuple[Detection, ...]
    pose: Array
    covariance: Array
    systematic: Array
    by_height: Array
    fallen: Array
    visible: Array
    helmet_mm: tuple[Place | None, ...]
    front: Array
    light: Array
    colors: Array

    def __len__(self) -> int:
        return len(self.detections)

    def only(self, keep: NDArray[np.bool_]) -> Measurements:
        """Some of them."""
        chosen = tuple(one for one, kept in zip(self.detections, keep, strict=True) if kept)
        helmets = tuple(one for one, kept in zip(self.helmet_mm, keep, strict=True) if kept)
        return Measurements(
            detections=chosen,
            pose=self.pose[keep],
            covariance=self.covariance[keep],
            systematic=self.systematic[keep],
            by_height=self.by_height[keep],
            fallen=self.fallen[keep],
            visible=self.visible[keep],
            helmet_mm=helmets,
            front=self.front[keep],
            light=self.light[keep],
            colors=self.colors[keep],
        )


def measure(detections: Sequence[Detection], calibration: Calibration, height_mm: float) -> Measurements:
    """Measure every figure among detections.

    Args:
        detections: of one picture; what has no base on the board is left out, such as men on the bench beside it.
        calibration: with the camera as it stood when the picture was taken.
        height_mm: of base tops over the board.

    """
    figures = tuple(one for one in detections if len(one.corners_px) == 4)
    count = len(figures)
    camera = calibration.camera
    # All that is to be brought down to the board at once: of each figure four corners, their middle, and the helmet.
    points_px = np.array([_points_px(one) for one in figures], dtype=np.float64).reshape(count, _POINTS, 2)
    heights = np.full((count, _POINTS), height_mm)
    heights[:, _HELMET] = [_LYING_HELMET_MM if one.kind == "fallen" else HELMET_MM for one in figures]
    *located, by_parameters = locate(camera, points_px.reshape(-1, 2), heights.ravel(), select=_MIDDLES)
    places, by_pixel, by_height = (values.reshape(count, _POINTS, *values.shape[1:]) for values in located)
    corners = places[:, _CORNERS]
    there = _on_board(corners.mean(axis=1), calibration.field)
    if not there.all():
        return measure([one for one, kept in zip(figures, there.tolist(), strict=True) if kept], calibration, height_mm)
    seen = np.array([_corner_scores(one) for one in figures]).reshape(count, 4)
    sigma_px = _sigma_px(figures, seen, camera.lens.size_px[0] / _WIDTH_PX)
    pose, covariance = _fitted(corners, _weights(points_px[:, _CORNERS], sigma_px, by_pixel[:, _CORNERS]))
    # A base seen from its edge looks short, so what it looks like comes before what it is likely to be.
    standing = places[:, _HELMET] + by_height[:, _HELMET] * (HELMET_MM - heights[:, _HELMET, None])
    fallen = lying_odds(figures, pose[:, SIZE], pose[:, 2], standing - pose[:, PLACE])
    lying = fallen > 0
    _take_likely_sizes(pose, covariance, np.flatnonzero(~lying))
    covariance[lying] = np.diag([_LYING_MM**2] * 2 + [_UNKNOWN_RAD**2] * 3)
    return Measurements(
        detections=figures,
        pose=pose,
        covariance=covariance,
        systematic=calibration.error_of(by_pixel[:, _MIDDLE], by_parameters),
        by_height=by_height[:, _CORNERS].mean(axis=1),
        fallen=fallen,
        visible=np.where([len(one.corner_scores) == 4 for one in figures], np.clip(seen, 0.0, 1.0).mean(axis=1), 1.0),
        helmet_mm=tuple((x, y) if np.isfinite(x) else None for x, y in places[:, _HELMET].tolist()),
        front=np.clip(2 * np.array([one.front_score for one in figures]) - 1, 0.0, 1.0),
        light=np.zeros(count),
        colors=np.full((count, 0, 3), np.nan),
    )


def _on_board(place_mm: Array, field: FieldModel) -> NDArray[np.bool_]:
    x_low, y_low, x_high, y_high = field.board_mm
    x, y = place_mm.T
    inside: NDArray[np.bool_] = (x > x_low) & (x < x_high) & (y > y_low) & (y < y_high)
    return inside


def _points_px(figure: Detection) -> list[Place]:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = figure.corners_px
    middle = (ax + bx + cx + dx) / 4, (ay + by + cy + dy) / 4
    return [*figure.corners_px, middle, figure.helmet_px or (np.nan, np.nan)]


def _corner_scores(figure: Detection) -> tuple[float, ...]:
    return figure.corner_scores if len(figure.corner_scores) == 4 else (_SEEN_SCORE,) * 4


def _sigma_px(figures: Sequence[Detection], seen: Array, scale: float) -> Array:
    """Errors of corners along and across, px, shape (m, 4, 2): as the network tells, else by their scores.

    Args:
        figures: m of them.
        seen: scores of their corners, shape (m, 4).
        scale: width of the picture, by `_WIDTH_PX`.

    """
    hidden = np.clip((_SEEN_SCORE - seen) / (_SEEN_SCORE - _HIDDEN_SCORE), 0.0, 1.0)
    sigma: Array = np.repeat(scale * (_SEEN_PX + hidden * (_HIDDEN_PX - _SEEN_PX))[..., None], 2, axis=2)
    told = [row for row, one in enumerate(figures) if len(one.corner_sigma_px) == 4]
    if told:
        sigma[told] = errors_by_direction(np.array([figures[row].corner_sigma_px for row in told]), seen[told])
    return sigma


def _weights(corners_px: Array, sigma_px: Array, by_pixel: Array) -> Array:
    """Inverse covariances of all four corners' places on the board, mm^-2.

    What corners' errors along the base have to do with each other, and those across it, is the same for all bases: the
    inverse is made of these correlations' inverses, with pixels as they move with places.

    Args:
        corners_px: shape (m, 4, 2).
        sigma_px: along the base and across it, shape (m, 4, 2).
        by_pixel: how places move with pixels, mm per px, shape (m, 4, 2, 2).

    Returns:
        Of x and y of one corner after the other, shape (m, 8, 8).

    """
    way = _way(corners_px)  # some way even where front and rear are one point
    cos, sin = np.cos(way), np.sin(way)
    axes = np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)
    slope = by_pixel @ axes[:, None] * sigma_px[:, :, None]
    (a, b), (c, d) = slope.transpose(2, 3, 0, 1)
    area = a * d - b * c
    along, across = (np.stack(error, axis=2).reshape(-1, 8) for error in ((d / area, -b / area), (-c / area, a / area)))
    weights: Array = _BY_ERRORS[0] * (along[:, :, None] * along[:, None])
    weights += _BY_ERRORS[1] * (across[:, :, None] * across[:, None])
    return weights


def _fitted(corners: Array, weight: Array) -> tuple[Array, Array]:
    """Rectangles through corners, shape (m, 4, 2), of weights (m, 8, 8): (m, 5) and covariances (m, 5, 5)."""
    count = len(corners)
    pose = np.empty((count, 5))
    pose[:, PLACE], pose[:, 2], pose[:, SIZE] = corners.mean(axis=1), _way(corners), _LIKELY_MM
    for last in [False] * _ROUNDS + [True]:
        model, slope = (values.reshape(count, 8, *values.shape[3:]) for values in _corners(pose))
        left = corners.reshape(count, 8) - model
        pull = slope.transpose(0, 2, 1) @ weight
        information = pull @ slope + _PRIOR
        if last:
            break
        gradient = np.einsum("mpi,mi->mp", pull, left) + (_LIKELY - pose) @ _PRIOR
        pose = pose + np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        pose[:, SIZE] = np.maximum(pose[:, SIZE], 1.0)
    unlikely = pose - _LIKELY
    misfit = np.einsum("mi,mij,mj->m", left, weight, left) + np.einsum("mp,mp->m", unlikely @ _PRIOR, unlikely)
    pose[:, 2] = wrap_rad(pose[:, 2])
    covariance: Array = np.linalg.inv(information) * np.maximum(1.0, misfit / _MISFIT)[:, None, None]
    return pose, covariance


def _way(corners: Array) -> Array:
    """Which way bases point by their corners, shape (m, 4, 2), in radians, shape (m,)."""
    x, y = (corners[:, 0] + corners[:, 1] - (corners[:, 2] + corners[:, 3])).T
    way: Array = np.arctan2(y, x)
    return way


def _take_likely_sizes(pose: Array, covariance: Array, rows: NDArray[np.intp]) -> None:
    """Give some of the poses, shape (m, 5), and covariances, in place, sizes as each other's make them likely.

    Place and heading follow: a base whose front was taken to end too early has its middle further on.
    """
    if len(rows) < FEWEST:
        return
    size, cov = pose[rows, SIZE], covariance[rows]
    noise = np.diagonal(cov[:, SIZE, SIZE], axis1=1, axis2=2)
    likely, left = estimate_sizes(np.log(size), noise / size**2)
    gain = np.linalg.solve(cov[:, SIZE, SIZE], cov[:, SIZE]).transpose(0, 2, 1)
    grown = size * np.expm1(likely - np.log(size))
    pose[rows] += np.einsum("mik,mk->mi", gain, grown)
    known = np.zeros((len(rows), 2, 2))
    known[:, [0, 1], [0, 1]] = left * size**2 - noise
    covariance[rows] = cov + gain @ known @ gain.transpose(0, 2, 1)


def _corners(pose: Array) -> tuple[Array, Array]:
    """Corners of rectangles, shape (m, 4, 2), and how they move with the five numbers, shape (m, 4, 2, 5)."""
    cos, sin = np.cos(pose[:, 2, None]), np.sin(pose[:, 2, None])
    slope = np.zeros((len(pose), 4, 2, 5))
    slope[..., 0, 0] = slope[..., 1, 1] = 1.0
    slope[..., 0, 3], slope[..., 1, 3] = _ENDS * cos, _ENDS * sin
    slope[..., 0, 4], slope[..., 1, 4] = -_SIDES * sin, _SIDES * cos
    off = slope[..., 3] * pose[:, None, 3:4] + slope[..., 4] * pose[:, None, 4:5]  # a turn swings it round the middle
    slope[..., 0, 2], slope[..., 1, 2] = -off[..., 1], off[..., 0]
    return pose[:, None, PLACE] + off, slope
