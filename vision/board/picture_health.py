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
from downfield.vision.board.picture_changes import CHANGE_LIMITS, PictureChange, PictureChanges
from downfield.vision.measuring.estimate import Estimate


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """Thresholds of the picture health monitor."""

    memory_ns: int = 2_000_000_000  # Frames are remembered for this long
    # Sharpness.
    # sharpness is measured this often: a lens does not go out of focus within a few frames
    sharpness_every_ns: int = 100_000_000
    sharpness_patch_px: int = 192  # Side of the patches in which sharpness is measured, at full resolution
    sharpness_patches: tuple[float, ...] = (0.3, 0.5, 0.7)  # Where they are, as shares of the width
    # On either side of an edge the light is measured this far from it, of a picture 1920 px wide
    edge_px: float = 8.0
    least_edge: float = 8.0  # Gray levels of an edge; without one nothing tells how sharp the picture is
    # Share of an edge's height that is climbed within two pixels; in focus it is 0.6 to 0.8, at a blur of 2.5 px this
    min_sharpness: float = 0.35
    # Light.
    min_brightness: float = 25.0  # Mean gray level of a field on which nothing can be seen
    dim_brightness: float = 45.0  # Mean gray level of a dim field
    overexposed_level: int = 250  # Brighter pixels are overexposed
    # Range of gray levels, but for 2 % at either end, relative to their mean; fog and stray light make it small
    min_contrast: float = 0.7
    glare_side: int = 6  # Samples along the side of the squares in which glare is looked for: no painted line fills one
    glare_fills: float = 0.7  # Share of a square's samples that glare overexposes
    max_glare_share: float = 0.01  # Share of the field's squares from which glare is told
    max_overexposed_share: float = 0.1  # The same of a picture's squares, where it is not known where the field is
    # Share of the field's samples, lines and numbers with them, that are overexposed where it is too bright altogether
    max_white_share: float = 0.06
    # Noise of half of the samples, relative to the range of gray levels; 8 levels of a sensor make it
    max_noise: float = 0.055
    max_brightness_change: float = 0.35  # Relative change of brightness within the settling time: lights were switched
    light_settles_ns: int = 300_000_000  # A change of light is over after this time
    flicker_bands: int = 15  # Bands across the picture whose light is followed, as sensors read row by row
    # Frames over which flicker is judged; half of them must show it, as a switched lamp or a hand shows in few
    flicker_frames: int = 20
    # Share by which the light of a band goes up and down from frame to frame, from which lamps flicker
    min_flicker: float = 0.04
    strong_flicker: float = 0.35  # That share from which figures can't be told apart
    # Frames.
    # median error of the frames' times that is worth a warning: a figure walks a tenth of a yard in it
    max_time_error_ns: int = 8_000_000
    frozen_ns: int = 250_000_000  # A picture that stays the same for longer is a frozen stream
    late_factor: float = 1.7  # A frame was dropped when the time between frames is this many times the usual one
    least_step_ns: int = 4_000_000  # Frames that come faster than 250 a second came together: that tells of no drop
    min_steps: int = 5  # Number of frames after which the usual time between frames is known
    max_dropped: int = 3  # Number of remembered dropped frames that is worth a warning
    max_gap_ns: int = 300_000_000  # After a longer gap between frames no calls are made
    max_repeated_share: float = 0.15  # Share of the remembered frames that may show nothing new, without a warning
    min_frames: int = 20  # Remembered frames from which that share counts
    # Pictures this far apart are few: figures touch and part again between them, and the switch is seen late
    max_step_ns: int = 75_000_000
    min_back: int = 2  # Remembered frames that go back behind the one before them, from which that is told
    # Tracking.
    max_unseen_share: float = 0.35  # When a larger share of the roster is not seen, no call is reliable


_LIMITS: Final = HealthLimits()


