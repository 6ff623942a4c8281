"""PictureHealth: whether the pictures and what is made of them can be relied on, as one status that the house reads."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.core.records import record
from downfield.vision.tracking.estimate import Estimate

Level = Literal["ok", "warn", "unfit"]

_SHARP_EVERY_NS: Final = 100_000_000
_EVERY_PX: Final = 8  # of the picture, in both directions, is looked at
_PATCH_PX: Final = 192  # side of the patch in which sharpness is measured, at full resolution
_BRIGHT: Final = 250  # brighter is burned out
_DARK_MEAN: Final = 25.0  # of a picture in which nothing can be seen
_DIM_MEAN: Final = 45.0
_BURNED_SHARE: Final = 0.25  # of the picture
_LIGHT_CHANGE: Final = 0.35  # of the brightness, within the memory: lights were switched
_BLURRED: Final = 0.4  # sharpness compared with the usual one
_MEMORY_NS: Final = 2_000_000_000
_FROZEN_NS: Final = 250_000_000  # pictures that are the same for longer are a frozen feed
_LATE: Final = 1.7  # times the usual time between frames: one was lost
_MANY_LOST: Final = 3  # frames within the memory
_LONG_GAP_NS: Final = 300_000_000
_UNSURE_SHARE: Final = 0.25  # of the roster: so many may be somebody else, as after a cut, that no call is sound
_LOST_SHARE: Final = 0.35  # of the roster not seen


@record
class PictureHealth:
    """The state of the picture and of the tracking.

    Attributes:
        level: ``"ok"``; ``"warn"`` when something should be mended; ``"unfit"`` when nothing may be called.
        warnings: what should be mended.
        unfit: why nothing may be called; what scenes are marked with.
        repeated: whether the picture is the same as the one before: nothing new is to be learned from it.
        sharpness: of edges, compared with what is usual for this camera, about 1.
        brightness: mean gray level, 0..255.
        lost: frames lost in the last two seconds.
        seen: share of the roster that is seen, 0..1.

    """

    level: Level
    warnings: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    repeated: bool = False
    sharpness: float = 1.0
    brightness: float = 0.0
    lost: int = 0
    seen: float = 1.0


@dataclass(frozen=True, slots=True)
class _Look:
    """What was noted of one frame."""

    t_ns: int
    brightness: float
    sharpness: float
    lost: int
    step_ns: int


class PictureHealthMonitor:
    """Watches over the pictures; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque()
        self._last: Image | None = None
        self._index = 0
        self._same_since_ns: int | None = None
        self._usual_sharpness = 0.0
        self._sharp_ns = 0

    def step(self, frame: Frame, estimates: Sequence[Estimate] = (), others: Sequence[str] = ()) -> PictureHealth:
        """The health as of a frame.

        Args:
            frame: the picture.
            estimates: all figures as of the frame before or of this one; empty while nobody is known.
            others: warnings of what is not seen in pictures.

        """
        small = np.ascontiguousarray(frame.image[::_EVERY_PX, ::_EVERY_PX, 1])
        repeated = self._last is not None and np.array_equal(small, self._last)
        lost, step_ns = self._lost(frame)
        brightness = cv2.sumElems(small)[0] / small.size
        look = _Look(frame.t_ns, brightness, self._sharpness(frame), lost, step_ns)
        if not repeated or self._same_since_ns is None:
            self._same_since_ns = self._looks[-1].t_ns if repeated and self._looks else frame.t_ns
        self._last, self._index = small, frame.index
        self._looks.append(look)
        while frame.t_ns - self._looks[0].t_ns > _MEMORY_NS:
            self._looks.popleft()
        relative = self._relative_sharpness(look, repeated=repeated)
        unfit = [*_darkness(look), *self._stillness(frame.t_ns), *self._interruption(look), *self._lights(look)]
        lost_lately = sum(one.lost for one in self._looks)
        seen = _seen_share(estimates)
        if seen < 1 - _LOST_SHARE:
            unfit.append(f"{round(100 * (1 - seen))} % of the roster is not seen")
        unsure = sum(not one.sure for one in estimates)
        if unsure > _UNSURE_SHARE * len(estimates):
            unfit.append(f"who is who is in doubt of {unsure} men: say 'set' when they stand as named")
        warnings = [*others, *_exposure(look, small), *_roster(estimates)]
        if relative < _BLURRED:
            warnings.append("the picture is blurred: focus the camera, or clean its lens")
        if lost_lately >= _MANY_LOST:
            warnings.append(f"{lost_lately} frames were lost in 2 s")
        level: Level = "unfit" if unfit else "warn" if warnings else "ok"
        return PictureHealth(
            level, tuple(warnings), tuple(unfit), repeated, relative, look.brightness, lost_lately, seen
        )

    def _sharpness(self, frame: Frame) -> float:
        """Measured anew now and then: a lens does not go out of focus within a few frames."""
        if not self._looks or frame.t_ns - self._sharp_ns >= _SHARP_EVERY_NS:
            self._sharp_ns = frame.t_ns
            return _sharpness(frame.image)
        return self._looks[-1].sharpness

    def _lost(self, frame: Frame) -> tuple[int, int]:
        """How many frames are missing before this one, by their indices or else by their times."""
        if not self._looks:
            return 0, 0
        step_ns = frame.t_ns - self._looks[-1].t_ns
        skipped = max(frame.index - self._index - 1, 0)
        usual = [one.step_ns for one in self._looks if one.step_ns > 0]
        if skipped == 0 and len(usual) >= 5:
            beat = statistics.median(usual)
            skipped = max(round(step_ns / beat) - 1, 0) if step_ns > _LATE * beat else 0
        return skipped, step_ns

    def _relative_sharpness(self, look: _Look, *, repeated: bool) -> float:
        """Sharpness by the usual one, which is the best of what has been seen, slowly forgotten."""
        if not repeated:
            self._usual_sharpness = max(look.sharpness, 0.9995 * self._usual_sharpness)
        return look.sharpness / self._usual_sharpness if self._usual_sharpness > 0 else 1.0

    def _stillness(self, t_ns: int) -> list[str]:
        still_ns = t_ns - (self._same_since_ns or t_ns)
        return [f"the picture has not changed for {still_ns / 1e9:.1f} s"] if still_ns >= _FROZEN_NS else []

    def _interruption(self, look: _Look) -> list[str]:
        return [f"no frames came for {look.step_ns / 1e9:.1f} s"] if look.step_ns > _LONG_GAP_NS else []

    def _lights(self, look: _Look) -> list[str]:
        """A sudden change of light is over once the memory holds only the new one; 0.3 s are enough to settle."""
        before = [one.brightness for one in self._looks if 0 < look.t_ns - one.t_ns <= _LONG_GAP_NS]
        if not before:
            return []
        most, least = max(*before, look.brightness), min(*before, look.brightness)
        return ["the light changed"] if most - least > _LIGHT_CHANGE * max(most, 1.0) else []


