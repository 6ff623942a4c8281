"""The figures standing in a picture, as the network sees them: what a calibration can tell the camera's height by."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from downfield.calibration.field.solver import LensFromDistance
from downfield.calibration.lens.figure_lean import StandingFigures, estimate_lens_from_lean
from downfield.calibration.lens.prior import lens_at_height
from downfield.core.arrays import Image
from downfield.models.opening import open_detector

_SURE: Final = 0.6
"""Score from which a figure, and its helmet as seen, is taken."""


def distance_known(image: Image, height_mm: float | None) -> LensFromDistance:
    """What tells how far away a camera is: its measured height, else the figures in its picture."""
    if height_mm is not None:
        return partial(lens_at_height, height_mm=height_mm)
    return partial(estimate_lens_from_lean, standing=standing_figures(image))


def standing_figures(image: Image) -> StandingFigures:
    """Upright figures whose helmets are seen, by the bundled network, opened for this picture alone."""
    seen = [
        (one.corners_px, one.helmet_px)
        for one in open_detector().detect(image)
        if one.kind == "upright" and one.helmet_px and min(one.score, one.helmet_score) >= _SURE
    ]
    corners = np.array([corners for corners, _ in seen], dtype=np.float64).reshape(-1, 4, 2)
    return StandingFigures(corners, np.array([helmet for _, helmet in seen], dtype=np.float64).reshape(-1, 2))
