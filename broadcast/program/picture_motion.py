"""How the board's picture is moved between two poses of the camera, as an affine map: shakes are too small for more."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel

STILL_PX = 0.02  # a smaller movement is measurement noise


class PictureMotion:
    """Movement of the picture against the one of a reference camera.

    Args:
        camera: the reference.
    """

    def __init__(self, camera: Camera, field: FieldModel) -> None:
        x, y = np.meshgrid(np.linspace(0, field.length_mm, 5), np.linspace(0, field.width_mm, 4))
        self._points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
        self._before = camera.to_pixels(self._points)
        self._terms = np.column_stack([self._before, np.ones(len(self._before))])

    def to(self, camera: Camera) -> Array | None:
        """Return where reference pixels are now, ``move @ (x, y, 1)``, shape (2, 3); None where it stands still."""
        now = camera.to_pixels(self._points)
        if float(np.abs(now - self._before).max()) < STILL_PX:
            return None
        move, *_ = np.linalg.lstsq(self._terms, now, rcond=None)
        return np.asarray(move.T, dtype=np.float64)


def moved_part(image: Image, move: Array | None, box: tuple[int, int, int, int]) -> Image:
    """Return a part of a reference picture as it lies now.

    Args:
        image: the reference picture, uint8, shape (height, width) or (height, width, 3).
        move: of reference pixels; None for none.
        box: left, top, right, bottom of the part, pixels of now.
    """
    left, top, right, bottom = box
    if move is None:
        return image[top:bottom, left:right]
    shifted = move.copy()
    shifted[:, 2] -= (left, top)
    return np.asarray(
        cv2.warpAffine(
            image, shifted, (right - left, bottom - top), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ),
        dtype=np.uint8,
    )
