"""Parts cut out of frames: turned by quarters and mirrored, which costs no sharpness and leaves the table likely."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.models.training.augment import Image
from downfield.vision.footprint import Array


def quarter_turn(rng: np.random.Generator) -> tuple[Array, bool]:
    """A turn by some quarters, mirrored or not: its matrix, shape (2, 2), and whether it mirrors."""
    turn = np.linalg.matrix_power(np.array([[0.0, -1.0], [1.0, 0.0]]), int(rng.integers(4)))
    mirrored = bool(rng.random() < 0.5)
    return (turn @ np.diag([-1.0, 1.0]) if mirrored else turn), mirrored


def cut_out(image: Image, matrix: Array, side_px: int, rng: np.random.Generator) -> Image:
    """A square part of a picture, by the transform to it, shape (2, 3); of one colour where there is no picture."""
    colour = tuple(int(value) for value in rng.integers(0, 255, 3))
    part = cv2.warpAffine(image, matrix, (side_px, side_px), flags=cv2.INTER_LINEAR, borderValue=colour)
    return np.asarray(part, dtype=np.uint8)
