"""Monitors the camera picture and the tracking, and reports in plain words what is wrong and what to do."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import TIME_UNKNOWN_NS, Frame
from downfield.vision.measuring.estimate import Estimate


@dataclass(frozen=True, slots=True)
class RepeatLimits:
    """Thresholds of finding repeated pictures."""

    sample_px: int = 8  # The picture is sampled at this spacing, in both directions
    strongest_share: float = 0.001  # Share of the samples whose change counts: those at the edges of walking figures
    memory: int = 24  # Changes that are remembered: 0.8 s of movement at 30 a second
    memory_runs: int = 12  # Large changes that are remembered, by the run of small ones before each
    large_percentile: float = 85.0  # Of the remembered changes: a large one, also where each picture is sent four times
    # A change smaller than this share of a large one shows nothing new; compression makes less than a third
    small_share: float = 0.5
    least_change: float = 0.15  # Share of the picture's light that a large change makes; without that nothing moves
    longest_run: int = 5  # Pictures in a row that may be repeats: no source repeats more of them
    least_runs: int = 3  # Runs after which repeats are believed: a pause in a movement may look like one


_REPEATS: Final = RepeatLimits()


class RepeatDetector:
    """Tells pictures that show nothing new; call `is_repeat` for every picture, in order of time.

    A picture that a stream or a capture device compressed again differs from the one before by compression alone, and a
    new one, while figures walk, by their movement too. A run of small changes between large ones is no longer than the
    pictures are repeated; where all comes to rest it is longer, and nothing is lost by taking those for new.

    Attributes:
        sample: the latest picture's green, sampled.
        identical: whether the latest picture is the one before it, bit for bit.
    """

    def __init__(self) -> None:
        self.sample: Image | None = None
        self.identical = False
        self._changes: deque[float] = deque(maxlen=_REPEATS.memory)
        self._runs: deque[int] = deque(maxlen=_REPEATS.memory_runs)
        self._run = 0

    def is_repeat(self, image: Image) -> bool:
        """Return whether a picture shows the same as the one before it."""
        before, step = self.sample, _REPEATS.sample_px
        self.sample = np.ascontiguousarray(image[::step, ::step, 1])
        if before is None or before.shape != self.sample.shape:
            return False
        self.identical = np.array_equal(self.sample, before)
        if self.identical:
            return True
        change = _strongest_change(before, self.sample)
        if change >= _REPEATS.least_change:
            self._changes.append(change)
        large = float(np.percentile(self._changes, _REPEATS.large_percentile)) if self._changes else np.inf
        if change >= max(_REPEATS.small_share * large, _REPEATS.least_change):
            if self._run <= _REPEATS.longest_run:  # else nothing moved
                self._runs.append(self._run)
            self._run = 0
            return False
        self._run += 1
        return sum(run > 0 for run in self._runs) >= _REPEATS.least_runs and self._run <= max(self._runs)


def _strongest_change(before: Image, now: Image) -> float:
    """Return by how much the most changed samples differ, beyond the light of whole rows, relative to the picture's."""
    light = (now.mean(axis=1) + 1) / (before.mean(axis=1) + 1)
    levels = np.abs(now - before * light[:, None].astype(np.float32)).astype(np.uint16)
    counts = cv2.calcHist([levels], [0], None, [256], [0, 256]).ravel()
    above = np.cumsum(counts[::-1])
    strongest = 255 - int(np.searchsorted(above, _REPEATS.strongest_share * levels.size))
    return strongest / (float(now.mean()) + 1)


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """Thresholds of the picture health monitor."""

    memory_ns: int = 2_000_000_000  # Frames are remembered for this long

    # Sharpness.
    sharpness_every_ns: int = 100_000_000
    """Sharpness is measured this often: a lens does not go out of focus within a few frames."""
    sharpness_patch_px: int = 192  # Side of the patch in which sharpness is measured, at full resolution
    best_sharpness_kept: float = 0.9995  # Share of the best sharpness that is kept from frame to frame
    min_sharpness: float = 0.4  # Below this share of the best sharpness the picture is blurred

    # Light.
    min_brightness: float = 25.0  # Mean gray level of a picture in which nothing can be seen
    dim_brightness: float = 45.0  # Mean gray level of a dim picture
    overexposed_level: int = 250  # Brighter pixels are overexposed
    # Range of gray levels, but for 2 % at either end, relative to their mean; fog and stray light make it small
    min_contrast: float = 0.7
    max_overexposed_share: float = 0.1  # The picture is overexposed when a larger share of its pixels is
    max_brightness_change: float = 0.35  # Relative change of brightness within the settling time: lights were switched
    light_settles_ns: int = 300_000_000  # A change of light is over after this time
    flicker_bands: int = 15  # Bands across the picture whose light is followed, as sensors read row by row
    # Frames over which flicker is judged; half of them must show it, as a switched lamp or a hand shows in few
    flicker_frames: int = 20
    # Share by which the light of a band goes up and down from frame to frame, from which lamps flicker
    min_flicker: float = 0.04
    strong_flicker: float = 0.35  # That share from which figures can't be told apart

    # Frames.
    max_time_error_ns: int = 8_000_000
    """Median error of the frames' times that is worth a warning: a figure walks a tenth of a yard in it."""
    frozen_ns: int = 250_000_000  # A picture that stays the same for longer is a frozen stream
    late_factor: float = 1.7  # A frame was dropped when the time between frames is this many times the usual one
    min_steps: int = 5  # Number of frames after which the usual time between frames is known
    max_dropped: int = 3  # Number of remembered dropped frames that is worth a warning
    max_gap_ns: int = 300_000_000  # After a longer gap between frames no calls are made
    max_repeated_share: float = 0.15  # Share of the remembered frames that may show nothing new, without a warning
    min_frames: int = 20  # Remembered frames from which that share counts

    # Tracking.
    max_unseen_share: float = 0.35  # When a larger share of the roster is not seen, no call is reliable


