"""Solves a bumped camera again: the lens is known, and roughly where the field went."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.refinement import refine_solution
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.field.verification import find_problems, gather_evidence
from downfield.calibration.jacobians import LENS, STRETCH
from downfield.calibration.lens.prior import MeasuredLens
from downfield.calibration.online.shake import MovingCamera, Shake
from downfield.calibration.pictures import check_picture
from downfield.calibration.stretch import DescribedProportions, ScaleError
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel

_MIN_FOLLOWED_SHARE: Final = 0.4  # with a smaller share of corners the field moved too far to be followed
# distance within which the paint is searched for, from the followed camera on, fit by fit
_SEARCHES_PX: Final[tuple[float, ...]] = (6.0, 3.0, 1.8)
_SAME_PX: Final = 1.5  # a solution so near to the followed place is of that field: other lines are further off
_NEAR_WORSE: Final = 0.3  # nearer than the widest search blur alone makes as much difference in evidence
_MAX_MOVED_SHARE: Final = 0.5  # of the picture's width: a field found further off is other lines, taken for its own


def recalibrate(images: Sequence[Image], before: Calibration, shake: Shake, *, made_from: Sequence[str]) -> Calibration:
    """Return the calibration after a bump: from where the field was followed to, else by searching the whole picture.

    Args:
        images: one or more frames, taken after the camera is still again.
        shake: of the first image against that picture.

    Raises:
        CalibrationError: the field is not found again; says what to change.
    """
    for image in images:
        check_picture(image)
    prior, start = known_lens(before), before.camera
    planes, solution = [clearest_channel(image) for image in images], None
    if shake.share > _MIN_FOLLOWED_SHARE:
        # Cameras that steady their picture shift it instead of turning: the lens's middle may have gone as far.
        prior = known_lens(before, shifted_px=shake.largest_px)
        start = MovingCamera(before.camera, before.field).at(shake)
        proportions = known_proportions(before)
        solution = refine_solution(
            planes, start, before.field, prior=prior, proportions=proportions, searches_px=_SEARCHES_PX
        )
    seen = gather_evidence(planes[0], start, before.field, _SEARCHES_PX[-1]).score
    if solution is not None:
        moved_px = _furthest_px(start, solution.fit.camera, before.field)
        problems = find_problems(solution.evidence, solution.fit, solution.field, placed=moved_px < _SAME_PX)
        if problems or _elsewhere(moved_px, solution, seen):
            solution = None
    if solution is None:
        # The print is the same as before, so nothing of it is measured again.
        solution = solve_field(images, [before.field], prior=prior, known=True, proportions=known_proportions(before))
        moved_px = _furthest_px(start, solution.fit.camera, before.field)
        if moved_px > _MAX_MOVED_SHARE * before.camera.lens.size_px[0] or _elsewhere(moved_px, solution, seen):
            raise CalibrationError("the field seems to be far from where it was: calibrate the table again")
    return with_size_of(solution, before).calibration("field", made_from)


def _elsewhere(moved_px: float, solution: FieldSolution, seen: float) -> bool:
    """Return whether other lines are taken for the field, which is `seen` (evidence's score) as well in its place."""
    worse = _NEAR_WORSE if moved_px < _SEARCHES_PX[0] else 0.0
    return moved_px >= _SAME_PX and solution.evidence.score <= seen - worse


def known_lens(calibration: Calibration, shifted_px: float = 0.0) -> MeasuredLens:
    """Return the lens of a calibration, as well as it is known there, for calibrating the same camera again.

    Args:
        shifted_px: how far its picture may be shifted since.
    """
    known = np.array(calibration.covariance)[LENS, LENS] if calibration.covariance else np.zeros((9, 9))
    known = known + np.diag([0.0, 0.0, shifted_px**2, shifted_px**2, *[0.0] * 5])
    return MeasuredLens.of(calibration.camera.lens, known)


def known_proportions(calibration: Calibration) -> DescribedProportions | None:
    """Return the proportions of the print of a calibration, as open as it left them; None where they are exact."""
    if len(calibration.covariance) <= STRETCH or not calibration.covariance[STRETCH][STRETCH]:
        return None
    return DescribedProportions.of(calibration.field, math.sqrt(calibration.covariance[STRETCH][STRETCH]))


def with_size_of(solution: FieldSolution, before: Calibration) -> FieldSolution:
    """Return a solution of a print whose size is known as well as it was before."""
    return dataclasses.replace(solution, scale=ScaleError(before.scale_spread))


def _furthest_px(one: Camera, other: Camera, field: FieldModel) -> float:
    """Return the largest distance between where two cameras have the field's corners and middle, px."""
    across, down = field.length_mm, field.width_mm
    places_mm = np.array([(0, 0), (across, 0), (across, down), (0, down), (across / 2, down / 2)])
    return float(np.linalg.norm(one.to_pixels(places_mm) - other.to_pixels(places_mm), axis=1).max())
