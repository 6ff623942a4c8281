"""Bases in an image and a detector that always finds the same ones, for tests of the refiner."""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection

FRAME = np.zeros((400, 600, 3), np.uint8)


def base(x: float, y: float, turn: float, length_px: float = 45.0) -> Array:
    """Corners of a base around a place, turned by an angle in radians, shape (4, 2)."""
    half = length_px / 2 * np.array([[1, -0.6], [1, 0.6], [-1, 0.6], [-1, -0.6]])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray(half @ rotation.T + (x, y))


def figure(corners: Array, score: float = 0.4) -> Detection:
    """A figure as the frame detector finds it."""
    points = [(float(x), float(y)) for x, y in corners]
    return Detection("upright", score, (0.0, 0.0, 1.0, 1.0), tuple(points), (0.5,) * 4, (), (0.0, 0.0), 0.1)


class FixedDetector:
    """A detector that always finds the same."""

    name = "fixed"

    def __init__(self, *detections: Detection) -> None:
        self.detections = detections

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Its detections."""
        del image
        return self.detections
