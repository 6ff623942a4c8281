"""Rectified pictures: a rectangle of the board, or of a plane over it, at an even scale."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Plane
from downfield.core.arrays import Image as Picture


@dataclass(frozen=True, slots=True)
class BoardBox:
    """A rectangle of the board frame."""

    # x_mm, y_mm: its extent, (low, high)
    x_mm: tuple[float, float]
    y_mm: tuple[float, float]
    px_per_mm: float
    height_mm: float = 0.0  # of its plane over the print

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the rectified picture."""
        high, wide = (max(round((span[1] - span[0]) * self.px_per_mm), 1) for span in (self.y_mm, self.x_mm))
        return high, wide

    def to_x_mm(self, columns: Array) -> Array:
        """Convert columns of the rectified picture to x on the board, mm; pixel centers have integer coordinates."""
        return np.asarray(self.x_mm[0] + (np.asarray(columns) + 0.5) / self.px_per_mm)

    def to_y_mm(self, rows: Array) -> Array:
        """Convert rows of the rectified picture to y on the board, mm."""
        return np.asarray(self.y_mm[1] - (np.asarray(rows) + 0.5) / self.px_per_mm)


class Rectifier:
    """Samples one box from pictures of one camera; rows run toward smaller y, as the camera sees the board."""

    def __init__(self, camera: Camera, box: BoardBox) -> None:
        self.box = box
        rows, columns = box.shape
        x, y = np.meshgrid(box.to_x_mm(np.arange(columns, dtype=float)), box.to_y_mm(np.arange(rows, dtype=float)))
        points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, box.height_mm)])
        pixels = np.nan_to_num(camera.to_pixels(points), nan=-1e4).reshape(rows, columns, 2).astype(np.float32)
        self._maps = (np.ascontiguousarray(pixels[..., 0]), np.ascontiguousarray(pixels[..., 1]))

    def sample(self, image: Picture) -> Plane:
        """Return the box in a picture, float32, shape (rows, columns, 3), blue green red."""
        rectified = cv2.remap(image, *self._maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(rectified, dtype=np.float32)
