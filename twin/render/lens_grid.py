"""Smooth maps over a picture, computed on a coarse grid, so that exact lens distortion is cheap for every frame.

A lens bends rays so gently that a map interpolated between points 8 px apart is exact to about 0.01 px even for the
strongest barrel the twin draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array, Plane

_STEP_PX = 8


@dataclass(frozen=True, slots=True)
class LensGrid:
    """The rays of a lens on a coarse grid that reaches a little beyond its picture.

    Attributes:
        size_px: of the picture.
        rays: normalized image coordinates without distortion, shape (rows, columns, 2).

    """

    size_px: tuple[int, int]
    rays: Array

    def full(self, values: Array) -> Plane:
        """Interpolate values on the grid, shape (rows, columns), to every pixel, shape (height, width)."""
        rows, columns = values.shape
        size = (columns * _STEP_PX, rows * _STEP_PX)
        whole = cv2.resize(values.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
        width, height = self.size_px
        return np.asarray(whole[_STEP_PX : _STEP_PX + height, _STEP_PX : _STEP_PX + width], dtype=np.float32)

    def pixel_map(self, x: Array, y: Array) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        """Return a map for ``cv2.remap`` from source pixels given on the grid, in its fast fixed-point form."""
        whole, fraction = cv2.convertMaps(self.full(x), self.full(y), cv2.CV_16SC2)
        return np.asarray(whole, dtype=np.int16), np.asarray(fraction, dtype=np.uint16)

    def board_mm(self, camera: Camera) -> Array:
        """Return where the rays meet the plane of the board, mm, shape (rows, columns, 2); NaN where they do not."""
        rays = np.concatenate([self.rays, np.ones_like(self.rays[..., :1])], axis=-1) @ camera.board_to_camera
        eye = camera.position_mm
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = -eye[2] / rays[..., 2]
        reach[~(reach > 0)] = np.nan
        crossed: Array = eye[:2] + reach[..., None] * rays[..., :2]
        return crossed


@lru_cache(maxsize=8)
def lens_grid(lens: Lens) -> LensGrid:
    """Return the grid of a lens."""
    width, height = lens.size_px
    x, y = (((np.arange(-(-side // _STEP_PX) + 2) - 0.5) * _STEP_PX - 0.5) for side in (width, height))
    pixels = np.stack(np.meshgrid(x, y), axis=-1)
    return LensGrid((width, height), lens.undistort(pixels.reshape(-1, 2)).reshape(pixels.shape))
