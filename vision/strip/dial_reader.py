"""Reads the dials' windows: each face with its confidence, or why it can't be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.strip import Count, DialWindow, StripSet
from downfield.vision.strip.digits import OTHER, DigitNetwork, bundled_digits
from downfield.vision.strip.glyphs import find_glyphs
from downfield.vision.strip.rectify import BoardBox, Rectifier

WINDOW_ROWS: Final = 72
"""Rows of a rectified window."""
_INSET: Final = 0.03
"""Share of a window's height left out at each edge, where its rim may be."""


@dataclass(frozen=True, slots=True)
class DialReading:
    """One window.

    Attributes:
        face: the number in it; None when it can't be read.
        confidence: that the face is right, 0..1; 0 without a face.
        reason: why it can't be read; empty with a face.

    """

    face: str | None
    confidence: float = 0.0
    reason: str = ""


class DialReader:
    """Reads the dials of one strip with one camera.

    Args:
        strip: the set.
        camera: lens and pose.
        network: classifies digits.

    """

    def __init__(self, strip: StripSet, camera: Camera, network: DigitNetwork | None = None) -> None:
        self._strip, self._network = strip, network or bundled_digits()
        self._windows = [Rectifier(camera, _box(dial)) for dial in strip.dials]

    def read(self, image: Image) -> tuple[DialReading, ...]:
        """Return the reading of every window, in the set's order."""
        return tuple(
            self._read(dial, window, image) for dial, window in zip(self._strip.dials, self._windows, strict=True)
        )

    def _read(self, dial: DialWindow, window: Rectifier, image: Image) -> DialReading:
        found = find_glyphs(window.sample(image))
        if not found.digits:
            return DialReading(None, reason=found.reason)
        if len(found.digits) > 2:
            return DialReading(None, reason="more than two digits")
        chances = self._network.probabilities(found.digits)
        worth = np.array([_chance(face, chances) for face in dial.faces])
        best = int(worth.argmax())
        total = float(worth.sum())
        if total < 1e-6:
            return DialReading(None, reason="no number that is on the dial")
        # What speaks for numbers that are not on the dial speaks against the reading as a whole.
        confidence = float(worth[best] / total) * float(np.clip(total * 1.5, 0, 1))
        return DialReading(dial.faces[best], confidence * (0.6 + 0.4 * found.evenness))


def number_of(strip: StripSet, readings: tuple[DialReading, ...], counts: Count) -> tuple[int | None, float]:
    """Return what the windows of one count say together, and the confidence; None when one of them can't be read."""
    total, confidence = 0, 1.0
    for dial, reading in zip(strip.dials, readings, strict=True):
        if dial.counts == counts:
            if reading.face is None:
                return None, 0.0
            total += int(reading.face) * dial.place
            confidence *= reading.confidence
    return total, confidence


def _chance(face: str, chances: Array) -> float:
    """Return the probability that glyphs are the digits of a face."""
    if len(face) != len(chances):
        return 0.0
    sure = 1 - chances[:, OTHER]
    return float(np.prod([row[int(digit)] for digit, row in zip(face, chances, strict=True)] * np.sqrt(sure)))


def _box(dial: DialWindow) -> BoardBox:
    (x_low, x_high), (y_low, y_high) = dial.x_mm, dial.y_mm
    inset = _INSET * (y_high - y_low)
    return BoardBox(
        (x_low + inset, x_high - inset), (y_low + inset, y_high - inset), WINDOW_ROWS / (y_high - y_low - 2 * inset)
    )
