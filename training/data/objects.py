"""Objects in pictures to learn from: kinds, boxes and keypoints in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.models.refiner import MIRRORED_CORNERS
from downfield.models.test_time_augmentation import mirror_image

FALLEN_KIND: Final = 1
FIGURE_KINDS: Final = (0, FALLEN_KIND)
"""Classes of labels that are figures: upright ones and fallen ones."""

BALL_KIND: Final = 2
BALL_POINT: Final = 4
"""Class of balls, and the keypoint that is their middle."""


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects in a picture, in its pixels.

    Attributes:
        kinds: class of each, shape (n,).
        boxes: left, top, right, bottom, shape (n, 4).
        points: x, y and flag (0 none, 1 hidden, 2 seen) of the keypoints, shape (n, 5, 3).

    """

    kinds: Array
    boxes: Array
    points: Array


def parse_objects(text: str, size_px: tuple[int, int]) -> Objects:
    """Return the objects of lines in the form YOLO-pose training reads, in pixels of a picture of a size."""
    rows = np.array(text.split(), dtype=np.float64).reshape(-1, 20)
    width, height = size_px
    center, half = rows[:, 1:3] * (width, height) - 0.5, rows[:, 3:5] * (width, height) / 2
    points = rows[:, 5:].reshape(-1, 5, 3).copy()
    points[..., :2] = points[..., :2] * (width, height) - 0.5
    return Objects(rows[:, 0], np.concatenate([center - half, center + half], axis=1), points)


MIRRORED_POINTS: Final = (*MIRRORED_CORNERS, 4)
"""What the keypoints, corners and helmet, are called in a mirror."""


def mirrored_frame(image: Image, objects: Objects, guessed: Array | None) -> tuple[Image, Objects, Array | None]:
    """Mirror a frame with its objects and the corners of detected figures, shape (n, 4, 2)."""
    last = image.shape[1] - 1
    points = objects.points[:, MIRRORED_POINTS].copy()
    points[..., 0] = last - points[..., 0]
    boxes = objects.boxes[:, [2, 1, 0, 3]]
    boxes[:, [0, 2]] = last - boxes[:, [0, 2]]
    if guessed is not None:
        guessed = guessed[:, MIRRORED_CORNERS]
        guessed[..., 0] = last - guessed[..., 0]
    return mirror_image(image), Objects(objects.kinds, boxes, points), guessed


def quarter_turn(rng: np.random.Generator) -> tuple[Array, bool]:
    """Draw a turn by some quarters, mirrored or not: its matrix, shape (2, 2), and whether it mirrors."""
    turn = np.linalg.matrix_power(np.array([[0.0, -1.0], [1.0, 0.0]]), int(rng.integers(4)))
    mirrored = bool(rng.random() < 0.5)
    return (turn @ np.diag([-1.0, 1.0]) if mirrored else turn), mirrored


def cut_out(image: Image, matrix: Array, side_px: int, rng: np.random.Generator) -> Image:
    """Cut a square part of a picture by a transform to it, shape (2, 3); one color outside the picture."""
    color = tuple(int(value) for value in rng.integers(0, 255, 3))
    part = cv2.warpAffine(image, matrix, (side_px, side_px), flags=cv2.INTER_LINEAR, borderValue=color)
    return np.asarray(part, dtype=np.uint8)
