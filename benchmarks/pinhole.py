"""The pinhole pictures that Blender draws for the strangers' sets, from which a lens with distortion is resampled.

A lens with distortion has rays outside a pinhole picture of its own size, so the smallest one with every ray is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from downfield.calibration.camera import Lens

_RIM_PX = 3  # room for the resampling kernel


@dataclass(frozen=True, slots=True)
class Pinhole:
    """A camera without distortion.

    Attributes:
        size_px: width and height of its picture.
        focal_px: focal length, the same both ways.
        center_px: principal point; pixel centers have integer coordinates.
    """

    size_px: tuple[int, int]
    focal_px: float
    center_px: tuple[float, float]


@lru_cache(maxsize=16)
def covering(lens: Lens) -> Pinhole:
    """Return the smallest pinhole with every ray of a lens, at the lens's own scale in its middle."""
    width, height = lens.size_px
    along_x, along_y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)
    rim = np.concatenate(
        [np.stack(np.broadcast_arrays(along_x, y), axis=1) for y in (0.0, height - 1.0)]
        + [np.stack(np.broadcast_arrays(x, along_y), axis=1) for x in (0.0, width - 1.0)]
    )
    focal = max(lens.focal_px)
    rays = lens.undistort(rim) * focal
    low = np.floor(rays.min(axis=0)) - _RIM_PX
    high = np.ceil(rays.max(axis=0)) + _RIM_PX
    columns, rows = (int(side) for side in high - low + 1)
    return Pinhole((columns, rows), focal, (float(-low[0]), float(-low[1])))
