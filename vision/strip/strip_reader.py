"""Reads a strip from a stream of pictures: what it says once it is still and nothing is over it.

Whether something lies or reaches over it is told by comparison: a coarse rectified picture is compared with a
background of the same strip. The slide and the dials change by themselves: they are left out, but a hand that hides
them hides print beside them too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image, Plane
from downfield.core.strip import Count, StripSet, Third
from downfield.vision.board.picture_changes import Mask, Planes, compare_with_background
from downfield.vision.strip.dial_reader import DialReader, DialReading, number_of
from downfield.vision.strip.rectify import BoardBox, Rectifier
from downfield.vision.strip.slide_reader import SlideReader, SlideReading


@dataclass(frozen=True, slots=True)
class CoverLimits:
    """Thresholds of seeing a hand over the strip."""

    px_per_mm: float = 1.0  # Scale of the compared picture
    disc_mm: float = 7.0  # A finger is wider than this
    covered_share: float = 0.006  # Share of the print under something from which the strip counts as covered
    moving_share: float = 0.004  # Share of the picture that differs from the last one from which something moves
    beside_mm: float = 4.0  # The slide's parallax, shade and reflection may change the print this far beside its plate
    background_gain: float = 0.25  # Weight of a new picture in the background where nothing covers it


_COVER: Final = CoverLimits()


@dataclass(frozen=True, slots=True)
class Cover:
    """What is over the strip."""

    covered: bool  # whether something hides print
    moving: bool  # whether the picture differs from the last one
    share: float  # of the print that is hidden, 0..1


class CoverDetector:
    """Compares every picture of a strip with its background. `background`: a picture without a hand over the strip."""

    def __init__(self, strip: StripSet, camera: Camera, background: Image) -> None:
        x_low, y_low, x_high, y_high = strip.field.board_mm
        self._strip = strip
        self._window = Rectifier(camera, BoardBox((x_low, x_high), (y_low, y_high), _COVER.px_per_mm))
        self._background: Planes = self._coarse(background)
        self._known = self._fixed()
        self._slides: list[float] = []
        self._last: Planes | None = None
        self._disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (round(_COVER.disc_mm * _COVER.px_per_mm),) * 2)

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
        moving = moved is not None and float(cv2.erode(moved, np.ones((2, 2), np.uint8)).mean()) > _COVER.moving_share
        covered = share > _COVER.covered_share
        if not covered and not moving and line_yd is not None:
            self._learn(coarse, line_yd)
        return Cover(covered, moving, share)

    def _learn(self, coarse: Planes, line_yd: float) -> None:
        """Let the background follow the light, and learn what a slide that has moved away hid before."""
        weight = np.full(coarse.shape[1:], _COVER.background_gain, np.float32)
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
        half = (slide.width_mm / 2 + _COVER.beside_mm) * box.px_per_mm
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


_STILL_NS: Final = 400_000_000  # The strip has been still and uncovered for this long
_MIN_PICTURES: Final = 3  # Least number of pictures that agree
_SURE: Final = 0.9  # Least confidence of a number that is reported


@dataclass(frozen=True, slots=True)
class StripReading:
    """What a strip says at one instant."""

    t_ns: int
    settled: bool  # whether it has been still and uncovered long enough; otherwise nothing is reported
    covered: bool  # whether a hand or something else is over it
    slide: SlideReading  # the slide as read in this picture
    dials: tuple[DialReading, ...] = ()  # every window as read in this picture
    # what each count says, with its confidence; None where its dials can't be read
    numbers: dict[Count, tuple[int | None, float]] = field(default_factory=dict)

    def yard(self, sure: float = _SURE) -> int | None:
        """Return the yard the slide is at, if it is settled and surer than this."""
        return self.slide.yard if self.settled and self.slide.yard_confidence >= sure else None

    def third(self, sure: float = _SURE) -> Third | None:
        """Return the third the ball is in, if it is settled and surer than this."""
        return self.slide.third if self.settled and self.slide.third_confidence >= sure else None

    def number(self, counts: Count, sure: float = _SURE) -> int | None:
        """Return what the dials of a count say, if they are settled and surer than this."""
        number, confidence = self.numbers.get(counts, (None, 0.0))
        return number if self.settled and confidence >= sure else None


class StripReader:
    """Reads one strip with one camera; call `read` for pictures in order of time.

    Args:
        camera: lens and pose, from `strip_calibration.calibrate_strip`.
        background: a picture without a hand over the strip, such as the one that was calibrated from.
    """

    def __init__(self, strip: StripSet, camera: Camera, background: Image) -> None:
        self._strip = strip
        self._slide, self._dials = SlideReader(strip, camera), DialReader(strip, camera)
        self._cover = CoverDetector(strip, camera, background)
        self._since_ns: int | None = None
        self._pictures = 0
        self._recent: deque[SlideReading] = deque(maxlen=_MIN_PICTURES)

    def read(self, image: Image, t_ns: int) -> StripReading:
        """Return the reading of a picture."""
        slide = self._slide.read(image)
        cover = self._cover.update(image, slide.line_yd)
        same = not self._recent or _agree(self._recent[-1], slide)
        if cover.covered or cover.moving or not same:
            self._since_ns, self._pictures = None, 0
            self._recent.clear()
        if not cover.covered and not cover.moving:
            self._since_ns = t_ns if self._since_ns is None else self._since_ns
            self._pictures += 1
            self._recent.append(slide)
        still = self._since_ns is not None and t_ns - self._since_ns >= _STILL_NS
        settled = still and self._pictures >= _MIN_PICTURES
        if not settled:
            return StripReading(t_ns, False, cover.covered, slide)
        self._slide.learn(slide)
        dials = self._dials.read(image)
        numbers = {counts: number_of(self._strip, dials, counts) for counts in self._strip.counts}
        return StripReading(t_ns, True, False, slide, dials, numbers)


def _agree(a: SlideReading, b: SlideReading) -> bool:
    if a.measured_yd is None or b.measured_yd is None:
        return a.measured_yd is None and b.measured_yd is None
    return abs(a.measured_yd - b.measured_yd) < 0.25
