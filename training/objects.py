"""Objects in pictures to learn from: kinds, boxes and keypoints in pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array

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
