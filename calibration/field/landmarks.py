"""Calibrates by landmarks: four or more places of the field marked in the picture, then refined to the paint.

For prints that the automatic calibration does not know, and to correct a wrong solution of it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.free_solver import MEASURING_SEARCHES_PX, solve_print, with_open_styles
from downfield.calibration.field.lines.line_chains import clearest_channel, find_chains
from downfield.calibration.field.lines.line_pencils import DivisionModel, estimate_distortion
from downfield.calibration.field.lines.matching import Candidate
from downfield.calibration.field.lines.plane_camera import camera_and_proportions
from downfield.calibration.field.marks.mirroring import refuse_mirrored
from downfield.calibration.field.paint.paint_measurement import measure_paint
from downfield.calibration.field.paint.paint_samples import sample_long_lines
from downfield.calibration.field.refinement import refine_solution
from downfield.calibration.field.selection import with_mean_focal
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.verification import share_of_lines_found
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.pictures import check_picture
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Array, Image, Plane
from downfield.core.errors import CalibrationError, InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import check, record


@dataclass(frozen=True, slots=True)
class LandmarkLimits:
    """Thresholds of calibrating by landmarks."""

    min_landmarks: int = 4  # least number of landmarks
    off_px: float = 25.0  # a landmark this far from the solved camera was named or placed wrongly
    # distance within which the paint is searched for, from the first camera on, fit by fit
    searches_px: tuple[float, ...] = (8.0, 3.0, 1.8)
    # fields of view across the picture for which proportions of an unknown print are tried
    views_deg: tuple[float, ...] = (40.0, 60.0, 75.0, 95.0)
    yard_ratios: tuple[float, float] = (0.5, 2.5)  # least and largest ratio of a yard across to one along on a print
    # distortions that are tried beside the one estimated from the picture's lines
    distortions: tuple[float, ...] = (-0.6, -0.4, -0.24, -0.16, -0.08, 0.0)
    min_paint: float = 0.4  # share of the long lines that must be seen where the solution has them


_LIMITS: Final = LandmarkLimits()


@record
class Landmark:
    """A place of the field and its pixel."""

    x_yd: float  # x_yd, y_yd: field yards, such as 0, 0 for the lower left corner of the playing field
    y_yd: float
    px: tuple[float, float]  # pixel x and y


def solve_landmarks(
    images: Sequence[Image],
    field: FieldModel,
    landmarks: Sequence[Landmark],
    *,
    prior: LensPrior | None = None,
    proportions: DescribedProportions | None = None,
    is_known: bool = True,
) -> FieldSolution:
    """Solve the camera from landmarks and refine it to the paint.

    Args:
        images: one or more frames of the same camera.
        landmarks: four or more, not all on one line.
        proportions: of the print as it is described, if they are to be measured.
        is_known: whether the field's proportions are near those of the print; else some are tried.

    Raises:
        InputError: too few landmarks, or all on one line.
        CalibrationError: no camera fits them, the paint is not where they put it, or the picture is mirrored.
    """
    for image in images:
        check_picture(image)
    yards = np.array([(mark.x_yd, mark.y_yd) for mark in landmarks]).reshape(-1, 2)
    board = yards * field.mm_per_yd
    px = np.array([mark.px for mark in landmarks]).reshape(-1, 2)
    check(
        len(board) >= _LIMITS.min_landmarks,
        InputError,
        f"at least {_LIMITS.min_landmarks} landmarks are needed, not {len(board)}",
    )
    spread = np.linalg.svd(board - board.mean(axis=0), compute_uv=False)
    check(spread[1] > 0.02 * spread[0], InputError, "the landmarks lie on one line. Add one away from it.")
    planes = [clearest_channel(image) for image in images]
    fields = [field] if is_known else _fields_of_other_proportions(field, yards, px, images[0])
    starts = _starts(images[0], fields, yards, px)
    if not starts:
        raise CalibrationError(
            "no camera fits these landmarks. Check whether one is named or placed wrongly, or whether the picture is"
            " mirrored.",
            "place_corners",
        )
    camera, field = max(
        starts, key=lambda start: share_of_lines_found(planes[0], start[0], start[1], _LIMITS.searches_px[0])
    )
    board = yards * field.mm_per_yd
    _check_landmarks(camera, landmarks, board, px)
    solution = None if proportions is None else _measured(planes, images[0], camera, field, prior, proportions)
    solution = solution or refine_solution(
        planes, camera, field, prior=prior, proportions=proportions, searches_px=_LIMITS.searches_px
    )
    near_px = _LIMITS.searches_px[0] / 4
    found = 0.0 if solution is None else share_of_lines_found(planes[0], solution.fit.camera, solution.field, near_px)
    if solution is None or found < _LIMITS.min_paint:
        raise CalibrationError(
            "the field's lines are not where the landmarks put them. Place the landmarks more exactly, add some near"
            " the field's corners, or check how many yards the field has.",
            "place_corners",
        )
    _check_landmarks(solution.fit.camera, landmarks, yards * solution.field.mm_per_yd, px)
    refuse_mirrored(planes[0], solution.fit.camera, solution.field)
    return with_mean_focal(solution, planes)


def _measured(
    planes: Sequence[Plane],
    image: Image,
    camera: Camera,
    field: FieldModel,
    prior: LensPrior | None,
    proportions: DescribedProportions,
) -> FieldSolution | None:
    """Return the solution with the print's lines as they are painted; None where too little of them is seen.

    Of a print that is not exactly known the landmarks tell the yards, and the picture where its sidelines are.
    """
    first = _LIMITS.searches_px[0]
    paint = measure_paint(planes[0], camera, sample_long_lines(field), first).paint
    start = Candidate(with_open_styles(field), camera, 1.0)
    return solve_print(planes, image, start, paint, prior, proportions, searches_px=(first, *MEASURING_SEARCHES_PX))


def _fields_of_other_proportions(field: FieldModel, yards: Array, px: Array, image: Image) -> list[FieldModel]:
    """Return the field with the proportions that its landmarks have for lenses from long to wide."""
    size = np.array([image.shape[1], image.shape[0]])
    plane = cv2.findHomography(yards, px - size / 2)[0]
    ratios = []
    for view_deg in _LIMITS.views_deg:
        focal_px = size[0] / 2 / math.tan(math.radians(view_deg) / 2)
        along, across = (np.linalg.norm(plane[:, i] / (focal_px, focal_px, 1.0)) for i in (0, 1))
        ratios.append(float(np.clip(across / along, *_LIMITS.yard_ratios)))
    return [dataclasses.replace(field, mm_per_yd_y=field.mm_per_yd_x * ratio) for ratio in ratios]


def _starts(image: Image, fields: Sequence[FieldModel], yards: Array, px: Array) -> list[tuple[Camera, FieldModel]]:
    size = (image.shape[1], image.shape[0])
    distortions = [
        estimate_distortion(find_chains(image), size),
        *(DivisionModel(size, amount) for amount in _LIMITS.distortions),
    ]
    found = [
        camera_and_proportions(yards * field.mm_per_yd, distortion.undistort(px), distortion, field, None)
        for distortion in distortions
        for field in fields
    ]
    return [start for start in found if start is not None]


def _check_landmarks(camera: Camera, landmarks: Sequence[Landmark], board_mm: Array, px: Array) -> None:
    off = np.linalg.norm(camera.to_pixels(board_mm) - px, axis=1)
    worst = int(np.argmax(off))
    if not off[worst] < _LIMITS.off_px:
        mark = landmarks[worst]
        raise CalibrationError(
            f"the landmark at {mark.x_yd:g}, {mark.y_yd:g} yd is {off[worst]:.0f} px from where the others put it."
            " Check whether it is named or placed wrongly.",
            "place_corners",
        )
