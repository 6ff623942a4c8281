"""Calibrates from the printed field alone: detect the lines, match them, solve, and verify the solution.

A symmetric print allows several board frames: the one whose x points to the right of the picture (down, when the board
lies across it) is taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera, flat_bow
from downfield.calibration.camera_fit import fit_camera
from downfield.calibration.field.free_solver import (
    described_candidates,
    free_candidates,
    measure_print,
    open_proportions,
    proportions_off,
)
from downfield.calibration.field.line_chains import clearest_channel, find_chains
from downfield.calibration.field.line_pencils import DivisionModel, Pencil, estimate_distortion, fit_pencil
from downfield.calibration.field.matching import Candidate, Ladder, candidates, find_ladder
from downfield.calibration.field.mirroring import refuse_mirrored, require_readable
from downfield.calibration.field.open_focal import average_focal
from downfield.calibration.field.paint_measurement import observe_paint
from downfield.calibration.field.progress import ProgressListener, ProgressReporter
from downfield.calibration.field.rectified_lines import YardLineEnds, find_yard_line_ends
from downfield.calibration.field.repeated_digit import repeated_digit_sides
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.field.verification import LIMITS as VERIFICATION
from downfield.calibration.field.verification import (
    cut_edges,
    find_problems,
    gather_evidence,
    share_of_lines_found,
)
from downfield.calibration.lens.prior import LensPrior, TypicalLens
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.core.arrays import Image, Plane
from downfield.core.errors import CalibrationError
from downfield.core.field import FieldModel, preset, preset_names

LensFromDistance = Callable[[Camera], TypicalLens | None]
"""Estimates the lens from the camera's distance, given a solution that is good on the paint but whose focal length and
distance may be wrong by one factor; None when nothing is known of the distance."""


FieldLines = tuple[Pencil, Pencil, Ladder, DivisionModel]
"""The yard lines' family, the other one, the ladder among the first, and the lens's distortion."""


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """Thresholds of solving from the printed field."""

    rough_search_px: float = 5.0
    """How far off a candidate's paint is searched,"""
    rough_every_yd: float = 3.0
    """and the spacing of the samples."""
    searches_px: tuple[float, float, float] = (5.0, 3.0, 1.8)
    """How far off the paint is searched, fit by fit."""
    fine_search_px: float = 1.8
    """The same in the last fit."""
    checked: int = 160
    """Candidates that are checked at most, the likelier shifts first,"""
    verified: int = 16
    """of which so many are verified,"""
    solved: int = 4
    """and so many are solved."""
    score_below_best: float = 0.3
    """A candidate whose rough score is this far below the best is not solved."""
    fewest_observations: int = 60
    """Observations that a fit needs."""
    same_px: float = 4.0
    """Solutions nearer than this everywhere are the same."""
    measured_searches_px: tuple[float, ...] = (2.0,)
    """How far off the paint is searched after the print was measured."""
    numbered: float = 0.3
    """What numbers on the right lines add to a solution's score."""
    as_described: float = 0.012
    """Proportions further from the description than this, log ratio, are measured at once."""


LIMITS: Final = SolverLimits()

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
        fields: printed fields it may be.
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
    reporter = ProgressReporter(progress)
    reporter.enter("finding lines")
    planes = [clearest_channel(image) for image in images]
    lines = _find_lines(images[0], planes[0])
    ends = find_yard_line_ends(planes[0], *lines)
    roughly = _free_candidates(lines, ends, fields)
    described = partial(_solve_as_described, planes, lines, ends, images[0], fields, prior, reporter)
    if not roughly:
        best = described()
    else:
        open_prior = prior or open_proportions((images[0].shape[1], images[0].shape[0]))
        measured = partial(_solve_by_measuring, planes, roughly, images[0], fields, open_prior, reporter)
        best, was_described = _first_trusted(
            [(described, True), (measured, False)] if _may_be_exact(roughly[0][0], fields[0]) else [(measured, False)]
        )
        if not was_described:
            require_readable(planes[0], best.fit.camera, best.field)
            prior = open_prior
    if distance is not None and isinstance(prior, TypicalLens | None):
        best = _at_distance(best, planes, distance, prior)
    reporter.finish()
    return best


def _may_be_exact(candidate: Candidate, field: FieldModel) -> bool:
    """Return whether a print may be just as a field describes it: a bundled preset that the picture agrees with.

    A rough file of somebody's own is near the print by its error alone. Taken for exact, half a percent in its
    proportions would turn a third of the focal length wrong.
    """
    bundled = field.name in preset_names() and field == preset(field.name)
    return bundled and proportions_off(candidate, field) < LIMITS.as_described


def _first_trusted(ways: Sequence[tuple[Callable[[], FieldSolution], bool]]) -> tuple[FieldSolution, bool]:
    """Return the solution of the first way that gives one, and that way's mark; else refuse as the last one does."""
    refusal = CalibrationError("there is no way to solve it")
    for way, mark in ways:
        try:
            return way(), mark
        except AmbiguousField:
            raise
        except CalibrationError as error:
            refusal = error
    raise refusal


