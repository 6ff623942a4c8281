"""Convex polygons filled to a fraction of a pixel.

cv2's anti-aliased fill reaches beyond a polygon by `GROWTH_PX` on every side, at every angle and to 0.02 px (measured),
so polygons are made smaller by that much first.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array

GROWTH_PX = 0.66

Fixed = NDArray[np.int32]

_FINE = 4  # samples per pixel along each side, where coverage is counted
_FINE_GROWTH = 0.48  # growth of the fill without anti-aliasing, in samples (measured)
_SHIFT = 4  # fractional bits of a corner
_FAR_PX = 20_000.0  # cv2's fixed-point corners overflow only far beyond this


def to_fixed(points_px: Array) -> Fixed:
    """Return pixels as cv2's fixed-point corners, same shape."""
    return np.rint(np.clip(points_px, -_FAR_PX, _FAR_PX) * (1 << _SHIFT)).astype(np.int32)


def fill_hull(
    image: NDArray[np.uint8], points: Fixed, color: Sequence[float], *, rounds: int = 0, smooth: bool = True
) -> None:
    """Fill the convex hull of fixed-point points, shape (n, 2), as it is.

    Args:
        image: drawn upon.
        points: as `to_fixed` gives them.
        color: one value per channel.
        rounds: number of times that corners are cut, to round them.
        smooth: whether edges blend with the image.
    """
    hull = cv2.convexHull(points)
    for _ in range(rounds):
        after = np.roll(hull, -1, axis=0)
        hull = np.concatenate([3 * hull + after, hull + 3 * after], axis=1).reshape(-1, 1, 2) // 4
    cv2.fillConvexPoly(image, hull, color, cv2.LINE_AA if smooth else cv2.LINE_8, _SHIFT)


def fill_convex(image: NDArray[np.uint8], corners_px: Array, color: Sequence[float]) -> None:
    """Fill a convex polygon, corners in order round it, shape (n, 2), each side moved in by the fill's growth."""
    cv2.fillConvexPoly(image, to_fixed(_sides_in(corners_px, GROWTH_PX)), color, cv2.LINE_AA, _SHIFT)


def lay_convex(image: NDArray[np.uint8], corners_px: Array, color: Sequence[float]) -> None:
    """Fill a convex polygon by area coverage: slower than `fill_convex`, and exact to a few hundredths of a pixel.

    cv2's anti-aliased fill may miss a corner by a third of a pixel.
    """
    height, width = image.shape[:2]
    low = np.maximum(np.floor(corners_px.min(axis=0) - 1), 0).astype(int)
    high = np.minimum(np.ceil(corners_px.max(axis=0) + 2), (width, height)).astype(int)
    columns, rows = high - low
    if columns <= 0 or rows <= 0:
        return
    fine = (_sides_in(corners_px, _FINE_GROWTH / _FINE) - low + 0.5) * _FINE - 0.5
    mask = np.zeros((rows * _FINE, columns * _FINE), dtype=np.uint8)
    cv2.fillConvexPoly(mask, to_fixed(fine), (255,), cv2.LINE_8, _SHIFT)
    share = cv2.resize(mask, (int(columns), int(rows)), interpolation=cv2.INTER_AREA)
    window = image[low[1] : high[1], low[0] : high[0]]
    part = window.astype(np.float32)
    part += (np.array(color, dtype=np.float32) - part) * (share.astype(np.float32) / np.float32(255))[:, :, None]
    window[:] = np.rint(part).astype(np.uint8)


def draw_outline(image: NDArray[np.uint8], corners_px: Array, color: Sequence[float]) -> None:
    """Draw a line of about a pixel just within a convex polygon's edge."""
    ring = to_fixed(_sides_in(corners_px, GROWTH_PX))
    cv2.polylines(image, [ring], True, color, 1, cv2.LINE_AA, _SHIFT)


def _sides_in(corners_px: Array, by_px: float) -> Array:
    """Return a convex polygon with every side moved inward."""
    after = np.concatenate([corners_px[1:], corners_px[:1]])
    sides = after - corners_px
    along = sides / np.maximum(np.hypot(sides[:, 0], sides[:, 1]), 1e-9)[:, None]
    turn = np.sign((corners_px[:, 0] * after[:, 1] - corners_px[:, 1] * after[:, 0]).sum())
    inward = np.column_stack([-along[:, 1], along[:, 0]]) * turn
    before = np.concatenate([inward[-1:], inward[:-1]])
    reach = by_px / np.maximum(1 + (inward * before).sum(axis=1), 0.1)
    moved: Array = corners_px + (inward + before) * reach[:, None]
    return moved