_LIMITS: Final = HealthLimits()


@dataclass(frozen=True, slots=True)
class PictureHealth:
    """The state of the picture and of the tracking."""

    warnings: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()  # reasons why no calls may be made, as in `Scene`
    repeated: bool = False  # whether the picture shows the same as the previous one, and so holds no new information
    more_figures: int = 0  # that stand on the board and are none of the line-up's


@dataclass(frozen=True, slots=True)
class _FrameStats:
    """Measurements of one frame."""

    t_ns: int
    brightness: float
    sharpness: float
    contrast: float
    dropped: int
    step_ns: int
    repeated: bool
    t_sigma_ns: int


class PictureHealthMonitor:
    """Monitors the pictures; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        self._recent: deque[_FrameStats] = deque()
        self._repeats = RepeatDetector()
        self._index = 0
        self._same_since_ns: int | None = None
        self._best_sharpness = 0.0
        self._sharpness_ns = 0
        self._bands: deque[Array] = deque(maxlen=_LIMITS.flicker_frames)

    def step(self, frame: Frame, estimates: Sequence[Estimate] = (), others: Sequence[str] = ()) -> PictureHealth:
        """Add a frame and return the health.

        Args:
            estimates: all figures at this frame or the one before; empty before the line-up is known.
            others: warnings from elsewhere to include.
        """
        repeated = self._repeats.is_repeat(frame.image)
        small = self._repeats.sample
        assert small is not None
        dropped, step_ns = self._count_dropped(frame)
        brightness = cv2.sumElems(small)[0] / small.size
        sharpness, contrast = self._measure_sharpness(frame, small)
        stats = _FrameStats(frame.t_ns, brightness, sharpness, contrast, dropped, step_ns, repeated, frame.t_sigma_ns)
        identical = self._repeats.identical
        if not identical or self._same_since_ns is None:
            self._same_since_ns = self._recent[-1].t_ns if identical and self._recent else frame.t_ns
        self._index = frame.index
        self._recent.append(stats)
        while frame.t_ns - self._recent[0].t_ns > _LIMITS.memory_ns:
            self._recent.popleft()
        relative = self._relative_sharpness(stats, repeated=repeated)
        flicker = self._flicker(small)
        recently_dropped = sum(recent.dropped for recent in self._recent)
        unfit = [
            *_darkness(stats),
            *self._frozen(frame.t_ns),
            *_interruption(stats),
            *(_flickering(flicker) if flicker >= _LIMITS.strong_flicker else self._light_change(stats)),
            *_unseen(estimates),
        ]
        warnings = [*others, *_exposure(stats, small), *self._repeating(), *self._uneven()]
        if _LIMITS.min_flicker <= flicker < _LIMITS.strong_flicker:
            warnings += _flickering(flicker)
        if stats.contrast < _LIMITS.min_contrast and brightness >= _LIMITS.dim_brightness:
            warnings.append("The picture has little contrast: clean the lens, and keep lamps from shining into it")
        if relative < _LIMITS.min_sharpness:
            warnings.append("The picture is blurred: focus the camera or clean its lens")
        if recently_dropped >= _LIMITS.max_dropped:
            warnings.append(f"{recently_dropped} frames were dropped in the last 2 s: close other programs")
        return PictureHealth(tuple(warnings), tuple(unfit), repeated)

    def _measure_sharpness(self, frame: Frame, small: Image) -> tuple[float, float]:
        """Return the sharpness and the contrast, measured at intervals."""
        if not self._recent or frame.t_ns - self._sharpness_ns >= _LIMITS.sharpness_every_ns:
            self._sharpness_ns = frame.t_ns
            darkest, lightest = np.percentile(small, (2, 98)).tolist()
            return _sharpness(frame.image), (lightest - darkest) / (float(small.mean()) + 1.0)
        return self._recent[-1].sharpness, self._recent[-1].contrast

    def _count_dropped(self, frame: Frame) -> tuple[int, int]:
        """Return how many frames are missing before this one, by their indices or their times, and the time step."""
        if not self._recent:
            return 0, 0
        step_ns = frame.t_ns - self._recent[-1].t_ns
        skipped = max(frame.index - self._index - 1, 0)
        steps = [recent.step_ns for recent in self._recent if recent.step_ns > 0 and not recent.t_sigma_ns]
        if skipped == 0 and not frame.t_sigma_ns and len(steps) >= _LIMITS.min_steps:
            usual = statistics.median(steps)
            skipped = max(round(step_ns / usual) - 1, 0) if step_ns > _LIMITS.late_factor * usual else 0
        return skipped, step_ns

    def _relative_sharpness(self, stats: _FrameStats, *, repeated: bool) -> float:
        """Return sharpness relative to the best so far, which fades slowly."""
        if not repeated:
            self._best_sharpness = max(stats.sharpness, _LIMITS.best_sharpness_kept * self._best_sharpness)
        return stats.sharpness / self._best_sharpness if self._best_sharpness > 0 else 1.0

    def _frozen(self, t_ns: int) -> list[str]:
        still_ns = t_ns - (self._same_since_ns or t_ns)
        if still_ns < _LIMITS.frozen_ns:
            return []
        return [f"The picture has not changed for {still_ns / 1e9:.1f} s: check the camera and its cable"]

    def _flicker(self, small: Image) -> float:
        """Return by which share the light of bands of the picture goes up and down from frame to frame."""
        rows = len(small) // _LIMITS.flicker_bands
        if not rows:
            return 0.0
        bands = small[: rows * _LIMITS.flicker_bands].reshape(_LIMITS.flicker_bands, -1).mean(axis=1) + 1.0
        if not self._repeats.identical:
            self._bands.append(bands)
        if len(self._bands) < _LIMITS.flicker_frames:
            return 0.0
        light = np.array(self._bands)
        bends = np.abs(light[2:] - 2 * light[1:-1] + light[:-2]) / 2.0 / light.mean(axis=0)
        return float(np.median(bends))

    def _repeating(self) -> list[str]:
        """Return that pictures come several times; unless they have stopped changing, which is told by itself."""
        count, repeated = len(self._recent), sum(recent.repeated for recent in self._recent)
        if count < _LIMITS.min_frames or not _LIMITS.max_repeated_share < repeated / count < 0.9:
            return []
        advice = "set the camera, or the program that passes its picture on, to a rate that it really sends"
        return [f"Only some {10 * round(10 * (1 - repeated / count))} % of the pictures show anything new: {advice}"]

    def _uneven(self) -> list[str]:
        """Return that frames come unevenly, so that their times are known no better."""
        error_ns = statistics.median(recent.t_sigma_ns for recent in self._recent)
        if error_ns <= _LIMITS.max_time_error_ns:
            return []
        known = "are not known" if error_ns >= TIME_UNKNOWN_NS else f"are known to {error_ns / 1e6:.0f} ms only"
        advice = "plug the camera in directly, or give its stream a wire or a lower bit rate"
        return [f"Pictures come unevenly, in bursts or late, and their times {known}: {advice}"]

    def _light_change(self, stats: _FrameStats) -> list[str]:
        before = [
            recent.brightness for recent in self._recent if 0 < stats.t_ns - recent.t_ns <= _LIMITS.light_settles_ns
        ]
        if not before:
            return []
        most, least = max(*before, stats.brightness), min(*before, stats.brightness)
        changed = most - least > _LIMITS.max_brightness_change * max(most, 1.0)
        return ["The light changed: calls resume once it is steady"] if changed else []


def _sharpness(image: Image) -> float:
    """Return the steepest slopes in the middle of the picture, relative to its brightness."""
    height, width = image.shape[:2]
    side = _LIMITS.sharpness_patch_px
    top, left = max(height // 2 - side // 2, 0), max(width // 2 - side // 2, 0)
    patch = np.ascontiguousarray(image[top : top + side, left : left + side, 1])
    smooth = cv2.blur(patch, (1, 3))  # across the slope: removes noise and keeps steepness
    slope = np.abs(cv2.Sobel(smooth, cv2.CV_16S, 1, 0, ksize=1))
    return float(np.percentile(slope[::2, ::2], 99)) / (float(patch.mean()) + 1.0)


def _flickering(share: float) -> list[str]:
    advice = "set the exposure to 1/100 s (mains of 50 Hz) or 1/120 s (60 Hz), or use lamps that do not flicker"
    return [f"The lamps flicker by {round(share, 1):.0%}: {advice}"]


def _darkness(stats: _FrameStats) -> list[str]:
    if stats.brightness >= _LIMITS.min_brightness:
        return []
    return ["The picture is dark: add light or lengthen the exposure"]


def _interruption(stats: _FrameStats) -> list[str]:
    if stats.step_ns <= _LIMITS.max_gap_ns:
        return []
    return [f"No frames came for {stats.step_ns / 1e9:.1f} s: check the camera and its cable"]


def _exposure(stats: _FrameStats, small: Image) -> list[str]:
    out = []
    if _LIMITS.min_brightness <= stats.brightness < _LIMITS.dim_brightness:
        out.append("The picture is dim: add light or lengthen the exposure")
    if np.count_nonzero(small > _LIMITS.overexposed_level) > _LIMITS.max_overexposed_share * small.size:
        out.append("Part of the picture is overexposed: move the lamp that glares in it, or shorten the exposure")
    return out


def _unseen(estimates: Sequence[Estimate]) -> list[str]:
    seen_share = sum(figure.seen for figure in estimates) / len(estimates) if estimates else 1.0
    if seen_share >= 1 - _LIMITS.max_unseen_share:
        return []
    return [f"{round(100 * (1 - seen_share))} % of the figures are not visible: clear the view of the board"]
