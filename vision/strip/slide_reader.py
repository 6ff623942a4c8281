"""Reads the slide: the yard under its line and the third its ball is in, each with its confidence.

The line is a narrow ridge of red that runs across the whole strip at the slide's height; whatever else is red is wide,
short or elsewhere. The ball is found on the line: a piece of it without red, unlike its surroundings, of a ball's size.

How high the line lies over the print is learned from where the slide was set.

Seen at an angle, a line over the print looks moved along the field: half a yard and more at the ends of a strip whose
slide lies a millimeter lower than its description says. Nobody measures that. But slides are set to whole yards, and
only one height puts all the places where the line was seen on whole yards. So the height is a distribution on a grid,
as in a histogram filter: every place at which the slide settles weighs it (Thrun, Burgard, Fox: Probabilistic
Robotics, 2005, section 4.1), and a reading is as sure as all likely heights agree on its yard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image, Plane
from downfield.core.mathematics import normal_cdf
from downfield.core.strip import THIRDS, StripSet, Third
from downfield.vision.strip.rectify import BoardBox, Rectifier


@dataclass(frozen=True, slots=True)
class SlideHeightLimits:
    """What is assumed of slides."""

    step_mm: float = 0.1  # Step between two heights of the grid
    max_mm: float = 6.0  # No clear slide is thicker, at least twice the described height
    sigma_mm: float = 0.8  # Standard deviation of a height that somebody measured and described
    assumed_share: float = 0.3  # Share of the descriptions that were not measured: their slides may be of any height
    # Standard deviation of where a hand sets the slide around a whole yard, with what measuring adds
    set_yd: float = 0.15
    outlier_share: float = 0.08  # Share of placements that are anywhere between two yards
    another_yd: float = 0.6  # A line that moved this far was set anew: pictures of one placement count once


_HEIGHT: Final = SlideHeightLimits()


class SlideHeight:
    """The height of a slide's line as far as it is known. `strip`: the set, with the height it describes."""

    def __init__(self, strip: StripSet, camera: Camera) -> None:
        described = strip.slide.height_mm
        self._mm = np.arange(0.0, max(_HEIGHT.max_mm, 2 * described) + _HEIGHT.step_mm / 2, _HEIGHT.step_mm)
        near = np.exp(-0.5 * ((self._mm - described) / _HEIGHT.sigma_mm) ** 2)
        self._chances = (1 - _HEIGHT.assumed_share) * near / near.sum() + _HEIGHT.assumed_share / len(near)
        self._described_mm, self._mm_per_yd = described, strip.field.mm_per_yd_x
        self._camera_x_mm, _, self._camera_z_mm = (float(value) for value in camera.position_mm)
        self._stands_yd: float | None = None

    @property
    def mean_mm(self) -> float:
        """The expected height."""
        return float(self._chances @ self._mm)

    def line_yd(self, at_yd: float) -> float:
        """Return where a line is, measured at the described height, under the expected one; yards along x."""
        return float(self._chances @ self._places_yd(at_yd))

    def yard_confidence(self, at_yd: float, yard: int, sigma_yd: float) -> float:
        """Return the probability that a line belongs to a whole yard.

        Args:
            at_yd: where it was measured at the described height, yards along x.
            sigma_yd: standard deviation of the measurement.
        """
        off = self._places_yd(at_yd) - yard
        within = normal_cdf((off + 0.5) / sigma_yd) - normal_cdf((off - 0.5) / sigma_yd)
        return float(self._chances @ within)

    def learn(self, at_yd: float) -> None:
        """Weigh the heights by where the slide had settled before it settled here.

        The same placement again changes nothing, and the place at which it stands now is not yet counted: a slide half
        way between two yards must not explain itself by another height.

        Args:
            at_yd: where its line was measured at the described height, yards along x.
        """
        stood_yd = self._stands_yd
        if stood_yd is not None and abs(at_yd - stood_yd) < _HEIGHT.another_yd:
            return
        self._stands_yd = at_yd
        if stood_yd is None:
            return
        places = self._places_yd(stood_yd)
        off = places - np.round(places)
        density = sum(np.exp(-0.5 * ((off + near) / _HEIGHT.set_yd) ** 2) for near in (-1, 0, 1))
        peak = 1 / (_HEIGHT.set_yd * np.sqrt(2 * np.pi))
        self._chances = self._chances * (_HEIGHT.outlier_share + (1 - _HEIGHT.outlier_share) * peak * density)
        self._chances /= self._chances.sum()

    def _places_yd(self, at_yd: float) -> Array:
        """Return where the line is under each height: on the ray from the camera through where it was measured."""
        at_mm = at_yd * self._mm_per_yd
        lower = (self._described_mm - self._mm) / (self._camera_z_mm - self._described_mm)
        return np.asarray((at_mm + (at_mm - self._camera_x_mm) * lower) / self._mm_per_yd)


