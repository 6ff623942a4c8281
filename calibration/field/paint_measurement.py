"""Measures paint: the profile of the picture across each sample, fitted by two edges a known width apart.

Across a painted line the picture goes from one ground to the paint and on to another ground (another stripe, an end
zone, the border), each edge blurred by optics and pixels. Fitting all three levels keeps a change of ground from
displacing the line, and finds a sideline that borders on other paint by its inner edge alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import Observations
from downfield.calibration.field.paint_samples import PaintSamples, sample_long_lines
from downfield.core.arrays import Array, Plane
from downfield.core.field import FieldModel


@dataclass(frozen=True, slots=True)
class PaintLimits:
    """Thresholds of measuring paint."""

    step_px: float = 0.5
    """Spacing of the samples of a profile."""
    rim_px: float = 2.5
    """Ground seen beyond the paint on both sides."""
    along_px: tuple[float, ...] = (-3.0, -1.5, 0.0, 1.5, 3.0)
    """Where along the line profiles are taken and averaged, against noise."""
    blurs_px: tuple[float, ...] = (0.6, 0.85, 1.2, 1.7, 2.4)
    """Standard deviations of the edges' blur that are tried."""
    fine_steps: int = 4
    """Gauss-Newton steps."""
    width_spread_px: float = 0.25
    """Of the paint's width: a rail hides some of a sideline, or its shade adds some."""
    noise_start: float = 2.0
    """Noise assumed first, gray levels,"""
    noise_floor: float = 0.35
    """and at least: rounding and compression."""
    misfit: float = 0.28
    """Largest rms of what the model leaves, as a share of the contrast, where paint is really there."""
    widest_px: float = 14.0
    """Wider paint is not measured,"""
    wide_px: float = 8.0
    """but of a border of its own color that is wider than this, the inner edge:"""
    border_px: float = 5.0
    """it is then taken to be so wide."""
    faintest: float = 0.15
    """Of the typical contrast,"""
    faintest_levels: float = 1.5
    """and in gray levels: fainter paint is not found."""
    sigma_floor_px: float = 0.04
    """Texture, wear and compression move an edge by this much beyond the profile's own noise."""
    cluster_yd: float = 10.0
    """Observations of one line within so many yards are disturbed together."""
    outlier: float = 4.0
    """Sigmas beyond which a displacement between frames is an outlier."""


LIMITS: Final = PaintLimits()


@dataclass(frozen=True, slots=True)
class PaintMeasurement:
    """What was measured at each sample; arrays of shape (n,) unless stated.

    Attributes:
        px: where the sample was predicted, shape (n, 2).
        normals: unit direction in the picture across the paint, shape (n, 2).
        offset_px: how far along the normal the paint's center was found from there.
        sigma_px: its standard deviation by the profile's own noise.
        contrast: paint less the ground on its playing side, gray levels, signed.
        far_contrast: paint less the ground on its outer side.
        found: whether paint is there: clear, fitting the model, and within the search.
        blur_px: standard deviation of the edges' blur, one number for the picture.

    """

    px: Array
    normals: Array
    offset_px: Array
    sigma_px: Array
    contrast: Array
    far_contrast: Array
    found: NDArray[np.bool_]
    blur_px: float

    @property
    def paint(self) -> float:
        """Typical contrast of the paint that was found, signed; 0 when none was."""
        return float(np.median(self.contrast[self.found])) if self.found.any() else 0.0


