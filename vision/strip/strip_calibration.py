"""Calibrates the camera over a strip by its printed field, and finds which way up the strip lies by its dials."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.refinement import refine_solution
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.lens.prior import LensFromDistance, LensPrior
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel
from downfield.core.strip import StripSet
from downfield.vision.strip.dial_reader import DialReader

_MIN_RATIO: Final = 1.5  # Least ratio of the dials' summed confidences, read one way up and the other
_MIN_CONFIDENCE: Final = 1.0  # Least summed confidence of the better way up
_OFF_PICTURE_PX: Final = 2.0  # A window this far outside the picture is cut off by it
_WHOLE: Final = "Move the camera until the whole strip with its dials is in it."


@dataclass(frozen=True, slots=True)
class CalibratedStrip:
    """A strip as it is printed, and the camera over it."""

    strip: StripSet  # the set, its windows where the measured print has them
    calibration: Calibration  # of the camera; the dials are upright in its board frame

    @property
    def camera(self) -> Camera:
        """Lens and pose."""
        return self.calibration.camera


def calibrate_strip(
    images: Sequence[Image],
    strip: StripSet,
    distance: LensFromDistance | None = None,
    *,
    prior: LensPrior | None = None,
    name: str = "",
) -> CalibratedStrip:
    """Return the camera over a strip, its board frame turned so that the dials are upright.

    Args:
        images: one or more pictures of the same camera, without a hand over the print.
        distance: what is known of the camera's height, as for a table.
        prior: the lens, when it was measured beforehand.
        name: of the source, for the calibration's record.

    Raises:
        CalibrationError: the print or its dials were not found; says what to change.
    """
    solution = _solve(images, strip, distance, prior)
    printed = strip.printed_as(solution.field)
    camera = solution.fit.camera
    ways = (camera, turned_round(camera, solution.field))
    _require_whole(camera, solution.field)
    worth = [_worth(images, printed, way) for way in ways]
    best = int(np.argmax(worth))
    if worth[best] < _MIN_CONFIDENCE or worth[best] < _MIN_RATIO * worth[1 - best]:
        raise CalibrationError(_unread(images, printed, ways))
    if best == 1:
        planes = [clearest_channel(image) for image in images]
        solution = refine_solution(planes, ways[1], solution.field, prior=prior) or solution
        if solution.fit.camera is camera:
            raise CalibrationError("too little of the strip's print is seen. Clear it and light it evenly.")
    return CalibratedStrip(printed, solution.calibration(made_from=[name] if name else []))


def turned_round(camera: Camera, field: FieldModel) -> Camera:
    """Return the camera in the board frame of the same field turned by half a turn in its plane."""
    turn = np.diag([-1.0, -1.0, 1.0])
    middle = np.array([field.length_mm, field.width_mm, 0.0])
    rotation = camera.board_to_camera @ turn
    x, y, z = (float(v) for v in cv2.Rodrigues(rotation)[0].ravel())
    moved = camera.board_to_camera @ middle + np.asarray(camera.translation_mm)
    place = (float(moved[0]), float(moved[1]), float(moved[2]))
    return dataclasses.replace(camera, rotation=(x, y, z), translation_mm=place)


def _solve(
    images: Sequence[Image], strip: StripSet, distance: LensFromDistance | None, prior: LensPrior | None
) -> FieldSolution:
    """Solve for the print as described, otherwise with fewer small marks: editions differ in them."""
    reason, field = CalibrationError("the strip's field was not found"), strip.field
    other_ticks = dataclasses.replace(field, sideline_marks=not field.sideline_marks)
    bare = dataclasses.replace(field, hash_every_yd=0.0, sideline_marks=False)
    for number, printed in enumerate((field, other_ticks, bare)):
        try:
            return solve_field(images, [printed], distance=distance, prior=prior, known=True)
        except CalibrationError as error:
            reason = reason if number else error
    raise reason


def _require_whole(camera: Camera, field: FieldModel) -> None:
    wide, high = camera.lens.size_px
    px = camera.to_pixels(np.array([(x, y) for x in (0.0, field.length_mm) for y in (0.0, field.width_mm)]))
    beyond = {
        "left": -px[:, 0].min(),
        "right": px[:, 0].max() - (wide - 1),
        "top": -px[:, 1].min(),
        "bottom": px[:, 1].max() - (high - 1),
    }
    cut = [side for side, off_px in beyond.items() if not off_px <= _OFF_PICTURE_PX]
    if cut:
        raise CalibrationError(f"the strip is cut off at the {' and '.join(cut)} of the picture. {_WHOLE}")


def _unread(images: Sequence[Image], strip: StripSet, ways: tuple[Camera, Camera]) -> str:
    """Return why the dials can't be read: a mirrored picture, windows outside it, or neither."""
    flipped = [np.ascontiguousarray(image[:, ::-1]) for image in images]
    mirrored = max(_worth(flipped, strip, _mirrored(way, strip.field)) for way in ways)
    if mirrored >= _MIN_CONFIDENCE * _MIN_RATIO:
        return "the picture is mirrored: the dials' numbers read backward. Turn mirroring off in the camera's settings."
    if not any(_in_picture(way, strip) for way in ways):
        return f"the strip's field is seen, but its dials are outside the picture. {_WHOLE}"
    return (
        "the strip's field is seen, but its dials can't be read. Set every dial to a number, keep the lamp's"
        " reflection off the windows, and check their places in the strip's .toml file."
    )


def _in_picture(camera: Camera, strip: StripSet) -> bool:
    wide, high = camera.lens.size_px
    px = camera.to_pixels(np.array([(x, y) for dial in strip.dials for x in dial.x_mm for y in dial.y_mm]))
    return bool(np.isfinite(px).all() and (px >= 0).all() and (px <= [wide - 1, high - 1]).all())


def _mirrored(camera: Camera, field: FieldModel) -> Camera:
    """Return the camera of the picture flipped left to right, in the board frame mirrored end to end."""
    lens, flip = camera.lens, np.diag([-1.0, 1.0, 1.0])
    k1, k2, p1, p2, k3 = lens.distortion
    center = (lens.size_px[0] - 1 - lens.center_px[0], lens.center_px[1])
    rotation = flip @ camera.board_to_camera @ flip
    x, y, z = (float(v) for v in cv2.Rodrigues(rotation)[0].ravel())
    end = camera.board_to_camera @ np.array([field.length_mm, 0.0, 0.0]) + np.asarray(camera.translation_mm)
    place = (-float(end[0]), float(end[1]), float(end[2]))
    flipped = dataclasses.replace(lens, center_px=center, distortion=(k1, k2, p1, -p2, k3))
    return dataclasses.replace(camera, lens=flipped, rotation=(x, y, z), translation_mm=place)


def _worth(images: Sequence[Image], strip: StripSet, camera: Camera) -> float:
    """Return the summed confidence of the dials, the best of the pictures for each."""
    reader = DialReader(strip, camera)
    readings = [[reading.confidence for reading in reader.read(image)] for image in images]
    return float(np.max(readings, axis=0).sum())
