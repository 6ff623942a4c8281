"""Where hands end on the board: what the tracker needs to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.models.detection import Detection

_LEAST_SCORE: Final = 0.4  # of a hand that is taken for one
_FINGERS_MM: Final = 20.0  # height of fingertips that hold a figure over the board, about


def fingertips_mm(detections: Sequence[Detection], camera: Camera) -> tuple[tuple[float, float], ...]:
    """The fingertips of every hand seen, brought down to the board, mm; a hand carries them in the helmet's place."""
    hands = [one for one in detections if one.kind == "hand" and one.score >= _LEAST_SCORE]
    px = [one.helmet_px for one in hands if one.helmet_px is not None]
    if not px:
        return ()
    places = camera.to_board(np.array(px, dtype=np.float64), _FINGERS_MM)
    return tuple((float(x), float(y)) for x, y in places if np.isfinite(x) and np.isfinite(y))
