"""Solves prints whose description is rough: proportions, widths and placement of lines are measured in the picture.

The yard lines and the ends of them give the camera and the print's proportions, without any other line. With the camera
known to a pixel, the other lines are measured where they are (`print_measurement`), and all together give the solution.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import flat_bow
from downfield.calibration.camera_fit import Observations
from downfield.calibration.field.lines.matching import Candidate, FieldLines, likely_shifts
from downfield.calibration.field.lines.plane_camera import camera_and_proportions, fit_either_lens
from downfield.calibration.field.lines.rectified_lines import YardLineEnds
from downfield.calibration.field.marks.mark_rows import with_hash_rows, with_number_rows
from downfield.calibration.field.marks.yard_marks import marked_steps
from downfield.calibration.field.paint.paint_measurement import observe_paint
from downfield.calibration.field.print_measurement import measure_styles, with_line_inset
from downfield.calibration.field.refinement import refine_solution
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.stretch import DescribedProportions, stretched_field
from downfield.core.arrays import Bools, Image, Plane
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import LineStyle


@dataclass(frozen=True, slots=True)
class OpenProportions:
    """How far a print's proportions are open, log ratio."""

    spread: float  # standard deviation from the description
    most_off: float  # how far from it they may be


ROUGH: Final = OpenProportions(0.025, 0.075)  # of a print that somebody described to some percent

UNKNOWN: Final = OpenProportions(0.12, 0.4)
"""Of a print of which only the kind of field is supposed: boards are printed longer or shorter, to fit a table."""


_BORDER_MM: Final = 9.0  # width of a border before it is measured
_MIN_ENDS: Final = 8  # ends of yard lines that a candidate needs
# share of the yard lines' ends: with more, sidelines are placed by them alone while the print is measured
_SUFFICIENT_ENDS: Final = 0.6
_MIN_OBSERVATIONS: Final = 60  # observations that a fit needs
_MEASURED_SEARCH_PX: Final = 2.0  # distance within which the paint is searched for after the print was measured

MEASURING_SEARCHES_PX: Final = (4.0, 3.0, 2.5)
"""Distance within which the paint is searched for while the print is measured, fit by fit."""


@dataclass(frozen=True, slots=True)
class GoalRungs:
    """The rungs of the ladder that are goal lines."""

    first: int  # number of the left goal line's rung
    steps: int  # of yard lines from there to the right goal line

    def suit(self, field: FieldModel) -> bool:
        """Return whether a field has so many steps."""
        return round(field.length_yd / field.yard_line_every_yd) == self.steps


def find_goal_rungs(
    plane: Plane, lines: FieldLines, fields: Sequence[FieldModel], ends: YardLineEnds
) -> GoalRungs | None:
    """Return the goal lines that the one-yard marks show; None when there are no marks, or none that show it."""
    every = [(score, shift, field) for field in fields for shift, score in likely_shifts(lines, field)]
    for _, shift, field in sorted(every, key=lambda item: -item[0]):
        placed = GoalRungs(shift, round(field.length_yd / field.yard_line_every_yd))
        start = next(find_candidates(lines, field, ends, UNKNOWN, placed), None)
        if start is not None:
            run = marked_steps(plane, start.camera, start.field, ends.paint)
            return None if run is None else GoalRungs(shift + run[0], run[1] - run[0])
    return None