def _solve_as_described(
    planes: Sequence[Plane],
    lines: FieldLines,
    ends: YardLineEnds | None,
    image: Image,
    fields: Sequence[FieldModel],
    prior: LensPrior | None,
    reporter: ProgressReporter,
) -> FieldSolution:
    """Solve a print that is just as one of the fields describes it."""
    reporter.enter("matching the print")
    # Where the yard lines end tells the sidelines from rails and rims; else every pair of lines may be the sidelines.
    every = candidates(*lines, tuple(fields)) if ends is None else described_candidates(*lines, fields, ends)
    likely = _likeliest(planes[0], list(islice(every, LIMITS.checked)))
    if not likely:
        raise CalibrationError(_BLURRED if is_blurred(image) else _no_match(fields))
    solutions = []
    for i, option in enumerate(likely):
        reporter.enter("solving the camera", i / len(likely))
        solutions.append(refine_solution(planes, option.camera, option.field, prior=prior))
    reporter.enter("checking")
    best = _best_trusted([solution for solution in solutions if solution], image, fields, planes, prior)
    refuse_mirrored(planes[0], best.fit.camera, best.field)
    return best


def _free_candidates(
    lines: FieldLines, ends: YardLineEnds | None, fields: Sequence[FieldModel]
) -> list[tuple[Candidate, float]]:
    """Return candidates whose proportions are open, with the yard lines' contrast; none of what was measured before.

    One field only is measured in the picture: of several, one with other proportions could be the right one.
    """
    if ends is None or len(fields) != 1 or fields[0].measured:
        return []
    return [(option, ends.paint) for option in free_candidates(*lines, fields[0], ends)]


def _solve_by_measuring(
    planes: Sequence[Plane],
    options: list[tuple[Candidate, float]],
    image: Image,
    fields: Sequence[FieldModel],
    prior: LensPrior,
    reporter: ProgressReporter,
) -> FieldSolution:
    """Solve a print whose proportions and lines are measured in the picture."""
    reporter.enter("matching the print")
    paint = options[0][1]
    likely = _likeliest(planes[0], [option for option, _ in options])
    solutions = []
    for i, option in enumerate(likely):
        reporter.enter("solving the camera", i / len(likely))
        found = measure_print(planes, option, paint, prior)
        if found is not None:
            near = LIMITS.measured_searches_px
            solutions.append(refine_solution(planes, found.camera, found.field, prior=prior, searches_px=near))
    reporter.enter("checking")
    return _best_trusted([solution for solution in solutions if solution], image, fields, planes, prior, any_focal=True)


def refine_solution(
    planes: Sequence[Plane],
    camera: Camera,
    field: FieldModel,
    *,
    prior: LensPrior | None = None,
    searches_px: Sequence[float] = LIMITS.searches_px,
) -> FieldSolution | None:
    """Refine a camera good to a few pixels to the paint; None when too little paint is found.

    Args:
        planes: gray pictures; the camera is that of the first.
        camera: where to begin.
        field: the printed field.
        prior: the lens, when it was measured beforehand.
        searches_px: how far off the paint is searched, fit by fit; the camera may be off by the first.

    """
    # The bow is fitted from the start: a dished board's lines are further from a flat one's than the last search.
    camera = dataclasses.replace(camera, bow=flat_bow(field))
    for search in searches_px:
        observations = observe_paint(planes[:1], camera, field, search, quick=True)
        if len(observations.px) < LIMITS.fewest_observations:
            return None
        camera = fit_camera(camera, observations, prior=prior, fine=True).camera
    return _fit_all_frames(planes, camera, field, prior)


def _fit_all_frames(
    planes: Sequence[Plane], camera: Camera, field: FieldModel, prior: LensPrior | None
) -> FieldSolution | None:
    """Make the last fit, to all frames."""
    observations = observe_paint(planes, camera, field, LIMITS.fine_search_px)
    if len(observations.px) < LIMITS.fewest_observations:
        return None
    fit = fit_camera(camera, observations, prior=prior, fine=True)
    return FieldSolution(field, fit, observations, gather_evidence(planes[0], fit.camera, field, LIMITS.fine_search_px))


def _at_distance(
    solution: FieldSolution, planes: Sequence[Plane], distance: LensFromDistance, before: TypicalLens | None
) -> FieldSolution:
    """Return the solution with what is known of the camera's distance."""
    prior = distance(solution.fit.camera)
    if prior is None:
        return solution
    if before is not None:
        prior = dataclasses.replace(prior, pixel_spread=before.pixel_spread)
    better = fit_camera(solution.fit.camera, solution.observations, prior=prior, fine=True)
    return _fit_all_frames(planes, better.camera, solution.field, prior) or solution