def _sharpness(image: Image) -> float:
    """The steepest slopes in the middle of the picture, by its brightness."""
    height, width = image.shape[:2]
    half = _PATCH_PX // 2
    top, left = max(height // 2 - half, 0), max(width // 2 - half, 0)
    patch = np.ascontiguousarray(image[top : top + _PATCH_PX, left : left + _PATCH_PX, 1])
    calm = cv2.blur(patch, (1, 3))  # across the slope: takes noise away, and no steepness
    slope = np.abs(cv2.Sobel(calm, cv2.CV_16S, 1, 0, ksize=1))
    return float(np.percentile(slope[::2, ::2], 99)) / (float(patch.mean()) + 1.0)


def _darkness(look: _Look) -> list[str]:
    return ["the picture is dark"] if look.brightness < _DARK_MEAN else []


def _exposure(look: _Look, small: Image) -> list[str]:
    out = []
    if _DARK_MEAN <= look.brightness < _DIM_MEAN:
        out.append("the picture is dim: more light, or a longer exposure")
    if np.count_nonzero(small > _BRIGHT) > _BURNED_SHARE * small.size:
        out.append("the picture is burned out: less light, or a shorter exposure")
    return out


def _seen_share(estimates: Sequence[Estimate]) -> float:
    return sum(one.seen for one in estimates) / len(estimates) if estimates else 1.0


def _roster(estimates: Sequence[Estimate]) -> list[str]:
    unsure = sorted(one.id for one in estimates if not one.sure)
    return [f"who is who is in doubt: {', '.join(unsure)}"] if unsure else []