@dataclass(frozen=True, slots=True)
class SlideLimits:
    """Thresholds of reading the slide."""

    px_per_mm: float = 5.0  # Scale of the rectified strip
    bands: int = 15  # Number of bands across the strip in which the line is searched for
    min_red: float = 0.045  # Share of red, over that beside the line, from which a band shows the line
    min_bands: float = 0.5  # Share of the bands that must show the line
    max_offset_mm: float = 1.0  # A band whose line is further than this from the others' does not count
    sigma_yd: float = 0.11  # Standard deviation of the measured line, with what its hand-set place adds
    beyond_yd: float = 1.4  # A line at a goal line may look this far beyond it, until the slide's height is known
    max_rival: float = 0.6  # Another line this strong, as a share of the best, leaves it open which is the slide's
    # A ball further from the nearest third, as a share of their distance, is between two
    max_third_offset: float = 0.27
    min_ball: float = 0.22  # Strength of the ball, 0..1, below which none is seen


_LIMITS: Final = SlideLimits()


@dataclass(frozen=True, slots=True)
class SlideReading:
    """The slide."""

    yard: int | None = None  # the whole yard under the line, along x; None when no line is seen
    yard_confidence: float = 0.0  # that the yard is right, 0..1
    line_yd: float | None = None  # where the line is, yards along x; None when no line is seen
    third: Third | None = None  # where the ball is; None when none is seen, or between two thirds
    third_confidence: float = 0.0  # that the third is right, 0..1
    # where the line was measured at the slide's described height; None when no line is seen
    measured_yd: float | None = None


class SlideReader:
    """Reads the slide of one strip with one camera."""

    def __init__(self, strip: StripSet, camera: Camera) -> None:
        self._strip = strip
        field, slide = strip.field, strip.slide
        beyond = slide.width_mm / 2
        x_mm, y_mm = (-beyond, field.length_mm + beyond), (1.0, field.width_mm - 1.0)
        self._strip_at_line = Rectifier(camera, BoardBox(x_mm, y_mm, _LIMITS.px_per_mm, slide.height_mm))
        box = self._strip_at_line.box
        at_yd = box.to_x_mm(np.arange(box.shape[1], dtype=np.float64)) / field.mm_per_yd_x
        self._on_field = (at_yd > -_LIMITS.beyond_yd) & (at_yd < field.length_yd + _LIMITS.beyond_yd)
        self._height = SlideHeight(strip, camera)

    def read(self, image: Image) -> SlideReading:
        """Return the reading of a picture."""
        plane = self._strip_at_line.sample(image)
        red = redness(plane)
        found = self._line(red)
        if found is None:
            return SlideReading()
        columns, shown, ambiguity = found
        middle = float(np.median(columns))
        box, field = self._strip_at_line.box, self._strip.field
        measured_yd = float(box.to_x_mm(np.array(middle))) / field.mm_per_yd_x
        line_yd = self._height.line_yd(measured_yd)
        yard = round(line_yd)
        if not 0 <= yard <= round(field.length_yd):
            return SlideReading(line_yd=line_yd, measured_yd=measured_yd)
        confidence = self._height.yard_confidence(measured_yd, yard, _LIMITS.sigma_yd)
        confidence *= min(shown / 0.7, 1.0) ** 0.25 * ambiguity
        third, sure = self._ball(plane, red, columns)
        return SlideReading(yard, confidence, line_yd, third, sure * min(ambiguity * 1.1, 1.0), measured_yd)

    def learn(self, settled: SlideReading) -> None:
        """Learn the slide's height from a place where it has settled; a line without a ball may be another."""
        if settled.measured_yd is not None and settled.third is not None:
            self._height.learn(settled.measured_yd)

    def _line(self, red: Plane) -> tuple[Array, float, float] | None:
        """Return the line's column in every row, the share of bands that show it, and 1 unless there is a rival."""
        ridge = _ridge(red, self._strip.slide.line_mm * _LIMITS.px_per_mm)
        bands = np.stack([band.mean(axis=0) for band in np.array_split(ridge, _LIMITS.bands, axis=0)])
        level = np.clip(bands, 0, 3 * _LIMITS.min_red)
        reach = max(round(_LIMITS.max_offset_mm * _LIMITS.px_per_mm), 1)
        near = cv2.dilate(level, np.ones((1, 2 * reach + 1), np.uint8))
        support = np.median(near, axis=0) + near.mean(axis=0)
        weighed = np.asarray(cv2.GaussianBlur(support * bands.mean(axis=0).clip(0), (0, 0), 1.0)).ravel()
        weighed[~self._on_field] = 0
        best = int(weighed.argmax())
        window = slice(max(best - 2 * reach, 0), best + 2 * reach + 1)
        peaks = bands[:, window].argmax(axis=1) + window.start
        strong = bands[np.arange(len(bands)), peaks] > _LIMITS.min_red
        if not strong.any():
            return None
        strong &= np.abs(peaks - np.median(peaks[strong])) <= 1.5 * reach
        shown = float(strong.mean())
        if shown < _LIMITS.min_bands:
            return None
        rows = (np.arange(_LIMITS.bands) + 0.5) * red.shape[0] / _LIMITS.bands
        exact = np.array([_subpixel(bands[k], int(peaks[k])) for k in range(len(bands))])
        slope, start = np.polyfit(rows[strong], exact[strong], 1)
        columns = start + slope * np.arange(red.shape[0])
        far = weighed.copy()
        far[max(best - 6 * reach, 0) : best + 6 * reach + 1] = 0
        rival = float(far.max() / max(weighed[best], 1e-9))
        return columns, shown, 1.0 if rival < _LIMITS.max_rival else 0.5

    def _ball(self, plane: Plane, red: Plane, columns: Array) -> tuple[Third | None, float]:
        box, slide, field = self._strip_at_line.box, self._strip.slide, self._strip.field
        length, width = (side * _LIMITS.px_per_mm for side in slide.ball_mm)
        half = int(length)
        rows = np.arange(plane.shape[0])
        at = np.round(columns).astype(int)[:, None] + np.arange(-half, half + 1)
        along = np.clip(at, 0, plane.shape[1] - 1)
        ribbon, ribbon_red = plane[rows[:, None], along], red[rows[:, None], along]
        line = ribbon_red[:, half - 1 : half + 2].mean(axis=1) - np.median(ribbon_red, axis=1)
        usual = float(np.quantile(line, 0.6))
        if usual < _LIMITS.min_red / 2:
            return None, 0.0
        missing = 1 - np.clip(line / usual, 0, 1)
        smooth = cv2.GaussianBlur(missing.astype(np.float32).reshape(-1, 1), (1, 3), 0).ravel()
        inside = _box_mean(smooth, width * 0.8)
        outside = (_box_mean(smooth, width * 2.6) * 2.6 - _box_mean(smooth, width) * 1.0) / 1.6
        gap = np.clip(inside - np.clip(outside, 0, 1), 0, 1)
        paint = self._unlike(ribbon, length, width)
        strength = np.sqrt(np.clip(gap, 0, 1) * (0.25 + 0.75 * paint))
        best = int(strength.argmax())
        if strength[best] < _LIMITS.min_ball:
            return None, 0.0
        y_yd = float(box.to_y_mm(np.array(float(best)))) / field.mm_per_yd_y
        thirds = np.array(slide.thirds_y_yd)
        nearest = int(np.abs(thirds - y_yd).argmin())
        apart = float(np.abs(np.diff(thirds)).min())
        off = abs(float(thirds[nearest] - y_yd)) / apart
        if off > _LIMITS.max_third_offset:
            return None, 0.0
        other = np.abs(rows - best) > 1.5 * width
        rival = float(strength[other].max()) if other.any() else 0.0
        margin = strength[best] - rival
        return THIRDS[nearest], float(np.clip(0.55 + 1.6 * margin, 0, 0.995)) * (1 - 0.3 * off)

    @staticmethod
    def _unlike(ribbon: Plane, length: float, width: float) -> Array:
        """Return how much a ball-sized patch around each row is of one color, unlike what is before and behind it."""
        half = ribbon.shape[1] // 2
        reach = max(int(0.3 * length), 1)
        patch = ribbon[:, half - reach : half + reach + 1]
        color = np.stack([_box_mean(patch[:, :, k].mean(axis=1), width * 0.7) for k in range(3)], axis=1)
        step = int(width)
        before, behind = np.roll(color, step, axis=0), np.roll(color, -step, axis=0)
        contrast = np.minimum(np.abs(color - before).max(axis=1), np.abs(color - behind).max(axis=1))
        return np.asarray(np.clip(contrast / 60, 0, 1))


