"""Measures paint: the profile of the picture across each sample, fitted by two edges a known width apart.

Across a painted line the picture goes from one ground to the paint and on to another ground (another stripe, an end
zone, the border), each edge blurred by optics and pixels. Fitting all three levels keeps a change of ground from
displacing the line, and finds a sideline that borders on other paint by its inner edge alone.

All profiles of a picture are fitted at once: a search over all places, then Gauss-Newton. The search projects every
profile on orthonormal shapes about each trial center, which depend on the paint's width and the picture's blur alone
and are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import Observations
from downfield.calibration.field.lines.line_chains import levels_at
from downfield.calibration.field.paint.paint_samples import PaintSamples, sample_long_lines
from downfield.calibration.field.paint.yard_line_ends import observe_line_ends
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel
from downfield.core.mathematics import normal_cdf


@dataclass(frozen=True, slots=True)
class PaintLimits:
    """Thresholds of measuring paint."""

    # places along the line where profiles are taken and averaged, against noise
    along_px: tuple[float, ...] = (-3.0, -1.5, 0.0, 1.5, 3.0)
    max_misfit: float = 0.28  # largest rms of what the model leaves, as a share of the contrast, of real paint
    max_width_px: float = 14.0  # wider paint is not measured
    wide_border_px: float = 8.0  # of a border of its own color that is wider than this, only the inner edge is measured
    assumed_border_px: float = 5.0  # width assumed for such a border
    min_contrast: float = 0.15  # fainter paint is not found, as a share of the typical contrast
    min_contrast_levels: float = 1.5  # fainter paint is not found, gray levels
    sigma_floor_px: float = 0.04  # texture, wear and compression move an edge by this beyond the profile's noise
    cluster_yd: float = 10.0  # observations of one line within so many yards are disturbed together
    # least distance within which ends of yard lines are searched for: a thin border's wrong edge is as near
    ends_search_px: float = 3.0
    sampled_yd: float = 60.0  # a shorter field has too few lines to leave out places
    outlier_sigmas: float = 4.0  # sigmas beyond which a displacement between frames is an outlier

    # Fitting profiles.
    step_px: float = 0.5  # spacing of the samples of a profile
    rim_px: float = 2.5  # ground seen beyond the paint on both sides
    window_rims: float = 1.8  # in rims: what is further from the paint does not count
    blurs_px: tuple[float, ...] = (0.6, 0.85, 1.2, 1.7, 2.4)  # standard deviations of the edges' blur that are tried
    fine_steps: int = 4  # Gauss-Newton steps
    width_spread_px: float = 0.25  # standard deviation of the paint's width: a rail hides some, or its shade adds
    initial_noise: float = 2.0  # noise assumed first, gray levels
    min_noise: float = 0.35  # least noise, gray levels: rounding and compression
    width_step_px: float = 0.1  # widths that differ by less share the shapes of a search


_LIMITS: Final = PaintLimits()


@dataclass(frozen=True, slots=True)
class PaintMeasurement:
    """What was measured at each sample; arrays of shape (n,) unless stated."""

    px: Array  # where the sample was predicted, shape (n, 2)
    normals: Array  # unit direction in the picture across the paint, shape (n, 2)
    offset_px: Array  # how far along the normal the paint's center was found from there
    sigma_px: Array  # its standard deviation by the profile's own noise
    contrast: Array  # paint less the ground on its playing side, gray levels, signed
    found: NDArray[np.bool_]  # whether paint is there: clear, fitting the model, and within the search
    blur_px: float  # standard deviation of the edges' blur, one number for the picture

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
        search_px: how far off the prediction may be.
        like: measurement of other paint in this picture, whose contrast and blur are used; else both are estimated
            from these samples.
        by_inner_edge: whether lines that are not free are placed by their inner edge rather than by both.
    """
    px, normals, widths = _predict(camera, samples)
    centers = px
    # Of a wide border only the inner edge is measured, and nothing near the outer one is sampled.
    wide = samples.own_color & (widths > _LIMITS.wide_border_px)
    seen = np.where(wide, widths - _LIMITS.assumed_border_px / 2 - _LIMITS.rim_px - search_px, np.inf)
    excess = np.where(wide, widths - _LIMITS.assumed_border_px, 0.0)
    px, widths = px - excess[:, None] / 2 * normals, widths - excess
    height, width = plane.shape
    reach = search_px + np.minimum(widths, _LIMITS.max_width_px) / 2 + _LIMITS.rim_px
    inside = ((px > reach[:, None]) & (px < np.array([width, height]) - 1 - reach[:, None])).all(axis=1)
    inside &= widths < _LIMITS.max_width_px
    n = len(px)
    offset, sigma = np.zeros(n), np.full(n, np.inf)
    near, far, misfit = np.zeros(n), np.zeros(n), np.full(n, np.inf)
    tied = samples.is_free | (not by_inner_edge)
    blurs = _LIMITS.blurs_px if like is None else (like.blur_px,)
    # Borders of their own color are searched apart from other paint, whose width they do not share.
    for group in (np.flatnonzero(inside & ~samples.own_color), np.flatnonzero(inside & samples.own_color)):
        if not len(group):
            continue
        size = math.ceil(float(reach[group].max()) / _LIMITS.step_px)
        places = _LIMITS.step_px * np.arange(-size, size + 1, dtype=np.float64)
        levels = _sample(plane, px[group], normals[group], np.minimum(places, seen[group, None]))
        blur, center = _search(levels, places, float(np.median(widths[group])), search_px, blurs)
        blurs = (blur,)
        fine = _refine(levels, places, widths[group], tied[group], center, blur)
        for whole, part in zip((offset, sigma, near, far, misfit), fine, strict=True):
            whole[group] = part
    is_paint = _is_paint(samples, near, far, misfit, None if like is None else like.paint)
    found = inside & (np.abs(offset) < search_px) & is_paint
    return PaintMeasurement(centers, normals, offset, sigma, near, found, blurs[0])


