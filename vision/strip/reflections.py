"""Takes a lamp's reflection out of a window: what each pixel has of ink, where the light leaves anything to be seen.

A mirror image adds light: ground and ink of a place grow brighter by the same amount until a color channel is full. The
difference between them stays what it was in channels that are not full, shrinks in the others, and is gone where the
ink is full, too. So ink is measured against the ground around it, channel by channel, by how much contrast is left.
A stroke that fades into the light may go on behind it: a number with such a stroke may be another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Plane


@dataclass(frozen=True, slots=True)
class ReflectionLimits:
    """Thresholds of clearing a window; lengths are shares of its height."""

    full: float = 249.0
    """Gray level from which a channel is full: compression leaves full pixels a little below 255."""
    reflected_share: float = 0.03
    """Share of a window's pixels with every channel full from which a reflection lies in it."""
    blur: float = 0.014
    """Standard deviation of the smoothing against noise."""
    max_stroke: float = 0.3
    """Wider than any stroke: the ground beside it is nearer than this."""
    near: float = 0.16
    """The contrast that is left is that of the ink within half of this around."""
    min_contrast: float = 14.0
    """Contrast, gray levels over all channels, from which ink is distinguished from ground at full brightness."""
    min_share: float = 0.35
    """Least contrast elsewhere, as a share of the best contrast: the grain of a print is no ink."""
    fading_contrast: float = 50.0
    """Ink of less contrast fades: where the ground is full it may go on unseen."""
    rim: float = 0.1
    """Where a window's rim may be, and no number."""
    max_speck: float = 0.01
    """Ink of a smaller share of the window is grain."""
    min_ink: float = 0.3
    """Share of the contrast that is left from which a pixel counts as ink."""


REFLECTION_LIMITS: Final = ReflectionLimits()


@dataclass(frozen=True, slots=True)
class ClearedWindow:
    """A window without its reflection.

    Attributes:
        ink: 0 ground to 1 ink, shape (rows, columns).
        contrast: between ink and ground where it is best, gray levels over all channels.
        fading: share of the ink that fades into the light, 0..1; 1 without ink.
    """

    ink: Plane
    contrast: float
    fading: float


def reflected_share(window: Plane) -> float:
    """Return the share of a window's pixels, shape (rows, columns, 3), that are full in every channel."""
    return float((window.min(axis=2) >= REFLECTION_LIMITS.full).mean())


def clear_reflection(window: Plane) -> ClearedWindow:
    """Return the ink of a window, shape (rows, columns, 3), 0..255, as if no light lay over it."""
    rows = window.shape[0]
    dark = _is_ink_dark(window)
    smooth = cv2.GaussianBlur(window, (0, 0), REFLECTION_LIMITS.blur * rows)
    light: Plane = np.asarray(smooth if dark else 255.0 - smooth, dtype=np.float32)
    reach, near = (2 * round(share * rows / 2) + 1 for share in (REFLECTION_LIMITS.max_stroke, REFLECTION_LIMITS.near))
    ground = _without_strokes(light, reach)
    depth = np.clip(cv2.GaussianBlur(ground, (0, 0), reach / 6) - light, 0, None)
    left = cv2.GaussianBlur(cv2.dilate(depth, _disc(near)), (0, 0), near / 3)
    power = (left * left).sum(axis=2)
    best = float(np.sqrt(np.quantile(power, 0.98)))
    full = ((ground if dark else 255.0 - ground).min(axis=2) >= REFLECTION_LIMITS.full).astype(np.float32)
    beside_full = cv2.GaussianBlur(full, (0, 0), 2)
    floor = REFLECTION_LIMITS.min_contrast + (1 - beside_full) * max(
        REFLECTION_LIMITS.min_share * best - REFLECTION_LIMITS.min_contrast, 0
    )
    ink = np.clip((left * depth).sum(axis=2) / np.maximum(power, floor**2), 0, 1).astype(np.float32)
    inked = _strokes(ink > REFLECTION_LIMITS.min_ink)
    fades = (beside_full > 0.3) & (np.sqrt(power) < REFLECTION_LIMITS.fading_contrast)
    return ClearedWindow(ink, best, float(fades[inked].mean()) if inked.any() else 1.0)


def _strokes(inked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return ink without a window's rim and without the specks of a print's grain."""
    rows, columns = inked.shape
    edge = max(round(REFLECTION_LIMITS.rim * rows), 1)
    inner = np.zeros(inked.shape, dtype=np.uint8)
    inner[edge:-edge, edge:-edge] = inked[edge:-edge, edge:-edge]
    _, labels, stats, _ = cv2.connectedComponentsWithStats(inner, connectivity=8)
    large = np.flatnonzero(stats[:, cv2.CC_STAT_AREA] >= REFLECTION_LIMITS.max_speck * rows * columns)
    return np.asarray(np.isin(labels, large[large > 0]))


def _without_strokes(light: Plane, reach: int) -> Plane:
    """Return the ground under strokes narrower than a disc; a window's edges count as going on outside it."""
    around = 2 * reach
    padded = cv2.copyMakeBorder(light, around, around, around, around, cv2.BORDER_REPLICATE)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, _disc(reach))
    return np.asarray(closed[around:-around, around:-around], dtype=np.float32)


def _disc(size: int) -> Array:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)))


def _is_ink_dark(window: Plane) -> bool:
    """Return whether a window's middle is darker than the ground at its sides, by what differs most."""
    rows, columns = window.shape[:2]
    across = np.linspace(0, 1, columns)[None, :, None]
    edge = max(rows // 24, 2)
    sides = [np.median(part, axis=1)[:, None] for part in (window[:, :edge], window[:, -edge:])]
    off = window - ((1 - across) * sides[0] + across * sides[1])
    low, high = np.quantile(off[rows // 8 : -rows // 8, columns // 8 : -columns // 8], (0.03, 0.97))
    return bool(-low >= high)
