"""Solves a print by measuring it in the picture: its proportions, lines and marks, together with the camera."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from downfield.calibration.field.free_solver import measure_print
from downfield.calibration.field.lines.matching import Candidate
from downfield.calibration.field.marks.mirroring import UNMIRROR, mirrored_probability
from downfield.calibration.field.print_prior import SupposedPrint
from downfield.calibration.field.progress import ProgressReporter
from downfield.calibration.field.refinement import refine_solution
from downfield.calibration.field.selection import SELECTION_LIMITS, best_trusted, likeliest, with_mean_focal
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Image, Plane
from downfield.core.errors import AimError, CalibrationError

_SEARCHES_PX: Final = (2.0,)  # how far off the paint is searched after the print was measured

_MIRRORED_OR_NOT: Final = (
    "the field's numbers read about as well in a mirror, so the picture may be mirrored. Choose whether it is; or focus"
    " the camera and clear the numbers."
)


def solve_by_measuring(
    planes: Sequence[Plane],
    supposed: SupposedPrint,
    paint: float,
    image: Image,
    prior: LensPrior | None,
    reporter: ProgressReporter,
) -> FieldSolution:
    """Solve a print whose proportions and lines are measured in the picture.

    Args:
        planes: gray pictures; the camera is that of the first.
        supposed: the ways to read it, and what is known of the print.

    Raises:
        AmbiguousField: several solutions are as good; carries them.
        CalibrationError: no trustworthy solution, or the picture is mirrored, or may be; says what to change.
    """
    reporter.enter("matching the print")
    likely, others = likeliest(planes[0], list(supposed.options), paint)
    solutions = _measured(planes, image, supposed, likely, paint, prior, reporter)
    try:
        try:
            best = best_trusted(solutions, image, planes, paint)
        except (AimError, AmbiguousField):
            raise
        except CalibrationError:
            if not others:
                raise
            # None of the likelier ways is right after all.
            solutions += _measured(planes, image, supposed, others, paint, prior, reporter)
            best = best_trusted(solutions, image, planes, paint)
    except AmbiguousField as ways:
        readings = [dataclasses.replace(way, solution=with_mean_focal(way.solution, planes)) for way in ways.readings]
        raise AmbiguousField(readings) from None
    return _not_mirrored(best, planes[0])


def _measured(
    planes: Sequence[Plane],
    image: Image,
    supposed: SupposedPrint,
    options: Sequence[Candidate],
    paint: float,
    prior: LensPrior | None,
    reporter: ProgressReporter,
) -> list[FieldSolution]:
    """Return the solutions of the ways to read a picture for which enough paint is found."""
    solutions = []
    for i, option in enumerate(options):
        reporter.enter("solving the camera", i / len(options))
        found = measure_print(planes, image, option, paint, prior, supposed.proportions)
        solution = None if found is None else refine_measured(planes, found, prior, supposed.proportions)
        if solution is not None:
            solutions.append(dataclasses.replace(solution, scale=supposed.scale))
    reporter.enter("checking")
    return solutions


def refine_measured(
    planes: Sequence[Plane], found: Candidate, prior: LensPrior | None, proportions: DescribedProportions
) -> FieldSolution | None:
    """Refine the camera over a print that was measured, with its proportions; None when too little paint is found."""
    return refine_solution(
        planes, found.camera, found.field, prior=prior, proportions=proportions, searches_px=_SEARCHES_PX, ends=True
    )


def _not_mirrored(solution: FieldSolution, plane: Plane) -> FieldSolution:
    """Return a solution that is not mirrored. Raises AmbiguousField: it may be; carries both; AimError: it is."""
    share = mirrored_probability(plane, solution.fit.camera, solution.field)
    if share > 1 - SELECTION_LIMITS.likely:
        raise AimError(f"the picture is mirrored, since the field's numbers read only in a mirror: {UNMIRROR}")
    seen = dataclasses.replace(solution, probability=solution.probability * (1 - share))
    mirror = dataclasses.replace(solution, probability=solution.probability * share, rivals=())
    other = FieldReading("the picture is mirrored", mirror, mirrored=True)
    if share > SELECTION_LIMITS.likely:
        seen = with_mean_focal(seen, [plane])
        raise AmbiguousField([FieldReading("the picture shows the board as it is", seen), other], _MIRRORED_OR_NOT)
    return dataclasses.replace(seen, rivals=(*seen.rivals, other))
