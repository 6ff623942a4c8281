"""Calibrates from the printed field alone: detect the lines, match them, solve, and verify the solution.

A symmetric print allows several board frames: the one whose x points to the right of the picture (down, when the board
lies across it) is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from downfield.calibration.camera_fit import fit_camera
from downfield.calibration.field.free_solver import (
    ROUGH,
    GoalRungs,
    described_candidates,
    find_goal_rungs,
    free_candidates,
    proportions_off,
)
from downfield.calibration.field.lines.line_chains import clearest_channel, find_chains
from downfield.calibration.field.lines.line_pencils import DivisionModel, Pencil, estimate_distortion, fit_pencil
from downfield.calibration.field.lines.matching import Candidate, Ladder, candidates, find_ladder
from downfield.calibration.field.lines.rectified_lines import YardLineEnds, find_yard_line_ends
from downfield.calibration.field.marks.mirroring import refuse_mirrored
from downfield.calibration.field.marks.yard_marks import length_problem, marked_steps
from downfield.calibration.field.measured_solving import is_bundled, solve_by_measuring
from downfield.calibration.field.progress import ProgressListener, ProgressReporter
from downfield.calibration.field.refinement import fit_all_frames, refine_solution
from downfield.calibration.field.selection import (
    best_trusted,
    likeliest,
    no_match_text,
    reading_label,
    with_mean_focal,
)
from downfield.calibration.field.shrunk_pictures import ShrunkPictures
from downfield.calibration.field.solution import AmbiguousField, FieldSolution
from downfield.calibration.lens.prior import LensFromDistance, LensPrior, TypicalLens
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.calibration.stretch import DescribedProportions, stretched_field
from downfield.core.arrays import Image, Plane
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel

FieldLines = tuple[Pencil, Pencil, Ladder, DivisionModel]
"""The yard lines' family, the other one, the ladder among the first, and the lens's distortion."""


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """Thresholds of solving from the printed field."""

    max_checked: int = 160
    """Largest number of candidates that are checked, the likelier shifts first."""
    max_proportion_error: float = 0.012
    """Proportions further from the description than this, log ratio, are measured at once."""


_LIMITS: Final = SolverLimits()

_BLURRED: Final = "the picture is blurred. Focus the camera and keep it still."


def solve_field(
    images: Sequence[Image],
    fields: Sequence[FieldModel],
    *,
    prior: LensPrior | None = None,
    distance: LensFromDistance | None = None,
    progress: ProgressListener | None = None,
) -> FieldSolution:
    """Find a printed field in pictures and solve the camera.

    Args:
        images: one or more frames of the same camera, blue green red or gray; more frames show what figures and hands
            cover in one, and average noise.
        prior: the lens, when it was measured beforehand.
        distance: what is known of the camera's distance, which paint seen straight down does not show: a measured
            height, or how far figures in the first frame lean outward. Not used when the lens was measured.
        progress: takes reports of how far it has come.

    Raises:
        AmbiguousField: several solutions are as good; carries them.
        CalibrationError: no trustworthy solution; says what to change.
    """
    for image in images:
        check_picture(image)
    if shrunk := ShrunkPictures.of(images):
        prior, distance = shrunk.prior(prior), shrunk.distance(distance)
        solve = partial(solve_field, shrunk.images, fields, prior=prior, distance=distance, progress=progress)
        return shrunk.solved(solve, reading_label)
    reporter = ProgressReporter(progress)
    reporter.enter("finding lines")
    planes = [clearest_channel(image) for image in images]
    lines = find_lines(images[0], planes[0])
    ends = find_yard_line_ends(planes[0], *lines)
    goals = None if ends is None else find_goal_rungs(planes[0], *lines, fields, ends)
    roughly = _free_candidates(lines, ends, fields, goals)
    follows = distance is not None
    described = partial(
        _solve_as_described, planes, lines, ends, goals, images[0], fields, prior, reporter, distance_follows=follows
    )
    if ends is None or not roughly:
        best = described()
    else:
        measured = partial(
            solve_by_measuring,
            planes,
            roughly,
            ends.paint,
            images[0],
            fields,
            prior,
            DescribedProportions.of(fields[0], ROUGH.spread),
            reporter,
            distance_follows=follows,
        )
        # A preset taken as exact leaves fewer unknowns, so it goes first; a print that it does not fit is measured.
        best = _first_trusted([described, measured] if _may_be_exact(roughly[0], fields[0]) else [measured])
    if distance is not None:
        placed = at_distance(best, images, distance)
        best = with_mean_focal(best, planes) if placed is best else placed
    reporter.finish()
    return best


def _may_be_exact(candidate: Candidate, field: FieldModel) -> bool:
    """Return whether a print may be just as a field describes it: a bundled preset that the picture agrees with.

    A rough file of somebody's own is near the print by its error alone. Taken for exact, half a percent in its
    proportions would turn a third of the focal length wrong.
    """
    return is_bundled(field) and proportions_off(candidate, field) < _LIMITS.max_proportion_error


def _first_trusted(ways: Sequence[Callable[[], FieldSolution]]) -> FieldSolution:
    """Return the solution of the first way that gives one; else refuse as the last one does."""
    refusal = CalibrationError("there is no way to solve it")
    for way in ways:
        try:
            return way()
        except AmbiguousField:
            raise
        except CalibrationError as error:
            refusal = error
    raise refusal


def _solve_as_described(
    planes: Sequence[Plane],
    lines: FieldLines,
    ends: YardLineEnds | None,
    goals: GoalRungs | None,
    image: Image,
    fields: Sequence[FieldModel],
    prior: LensPrior | None,
    reporter: ProgressReporter,
    *,
    distance_follows: bool,
) -> FieldSolution:
    """Solve a print that is just as one of the fields describes it."""
    reporter.enter("matching the print")
    # Where the yard lines end tells the sidelines from rails and rims; else every pair of lines may be the sidelines.
    every = candidates(*lines, tuple(fields)) if ends is None else described_candidates(*lines, fields, ends, goals)
    likely = likeliest(planes[0], list(islice(every, _LIMITS.max_checked)))
    if not likely:
        raise CalibrationError(_BLURRED if is_blurred(image) else no_match_text(fields))
    solutions = []
    for i, option in enumerate(likely):
        reporter.enter("solving the camera", i / len(likely))
        solutions.append(refine_solution(planes, option.camera, option.field, prior=prior))
    reporter.enter("checking")
    kept = [solution for solution in solutions if solution]
    best = best_trusted(kept, image, fields, planes, prior, distance_follows=distance_follows)
    if ends is not None:
        _refuse_other_length(planes[0], best, ends.paint)
    # A print looks as regular in a mirror: only its numbers tell.
    refuse_mirrored(planes[0], best.fit.camera, best.field)
    return best


def _refuse_other_length(plane: Plane, solution: FieldSolution, paint: float) -> None:
    """Refuse a solution if the print's one-yard marks show a field of another length, such as one of 80 yards.

    Raises:
        CalibrationError: they do.
    """
    field = solution.field
    problem = length_problem(marked_steps(plane, solution.fit.camera, field, paint), field)
    if problem:
        raise CalibrationError(
            f"the print is not {field.name}: {problem}. Check --field, or describe it in a .toml file."
        )


def _free_candidates(
    lines: FieldLines, ends: YardLineEnds | None, fields: Sequence[FieldModel], goals: GoalRungs | None
) -> list[Candidate]:
    """Return candidates whose proportions are open; none of what was measured before.

    One field only is measured in the picture: of several, one with other proportions could be the right one.
    """
    if ends is None or len(fields) != 1 or fields[0].measured:
        return []
    return list(free_candidates(*lines, fields[0], ends, goals=goals))


def at_distance(solution: FieldSolution, images: Sequence[Image], distance: LensFromDistance) -> FieldSolution:
    """Return a solution with what is known of the camera's distance; unchanged where nothing is, or the lens was.

    Args:
        solution: of the pictures.
        images: one or more frames of the same camera.
        distance: what is known.

    Raises:
        InputError: the camera can't be at this distance.
    """
    before = solution.prior
    prior = distance(solution.fit.camera) if isinstance(before, TypicalLens | None) else None
    if prior is None:
        return solution
    planes = [clearest_channel(image) for image in images]
    better = fit_camera(solution.fit.camera, solution.observations, prior=prior, stretch=solution.stretch, fine=True)
    field = stretched_field(solution.field, better.stretch)
    found = fit_all_frames(planes, better.camera, field, prior, solution.proportions)
    return solution if found is None else with_mean_focal(found, planes)


def find_lines(image: Image, plane: Plane) -> FieldLines:
    """Find the yard lines' family, the other one, the ladder among the first, and the lens's distortion."""
    size = (image.shape[1], image.shape[0])
    level, upright = find_chains(plane)
    distortion = estimate_distortion((level, upright), size)
    found = []
    # Yard lines may run either way in the picture: the family with the better ladder has them.
    for across, along in ((upright, level), (level, upright)):
        pencil = fit_pencil(across, distortion, ridges_only=True)
        ladder = find_ladder(pencil, size[0])
        if ladder is not None:
            found.append((ladder.score, pencil, along, ladder))
    if not found:
        if is_blurred(image):
            raise CalibrationError(_BLURRED)
        raise CalibrationError(
            "no evenly spaced yard lines are seen. Bring the whole field into view, right side up, and light it evenly."
        )
    _, pencil, along, ladder = max(found, key=lambda item: item[0])
    return pencil, fit_pencil(along, distortion), ladder, distortion
