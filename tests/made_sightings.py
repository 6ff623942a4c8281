"""Measurements of figures made up for tests, without a picture."""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.vision.tracking.measurement import Measurements

EXACT, VAGUE = np.diag([0.1, 0.1, 1e-3, 0.3, 0.3]), np.diag([4.0, 4.0, 0.05, 4.0, 4.0])


def seen(*what: tuple[float, float, Array, float, float]) -> Measurements:
    """Measurements by x, y, covariance, score and log-odds of the light jersey."""
    count = len(what)
    corners = ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 1.0))
    return Measurements(
        detections=tuple(Detection("upright", one[3], (0.0, 0.0, 1.0, 1.0), corners_px=corners) for one in what),
        pose=np.array([(one[0], one[1], 0.0, 30.0, 18.0) for one in what]),
        covariance=np.stack([one[2] for one in what]),
        systematic=np.zeros((count, 2, 2)),
        by_height=np.zeros((count, 2)),
        fallen=np.full(count, -2.0),
        visible=np.ones(count),
        helmet_mm=(None,) * count,
        front=np.ones(count),
        light=np.array([one[4] for one in what]),
        colors=np.full((count, 0, 3), np.nan),
    )
