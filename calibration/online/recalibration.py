"""A camera that was bumped, solved afresh: the lens is known, and so is roughly where the field went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.calibration.field.line_chains import clearest_channel
from downfield.calibration.field.solver import refine_solution, solve_field
from downfield.calibration.field.verification import find_problems
from downfield.calibration.jacobians import LENS
from downfield.calibration.lens.prior import MeasuredLens
from downfield.calibration.online.shake import Shake, moved_camera
from downfield.calibration.pictures import check_picture
from downfield.calibration.quality import to_calibration
from downfield.core.arrays import Image
from downfield.core.field import FieldModel

_FOLLOWED_SHARE = 0.4  # of the print's corners: else the field went further than could be followed
_SEARCH_PX = 6.0
_SAME_PX = 1.5  # a solution so near to where the field was followed to is of that field: other lines are further off


def recalibrate(images: Sequence[Image], before: Calibration, shake: Shake, *, made_from: Sequence[str]) -> Calibration:
    """The calibration after a bump, from where the shake says the field went, else by searching the whole picture.

    Args:
        images: one or more frames, taken since the camera is still again.
        before: the calibration of the reference picture.
        shake: of the first image against that picture.
        made_from: names of the images.

    Raises:
        CalibrationError: the field is not found again, with what to change.

    """
    for image in images:
        check_picture(image)
    known = np.array(before.covariance)[LENS, LENS] if before.covariance else np.zeros((9, 9))
    prior = MeasuredLens.of(before.camera.lens, known)
    solution = None
    if shake.share > _FOLLOWED_SHARE:
        start = moved_camera(before.camera, shake, before.field)
        planes = [clearest_channel(image) for image in images]
        solution = refine_solution(planes, start, before.field, prior=prior, first_search_px=_SEARCH_PX)
        if solution is not None:
            placed = _furthest_px(start, solution.fit.camera, before.field) < _SAME_PX
            if find_problems(solution.evidence, solution.fit, solution.field, placed=placed):
                solution = None
    if solution is None:
        solution = solve_field(images, [before.field], prior=prior)
    return to_calibration(before.field, solution.fit, solution.sightings, method="field", made_from=made_from)


def _furthest_px(one: Camera, other: Camera, field: FieldModel) -> float:
    """How far apart two cameras have the field's corners and middle."""
    across, down = field.length_mm, field.width_mm
    places_mm = np.array([(0, 0), (across, 0), (across, down), (0, down), (across / 2, down / 2)])
    return float(np.linalg.norm(one.to_pixels(places_mm) - other.to_pixels(places_mm), axis=1).max())
