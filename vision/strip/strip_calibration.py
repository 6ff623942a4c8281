"""Calibrates the camera over a strip by its printed field, and finds which way up the strip lies by its dials."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.solver import LensFromDistance, solve_field
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.field import FieldModel
from downfield.core.strip import StripSet
from downfield.vision.strip.dial_reader import DialReader

_CLEARLY: float = 1.5
"""The dials read one way up must be worth this many times the other way, in summed confidence."""


def calibrate_strip(images: Sequence[Image], strip: StripSet, distance: LensFromDistance | None = None) -> Camera:
    """Return the camera over a strip, its board frame turned so that the dials are upright.

    Args:
        images: one or more pictures of the same camera, without a hand over the print.
        strip: the set.
        distance: what is known of the camera's height, as for a table.

    Raises:
        CalibrationError: the print or its dials were not found; says what to change.

    """
    camera = _solve(images, strip, distance)
    ways = (camera, turned_round(camera, strip.field))
    worth = [_worth(images, strip, way) for way in ways]
    best = int(np.argmax(worth))
    if worth[best] < 1.0 or worth[best] < _CLEARLY * worth[1 - best]:
        raise CalibrationError(
            "the strip's field is seen, but its dials can't be read. Set every dial to a number, keep the lamp's"
            " reflection off the windows, and check their places in the strip's .toml file."
        )
    return ways[best]


def turned_round(camera: Camera, field: FieldModel) -> Camera:
    """Return the camera in the board frame of the same field turned by half a turn in its plane."""
    turn = np.diag([-1.0, -1.0, 1.0])
    middle = np.array([field.length_mm, field.width_mm, 0.0])
    rotation = camera.board_to_camera @ turn
    x, y, z = (float(v) for v in cv2.Rodrigues(rotation)[0].ravel())
    moved = camera.board_to_camera @ middle + np.asarray(camera.translation_mm)
    place = (float(moved[0]), float(moved[1]), float(moved[2]))
    return dataclasses.replace(camera, rotation=(x, y, z), translation_mm=place)


def _solve(images: Sequence[Image], strip: StripSet, distance: LensFromDistance | None) -> Camera:
    """Solve for the print as described, otherwise with fewer small marks: editions differ in them."""
    reason = CalibrationError("the strip's field was not found")
    for field in _prints(strip.field):
        try:
            return solve_field(images, [field], distance=distance).fit.camera
        except CalibrationError as error:
            reason = error
    raise reason


def _prints(field: FieldModel) -> tuple[FieldModel, ...]:
    return (
        field,
        dataclasses.replace(field, sideline_marks=not field.sideline_marks),
        dataclasses.replace(field, hash_every_yd=0.0, sideline_marks=False),
    )


def _worth(images: Sequence[Image], strip: StripSet, camera: Camera) -> float:
    """Return the summed confidence of the dials, the best of the pictures for each."""
    reader = DialReader(strip, camera)
    readings = [[reading.confidence for reading in reader.read(image)] for image in images]
    return float(np.max(readings, axis=0).sum())