@dataclass(frozen=True, slots=True)
class PictureHealth:
    """The state of the picture and of the tracking."""

    warnings: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()  # reasons why no calls may be made, as in `Scene`
    poor: tuple[str, ...] = ()  # the warnings by which figures are hard to find
    repeated: bool = False  # whether the picture shows the same as the previous one, and so holds no new information
    more_figures: int = 0  # that stand on the board and are none of the line-up's
    t_sigma_ns: int = 0  # error of its time, by its source and by pictures that come in the wrong order


@dataclass(frozen=True, slots=True)
class _FrameStats:
    """Measurements of one frame."""

    t_ns: int
    brightness: float
    sharpness: float
    contrast: float
    noise: int
    dropped: int
    step_ns: int
    repeated: bool
    back: bool
    t_sigma_ns: int


class PictureHealthMonitor:
    """Monitors the pictures; call `step` once for every frame, in order of time.

    Args:
        changes: compares the pictures, for others too.
        field_px: the field's outline in the picture, shape (k, 2); None where it is not known.
    """

    def __init__(self, changes: PictureChanges | None = None, field_px: Array | None = None) -> None:
        self._recent: deque[_FrameStats] = deque()
        self._changes = changes or PictureChanges()
        self._field_px = field_px
        self._field: Image | None = None  # which samples are on the field
        self._squares: Array | None = None  # share of each square of samples that is
        self._index = 0
        self._same_since_ns: int | None = None
        self._measured_ns = 0
        self._glares = False
        self._bands: deque[Array] = deque(maxlen=_LIMITS.flicker_frames)

    def step(self, frame: Frame, estimates: Sequence[Estimate] = (), others: Sequence[str] = ()) -> PictureHealth:
        """Add a frame and return the health.

        Args:
            estimates: all figures at this frame or the one before; empty before the line-up is known.
            others: warnings from elsewhere to include.
        """
        change = self._changes.of(frame)
        small = change.sample
        dropped, step_ns = self._count_dropped(frame)
        brightness = cv2.mean(small, self._on_field(small))[0]
        sharpness, contrast = self._measure(frame, small)
        shows = (change.repeated, change.back, frame.t_sigma_ns)
        stats = _FrameStats(frame.t_ns, brightness, sharpness, contrast, change.noise, dropped, step_ns, *shows)
        if not change.identical or self._same_since_ns is None:
            self._same_since_ns = self._recent[-1].t_ns if change.identical and self._recent else frame.t_ns
        self._index = frame.index
        self._recent.append(stats)
        while frame.t_ns - self._recent[0].t_ns > _LIMITS.memory_ns:
            self._recent.popleft()
        flicker = self._flicker(change)
        disordered = self._out_of_order()
        poor = [*self._poor(stats, flicker), *self._repeating(), *self._uneven(), *disordered, *self._few()]
        light = _flickering(flicker) if flicker >= _LIMITS.strong_flicker else self._light_change(stats)
        unfit = [*_darkness(stats), *self._frozen(frame.t_ns), *_interruption(stats), *light]
        if unseen := _unseen(estimates):
            unfit += [*poor, *unseen]
        warnings = [*others, *poor]
        recently_dropped = sum(recent.dropped for recent in self._recent)
        if recently_dropped >= _LIMITS.max_dropped:
            warnings.append(f"{recently_dropped} frames were dropped in the last 2 s: close other programs")
        # Two that changed places are a step off each, and it is not known which others did.
        t_sigma_ns = max(frame.t_sigma_ns, self._usual_step_ns() if disordered else 0)
        return PictureHealth(tuple(warnings), tuple(unfit), tuple(poor), change.repeated, t_sigma_ns=t_sigma_ns)

    def _usual_step_ns(self) -> int:
        return round(statistics.median(recent.step_ns for recent in self._recent))

    def _few(self) -> list[str]:
        """Return that pictures come too rarely to tell contacts and instants well."""
        step_ns = self._usual_step_ns()
        few = step_ns > _LIMITS.max_step_ns and len(self._recent) >= _LIMITS.min_steps
        advice = "set the camera to 30 or more, or add light"
        return [f"Only {1e9 / step_ns:.0f} pictures come a second: {advice}"] if few else []

    def _poor(self, stats: _FrameStats, flicker: float) -> list[str]:
        """Return why figures are hard to find."""
        out = []
        if _LIMITS.min_brightness <= stats.brightness < _LIMITS.dim_brightness:
            out.append("The picture is dim: add light or lengthen the exposure")
        if self._glares:
            out.append("Part of the picture is overexposed: move the lamp that glares in it, or shorten the exposure")
        if _LIMITS.min_flicker <= flicker < _LIMITS.strong_flicker:
            out += _flickering(flicker)
        if stats.contrast < _LIMITS.min_contrast and stats.brightness >= _LIMITS.dim_brightness:
            out.append("The picture has little contrast: clean the lens, and keep lamps from shining into it")
        noises = [recent.noise for recent in self._recent if not recent.repeated]
        if noises and statistics.median(noises) > _LIMITS.max_noise * stats.contrast * stats.brightness:
            out.append("The picture is noisy: add light, or lower the gain of the camera")
        if stats.sharpness < _LIMITS.min_sharpness:
            out.append("The picture is blurred: focus the camera or clean its lens")
        return out

    def _measure(self, frame: Frame, small: Image) -> tuple[float, float]:
        """Return the sharpness and the contrast, measured at intervals, as glare is."""
        if self._recent and frame.t_ns - self._measured_ns < _LIMITS.sharpness_every_ns:
            return self._recent[-1].sharpness, self._recent[-1].contrast
        self._measured_ns = frame.t_ns
        darkest, lightest = np.percentile(small, (2, 98)).tolist()
        over = np.asarray(cv2.threshold(small, _LIMITS.overexposed_level, 255, cv2.THRESH_BINARY)[1], np.uint8)
        most = _LIMITS.max_overexposed_share if self._field_px is None else _LIMITS.max_glare_share
        white = cv2.mean(over, self._on_field(small))[0] / 255 if self._field_px is not None else 0.0
        self._glares = self._glare_share(over) > most or white > _LIMITS.max_white_share
        return _sharpness(frame.image), (lightest - darkest) / (float(small.mean()) + 1.0)

    def _glare_share(self, over: Image) -> float:
        """Return the share of the field whose squares overexposed samples fill; these are 255."""
        size = (over.shape[1] // _LIMITS.glare_side, over.shape[0] // _LIMITS.glare_side)
        if min(size) < 1:
            return 0.0
        squares = self._squares
        if squares is None:
            mask = self._on_field(over)
            squares = np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_AREA), np.float64) / 255.0
            self._squares = squares
        filled = np.asarray(cv2.resize(over, size, interpolation=cv2.INTER_AREA)) > 255 * _LIMITS.glare_fills
        return float(squares[filled].sum() / max(squares.sum(), 1.0))

    def _on_field(self, small: Image) -> Image:
        """Return which samples are on the field, 255 there: rim and lamps say nothing of the light on figures."""
        if self._field is None:
            self._field = np.full(small.shape, 0 if self._field_px is not None else 255, np.uint8)
            if self._field_px is not None:
                outline = np.round(self._field_px / CHANGE_LIMITS.sample_px).astype(np.int32)
                cv2.fillPoly(self._field, [outline], (255,))
            if not self._field.any():
                self._field[:] = 255
        return self._field

    def _count_dropped(self, frame: Frame) -> tuple[int, int]:
        """Return how many frames are missing before this one, by their indices or their times, and the time step."""
        if not self._recent:
            return 0, 0
        step_ns = frame.t_ns - self._recent[-1].t_ns
        skipped = max(frame.index - self._index - 1, 0)
        steps = [recent.step_ns for recent in self._recent if recent.step_ns > 0 and not recent.t_sigma_ns]
        if skipped == 0 and not frame.t_sigma_ns and len(steps) >= _LIMITS.min_steps:
            usual = statistics.median(steps)
            late = step_ns > _LIMITS.late_factor * usual and usual >= _LIMITS.least_step_ns
            skipped = max(round(step_ns / usual) - 1, 0) if late else 0
        return skipped, step_ns

    def _frozen(self, t_ns: int) -> list[str]:
        still_ns = t_ns - (self._same_since_ns or t_ns)
        text = f"The picture has not changed for {still_ns / 1e9:.1f} s: check the camera and its cable"
        return [text] if still_ns >= _LIMITS.frozen_ns else []

    def _flicker(self, change: PictureChange) -> float:
        """Return by which share the light of bands of the picture goes up and down from frame to frame."""
        small = change.sample
        rows = len(small) // _LIMITS.flicker_bands
        if not rows:
            return 0.0
        bands = small[: rows * _LIMITS.flicker_bands].reshape(_LIMITS.flicker_bands, -1).mean(axis=1) + 1.0
        if not change.identical:
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
        advice = "plug the camera in directly, or give its stream a wire or a lower bit rate"
        if error_ns <= _LIMITS.max_time_error_ns:
            late = any(recent.t_sigma_ns >= TIME_UNKNOWN_NS for recent in self._recent)
            return [f"Pictures stayed away for a moment and came late: {advice}"] if late else []
        known = "are not known" if error_ns >= TIME_UNKNOWN_NS else f"are known to {error_ns / 1e6:.0f} ms only"
        return [f"Pictures come unevenly, in bursts or late, and their times {known}: {advice}"]

    def _out_of_order(self) -> list[str]:
        """Return that pictures come in the wrong order."""
        advice = "send the stream over TCP or a wire, or record again with another program"
        text = f"Pictures come in the wrong order, so that figures seem to walk back: {advice}"
        return [text] if sum(recent.back for recent in self._recent) >= _LIMITS.min_back else []

    def _light_change(self, stats: _FrameStats) -> list[str]:
        before = [one.brightness for one in self._recent if 0 < stats.t_ns - one.t_ns <= _LIMITS.light_settles_ns]
        if not before:
            return []
        most, least = max(*before, stats.brightness), min(*before, stats.brightness)
        changed = most - least > _LIMITS.max_brightness_change * max(most, 1.0)
        return ["The light changed: calls resume once it is steady"] if changed else []


