"""Solves a print by measuring it in the picture: its proportions, lines and marks, together with the camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from downfield.calibration.field.free_solver import measure_print
from downfield.calibration.field.lines.matching import Candidate
from downfield.calibration.field.marks.mirroring import is_readable
from downfield.calibration.field.progress import ProgressReporter
from downfield.calibration.field.refinement import refine_solution
from downfield.calibration.field.selection import best_trusted, likeliest, with_mean_focal, with_numbers_in_place
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Image, Plane
from downfield.core.field.model import FieldModel, preset, preset_names

_SEARCHES_PX: Final = (2.0,)  # how far off the paint is searched after the print was measured

_MIRRORED_OR_NOT: Final = (
    "the field's numbers can't be read, so the picture may be mirrored. Choose on the set-up page whether it is; or"
    " focus the camera and clear the numbers; if none are printed, write number_every_yd = 0 into the field's .toml"
    " file."
)


def solve_by_measuring(
    planes: Sequence[Plane],
    options: Sequence[Candidate],
    paint: float,
    image: Image,
    fields: Sequence[FieldModel],
    prior: LensPrior | None,
    proportions: DescribedProportions,
    reporter: ProgressReporter,
    *,
    distance_follows: bool = False,
) -> FieldSolution:
    """Solve a print whose proportions and lines are measured in the picture.

    Args:
        planes: gray pictures; the camera is that of the first.
        options: ways to read it.
        paint: contrast of the yard lines, gray levels, signed.
        prior: the lens, when it was measured beforehand.
        proportions: of the print as it is described.
        reporter: takes how far it has come.
        distance_follows: whether the camera's distance follows afterwards.

    Raises:
        AmbiguousField: several solutions are as good; carries them.
        CalibrationError: no trustworthy solution, or the picture is mirrored, or may be; says what to change.
    """
    reporter.enter("matching the print")
    likely = with_numbers_in_place(planes[0], likeliest(planes[0], list(options)), paint)
    solutions = []
    for i, option in enumerate(likely):
        reporter.enter("solving the camera", i / len(likely))
        # The rows of a bundled preset tell it from others; without that, naming the wrong one would give its scale.
        marks_open = not any(map(is_bundled, fields))
        found = measure_print(planes, option, paint, prior, proportions, marks_open=marks_open)
        if found is not None:
            solutions.append(
                refine_solution(
                    planes,
                    found.camera,
                    found.field,
                    prior=prior,
                    proportions=proportions,
                    searches_px=_SEARCHES_PX,
                    ends=True,
                )
            )
    reporter.enter("checking")
    kept = [solution for solution in solutions if solution]
    try:
        best = best_trusted(kept, image, fields, planes, prior, paint, distance_follows=distance_follows)
    except AmbiguousField as ways:
        first = ways.readings[0].solution
        if is_readable(planes[0], first.fit.camera, first.field):
            raise
        raise AmbiguousField([*ways.readings, _mirrored(first)], str(ways)) from None
    if not is_readable(planes[0], best.fit.camera, best.field):
        best = with_mean_focal(best, planes) if distance_follows else best
        seen = FieldReading("the picture shows the board as it is", best)
        raise AmbiguousField([seen, _mirrored(best)], _MIRRORED_OR_NOT)
    return best


def _mirrored(solution: FieldSolution) -> FieldReading:
    return FieldReading("the picture is mirrored", solution, mirrored=True)


def is_bundled(field: FieldModel) -> bool:
    """Return whether a field is one of the presets, as it is."""
    return field.name in preset_names() and field == preset(field.name)
