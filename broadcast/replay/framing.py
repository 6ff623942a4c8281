"""Which part of the board a replay shows: first the surroundings of a call, then closely what decided it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.capture.footage import CallMarks
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.review.pictures.projection import BoardRegion

WIDTH_PX: Final = 1280
HEIGHT_PX: Final = 720


@dataclass(frozen=True, slots=True)
class FramingSizes:
    """Sizes of the views."""

    wide_mm: float = 620.0
    """Width of the first view: two thirds of a usual board."""
    close_mm: float = 190.0
    """Width of the last view at least: six bases."""
    around: float = 3.2
    """The last view is so many times as wide as what it shows."""
    margin_mm: float = 40.0
    """How far a view reaches beyond the field."""


SIZES: Final = FramingSizes()


@dataclass(frozen=True, slots=True)
class Framing:
    """The views of a replay.

    Attributes:
        middle_mm: of the last view, on the board.
        close_mm: its width.
        wide_mm: width of the first view.
        field: the printed field.
        plane_mm: height over the board of what is seen to scale.
    """

    middle_mm: tuple[float, float]
    close_mm: float
    wide_mm: float
    field: FieldModel
    plane_mm: float

    def region(self, approach: float) -> BoardRegion:
        """Return what is shown; the views grow closer by equal factors, as a zoom lens does.

        Args:
            approach: 0 for the first view, 1 for the last.
        """
        width = self.wide_mm * (self.close_mm / self.wide_mm) ** approach
        height = width * HEIGHT_PX / WIDTH_PX
        far = SIZES.margin_mm + self.field.end_zone_mm
        x = _within(self.middle_mm[0] - width / 2, -far, self.field.length_mm + far - width)
        y = _within(self.middle_mm[1] - height / 2, -SIZES.margin_mm, self.field.width_mm + SIZES.margin_mm - height)
        return BoardRegion(x, y, width, height, WIDTH_PX / width, self.plane_mm)


def frame_call(marks: CallMarks, calibration: Calibration, plane_mm: float) -> Framing:
    """Return the views of a call.

    Args:
        marks: of its decisive picture.
        calibration: of that picture.
        plane_mm: height over the board of what is seen to scale.
    """
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
    if marks.call is not None and marks.call.spot_yd is not None:
        return field.to_mm(np.array([marks.call.spot_yd]))
    return None


def _within(value: float, low: float, high: float) -> float:
    """Return a value within bounds; in their middle where they leave no room."""
    return (low + high) / 2 if high < low else min(max(value, low), high)
