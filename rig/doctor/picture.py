"""The picture: light, focus, and whether the calibration fits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.field.line_chains import clearest_channel
from downfield.calibration.field.paint_measurement import observe_paint
from downfield.calibration.field.verification import gather_evidence
from downfield.calibration.online.calibrator import LIMITS as ONLINE_LIMITS
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, DownfieldError
from downfield.rig.configuration.settings import CalibrationSettings
from downfield.rig.doctor.report import CheckResult
from downfield.rig.table import calibrate

_DIM: Final = 60.0
"""Mean gray level under which a sensor's noise begins to show."""

_SEARCH_PX: Final = 6.0  # how far off a calibration is looked for
_CLOSE_PX: Final = 1.8  # and how near to it paint is counted as found
_FOUND_SHARE: Final = 0.5
_OFF_PX: Final = 0.7
"""Half of what stops the game: worth making a new calibration before it."""


def look_at_light(image: Image) -> CheckResult:
    """Whether there is enough of it, and not too much."""
    try:
        check_picture(image)
    except CalibrationError as error:
        text, _, remedy = str(error).partition(": ")
        return CheckResult("light", "fault", text, remedy[:1].upper() + remedy[1:])
    mean = float(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).mean())
    if mean < _DIM:
        remedy = "More light: a longer exposure blurs what the board shakes"
        return CheckResult("light", "warning", f"the picture is dim (mean gray level {mean:.0f})", remedy)
    return CheckResult("light", "ok", f"mean gray level {mean:.0f}")


def look_at_focus(image: Image) -> CheckResult:
    """Whether edges are sharp."""
    if is_blurred(image):
        remedy = "Focus on the board, hold the focus (focus in [source]), clean the lens"
        return CheckResult("focus", "fault", "even the sharpest edges of the picture are soft", remedy)
    return CheckResult("focus", "ok", "edges are sharp")


def look_at_calibration(table: CalibrationSettings, images: Sequence[Image], beside: Path) -> Iterator[CheckResult]:
    """Whether the calibration fits, or, where none is given, whether one can be made."""
    try:
        if table.file or beside.is_file():
            calibration = read_calibration(Path(table.file) if table.file else beside)
            yield _fits(calibration, images[0])
        else:
            calibration = calibrate(table, list(images), "camera")
            yield CheckResult("calibration", "ok", f"the field '{calibration.field.name}' is found in the picture")
    except DownfieldError as error:
        remedy = "Clear the board, light it evenly, have all of the field in view; or calibrate by hand"
        yield CheckResult("calibration", "fault", str(error), remedy)
        return
    yield _certified(calibration)


def _fits(calibration: Calibration, image: Image) -> CheckResult:
    size_px = calibration.camera.lens.size_px
    if (image.shape[1], image.shape[0]) != size_px:
        text = f"it is of pictures of {size_px[0]}x{size_px[1]}; the camera sends {image.shape[1]}x{image.shape[0]}"
        return CheckResult("calibration", "fault", text, "Calibrate anew, or ask the camera for that size")
    plane = clearest_channel(image)
    seen = observe_paint([plane], calibration.camera, calibration.field, _SEARCH_PX)
    share = gather_evidence(plane, calibration.camera, calibration.field, _CLOSE_PX).yard_lines
    if share < _FOUND_SHARE or not len(seen.px):
        text = f"only {share:.0%} of the yard lines are where it says"
        return CheckResult("calibration", "fault", text, "Calibrate anew: the camera or the board was moved")
    off = np.sum((seen.px - calibration.camera.to_pixels(seen.points_mm)) * seen.normals, axis=1)
    typical = float(np.median(np.abs(off)))
    text = f"lines are {typical:.2f} px from where it says, {share:.0%} of the yard lines found"
    if typical > ONLINE_LIMITS.bump_px:
        return CheckResult("calibration", "fault", text, "Calibrate anew: the camera or the board was moved")
    if typical > _OFF_PX:
        return CheckResult("calibration", "warning", text, "Calibrate anew before the game")
    return CheckResult("calibration", "ok", text)


def _certified(calibration: Calibration) -> CheckResult:
    if calibration.certificate is None:
        text = "this table's accuracy has not been measured"
        return CheckResult("calibration", "warning", text, "Measure it once: downfield certify")
    error = max(calibration.certificate.p95_yd)
    return CheckResult("calibration", "ok", f"certified to {error:.3f} yd")
