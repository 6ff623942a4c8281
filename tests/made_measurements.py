"""Measurements made up for tests, without an image."""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.vision.measuring.falls import FallSigns
from downfield.vision.measuring.measurement import Measurements

EXACT, VAGUE = np.diag([0.1, 0.1, 1e-3, 0.3, 0.3]), np.diag([4.0, 4.0, 0.05, 4.0, 4.0])


def measurements(*detections: tuple[float, float, Array, float, float]) -> Measurements:
    """Measurements by x, y, covariance, score and log-odds of the light jersey."""
    count = len(detections)
    corners = ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 1.0))
    return Measurements(
        detections=tuple(
            Detection("upright", score, (0.0, 0.0, 1.0, 1.0), corners_px=corners) for _, _, _, score, _ in detections
        ),
        pose=np.array([(x, y, 0.0, 30.0, 18.0) for x, y, *_ in detections]),
        covariance=np.stack([covariance for _, _, covariance, _, _ in detections]),
        systematic=np.zeros((count, 2, 2)),
        by_height=np.zeros((count, 2)),
        fallen=np.full(count, -2.0),
        signs=FallSigns(
            np.zeros(count, dtype=bool), np.ones(count), np.tile([30.0, 18.0], (count, 1)), np.ones(count, dtype=bool)
        ),
        visible=np.ones(count),
        helmet_mm=(None,) * count,
        front=np.ones(count),
        light=np.array([light for *_, light in detections]),
        colors=np.full((count, 0, 3), np.nan),
    )
