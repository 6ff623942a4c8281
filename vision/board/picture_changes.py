"""What a picture shows anew: against those before it, and against what was there before anything lay over it.

A picture that a stream or a capture device compressed again differs from the one before by compression alone, and a new
one, while figures walk, by their movement too. A run of small changes between large ones is no longer than the pictures
are repeated; where all comes to rest it is longer, and nothing is lost by taking those for new. Whatever walks is
further from where it was two pictures ago than from where it was one picture ago: if it is nearer, and has not turned
back, the two came in the wrong order. From its background a picture differs by more than shadows, lamps and bands of
flicker where something is.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Image
from downfield.core.frame import Frame


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Thresholds of comparing pictures with those before them."""

    sample_px: int = 8  # the picture is sampled at this spacing, in both directions
    strongest_share: float = 0.001  # share of the samples whose change counts: those at the edges of walking figures
    memory: int = 24  # changes that are remembered: 0.8 s of movement at 30 a second
    memory_runs: int = 12  # large changes that are remembered, by the run of small ones before each
    large_percentile: float = 85.0  # of the remembered changes: a large one, also where each picture is sent four times
    # a change smaller than this share of a large one shows nothing new; compression makes less than a third
    small_share: float = 0.5
    least_change: float = 0.15  # share of the picture's light that a large change makes; without that nothing moves
    longest_run: int = 5  # pictures in a row that may be repeats: no source repeats more of them
    least_runs: int = 3  # runs after which repeats are believed: a pause in a movement may look like one
    # share of the samples that walking figures change from one picture to the next; a hand or a shake changes more
    walking_share: tuple[float, float] = (0.002, 0.03)
    # a change against the picture two before of less than this share of that against the last one is a step back
    nearer_share: float = 0.7


CHANGE_LIMITS: Final = ChangeLimits()


@dataclass(frozen=True, slots=True)
class PictureChange:
    """What a picture shows against those before it."""

    sample: Image  # its green, sampled
    identical: bool = False  # whether it is the one before it, bit for bit
    repeated: bool = False  # whether it shows the same as the one before it
    back: bool = False  # whether it goes back behind the one before it
    noise: int = 0  # gray levels by which half of the samples differ from the last ones: of sensors