def _best_focal(solution: FieldSolution, planes: Sequence[Plane], prior: LensPrior | None) -> FieldSolution:
    """Return the solution at the mean of the focal lengths that explain paint and lens."""
    fit = average_focal(solution.fit, solution.observations, prior)
    if fit is solution.fit:
        return solution
    evidence = gather_evidence(planes[0], fit.camera, solution.field, LIMITS.fine_search_px)
    return dataclasses.replace(solution, fit=fit, evidence=evidence)


def _find_lines(image: Image, plane: Plane) -> FieldLines:
    """Find the yard lines' family, the other one, the ladder among the first, and the lens's distortion."""
    size = (image.shape[1], image.shape[0])
    level, upright = find_chains(plane)
    distortion = estimate_distortion((level, upright), size)
    found = []
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


def _likeliest(plane: Plane, options: list[Candidate]) -> list[Candidate]:
    """Choose the few candidates worth solving: by a quick check of all, then by verifying the better ones."""
    shares = [share_of_lines_found(plane, option.camera, option.field, LIMITS.rough_search_px) for option in options]
    kept: list[Candidate] = []
    for i in np.argsort(shares)[::-1]:
        option = options[i]
        if all(_distance_px(option.camera, other.camera, option.field, other.field) > LIMITS.same_px for other in kept):
            kept.append(option)
    if len(kept) == 1:
        return kept
    scored = [
        (
            gather_evidence(
                plane, option.camera, option.field, LIMITS.rough_search_px, every_yd=LIMITS.rough_every_yd
            ).score,
            option,
        )
        for option in kept[: LIMITS.verified]
    ]
    scored.sort(key=lambda item: -item[0])
    return [option for score, option in scored[: LIMITS.solved] if score > scored[0][0] - LIMITS.score_below_best]


def _distance_px(a: Camera, b: Camera, field_a: FieldModel, field_b: FieldModel) -> float:
    """Return the largest distance between where two solutions have the goal lines' ends, px."""
    if field_a.name != field_b.name:
        return np.inf
    ends = np.array([(x, y) for x in (0.0, field_a.length_mm) for y in (0.0, field_a.width_mm)])
    return float(np.nan_to_num(np.abs(a.to_pixels(ends) - b.to_pixels(ends)), nan=np.inf).max())


def _best_trusted(
    solutions: list[FieldSolution],
    image: Image,
    fields: Sequence[FieldModel],
    planes: Sequence[Plane],
    prior: LensPrior | None,
    *,
    any_focal: bool = False,
) -> FieldSolution:
    """Return the best solution, if it can be trusted and no other is as good."""
    # Numbers that stand on just the lines that have them tell which line is which.
    numbered = [any_focal and _is_numbered(planes[0], solution) for solution in solutions]
    order = sorted(
        range(len(solutions)),
        key=lambda i: solutions[i].fit.strain / 50 - solutions[i].evidence.score - LIMITS.numbered * numbered[i],
    )
    ranked = [solutions[i] for i in order]
    if not ranked:
        raise CalibrationError(_no_match(fields))
    best = _best_focal(ranked[0], planes, prior) if prior is None or any_focal else ranked[0]
    problems = find_problems(best.evidence, best.fit, best.field, numbered=numbered[order[0]])
    if cut_edges(best.fit.camera, best.field):
        raise CalibrationError(problems[0])
    if problems:
        advice = "Focus the camera" if is_blurred(image) else "Clear the field of hands, light it evenly, check --field"
        raise CalibrationError(f"no trustworthy solution for {best.field.name}: {'; '.join(problems)}. {advice}.")
    for other in ranked[1:]:
        near = other.evidence.score > best.evidence.score - VERIFICATION.rival_within
        same = _distance_px(other.fit.camera, best.fit.camera, other.field, best.field) < LIMITS.same_px
        if near and not same and not find_problems(other.evidence, other.fit, other.field):
            raise AmbiguousField([FieldReading(_label(option), option) for option in (best, other)])
    return best


def _is_numbered(plane: Plane, solution: FieldSolution) -> bool:
    sides = set(repeated_digit_sides(plane, solution.fit.camera, solution.field))
    return sides in ({1}, {-1})


def _label(solution: FieldSolution) -> str:
    ends = solution.fit.camera.to_pixels(np.array([(0.0, 0.0), (solution.field.length_mm, solution.field.width_mm)]))
    (x0, y0), (x1, y1) = np.rint(ends).astype(int).tolist()
    return f"{solution.field.name} from pixel {x0}, {y0} to {x1}, {y1}"


def _no_match(fields: Sequence[FieldModel]) -> str:
    names = ", ".join(field.name for field in fields)
    return (
        f"yard lines are seen, but no two lines make sidelines with the proportions of {names}: the field is cut by the"
        " picture, or it is of another kind. Show all of it, or describe it in a .toml file and give that to --field."
    )