def _sharpness(image: Image) -> float:
    """Return the share of the steepest edges' height that is climbed within two pixels; 1 where there is no edge."""
    height, width = image.shape[:2]
    side, far = _LIMITS.sharpness_patch_px, max(round(_LIMITS.edge_px * width / 1920), 2)
    top, steepest, highest = max(height // 2 - side // 2, 0), 0.0, 0.0
    for share in _LIMITS.sharpness_patches:
        left = max(round(share * width) - side // 2, 0)
        patch = np.ascontiguousarray(image[top : top + side, left : left + side, 1])
        smooth = cv2.blur(patch, (1, 3)).astype(np.int16)  # across the slope: removes noise and keeps steepness
        slopes = (np.abs(smooth[::2, 2 * lag :: 2] - smooth[::2, : -2 * lag : 2]) for lag in (1, far))
        near, edge = (float(np.percentile(slope, 99)) for slope in slopes)
        steepest, highest = max(steepest, near), max(highest, edge)
    return steepest / highest if highest >= _LIMITS.least_edge else 1.0


def _flickering(share: float) -> list[str]:
    advice = "set the exposure to 1/100 s (mains of 50 Hz) or 1/120 s (60 Hz), or use lamps that do not flicker"
    return [f"The lamps flicker by {round(share, 1):.0%}: {advice}"]


def _darkness(stats: _FrameStats) -> list[str]:
    dark = stats.brightness < _LIMITS.min_brightness
    return ["The picture is dark: add light or lengthen the exposure"] if dark else []


def _interruption(stats: _FrameStats) -> list[str]:
    text = f"No frames came for {stats.step_ns / 1e9:.1f} s: check the camera and its cable"
    return [text] if stats.step_ns > _LIMITS.max_gap_ns else []


def _unseen(estimates: Sequence[Estimate]) -> list[str]:
    seen_share = sum(figure.seen for figure in estimates) / len(estimates) if estimates else 1.0
    text = f"{round(100 * (1 - seen_share))} % of the figures are not visible: clear the view of the board"
    return [text] if seen_share < 1 - _LIMITS.max_unseen_share else []