def measure_paint(
    plane: Plane,
    camera: Camera,
    samples: PaintSamples,
    search_px: float,
    like: PaintMeasurement | None = None,
    *,
    by_inner_edge: bool = False,
) -> PaintMeasurement:
    """Measure the paint at samples.

    Args:
        plane: gray picture, shape (height, width), 0..255.
        camera: predicts where the samples are.
        samples: places on painted lines.
        search_px: how far off the prediction may be.
        like: measurement of other paint in this picture, whose contrast and blur are used; else both are estimated
            from these samples.
        by_inner_edge: whether lines that are not free are placed by their inner edge rather than by both.

    """
    px, normals, widths = _predict(camera, samples)
    centers = px
    # Of a wide border only the inner edge is measured, and nothing near the outer one is looked at.
    wide = samples.own_color & (widths > LIMITS.wide_px)
    seen = np.where(wide, widths - LIMITS.border_px / 2 - LIMITS.rim_px - search_px, np.inf)
    excess = np.where(wide, widths - LIMITS.border_px, 0.0)
    px, widths = px - excess[:, None] / 2 * normals, widths - excess
    height, width = plane.shape
    reach = search_px + np.minimum(widths, LIMITS.widest_px).max(initial=1.0) / 2 + LIMITS.rim_px
    inside = ((px > reach) & (px < np.array([width, height]) - 1 - reach)).all(axis=1)
    inside &= widths < LIMITS.widest_px
    places = np.arange(-reach, reach + LIMITS.step_px / 2, LIMITS.step_px)
    levels = _sample(plane, px, normals, np.minimum(places, seen[:, None]))
    blurs = LIMITS.blurs_px if like is None else (like.blur_px,)
    blur, center = _search_by_color(levels[inside], places, widths[inside], samples.own_color[inside], search_px, blurs)
    n = len(px)
    offset, sigma = np.zeros(n), np.full(n, np.inf)
    near, far, misfit = np.zeros(n), np.zeros(n), np.full(n, np.inf)
    tied = samples.is_free[inside] | (not by_inner_edge)
    fine = _refine(levels[inside], places, widths[inside], tied, center, blur)
    for whole, part in zip((offset, sigma, near, far, misfit), fine, strict=True):
        whole[inside] = part
    found = (
        inside
        & (np.abs(offset) < search_px)
        & _is_paint(samples, near, far, misfit, None if like is None else like.paint)
    )
    return PaintMeasurement(centers, normals, offset, sigma, near, far, found, blur)


def _predict(camera: Camera, samples: PaintSamples) -> tuple[Array, Array, Array]:
    """Predict pixels, normals and paint widths, px."""
    px = camera.to_pixels(samples.points_mm)
    # The edge of the paint runs in the picture along the image of the line; its normal is perpendicular to that.
    along_mm = samples.across_mm[:, ::-1] * (1.0, -1.0)
    run = camera.to_pixels(samples.points_mm + 0.5 * along_mm) - camera.to_pixels(samples.points_mm - 0.5 * along_mm)
    out = camera.to_pixels(samples.points_mm + 0.5 * samples.across_mm) - camera.to_pixels(
        samples.points_mm - 0.5 * samples.across_mm
    )
    with np.errstate(invalid="ignore"):
        normals = run[:, ::-1] * (1.0, -1.0)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        stretch = (normals * out).sum(axis=1)
    normals = normals * np.sign(stretch)[:, None]
    widths = np.abs(stretch) * samples.width_mm
    lost = ~np.isfinite(px).all(axis=1) | ~np.isfinite(widths)
    px, normals, widths = px.copy(), normals.copy(), widths.copy()
    px[lost], normals[lost], widths[lost] = -1e6, (1.0, 0.0), 1.0
    return px, normals, widths