class PictureChanges:
    """Compares pictures; call `of` for every frame, in order of time, from as many threads as need it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: deque[tuple[int, PictureChange]] = deque(maxlen=32)  # with the times; fewer are under way
        self._shown: deque[Image] = deque(maxlen=3)  # the last pictures that showed something new
        self._changes: deque[float] = deque(maxlen=CHANGE_LIMITS.memory)
        self._runs: deque[int] = deque(maxlen=CHANGE_LIMITS.memory_runs)
        self._run = 0

    def of(self, frame: Frame) -> PictureChange:
        """Return what a frame shows; whoever asks first has it compared."""
        with self._lock:
            for t_ns, change in reversed(self._known):
                if t_ns == frame.t_ns:
                    return change
            change = self._compared(frame.image)
            self._known.append((frame.t_ns, change))
            return change

    def _compared(self, image: Image) -> PictureChange:
        step = CHANGE_LIMITS.sample_px
        sample = np.ascontiguousarray(image[::step, ::step, 1])
        last = self._known[-1][1].sample if self._known else None
        if last is None or last.shape != sample.shape:
            self._shown.clear()
            self._shown.append(sample)
            return PictureChange(sample)
        if np.array_equal(sample, last):
            return PictureChange(sample, identical=True, repeated=True)
        levels = _changed_levels(last, sample)
        strongest = _exceeded_level(levels, CHANGE_LIMITS.strongest_share)
        repeated = self._is_repeat(strongest / (float(sample.mean()) + 1))
        back = not repeated and self._goes_back(sample, levels)
        if not repeated:
            self._shown.append(sample)
        return PictureChange(sample, repeated=repeated, back=back, noise=_exceeded_level(levels, 0.5))

    def _is_repeat(self, change: float) -> bool:
        """Return whether a change is that of compression alone."""
        if change >= CHANGE_LIMITS.least_change:
            self._changes.append(change)
        large = float(np.percentile(self._changes, CHANGE_LIMITS.large_percentile)) if self._changes else np.inf
        if change >= CHANGE_LIMITS.small_share * large:
            if self._run <= CHANGE_LIMITS.longest_run:  # else nothing moved
                self._runs.append(self._run)
            self._run = 0
            return False
        self._run += 1
        return sum(run > 0 for run in self._runs) >= CHANGE_LIMITS.least_runs and self._run <= max(self._runs)

    def _goes_back(self, sample: Image, levels: Image) -> bool:
        """Return whether the last picture, of which this one differs so, belongs before the one before it.

        This one is then nearer to the one before it, and yet further away from an earlier one than the last one is.
        """
        threshold = round(CHANGE_LIMITS.least_change * (float(sample.mean()) + 1))
        changed = int(np.count_nonzero(levels > threshold))
        least, most = (share * levels.size for share in CHANGE_LIMITS.walking_share)
        if len(self._shown) < 3 or not least <= changed <= most:
            return False
        earlier, before, last = self._shown

        def apart(one: Image, other: Image) -> int:
            return int(np.count_nonzero(_changed_levels(one, other) > threshold))

        nearer = apart(before, sample) < CHANGE_LIMITS.nearer_share * changed
        return nearer and apart(earlier, last) < CHANGE_LIMITS.nearer_share * apart(earlier, sample)


def _changed_levels(before: Image, now: Image) -> Image:
    """Return by how many levels samples differ, beyond the light of whole rows, which lamps change."""
    light = (now.mean(axis=1) + 1) / (before.mean(axis=1) + 1)
    levels = np.abs(now - before * light[:, None].astype(np.float32))
    return np.asarray(np.minimum(levels, 255), np.uint8)


def _exceeded_level(levels: Image, share: float) -> int:
    """Return the level that a share of the samples exceeds."""
    counts = cv2.calcHist([levels], [0], None, [256], [0, 256]).ravel()
    above = np.cumsum(counts[::-1])
    return 255 - int(np.searchsorted(above, share * levels.size))


Mask: TypeAlias = NDArray[np.uint8]
Planes: TypeAlias = NDArray[np.float32]  # colors of a coarse picture, shape (3, height, width)


# gray levels by which a pixel differs from the background, in the most different color
_MIN_DIFFERENCE: Final = 26.0
_MIN_SHADOW: Final = 0.3  # a shadow leaves at least this share of the light
_MAX_LIT: Final = 1.7  # where a shadow has gone that the background has learned, it is lighter by up to this factor
# largest difference between the colors by which a shadow darkens, or its end lightens
_MAX_SHADOW_TINT: Final = 0.16
# relative difference within which a pixel shows the same as the background in another light
_SAME_LIGHT: Final = 0.12


def compare_with_background(coarse: Planes, background: Planes) -> tuple[Mask, Mask]:
    """Return where a picture differs from the background, and where only its light may; (height, width), 0 or 1."""
    expected = background * _light(coarse, background)
    difference, ratio = np.abs(coarse - expected), (coarse + 4) / (expected + 4)
    most, least = reduce(np.maximum, ratio), reduce(np.minimum, ratio)
    shadow = ((most < 1) & (least > _MIN_SHADOW)) | ((least > 1) & (most < _MAX_LIT))
    shadow &= most - least < _MAX_SHADOW_TINT
    return (reduce(np.maximum, difference) > _MIN_DIFFERENCE).astype(np.uint8), shadow.astype(np.uint8)


def _light(coarse: Planes, background: Planes) -> Planes:
    """Return the light by which a picture differs from the background, of each color and row, shape (3, height, 1).

    Sensors read row by row, so lamps that flicker make rows differ. A row is taken as lit like all unless another light
    explains more of it: what covers a row is not its light.
    """
    ratio = (coarse[:, :, ::2] + 1) / (background[:, :, ::2] + 1)
    rows = np.median(ratio, axis=2, keepdims=True)
    common = np.median(rows, axis=1, keepdims=True)
    by_row, by_all = ((np.abs(ratio / light - 1) < _SAME_LIGHT).mean(axis=2, keepdims=True) for light in (rows, common))
    lights: Planes = np.where(by_row > by_all, rows, common).astype(np.float32)
    return lights
