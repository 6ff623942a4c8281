"""Detectors that see something simple, for processes that import them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from downfield.calibration.errors import InputError
from downfield.models.detection import Detection
from downfield.models.detector import Detector, Image

BLACK = "nothing is to be seen in the dark"


class Brightest:
    """Sees a ball at the brightest pixel; can't see in the dark, and stumbles over a grey picture."""

    name = "brightest"

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """The ball."""
        if not image.any():
            raise InputError(BLACK)
        if image.min() == image.max():
            raise ZeroDivisionError("grey")
        y, x, _ = np.unravel_index(int(image.argmax()), image.shape)
        return (Detection("ball", 1.0, (float(x), float(y), x + 1.0, y + 1.0)),)


class Following(Brightest):
    """And what it saw before, a pixel further right."""

    name = "following"

    def look_again(self, image: Image, seen: Sequence[Detection], *, whole: bool) -> tuple[Detection, ...]:
        """Those before, and the ball where the whole picture is looked at."""
        moved = tuple(dataclasses.replace(one, score=one.score / 2) for one in seen)
        return moved + (self.detect(image) if whole else ())


def no_network() -> Detector:
    """Fails to open one."""
    raise InputError("there is no such network")
