"""What a table's positions are worth, measured against marks that the calibration was not made from."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from downfield.calibration.calibration import Calibration, Certificate
from downfield.calibration.field.landmarks import Landmark
from downfield.calibration.field.line_chains import best_plane
from downfield.calibration.field.marks import hash_marks, long_marks
from downfield.calibration.field.profiles import measure
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.records import check

_SEARCH_PX = 2.0
_FEWEST = 20
_FEWEST_SPOTS = 3
_ALONG_AXIS = 0.7  # of a ruler's length that must lie along an axis to say something of it


@dataclass(frozen=True, slots=True)
class Ruler:
    """A stretch of a ruler laid on the board.

    Attributes:
        start_px, end_px: where its ends are seen.
        length_mm: what it measures between them.

    """

    start_px: tuple[float, float]
    end_px: tuple[float, float]
    length_mm: float

    def __post_init__(self) -> None:
        check(self.length_mm > 0, InputError, f"a ruler's length must be above 0, not {self.length_mm:g} mm")
        check(self.start_px != self.end_px, InputError, "a ruler's two ends are at the same pixel")


@dataclass(frozen=True, slots=True)
class Check:
    """Marks measured against a calibration.

    Attributes:
        against: what they are.
        points_mm: where they are, shape (n, 2).
        off_mm: where the calibration puts them, less where they are; NaN along an axis that was not measured, (n, 2).

    """

    against: str
    points_mm: Array
    off_mm: Array

    @property
    def distances_mm(self) -> Array:
        """Length of each error over the axes measured, shape (n,)."""
        distances: Array = np.sqrt(np.nansum(self.off_mm**2, axis=1))
        return distances


def check_hash_marks(image: Image, calibration: Calibration) -> Check:
    """Measure the printed hash marks along the field; the fit used none of them.

    Raises:
        CalibrationError: too few are printed or seen.

    """
    marks = hash_marks(calibration.field)
    plane = best_plane(image)
    like = measure(plane, calibration.camera, long_marks(calibration.field), _SEARCH_PX)
    if not len(marks.line):
        raise CalibrationError("this field has no hash marks: certify with known spots instead")
    seen = measure(plane, calibration.camera, marks, _SEARCH_PX, like)
    if seen.found.sum() < _FEWEST:
        raise CalibrationError(
            f"only {int(seen.found.sum())} of {len(marks.line)} hash marks are seen: clear and light the field, or"
            " calibrate again if the camera was moved"
        )
    px = (seen.px + seen.offset_px[:, None] * seen.normals)[seen.found]
    points = marks.points_mm[seen.found]
    off = calibration.camera.to_board(px) - points
    off[:, 1] = np.nan  # a hash mark runs across the field: where along it one looks says nothing
    return Check("hash marks", points, off)


def check_spots(calibration: Calibration, spots: Sequence[Landmark], *, height_mm: float = 0.0) -> Check:
    """Measure spots whose field yards are known, such as coins laid on crossings of lines.

    Args:
        calibration: to be measured.
        spots: where they are, and where they are seen.
        height_mm: of what was looked at over the paint.

    Raises:
        CalibrationError: fewer than three.

    """
    if len(spots) < _FEWEST_SPOTS:
        raise CalibrationError(f"{len(spots)} known spots are too few to certify by: give at least {_FEWEST_SPOTS}")
    points = np.array([(spot.x_yd, spot.y_yd) for spot in spots]) * calibration.field.mm_per_yd
    return Check("known spots", points, calibration.camera.to_board([spot.px for spot in spots], height_mm) - points)


def check_rulers(calibration: Calibration, rulers: Sequence[Ruler], *, height_mm: float = 0.0) -> Check:
    """Measure lengths along and across the field. A shift of the whole board does not show in them.

    Args:
        calibration: to be measured.
        rulers: three or more, some along the field and some across it.
        height_mm: of their faces over the paint.

    Raises:
        CalibrationError: fewer than three, or none lies along the field.

    """
    if len(rulers) < _FEWEST_SPOTS:
        raise CalibrationError(f"{len(rulers)} stretches are too few to certify by: give at least {_FEWEST_SPOTS}")
    start, end = (
        calibration.camera.to_board(px, height_mm)
        for px in ([ruler.start_px for ruler in rulers], [ruler.end_px for ruler in rulers])
    )
    length = np.linalg.norm(end - start, axis=1, keepdims=True)
    direction = (end - start) / length
    off = (length - np.array([[ruler.length_mm] for ruler in rulers])) * direction
    off[np.abs(direction) < _ALONG_AXIS] = np.nan
    if np.isnan(off[:, 0]).all():
        raise CalibrationError("no ruler lies along the field: lay one from goal line to goal line too")
    return Check("ruler", (start + end) / 2, off)


def certified(calibration: Calibration, measured: Check) -> Calibration:
    """The calibration with what was found it to be worth."""
    off_yd = np.abs(measured.off_mm) / calibration.field.mm_per_yd
    along, across = (float(np.nanpercentile(axis, 95)) if np.isfinite(axis).any() else None for axis in off_yd.T)
    # An axis that was not measured is taken to be as good in millimeters as the other.
    ratio = calibration.field.mm_per_yd_x / calibration.field.mm_per_yd_y
    along = (across or 0.0) / ratio if along is None else along
    across = along * ratio if across is None else across
    distances = measured.distances_mm
    certificate = Certificate(
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        measured.against,
        len(distances),
        float(np.median(distances)),
        float(np.percentile(distances, 95)),
        float(distances.max()),
        (along, across),
    )
    return dataclasses.replace(calibration, certificate=certificate)