def _predict(camera: Camera, samples: PaintSamples) -> tuple[Array, Array, Array]:
    px = camera.to_pixels(samples.points_mm)
    # The edge of the paint runs in the picture along the image of the line; its normal is perpendicular to that.
    along_mm = samples.across_mm[:, ::-1] * (1.0, -1.0)
    run, out = (
        camera.to_pixels(samples.points_mm + 0.5 * way) - camera.to_pixels(samples.points_mm - 0.5 * way)
        for way in (along_mm, samples.across_mm)
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
    for along in _LIMITS.along_px:
        at = px[:, None, :] + along * runs[:, None, :] + places[..., None] * normals[:, None, :]
        total += levels_at(plane, at)
    return total / len(_LIMITS.along_px)


def _is_paint(samples: PaintSamples, near: Array, far: Array, misfit: Array, paint: float | None) -> NDArray[np.bool_]:
    """Return whether profiles look like paint of the picture's own polarity."""
    plausible = misfit < _LIMITS.max_misfit
    if paint is None:
        free = samples.is_free & plausible
        paint = float(np.median((near + far)[free]) / 2) if free.any() else 0.0
    floor = max(_LIMITS.min_contrast * abs(paint), _LIMITS.min_contrast_levels)
    sign = np.where(samples.own_color, _line_signs(samples, np.where(plausible, near, 0.0)), np.sign(paint))
    stands_in, stands_out = near * sign > floor, far * sign > floor
    return plausible & stands_in & (stands_out | ~samples.is_free)


def _line_signs(samples: PaintSamples, near: Array) -> Array:
    """Return the polarity that most of each sample's line has, shape (n,)."""
    _, line = np.unique(samples.line, return_inverse=True)
    return np.asarray(np.sign(np.bincount(line, np.sign(near)))[line], dtype=np.float64)


def observe_paint(
    planes: Sequence[Plane],
    camera: Camera,
    field: FieldModel,
    search_px: float,
    *,
    quick: bool = False,
    ends: bool = True,
) -> Observations:
    """Observe the long lines in one or several frames, brought to the first frame.

    Args:
        planes: gray pictures of the same size; the camera may have shaken by a few pixels between them.
        camera: predicts where the lines are in the first.
        quick: whether half the places do, since the camera is only to come nearer.
        ends: whether the ends of yard lines are observed, too.
    """
    many = quick and field.length_yd > _LIMITS.sampled_yd
    samples = sample_long_lines(field, every_yd=2.0 if many else 1.0)
    cluster = _clusters(samples, field)
    boundary, line = np.where(samples.is_free, -1, samples.line), np.where(samples.is_free, samples.line, -1)
    points = np.column_stack([samples.points_mm, np.zeros(len(samples.line))])
    parts = []
    first: PaintMeasurement | None = None
    for plane in planes:
        seen = measure_paint(plane, camera, samples, search_px, by_inner_edge=True)
        offset, found = seen.offset_px, seen.found
        if first is not None:
            offset = offset - _displacement(seen, first)
        first = first or seen
        sigma = np.hypot(seen.sigma_px, _LIMITS.sigma_floor_px) * np.sqrt(len(planes))
        px = seen.px + offset[:, None] * seen.normals
        parts.append(Observations(points, px, seen.normals, sigma, cluster, boundary, line)[found])
    # Where yard lines end inside of the sidelines, that was measured by their ends, which tell nothing more.
    if first is not None and ends and not field.yard_line_inset_yd:
        clusters = int(cluster.max(initial=-1)) + 1
        reach = max(search_px, _LIMITS.ends_search_px)
        parts.append(observe_line_ends(planes[0], camera, field, reach, first.blur_px, clusters))
    return Observations.joined(parts)


def _clusters(samples: PaintSamples, field: FieldModel) -> NDArray[np.intp]:
    along = np.abs(samples.across_mm[:, ::-1])
    stretch = np.floor((samples.points_mm / field.mm_per_yd * along).sum(axis=1) / _LIMITS.cluster_yd)
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
        keep = off < _LIMITS.outlier_sigmas * max(float(np.median(off)) * 1.48, 0.02)
    return shapes @ answer


def _similarity(px: Array, normals: Array) -> Array:
    """Return displacements along normals by a shift in x, in y, a turn and a zoom, shape (n, 4)."""
    off = (px - px.mean(axis=0)) / 1000
    turned = off[:, ::-1] * (-1.0, 1.0)
    return np.column_stack([normals, (turned * normals).sum(axis=1), (off * normals).sum(axis=1)])


def _bump(z: Array) -> Array:
    bump: Array = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return bump


def _search(
    levels: Array, places: Array, width: float, search_px: float, blurs: tuple[float, ...]
) -> tuple[float, Array]:
    """Find the picture's blur, and each sample's center to half a pixel, by trying all; paint is `width` px wide."""
    centered = levels - levels.mean(axis=1, keepdims=True)
    power = np.einsum("nk,nk->n", centered, centered)
    # Every third sample tells the blur.
    some, least = slice(None, None, 3), np.maximum(power[::3], 1.0)
    rounded = max(round(width / _LIMITS.width_step_px), 1) * _LIMITS.width_step_px
    blur = blurs[0]
    if len(blurs) > 1:
        left = [
            np.median(
                (power[some] - _explained(centered[some], _shapes(len(places), rounded, trial, search_px)).max(axis=1))
                / least
            )
            for trial in blurs
        ]
        blur = blurs[int(np.argmin(left))]
    explained = _explained(centered, _shapes(len(places), rounded, blur, search_px))
    return blur, _trials(search_px)[explained.argmax(axis=1)]


def _trials(search_px: float) -> Array:
    return np.arange(-search_px, search_px + 0.25, 0.5)


@lru_cache(maxsize=256)
def _shapes(count: int, width: float, blur: float, search_px: float) -> Array:
    """Return orthonormal shapes of level and two edges about each trial center, (places, trials * 3)."""
    places = _LIMITS.step_px * (np.arange(count) - count // 2)
    off = places[None] - _trials(search_px)[:, None]
    basis = np.stack([np.ones_like(off), *(normal_cdf((off + side * width / 2) / blur) for side in (1, -1))], axis=2)
    shapes = np.linalg.qr(basis)[0].transpose(1, 0, 2).reshape(count, -1)
    shapes.setflags(write=False)
    return np.asarray(shapes)


def _explained(centered: Array, shapes: Array) -> Array:
    """Return how much of each profile's power, (n, places), the shapes about each trial explain, (n, trials)."""
    parts = centered @ shapes
    explained: Array = np.einsum("nts,nts->nt", *[parts.reshape(len(parts), -1, 3)] * 2)
    return explained


def _refine(
    levels: Array, places: Array, widths: Array, tied: NDArray[np.bool_], center: Array, blur: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Refine level, two steps and their edges by Gauss-Newton: center, its sigma, contrasts, relative misfit.

    Where the edges are not `tied` to the paint's width, shape (n,), the outer one may be off a little, and the center
    is half that width from the inner edge.
    """
    levels, at = _about(levels, places, center, float(widths.max()) / 2 + _LIMITS.window_rims * _LIMITS.rim_px)
    n, k = levels.shape
    variance = np.full(n, _LIMITS.initial_noise**2)
    near_edge, far_edge = center - widths / 2, center + widths / 2
    rim = widths[:, None] / 2 + _LIMITS.rim_px
    design = np.ones((n, k, 5))
    answer = np.zeros((n, 5))
    for step in range(_LIMITS.fine_steps + 1):
        inner, outer = (at - edge[:, None] for edge in (near_edge, far_edge))
        # Only the ground next to the paint counts; what is further off steadies the levels a little.
        power = np.square(np.square((inner + outer) / (2 * rim)))
        weight = 1 / (1 + np.square(power))
        inner, outer = inner / blur, outer / blur
        design[:, :, 1], design[:, :, 2] = normal_cdf(inner), normal_cdf(outer)
        wider = answer[:, 2, None] / -blur * _bump(outer)
        design[:, :, 3] = answer[:, 1, None] / -blur * _bump(inner) + wider
        design[:, :, 4] = np.where(tied[:, None], 0.0, wider)
        weighted = (weight[:, :, None] * design).transpose(0, 2, 1)
        normal = weighted @ design
        normal[:, range(5), range(5)] += (1e-6, 1e-3, 1e-3, 1e-3, 1e-3)
        seen = weighted @ levels[:, :, None]
        normal[:, 4, 4] += variance / _LIMITS.width_spread_px**2
        seen[:, 4, 0] -= variance / _LIMITS.width_spread_px**2 * (far_edge - near_edge - widths)
        answer = np.asarray(np.linalg.solve(normal, seen)[:, :, 0], dtype=np.float64)
        if step:
            move = np.clip(answer[:, 3:], -0.5, 0.5)
            near_edge = near_edge + move[:, 0]
            far_edge = far_edge + move[:, 0] + np.where(tied, 0.0, move[:, 1])
        left = levels - (design @ answer[:, :, None])[:, :, 0]
        used = weight.sum(axis=1)
        squares = np.einsum("nk,nk->n", weight * left, left)
        variance = squares / np.maximum(used - 4, 1) + _LIMITS.min_noise**2
    inverse = np.linalg.solve(normal, np.broadcast_to(np.eye(5)[:, 3:4], (n, 5, 1)))[:, 3, 0]
    # Samples half a pixel apart share pixels: about half of them are independent.
    sigma = np.sqrt(np.maximum(inverse, 0) * variance / _LIMITS.step_px)
    near, far = answer[:, 1], -answer[:, 2]
    contrast = np.maximum(np.maximum(np.abs(near), np.abs(far)), 1e-6)
    misfit = np.sqrt(squares / np.maximum(used, 1)) / contrast
    return near_edge + widths / 2, sigma, near, far, misfit


def _about(levels: Array, places: Array, center: Array, reach_px: float) -> tuple[Array, Array]:
    """Return the part of each profile, shape (n, places), within reach of its center, and its places, (n, k) each."""
    size = math.ceil(reach_px / _LIMITS.step_px)
    if 2 * size + 1 >= len(places):
        return levels, np.broadcast_to(places, levels.shape)
    first = np.rint((center - places[0]) / _LIMITS.step_px).astype(np.intp) - size
    index = np.clip(first, 0, len(places) - 2 * size - 1)[:, None] + np.arange(2 * size + 1)
    return np.take_along_axis(levels, index, axis=1), places[index]
