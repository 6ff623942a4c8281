"""Reads a strip from a stream of pictures: what it says once it is still and nothing is over it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.strip import Count, StripSet, Third
from downfield.vision.strip.dial_reader import DialReader, DialReading, number_of
from downfield.vision.strip.slide_reader import SlideReader, SlideReading
from downfield.vision.strip.strip_cover import CoverDetector


@dataclass(frozen=True, slots=True)
class StripReadingLimits:
    """When a reading is settled and sure."""

    still_ns: int = 400_000_000
    """The strip has been still and uncovered for this long."""
    min_pictures: int = 3
    """Least number of pictures that agree."""
    sure: float = 0.9
    """Least confidence of a number that is reported."""


_LIMITS: Final = StripReadingLimits()


@dataclass(frozen=True, slots=True)
class StripReading:
    """What a strip says at one instant.

    Attributes:
        settled: whether it has been still and uncovered long enough; otherwise nothing is reported.
        covered: whether a hand or something else is over it.
        slide: the slide as read in this picture.
        dials: every window as read in this picture.
        numbers: what each count says, with its confidence; None where its dials can't be read.
    """

    t_ns: int
    settled: bool
    covered: bool
    slide: SlideReading
    dials: tuple[DialReading, ...] = ()
    numbers: dict[Count, tuple[int | None, float]] = field(default_factory=dict)

    def yard(self, sure: float = _LIMITS.sure) -> int | None:
        """Return the yard the slide is at, if it is settled and surer than this."""
        return self.slide.yard if self.settled and self.slide.yard_confidence >= sure else None

    def third(self, sure: float = _LIMITS.sure) -> Third | None:
        """Return the third the ball is in, if it is settled and surer than this."""
        return self.slide.third if self.settled and self.slide.third_confidence >= sure else None

    def number(self, counts: Count, sure: float = _LIMITS.sure) -> int | None:
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
        self._recent: deque[SlideReading] = deque(maxlen=_LIMITS.min_pictures)

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
        still = self._since_ns is not None and t_ns - self._since_ns >= _LIMITS.still_ns
        settled = still and self._pictures >= _LIMITS.min_pictures
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
