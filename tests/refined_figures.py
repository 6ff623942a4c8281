"""Bases in an image and a detector that always finds the same ones, for tests of the refiner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.refiner import PATCH_PX, to_units

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


class Still:
    """A refiner that sees every figure where its patch was cut."""

    name = "still"
    size_px = (PATCH_PX, PATCH_PX)

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        units = to_units(base((PATCH_PX - 1) / 2, (PATCH_PX - 1) / 2, 0.0, 34.0))
        row = [*units.ravel(), 0.0, 0.0, *[-4.0] * 5, *[20.0] * 5, -5.0, -5.0, 6.0]
        return np.tile(np.array(row, np.float32), (len(pictures), 1))
