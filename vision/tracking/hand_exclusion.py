"""What hands over the board leave of sightings: knuckles are no figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.vision.occlusion.hands import outline_contains
from downfield.vision.tracking.measurement import Measurements

_BESIDE_MM: Final = 20.0  # from a hand's outline: what is nearer may be seen wrongly for the hand
_SHOWS: Final = 0.6  # share of a base that must be seen to be believed in outline_contains a hand


def beside(hands_mm: Sequence[Array], place_mm: Array) -> NDArray[np.bool_]:
    """Which places on the board, shape (k, 2), are outline_contains a hand or next to it, shape (k,)."""
    out = np.zeros(len(place_mm), dtype=bool)
    for outline in hands_mm:
        shape = outline.astype(np.float32)
        near = [cv2.pointPolygonTest(shape, (x, y), True) > -_BESIDE_MM for x, y in place_mm.tolist()]
        out |= np.array(near, dtype=bool)
    return out


def clear_of(hands_mm: Sequence[Array], sightings: Measurements) -> Measurements:
    """The sightings less those outline_contains hands that hardly show: what is seen there is as likely knuckles."""
    if not hands_mm:
        return sightings
    shows = sightings.visible >= _SHOWS
    for row in np.flatnonzero(~shows).tolist():
        place = sightings.pose[row, :2].tolist()
        shows[row] = not any(outline_contains(outline, place) for outline in hands_mm)
    return sightings.only(shows)
