"""Whether a picture shows the board that a calibration was made for, from the same place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.paint.paint_measurement import observe_paint
from downfield.calibration.field.verification import gather_evidence
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class PictureMatchLimits:
    """When a picture is of the calibrated camera and board."""

    search_px: float = 6.0  # distance from the calibrated lines within which paint is searched for
    match_px: float = 1.8  # distance from a calibrated line within which paint counts as found
    found_share: float = 0.5  # share of the yard lines that must be found
    # typical distance of the paint from which the camera or the board was moved: a bump stops a game from there
    moved_px: float = 2.0


PICTURE_MATCH_LIMITS: Final = PictureMatchLimits()


@dataclass(frozen=True, slots=True)
class PictureMatch:
    """How well a picture agrees with a calibration."""

    found_share: float  # share of the yard lines that are where the calibration has them
    typical_px: float  # median distance of the paint from where the calibration has it; infinite if none is seen

    @property
    def is_same_view(self) -> bool:
        """Whether the picture is of the calibrated board, from the same place."""
        return self.found_share >= PICTURE_MATCH_LIMITS.found_share and self.typical_px <= PICTURE_MATCH_LIMITS.moved_px


def match_picture(image: Image, calibration: Calibration) -> PictureMatch:
    """Compare a picture with a calibration.

    Args:
        calibration: for pictures of this size.

    Raises:
        CalibrationError: the picture has another size.
    """
    size_px, (height, width) = calibration.camera.lens.size_px, image.shape[:2]
    if (width, height) != size_px:
        raise CalibrationError(
            f"the picture is {width}x{height}, but the calibration is for {size_px[0]}x{size_px[1]}. Give an uncropped"
            " picture of the calibrated camera at that size."
        )
    plane = clearest_channel(image)
    share = gather_evidence(plane, calibration.camera, calibration.field, PICTURE_MATCH_LIMITS.match_px).yard_lines
    paint = observe_paint([plane], calibration.camera, calibration.field, PICTURE_MATCH_LIMITS.search_px)
    if not len(paint.px):
        return PictureMatch(share, np.inf)
    offsets = np.sum((paint.px - calibration.camera.to_pixels(paint.points_mm)) * paint.normals, axis=1)
    return PictureMatch(share, float(np.median(np.abs(offsets))))


def check_same_view(image: Image, calibration: Calibration) -> None:
    """Refuse a picture of another size, board or camera position, by a CalibrationError that says which."""
    match = match_picture(image, calibration)
    if match.found_share < PICTURE_MATCH_LIMITS.found_share:
        raise CalibrationError(
            f"the picture is not of the calibrated table: {match.found_share:.0%} of the yard lines of"
            f" '{calibration.field.name}' are where the calibration has them. Give a picture of that table, or"
            " calibrate again if the camera was moved."
        )
    if match.typical_px > PICTURE_MATCH_LIMITS.moved_px:
        raise CalibrationError(
            f"the lines are {match.typical_px:.1f} px from where the calibration has them: the camera or the board was"
            " moved. Calibrate again."
        )
