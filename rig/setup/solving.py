"""Solves pictures as the set-up page requests: the print, landmarks placed by hand, or something measured."""

from __future__ import annotations

from collections.abc import Sequence

from downfield.api.setup.table_setup import HeightRequest, SolveRequest
from downfield.calibration.calibration import Calibration
from downfield.calibration.field.measured_height import StandingObject, with_camera_height, with_standing_object
from downfield.calibration.field.progress import ProgressListener
from downfield.calibration.field.proposal import KnownLength, propose_field
from downfield.calibration.field.solution import AmbiguousField, FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.core.arrays import Image
from downfield.core.errors import AimError, CalibrationError, InputError
from downfield.core.field.model import load_field, preset, preset_names
from downfield.rig.setup.landmarks import solve_placed
from downfield.rig.table_calibration import lens_from_distance


def solve_as_requested(
    images: Sequence[Image], request: SolveRequest, shown: Calibration | None, report: ProgressListener
) -> FieldSolution:
    """Return the solution as it was requested, after another that was shown.

    A print that is to be found out and is none of the known ones is read in the picture.

    Raises:
        CalibrationError: no trustworthy solution; says what to change.
        InputError: landmarks or a length don't suit the picture.

    """
    if request.landmarks:
        return solve_placed(images, request.field, request.landmarks, shown)
    if request.length is not None:
        known = KnownLength(request.length.length_mm, request.length.ends_px)
        solution = propose_field(images, known, progress=report).solution
        height_mm = request.camera_height_mm
        return solution if height_mm is None else with_camera_height(solution, images, height_mm)
    distance = lens_from_distance(images[0], request.camera_height_mm)
    if request.field != "auto":
        return solve_field(images, [load_field(request.field)], distance=distance, progress=report)
    try:
        return solve_field(images, [preset(name) for name in preset_names()], distance=distance, progress=report)
    except (AimError, AmbiguousField):
        raise
    except CalibrationError as refusal:
        return _solve_unknown(images, report, refusal)


def _solve_unknown(images: Sequence[Image], report: ProgressListener, refusal: CalibrationError) -> FieldSolution:
    """Return the solution of a print that is none of the known ones, its size left open; else refuse as they did."""
    try:
        return propose_field(images, progress=report).solution
    except (AimError, AmbiguousField):
        raise
    except CalibrationError:
        raise refusal from None


def solve_with_height(images: Sequence[Image], solution: FieldSolution, request: HeightRequest) -> FieldSolution:
    """Return a solution of pictures, solved again with a height that was measured.

    Raises:
        InputError: none or both are given, or the height does not suit the picture.

    """
    if (request.camera_height_mm is None) == (request.standing is None):
        raise InputError("Give either the height of the lens over the board, or something that stands on the board.")
    if request.standing is None:
        return with_camera_height(solution, images, request.camera_height_mm or 0.0)
    standing = request.standing
    return with_standing_object(solution, images, StandingObject(standing.height_mm, standing.foot_px, standing.top_px))