def find_candidates(
    lines: FieldLines,
    field: FieldModel,
    ends: YardLineEnds,
    open_by: OpenProportions | None = ROUGH,
    goals: GoalRungs | None = None,
) -> Iterator[Candidate]:
    """Yield the ways the lines could be a field, the likelier shifts of the ladder first.

    Args:
        open_by: how far its proportions are open, and so are its lines; None where it is just as it is described.
        goals: the goal lines, where they are known.
    """
    across = lines.across
    for shift, score in [(goals.first, 1.0)] if goals and goals.suit(field) else likely_shifts(lines, field):
        board, seen, (found, yards) = [], [], lines.yards(field, shift)
        for k, crossing in enumerate(ends.crossing_px):
            low_side = (k == 1) == (across.along == 1)
            for i, yard in zip(found, yards, strict=True):
                board.append((yard * field.mm_per_yd_x, 0.0 if low_side else field.width_mm))
                seen.append(lines.meet(float(across.crossing_px[i]), crossing))
        if len(board) < _MIN_ENDS:
            continue
        spread = None if open_by is None else open_by.spread
        answer = camera_and_proportions(np.array(board), np.array(seen), lines.distortion, field, spread)
        if answer is None:
            continue
        camera, measured = answer
        if open_by is not None:
            border_mm = float(np.mean(ends.border)) * measured.width_mm if min(ends.border) > 0 else _BORDER_MM
            line_mm = ends.width_steps * field.yard_line_every_yd * field.mm_per_yd_x
            measured = with_open_styles(dataclasses.replace(measured, line_mm=line_mm), border_mm)
            if abs(math.log(measured.mm_per_yd_y / field.mm_per_yd_y)) >= open_by.most_off:
                continue
        yield Candidate(measured, camera, score, shift)


def with_open_styles(field: FieldModel, border_mm: float = _BORDER_MM) -> FieldModel:
    """Return a field whose border is only supposed, before it is measured."""
    border = LineStyle(border_mm, "inner")
    # Ticks along the sidelines come in every form or not at all: the hash rows have to be found without them.
    return dataclasses.replace(field, sideline=border, end_line=border, sideline_marks=False)


def solve_print(
    planes: Sequence[Plane],
    image: Image,
    start: Candidate,
    paint: float,
    prior: LensPrior | None,
    proportions: DescribedProportions,
    *,
    searches_px: Sequence[float] = MEASURING_SEARCHES_PX,
) -> FieldSolution | None:
    """Return the solution of a print, measured as it is painted; None when too little paint is found.

    Args:
        planes: gray pictures; the camera is that of the first.
        start: a candidate good to a few pixels.
        searches_px: how far off the paint is searched, fit by fit; the last ones are the usual.
    """
    field, camera = start.field, dataclasses.replace(start.camera, bow=flat_bow(start.field))
    for search in searches_px:
        observations = observe_paint(planes[:1], camera, field, search, quick=True)
        observations = observations[_is_sure(observations, field)]
        if len(observations.px) < _MIN_OBSERVATIONS:
            return None
        fit = fit_either_lens(camera, observations, field, prior, proportions.stretch(field))
        field = stretched_field(field, fit.stretch)
        camera = fit.camera
        if search < MEASURING_SEARCHES_PX[0]:
            field = measure_styles(planes[0], camera, field, paint)
        elif search == MEASURING_SEARCHES_PX[0]:
            field, camera = with_line_inset(planes[0], image, camera, field, paint)
    field = with_number_rows(planes[0], camera, field, paint) or field
    field = with_hash_rows(planes[0], camera, field, paint) or field
    last = (_MEASURED_SEARCH_PX,)
    return refine_solution(planes, camera, field, prior=prior, proportions=proportions, searches_px=last, ends=True)


def _is_sure(observations: Observations, field: FieldModel) -> Bools:
    """Return which observations are of lines whose place is known however they are painted, shape (n,).

    Sidelines are placed by the yard lines' ends where most of these are seen; else their own paint has to do.
    """
    free: Bools = observations.boundary < 0
    ends_mm = [y_mm for line in field.lines() if line.kind == "yard_line" for y_mm in line.y_mm]
    ends = np.isin(observations.points_mm[:, 1], ends_mm) & free
    if ends.sum() > _SUFFICIENT_ENDS * 2 * len(field.yard_lines_yd()):
        return free
    placed = [i for i, line in enumerate(field.lines()) if line.kind == "sideline"]
    return np.asarray(free | np.isin(observations.boundary, placed), dtype=np.bool_)
