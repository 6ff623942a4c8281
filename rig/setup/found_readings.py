"""What a search has found: the ways to read the picture, the one that is shown, and whether somebody has to choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.api.setup.table_setup import SetupReading
from downfield.calibration.calibration import Calibration
from downfield.calibration.drawing import draw_field
from downfield.calibration.field.proposal import PROPOSED, is_unsized
from downfield.calibration.field.solution import FieldReading
from downfield.core.arrays import Image
from downfield.core.errors import InputError

JPEG_QUALITY: Final = 82
_WIDTH_PX: Final = 640
_USUAL_LINES_YD: Final = 5.0


@dataclass(frozen=True, slots=True)
class FoundReadings:
    """The ways to read a picture.

    Attributes:
        camera: its name, which the calibration names as its origin.
        readings: the ways, the likeliest first; none while nothing is found.
        index: of the one that is shown.
        undecided: whether nobody has chosen one of several yet.
        unsized: whether nothing has told how large the print is.
        calibration: of the one that is shown; None while nothing is found.

    """

    camera: str = ""
    readings: tuple[FieldReading, ...] = ()
    index: int = 0
    undecided: bool = False
    unsized: bool = False
    calibration: Calibration | None = None

    @staticmethod
    def of(readings: Sequence[FieldReading], camera: str) -> FoundReadings:
        """Return the first of some readings, to be decided on if there are several."""
        unsized = any(is_unsized(reading.solution.field) for reading in readings)
        found = FoundReadings(camera, tuple(readings), undecided=len(readings) > 1, unsized=unsized)
        return found._showing(0)

    def choose(self, index: int) -> FoundReadings:
        """Return them with another one shown, which is thereby decided on.

        Raises:
            InputError: there is no such reading.
            CalibrationError: the picture is mirrored in it; says what to change.

        """
        self.at(index).accepted()
        return dataclasses.replace(self, undecided=False)._showing(index)

    def at(self, index: int) -> FieldReading:
        """Return a reading.

        Raises:
            InputError: there is none of that number.

        """
        if index >= len(self.readings):
            raise InputError(f"There is no reading {index}. There are {len(self.readings)}.")
        return self.readings[index]

    def views(self) -> tuple[SetupReading, ...]:
        """Return the readings to choose from; none where there is only one."""
        several = self.readings if len(self.readings) > 1 else ()
        return tuple(SetupReading(label=reading.label, mirrored=reading.mirrored) for reading in several)

    @property
    def summary(self) -> str:
        """What was found, for people; without sizes where nothing has told them, empty while nothing is found."""
        if self.calibration is None:
            return ""
        field, quality = self.calibration.field, self.calibration.quality
        along, across = field.mm_per_yd_x, field.mm_per_yd_y
        if self.unsized:
            lines = (
                "" if field.yard_line_every_yd == _USUAL_LINES_YD else f" (a line every {field.yard_line_every_yd:g})"
            )
            text = (
                f"A field of {field.length_yd:g} yards{lines}, each {across / along:.2f} times as long across as along"
            )
            return text if quality is None else f"{text}; lines fit to {quality.rms_px:.2f} px"
        sizes = "" if field.name == PROPOSED else f": {along:.2f} mm a yard along, {across:.2f} across"
        fit = "" if quality is None else f"; lines fit to {quality.rms_px:.2f} px ({quality.rms_mm:.2f} mm)"
        return f"{field.title}{sizes}{fit}"

    def picture(self, index: int, image: Image) -> bytes:
        """Return a small picture as a JPEG, a reading's field drawn on it, the other way round if that is mirrored.

        Raises:
            InputError: there is no such reading.

        """
        chosen = self.at(index)
        thickness = max(round(image.shape[1] / _WIDTH_PX), 1)
        drawn = draw_field(image, chosen.solution.calibration("field", [self.camera]), thickness)
        size = (_WIDTH_PX, round(image.shape[0] * _WIDTH_PX / image.shape[1]))
        small = cv2.resize(drawn, size, interpolation=cv2.INTER_AREA)
        shown = np.ascontiguousarray(small[:, ::-1]) if chosen.mirrored else small
        return cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()

    def _showing(self, index: int) -> FoundReadings:
        calibration = self.readings[index].solution.calibration("field", [self.camera])
        return dataclasses.replace(self, index=index, calibration=calibration)


NOTHING_FOUND: Final = FoundReadings()
