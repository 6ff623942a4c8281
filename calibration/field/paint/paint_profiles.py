"""Fits profiles of the picture across paint by a level and two edges: a search over all places, then Gauss-Newton.

Both work on all profiles of a picture at once. The search projects every profile on orthonormal shapes about each
trial center, which depend on the paint's width and the picture's blur alone and are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.mathematics import normal_cdf


@dataclass(frozen=True, slots=True)
class ProfileLimits:
    """Sizes and thresholds of fitting profiles."""

    step_px: float = 0.5  # spacing of the samples of a profile
    rim_px: float = 2.5  # ground seen beyond the paint on both sides
    window_rims: float = 1.8  # in rims: what is further from the paint does not count
    blurs_px: tuple[float, ...] = (0.6, 0.85, 1.2, 1.7, 2.4)  # standard deviations of the edges' blur that are tried
    fine_steps: int = 4  # Gauss-Newton steps
    width_spread_px: float = 0.25  # standard deviation of the paint's width: a rail hides some, or its shade adds
    initial_noise: float = 2.0  # noise assumed first, gray levels
    min_noise: float = 0.35  # least noise, gray levels: rounding and compression
    width_step_px: float = 0.1  # widths that differ by less share the shapes of a search


PROFILE_LIMITS: Final = ProfileLimits()


def _bump(z: Array) -> Array:
    bump: Array = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return bump


def search_profiles(
    levels: Array, places: Array, width: float, search_px: float, blurs: tuple[float, ...]
) -> tuple[float, Array]:
    """Find the picture's blur, and each sample's center to half a pixel, by trying all; paint is `width` px wide."""
    centered = levels - levels.mean(axis=1, keepdims=True)
    power = np.einsum("nk,nk->n", centered, centered)
    # Every third sample tells the blur.
    some, least = slice(None, None, 3), np.maximum(power[::3], 1.0)
    rounded = max(round(width / PROFILE_LIMITS.width_step_px), 1) * PROFILE_LIMITS.width_step_px
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
    places = PROFILE_LIMITS.step_px * (np.arange(count) - count // 2)
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


def refine_profiles(
    levels: Array, places: Array, widths: Array, tied: NDArray[np.bool_], center: Array, blur: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Refine level, two steps and their edges by Gauss-Newton: center, its sigma, contrasts, relative misfit.

    Where the edges are not `tied` to the paint's width, shape (n,), the outer one may be off a little, and the center
    is half that width from the inner edge.
    """
    levels, at = _about(
        levels, places, center, float(widths.max()) / 2 + PROFILE_LIMITS.window_rims * PROFILE_LIMITS.rim_px
    )
    n, k = levels.shape
    variance = np.full(n, PROFILE_LIMITS.initial_noise**2)
    near_edge, far_edge = center - widths / 2, center + widths / 2
    rim = widths[:, None] / 2 + PROFILE_LIMITS.rim_px
    design = np.ones((n, k, 5))
    answer = np.zeros((n, 5))
    for step in range(PROFILE_LIMITS.fine_steps + 1):
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
        normal[:, 4, 4] += variance / PROFILE_LIMITS.width_spread_px**2
        seen[:, 4, 0] -= variance / PROFILE_LIMITS.width_spread_px**2 * (far_edge - near_edge - widths)
        answer = np.asarray(np.linalg.solve(normal, seen)[:, :, 0], dtype=np.float64)
        if step:
            move = np.clip(answer[:, 3:], -0.5, 0.5)
            near_edge = near_edge + move[:, 0]
            far_edge = far_edge + move[:, 0] + np.where(tied, 0.0, move[:, 1])
        left = levels - (design @ answer[:, :, None])[:, :, 0]
        used = weight.sum(axis=1)
        squares = np.einsum("nk,nk->n", weight * left, left)
        variance = squares / np.maximum(used - 4, 1) + PROFILE_LIMITS.min_noise**2
    inverse = np.linalg.solve(normal, np.broadcast_to(np.eye(5)[:, 3:4], (n, 5, 1)))[:, 3, 0]
    # Samples half a pixel apart share pixels: about half of them are independent.
    sigma = np.sqrt(np.maximum(inverse, 0) * variance / PROFILE_LIMITS.step_px)
    near, far = answer[:, 1], -answer[:, 2]
    contrast = np.maximum(np.maximum(np.abs(near), np.abs(far)), 1e-6)
    misfit = np.sqrt(squares / np.maximum(used, 1)) / contrast
    return near_edge + widths / 2, sigma, near, far, misfit


def _about(levels: Array, places: Array, center: Array, reach_px: float) -> tuple[Array, Array]:
    """Return the part of each profile, shape (n, places), within reach of its center, and its places, (n, k) each."""
    size = math.ceil(reach_px / PROFILE_LIMITS.step_px)
    if 2 * size + 1 >= len(places):
        return levels, np.broadcast_to(places, levels.shape)
    first = np.rint((center - places[0]) / PROFILE_LIMITS.step_px).astype(np.intp) - size
    index = np.clip(first, 0, len(places) - 2 * size - 1)[:, None] + np.arange(2 * size + 1)
    return np.take_along_axis(levels, index, axis=1), places[index]
