"""Where a coarse picture differs from what was there before, apart from its light: shadows, lamps, bands of flicker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Mask: TypeAlias = NDArray[np.uint8]
Planes: TypeAlias = NDArray[np.float32]  # Colors of a coarse picture, shape (3, height, width)


@dataclass(frozen=True, slots=True)
class BackgroundLimits:
    """Thresholds of comparing a picture with its background."""

    # Gray levels by which a pixel differs from the background, in the most different color
    min_difference: float = 26.0
    min_shadow: float = 0.3  # A shadow leaves at least this share of the light
    max_lit: float = 1.7  # Where a shadow has gone that the background has learned, it is lighter by up to this factor
    # Largest difference between the colors by which a shadow darkens, or its end lightens
    max_shadow_tint: float = 0.16
    # Relative difference within which a pixel shows the same as the background in another light
    same_light: float = 0.12


_LIMITS: Final = BackgroundLimits()


def compare_with_background(coarse: Planes, background: Planes) -> tuple[Mask, Mask]:
    """Return where a picture differs from the background, and where only its light may; (height, width), 0 or 1."""
    expected = background * _light(coarse, background)
    difference, ratio = np.abs(coarse - expected), (coarse + 4) / (expected + 4)
    most, least = reduce(np.maximum, ratio), reduce(np.minimum, ratio)
    shadow = ((most < 1) & (least > _LIMITS.min_shadow)) | ((least > 1) & (most < _LIMITS.max_lit))
    shadow &= most - least < _LIMITS.max_shadow_tint
    return (reduce(np.maximum, difference) > _LIMITS.min_difference).astype(np.uint8), shadow.astype(np.uint8)


def _light(coarse: Planes, background: Planes) -> Planes:
    """Return the light by which a picture differs from the background, of each color and row, shape (3, height, 1).

    Sensors read row by row, so lamps that flicker make rows differ. A row is taken as lit like all unless another light
    explains more of it: what covers a row is not its light.
    """
    ratio = (coarse[:, :, ::2] + 1) / (background[:, :, ::2] + 1)
    rows = np.median(ratio, axis=2, keepdims=True)
    common = np.median(rows, axis=1, keepdims=True)
    by_row, by_all = (
        (np.abs(ratio / light - 1) < _LIMITS.same_light).mean(axis=2, keepdims=True) for light in (rows, common)
    )
    lights: Planes = np.where(by_row > by_all, rows, common).astype(np.float32)
    return lights
