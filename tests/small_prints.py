"""A small print of 100 yards seen from straight above, and pictures of it with and without one-yard marks."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Plane
from downfield.core.field.model import FieldModel

SCALE = 1.25  # px for one mm
FIELD = FieldModel(
    "small", "Small", 100.0, 50.0, 0.0, 8.0, 8.0, 1.6,
    hash_rows_y_yd=(20.0, 30.0), number_rows_y_yd=(9.0, 41.0), number_height_yd=4.0, sideline_marks=False,
)  # fmt: skip
CAMERA = Camera(Lens((1040, 540), (700.0, 700.0), (519.5, 269.5)), (np.pi, 0.0, 0.0), (-400.0, 200.0, 560.0))


def at_px(x_yd: float, y_yd: float) -> tuple[int, int]:
    """Return the pixel of a place on the field."""
    x, y = CAMERA.to_pixels(np.array([(x_yd * 8.0, y_yd * 8.0)]))[0]
    return round(x), round(y)


def bare() -> Plane:
    """Return yard lines on noisy ground, shape (540, 1040)."""
    image = np.full((540, 1040), 80.0, np.float32)
    for yard in FIELD.yard_lines_yd():
        cv2.line(image, at_px(yard, 0), at_px(yard, 50), 220.0, 2)
    return np.asarray(image + np.random.default_rng(3).normal(0, 2, image.shape), dtype=np.float32)


def with_marks(
    rows_yd: tuple[float, ...], length_yd: float, *, between_yd: tuple[int, int] = (0, 100), level: float = 220.0
) -> Plane:
    """Return yard lines with one-yard marks in some rows, between two yards along the field."""
    image = bare()
    for yard in range(*between_yd):
        for row in rows_yd:
            if yard % 5:
                cv2.line(image, at_px(yard, row - length_yd / 2), at_px(yard, row + length_yd / 2), level, 1)
    return image
