"""Observes where yard lines end: the inner edges of the sidelines, whatever is painted beyond them.

A sideline may border on paint, a margin or a rail of any color, and where it is thin its two edges blur into one that
lies between them. But a yard line stands out from the ground beside it right up to the sideline and no further, so the
place where its contrast has fallen to half is the edge, free of what lies beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import Observations
from downfield.calibration.field.lines.line_chains import levels_at
from downfield.calibration.systematic_error import LINE_END
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel
from downfield.core.mathematics import normal_cdf


@dataclass(frozen=True, slots=True)
class LineEndLimits:
    """Where the ends of yard lines are searched for, and what counts as one."""

    step_px: float = 0.5  # spacing of profiles along the lines
    plateau_px: float = 6.0  # length of a line's own paint that is sampled before its end, and of the ground beyond it
    across: tuple[float, ...] = (-0.25, 0.0, 0.25)  # where across a line its paint is sampled, in its widths
    ground_px: float = 2.5  # distance beside the paint at which the ground is sampled
    max_misfit: float = 0.2  # largest rms of what an edge leaves of the profile, as a share of the contrast
    min_contrast: float = 0.4  # least contrast of an end, as a share of a typical one: others are worn or covered
    sigma_floor_px: float = 0.1  # ends are cut, worn and blurred by so much beyond the profile's own noise
    trial_px: float = 0.1  # spacing of the places that are tried


_LIMITS: Final = LineEndLimits()


def observe_line_ends(
    plane: Plane, camera: Camera, field: FieldModel, search_px: float, blur_px: float, first_cluster: int
) -> Observations:
    """Observe the ends of yard lines, which lie on the sidelines' inner edges.

    Args:
        blur_px: standard deviation of the picture's blur.
        first_cluster: number of the first cluster; each sideline has two, of its halves.
    """
    lines = [line for line in field.lines() if line.kind == "yard_line"]
    ends_mm = np.array([(sum(line.x_mm) / 2, y) for line in lines for y in line.y_mm]).reshape(-1, 2)
    out_mm = np.tile([(0.0, -1.0), (0.0, 1.0)], (len(lines), 1))
    px = camera.to_pixels(ends_mm)
    outward, along = _direction(camera, ends_mm, out_mm), _direction(camera, ends_mm, out_mm[:, ::-1])
    width_px = field.line_width_mm("yard_line") * np.linalg.norm(along, axis=1)
    outward, along = (way / np.linalg.norm(way, axis=1, keepdims=True) for way in (outward, along))
    reach = search_px + _LIMITS.plateau_px
    places = np.arange(-reach, reach + _LIMITS.step_px / 2, _LIMITS.step_px)
    inside = ((px > reach) & (px < np.array(plane.shape[::-1]) - 1 - reach)).all(axis=1)

    def levels(aside_px: Array) -> Array:
        at = px[:, None] + places[:, None] * outward[:, None] + (aside_px[:, None] * along)[:, None]
        return levels_at(plane, np.nan_to_num(at))

    paint = sum(levels(share * width_px) for share in _LIMITS.across) / len(_LIMITS.across)
    beside = width_px / 2 + _LIMITS.ground_px
    contrast = paint - (levels(beside) + levels(-beside)) / 2
    offset, sigma, height, misfit = _fit_edges(contrast, places, search_px, blur_px)
    typical = float(np.median(height[inside])) if inside.any() else 0.0
    found = inside & (misfit < _LIMITS.max_misfit) & (height * np.sign(typical) > _LIMITS.min_contrast * abs(typical))
    normals = along[:, ::-1] * (1.0, -1.0)
    normals *= np.sign((normals * outward).sum(axis=1))[:, None]
    half = (ends_mm[:, 0] > field.length_mm / 2).astype(np.intp)
    cluster = first_cluster + 2 * half + np.tile([0, 1], len(lines))
    return Observations(
        np.column_stack([ends_mm, np.zeros(len(ends_mm))]),
        px + offset[:, None] * outward,
        normals,
        np.hypot(sigma, _LIMITS.sigma_floor_px),
        cluster,
        np.full(len(ends_mm), LINE_END),
        np.full(len(ends_mm), -1),
    )[found]


def _direction(camera: Camera, points_mm: Array, way_mm: Array) -> Array:
    """Return how a millimeter some way moves points in the picture, px, shape (n, 2)."""
    return camera.to_pixels(points_mm + way_mm / 2) - camera.to_pixels(points_mm - way_mm / 2)


def _fit_edges(contrast: Array, places: Array, search_px: float, blur_px: float) -> tuple[Array, Array, Array, Array]:
    """Fit each profile, shape (n, k), by a contrast that ends at an edge: its place, sigma, height, relative misfit."""
    trials = np.arange(-search_px, search_px + _LIMITS.trial_px / 2, _LIMITS.trial_px)
    shapes = normal_cdf((trials[:, None] - places) / blur_px)
    power = (shapes**2).sum(axis=1)
    along = contrast @ shapes.T
    left = (contrast**2).sum(axis=1, keepdims=True) - along**2 / power
    best = left.argmin(axis=1)
    rows = np.arange(len(contrast))
    height = along[rows, best] / power[best]
    variance = left[rows, best] / (len(places) - 2)
    # An edge's place is known by where the profile falls, as steep as its height and the blur make it.
    slope = np.abs(height) * np.sqrt(1 / (2 * np.sqrt(np.pi) * blur_px * _LIMITS.step_px))
    sigma = np.sqrt(2 * np.maximum(variance, 0)) / np.maximum(slope, 1e-6)  # half the samples are independent
    return trials[best], sigma, height, np.sqrt(np.maximum(variance, 0)) / np.maximum(np.abs(height), 1e-6)
