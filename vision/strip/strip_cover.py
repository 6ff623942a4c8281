"""Tells whether something lies or reaches over a strip, and whether its picture is still.

A coarse rectified picture is compared with a background of the same strip. The slide and the dials change by
themselves: they are left out, but a hand that hides them hides print beside them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image, Plane
from downfield.core.strip import StripSet
from downfield.vision.occlusion.intrusion import Mask, Planes, compare_with_background
from downfield.vision.strip.rectify import BoardBox, Rectifier


@dataclass(frozen=True, slots=True)
class CoverLimits:
    """Thresholds of seeing a hand over the strip."""

    px_per_mm: float = 1.0
    """Scale of the compared picture."""
    disc_mm: float = 7.0
    """A finger is wider than this."""
    covered_share: float = 0.006
    """Share of the print under something from which the strip counts as covered."""
    moving_share: float = 0.004
    """Share of the picture that differs from the last one from which something moves."""
    beside_mm: float = 4.0
    """The slide's parallax, shade and reflection may change the print this far beside its plate."""
    background_gain: float = 0.25
    """Weight of a new picture in the background where nothing covers it."""


_LIMITS: Final = CoverLimits()


@dataclass(frozen=True, slots=True)
class Cover:
    """What is over the strip.

    Attributes:
        covered: whether something hides print.
        moving: whether the picture differs from the last one.
        share: of the print that is hidden, 0..1.
    """

    covered: bool
    moving: bool
    share: float


class CoverDetector:
    """Compares every picture of a strip with its background.

    Args:
        background: a picture without a hand over the strip.
    """

    def __init__(self, strip: StripSet, camera: Camera, background: Image) -> None:
        x_low, y_low, x_high, y_high = strip.field.board_mm
        self._strip = strip
        self._window = Rectifier(camera, BoardBox((x_low, x_high), (y_low, y_high), _LIMITS.px_per_mm))
        self._background: Planes = self._coarse(background)
        self._known = self._fixed()
        self._slides: list[float] = []
        self._last: Planes | None = None
        self._disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (round(_LIMITS.disc_mm * _LIMITS.px_per_mm),) * 2)

    def update(self, image: Image, line_yd: float | None) -> Cover:
        """Return what is over the strip in a picture.

        Args:
            line_yd: where the slide's line is seen; None when it is not.
        """
        coarse = self._coarse(image)
        differs, shadow = compare_with_background(coarse, self._background)
        for at_yd in self._slides[-1:] if line_yd is None else (*self._slides[-1:], line_yd):
            differs[:, self._columns(at_yd)] = 0
        hidden = cv2.morphologyEx(differs & (1 - shadow) & self._known, cv2.MORPH_OPEN, self._disc)
        share = float(hidden.sum() / max(int(self._known.sum()), 1))
        last, self._last = self._last, coarse
        moved = None if last is None else compare_with_background(coarse, last)[0]
        # Noise makes single pixels differ; what moves is wider.
        moving = moved is not None and float(cv2.erode(moved, np.ones((2, 2), np.uint8)).mean()) > _LIMITS.moving_share
        covered = share > _LIMITS.covered_share
        if not covered and not moving and line_yd is not None:
            self._learn(coarse, line_yd)
        return Cover(covered, moving, share)

    def _learn(self, coarse: Planes, line_yd: float) -> None:
        """Let the background follow the light, and learn what a slide that has moved away hid before."""
        weight = np.full(coarse.shape[1:], _LIMITS.background_gain, np.float32)
        if self._slides:
            weight[:, self._columns(self._slides[-1])] = 1.0
        weight[:, self._columns(line_yd)] = 0.0
        self._background += weight * (coarse - self._background)
        self._slides = [line_yd]

    def _coarse(self, image: Image) -> Planes:
        plane: Plane = np.asarray(cv2.blur(self._window.sample(image), (3, 3)), dtype=np.float32)
        return np.ascontiguousarray(np.moveaxis(plane, 2, 0))

    def _columns(self, at_yd: float) -> slice:
        box, slide, field = self._window.box, self._strip.slide, self._strip.field
        middle = (at_yd * field.mm_per_yd_x - box.x_mm[0]) * box.px_per_mm
        half = (slide.width_mm / 2 + _LIMITS.beside_mm) * box.px_per_mm
        return slice(max(int(middle - half), 0), max(int(middle + half) + 1, 0))

    def _fixed(self) -> Mask:
        """Return where the print itself is seen: everywhere but in the windows."""
        box = self._window.box
        known = np.ones(box.shape, np.uint8)
        for dial in self._strip.dials:
            x, y = (np.array(span) for span in (dial.x_mm, dial.y_mm))
            left, right = ((x - box.x_mm[0]) * box.px_per_mm).round().astype(int)
            top, bottom = ((box.y_mm[1] - y[::-1]) * box.px_per_mm).round().astype(int)
            known[max(top - 1, 0) : bottom + 2, max(left - 1, 0) : right + 2] = 0
        return known