def _sample(plane: Plane, px: Array, normals: Array, places: Array) -> Array:
    """Sample gray levels at places across each sample, averaged along the line; shape (n, places)."""
    runs = normals[:, ::-1] * (1.0, -1.0)
    total = np.zeros(places.shape)
    for along in LIMITS.along_px:
        at = px[:, None, :] + along * runs[:, None, :] + places[..., None] * normals[:, None, :]
        at = np.clip(at, -30000, 30000).astype(np.float32)
        total += cv2.remap(plane, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return total / len(LIMITS.along_px)


def _step(z: Array) -> Array:
    step: Array = 0.5 * (1 + erf(z / np.sqrt(2)))
    return step


def _bump(z: Array) -> Array:
    bump: Array = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return bump


def _search_by_color(
    levels: Array,
    places: Array,
    widths: Array,
    own_color: NDArray[np.bool_],
    search_px: float,
    blurs: tuple[float, ...],
) -> tuple[float, Array]:
    """Search as `_search` does, borders of their own color apart from other paint, whose width they do not share."""
    blur, center = _search(levels[~own_color], places, widths[~own_color], search_px, blurs)
    if not own_color.any():
        return blur, center
    centers = np.empty(len(levels))
    centers[~own_color] = center
    centers[own_color] = _search(levels[own_color], places, widths[own_color], search_px, (blur,))[1]
    return blur, centers


def _search(
    levels: Array, places: Array, widths: Array, search_px: float, blurs: tuple[float, ...]
) -> tuple[float, Array]:
    """Find the picture's blur, and each sample's center to half a pixel, by trying all."""
    if not len(levels):
        return blurs[0], np.empty(0)
    trials = np.arange(-search_px, search_px + 0.25, 0.5)
    typical = np.median(widths, keepdims=True)
    centered = levels - levels.mean(axis=1, keepdims=True)
    best_blur, best_cost, best_center = blurs[0], np.inf, np.zeros(len(levels))
    for blur in blurs:
        cost = np.empty((len(levels), len(trials)))
        for k in range(len(trials)):
            inner, outer = (_step((places - trials[k] + side * typical / 2) / blur) for side in (1, -1))
            basis, _ = np.linalg.qr(np.stack([np.ones_like(places), inner, outer], axis=1))
            cost[:, k] = (centered**2).sum(axis=1) - ((centered @ basis) ** 2).sum(axis=1)
        smallest = cost.min(axis=1)
        total = float(np.median(smallest / np.maximum((centered**2).sum(axis=1), 1.0)))
        if total < best_cost:
            best_blur, best_cost, best_center = blur, total, trials[cost.argmin(axis=1)]
    return best_blur, best_center


def _refine(
    levels: Array, places: Array, widths: Array, tied: NDArray[np.bool_], center: Array, blur: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Refine level, two steps and their edges by Gauss-Newton: center, its sigma, contrasts, relative misfit.

    Where the edges are not `tied` to the paint's width, shape (n,), the outer one may be off a little, and the center
    is half that width from the inner edge.
    """
    n, k = levels.shape
    variance = np.full(n, LIMITS.noise_start**2)
    near_edge, far_edge = center - widths / 2, center + widths / 2
    rim = widths[:, None] / 2 + LIMITS.rim_px
    design = np.zeros((n, k, 5))
    answer = np.zeros((n, 5))
    inverse = np.tile(np.eye(5), (n, 1, 1))
    weight = np.ones((n, k))
    for step in range(LIMITS.fine_steps + 1):
        inner, outer = (places - edge[:, None] for edge in (near_edge, far_edge))
        # Only the ground next to the paint counts; what is further off steadies the levels a little.
        weight = 1 / (1 + (np.abs(inner + outer) / 2 / rim) ** 8)
        slopes = [-answer[:, i, None] * _bump(off / blur) / blur for i, off in ((1, inner), (2, outer))]
        wider = np.where(tied[:, None], 0.0, slopes[1])
        design = np.stack([np.ones((n, k)), _step(inner / blur), _step(outer / blur), sum(slopes), wider], axis=2)
        ridge = np.diag([1e-6, 1e-3, 1e-3, 1e-3, 1e-3])
        normal = design.transpose(0, 2, 1) @ (weight[:, :, None] * design) + ridge
        seen = design.transpose(0, 2, 1) @ (weight * levels)[:, :, None]
        normal[:, 4, 4] += variance / LIMITS.width_spread_px**2
        seen[:, 4, 0] -= variance / LIMITS.width_spread_px**2 * (far_edge - near_edge - widths)
        inverse = np.asarray(np.linalg.inv(normal), dtype=np.float64)
        answer = (inverse @ seen)[:, :, 0]
        if step:
            move = np.clip(answer[:, 3:], -0.5, 0.5)
            near_edge = near_edge + move[:, 0]
            far_edge = far_edge + move[:, 0] + np.where(tied, 0.0, move[:, 1])
        left = levels - (design @ answer[:, :, None])[:, :, 0]
        used = weight.sum(axis=1)
        variance = (weight * left**2).sum(axis=1) / np.maximum(used - 4, 1) + LIMITS.noise_floor**2
    # Samples half a pixel apart share pixels: about half of them are independent.
    sigma = np.sqrt(np.maximum(inverse[:, 3, 3], 0) * variance / LIMITS.step_px)
    near, far = answer[:, 1], -answer[:, 2]
    contrast = np.maximum(np.maximum(np.abs(near), np.abs(far)), 1e-6)
    misfit = np.sqrt((weight * left**2).sum(axis=1) / np.maximum(used, 1)) / contrast
    return near_edge + widths / 2, sigma, near, far, misfit


def _is_paint(samples: PaintSamples, near: Array, far: Array, misfit: Array, paint: float | None) -> NDArray[np.bool_]:
    """Return whether profiles look like paint of the picture's own polarity."""
    plausible = misfit < LIMITS.misfit
    if paint is None:
        free = samples.is_free & plausible
        paint = float(np.median((near + far)[free]) / 2) if free.any() else 0.0
    floor = max(LIMITS.faintest * abs(paint), LIMITS.faintest_levels)
    sign = np.where(samples.own_color, _line_signs(samples, np.where(plausible, near, 0.0)), np.sign(paint))
    stands_in, stands_out = near * sign > floor, far * sign > floor
    ok: NDArray[np.bool_] = plausible & stands_in & (stands_out | ~samples.is_free)
    return ok


def _line_signs(samples: PaintSamples, near: Array) -> Array:
    """Return the polarity that most of each sample's line has, shape (n,)."""
    _, line = np.unique(samples.line, return_inverse=True)
    return np.asarray(np.sign(np.bincount(line, np.sign(near)))[line], dtype=np.float64)


def observe_paint(planes: Sequence[Plane], camera: Camera, field: FieldModel, search_px: float) -> Observations:
    """Observe the long lines in one or several frames, brought to the first frame.

    Args:
        planes: gray pictures of the same size; the camera may have shaken by a few pixels between them.
        camera: predicts where the lines are in the first.
        field: the printed field.
        search_px: how far off the prediction may be.

    """
    samples = sample_long_lines(field)
    cluster = _clusters(samples, field)
    boundary = np.where(samples.is_free, -1, samples.line)
    points = np.column_stack([samples.points_mm, np.zeros(len(samples.line))])
    parts = []
    first: PaintMeasurement | None = None
    for plane in planes:
        seen = measure_paint(plane, camera, samples, search_px, by_inner_edge=True)
        offset, found = seen.offset_px, seen.found
        if first is not None:
            offset = offset - _displacement(seen, first)
        first = first or seen
        sigma = np.hypot(seen.sigma_px, LIMITS.sigma_floor_px) * np.sqrt(len(planes))
        px = seen.px + offset[:, None] * seen.normals
        parts.append(Observations(points, px, seen.normals, sigma, cluster, boundary)[found])
    return parts[0] if len(parts) == 1 else _stacked(parts)


def _clusters(samples: PaintSamples, field: FieldModel) -> NDArray[np.intp]:
    """Number the stretches of lines."""
    along = np.abs(samples.across_mm[:, ::-1])
    stretch = np.floor((samples.points_mm / field.mm_per_yd * along).sum(axis=1) / LIMITS.cluster_yd)
    _, cluster = np.unique(np.stack([samples.line, stretch]), axis=1, return_inverse=True)
    return np.asarray(cluster).reshape(-1)


def _displacement(seen: PaintMeasurement, first: PaintMeasurement) -> Array:
    """Return how far a frame's lines are displaced along their normals from the first's, as a similarity."""
    both = seen.found & first.found
    moved = (seen.offset_px - first.offset_px)[both]
    shapes = _similarity(seen.px, seen.normals)
    keep = np.ones(len(moved), dtype=bool)
    answer = np.zeros(4)
    for _ in range(4):
        answer[:] = np.linalg.lstsq(shapes[both][keep], moved[keep], rcond=None)[0]
        off = np.abs(moved - shapes[both] @ answer)
        keep = off < LIMITS.outlier * max(float(np.median(off)) * 1.48, 0.02)
    shake: Array = shapes @ answer
    return shake


def _similarity(px: Array, normals: Array) -> Array:
    """Return displacements along normals by a shift in x, in y, a turn and a zoom, shape (n, 4)."""
    off = (px - px.mean(axis=0)) / 1000
    turned = off[:, ::-1] * (-1.0, 1.0)
    return np.column_stack([normals, (turned * normals).sum(axis=1), (off * normals).sum(axis=1)])


def _stacked(parts: list[Observations]) -> Observations:
    """Join the observations of all frames; the same stretch of line is one cluster in all of them."""
    return Observations(
        np.concatenate([part.points_mm for part in parts]),
        np.concatenate([part.px for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.sigma_px for part in parts]),
        np.concatenate([part.cluster for part in parts]),
        np.concatenate([part.boundary for part in parts]),
    )