def redness(plane: Plane) -> Plane:
    """Return the share of red over the other colors, about -0.5..0.5; shape (rows, columns)."""
    blue, green, red = plane[:, :, 0], plane[:, :, 1], plane[:, :, 2]
    return np.asarray((red - np.maximum(blue, green)) / (red + green + blue + 40.0), dtype=np.float32)


def _ridge(red: Plane, line_px: float) -> Plane:
    """Return by how much each pixel's columns are redder than those on both sides of a line there."""
    inner = cv2.blur(red, (max(round(line_px * 0.8), 1), 1))
    shift = max(round(1.6 * line_px), 2)
    wide = max(round(line_px), 1)
    outer = cv2.blur(red, (wide, 1))
    left, right = np.roll(outer, shift, axis=1), np.roll(outer, -shift, axis=1)
    return np.asarray(inner - np.maximum(left, right), dtype=np.float32)


def _subpixel(values: Array, peak: int) -> float:
    """Return the peak by the center of mass of its neighborhood."""
    low, high = max(peak - 4, 0), min(peak + 5, len(values))
    weights = np.clip(values[low:high], 0, None)
    total = float(weights.sum())
    return float((weights * np.arange(low, high)).sum() / total) if total > 0 else float(peak)


def _box_mean(values: Array, width: float) -> Array:
    size = max(round(width), 1)
    padded = np.pad(np.asarray(values, dtype=np.float64), size, mode="edge")
    smooth = np.convolve(padded, np.ones(size) / size, mode="same")
    return np.asarray(smooth[size:-size])
