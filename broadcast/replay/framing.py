"""What each picture of a replay shows, and when: slower and closer toward what decided the call, then held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.capture.footage import CallMarks
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.review.pictures.drawings import measured_place_yd
from downfield.review.pictures.projection import BoardRegion

WIDTH_PX: Final = 1280
HEIGHT_PX: Final = 720


@dataclass(frozen=True, slots=True)
class ReplayPace:
    """Times and speeds of a replay."""

    before_s: float = 1.3  # It begins so long before the decisive picture
    slow_s: float = 0.25  # Slow motion begins so long before it
    approach: float = 0.6  # Speed before the slow motion: every picture of a camera with 60 frames/s is seen
    slow: float = 0.12  # Speed of the slow motion: two seconds for a quarter of one
    hold_s: float = 2.4  # How long the decisive picture stays with the verdict on it: time to read a line
    still_s: float = 0.35  # Of these, before the verdict is stamped: the eye is still at the contact
    stamp_s: float = 0.3  # How long the stamp takes to come down
    stamp_step_s: float = 1 / 30  # Time between two pictures of the stamp


PACE: Final = ReplayPace()


@dataclass(frozen=True, slots=True)
class ReplayShot:
    """One picture of a replay."""

    place: int  # of its frame among those that the replay is made of
    shown_ns: int  # when it is shown, from the beginning
    approach: float  # how far the view has closed in on what is decided, 0..1
    speed: float  # of the motion, 1 for real time; 0 while it is held
    stamp: float = 0.0  # how far the verdict's stamp is down, 0..1; 0 before it falls


def shots(times_ns: Sequence[int], pace: ReplayPace = PACE) -> list[ReplayShot]:
    """Return the pictures of a replay in order, by the capture times of its frames: the last is the decisive one."""
    end_ns = times_ns[-1]
    slow_from_ns = end_ns - round(pace.slow_s * 1e9)
    approach_ns = max(1, slow_from_ns - times_ns[0])
    shown_ns, before_ns = 0.0, times_ns[0]
    made = []
    for place, t_ns in enumerate(times_ns):
        fast_ns = max(0, min(t_ns, slow_from_ns) - min(before_ns, slow_from_ns))
        shown_ns += fast_ns / pace.approach + (t_ns - before_ns - fast_ns) / pace.slow
        before_ns = t_ns
        approach = min(1.0, (t_ns - times_ns[0]) / approach_ns)
        speed = 0.0 if t_ns == end_ns else pace.approach if t_ns < slow_from_ns else pace.slow
        made.append(ReplayShot(place, round(shown_ns), (approach * approach * (3 - 2 * approach)), speed))
    last = len(times_ns) - 1
    steps = round(pace.stamp_s / pace.stamp_step_s)
    for step in range(1, steps + 1):
        after_ns = shown_ns + (pace.still_s + step * pace.stamp_step_s) * 1e9
        made.append(ReplayShot(last, round(after_ns), 1.0, 0.0, step / steps))
    made.append(ReplayShot(last, round(shown_ns + pace.hold_s * 1e9), 1.0, 0.0, 1.0))
    return made


@dataclass(frozen=True, slots=True)
class FramingSizes:
    """Sizes of the views."""

    wide_mm: float = 620.0  # Width of the first view: two thirds of a usual board
    close_mm: float = 190.0  # Width of the last view at least: six bases
    around: float = 3.2  # The last view is so many times as wide as what it shows
    margin_mm: float = 40.0  # How far a view reaches beyond the field


SIZES: Final = FramingSizes()


@dataclass(frozen=True, slots=True)
class Framing:
    """The views of a replay."""

    middle_mm: tuple[float, float]  # of the last view, on the board
    close_mm: float
    wide_mm: float  # width of the first view
    field: FieldModel
    plane_mm: float  # height over the board of what is seen to scale

    def region(self, approach: float) -> BoardRegion:
        """Return what is shown from 0, the first view, to 1, the last; it grows by equal factors, as in a zoom lens."""
        width = self.wide_mm * (self.close_mm / self.wide_mm) ** approach
        height = width * HEIGHT_PX / WIDTH_PX
        far = SIZES.margin_mm + self.field.end_zone_mm
        x = _within(self.middle_mm[0] - width / 2, -far, self.field.length_mm + far - width)
        y = _within(self.middle_mm[1] - height / 2, -SIZES.margin_mm, self.field.width_mm + SIZES.margin_mm - height)
        return BoardRegion(x, y, width, height, WIDTH_PX / width, self.plane_mm)


def frame_call(marks: CallMarks, calibration: Calibration, plane_mm: float) -> Framing:
    """Return the views of a call, to scale at a height over the board."""
    field = calibration.field
    points = _decisive_points(marks, field)
    wide_mm = min(SIZES.wide_mm, field.length_mm)
    if points is None:
        return Framing((field.length_mm / 2, field.width_mm / 2), wide_mm, wide_mm, field, plane_mm)
    low, high = points.min(axis=0), points.max(axis=0)
    size = float(max(high[0] - low[0], (high[1] - low[1]) * WIDTH_PX / HEIGHT_PX))
    close_mm = min(max(SIZES.close_mm, SIZES.around * size), wide_mm)
    x, y = ((low + high) / 2).tolist()
    return Framing((x, y), close_mm, wide_mm, field, plane_mm)


def _decisive_points(marks: CallMarks, field: FieldModel) -> Array | None:
    """Return the points on the board that a call is about, shape (n, 2), mm; None where it names none."""
    figures = marks.figures[:2]
    if figures:
        return np.concatenate([figure.footprint.corners_mm() for figure in figures])
    place_yd = measured_place_yd(marks.call)
    if place_yd is not None:
        return field.to_mm(np.array([place_yd]))
    return None


def _within(value: float, low: float, high: float) -> float:
    """Return a value within bounds; in their middle where they leave no room."""
    return (low + high) / 2 if high < low else min(max(value, low), high)
