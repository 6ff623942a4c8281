"""Chooses among ways to read a print: which candidates are worth solving, and which solution can be trusted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.matching import Candidate
from downfield.calibration.field.marks.number_rows import with_number_rows
from downfield.calibration.field.marks.repeated_digit import repeated_digit_sides
from downfield.calibration.field.marks.yard_marks import length_problem, marked_steps
from downfield.calibration.field.open_focal import average_focal
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.field.verification import (
    VERIFICATION_LIMITS,
    cut_edges,
    find_problems,
    gather_evidence,
    share_of_lines_found,
)
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.pictures import is_blurred
from downfield.core.arrays import Image, Plane
from downfield.core.errors import AimError, CalibrationError
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """Thresholds of choosing."""

    rough_search_px: float = 5.0
    """Distance within which a candidate's paint is searched for."""
    rough_every_yd: float = 3.0
    """Spacing of the samples of a candidate's paint."""
    max_verified: int = 16
    """Largest number of candidates that are verified."""
    max_solved: int = 4
    """Largest number of candidates that are solved."""
    max_score_deficit: float = 0.3
    """A candidate whose rough score is this far below the best is not solved."""
    same_px: float = 4.0
    """Solutions nearer than this everywhere are the same."""
    placement_bonus: float = 0.3
    """Added to a solution's score when numbers are on the right lines, or marks are between the goal lines alone."""
    min_ends_share: float = 0.4
    """Share of the yard lines of a measured print that must be seen to end at either sideline."""
    fine_search_px: float = 1.8
    """Distance within which a solution's paint is searched for."""


SELECTION_LIMITS: Final = SelectionLimits()


def likeliest(plane: Plane, options: list[Candidate]) -> list[Candidate]:
    """Choose the few candidates worth solving: by a quick check of all, then by verifying the better ones."""
    shares = [
        share_of_lines_found(plane, option.camera, option.field, SELECTION_LIMITS.rough_search_px) for option in options
    ]
    kept: list[Candidate] = []
    for i in np.argsort(shares)[::-1]:
        option = options[i]
        if all(
            distance_px(option.camera, other.camera, option.field, other.field) > SELECTION_LIMITS.same_px
            for other in kept
        ):
            kept.append(option)
    if len(kept) == 1:
        return kept
    scored = [
        (
            gather_evidence(
                plane,
                option.camera,
                option.field,
                SELECTION_LIMITS.rough_search_px,
                every_yd=SELECTION_LIMITS.rough_every_yd,
            ).score,
            option,
        )
        for option in kept[: SELECTION_LIMITS.max_verified]
    ]
    scored.sort(key=lambda item: -item[0])
    return [
        option
        for score, option in scored[: SELECTION_LIMITS.max_solved]
        if score > scored[0][0] - SELECTION_LIMITS.max_score_deficit
    ]


def with_numbers_in_place(plane: Plane, options: list[Candidate], paint: float) -> list[Candidate]:
    """Return the candidates whose numbers clearly stand on just the lines that have them; all where none's do.

    One of them at most does: by any other, one number at least would stand on a goal line or beyond. That can't be seen
    where a field is cut by the picture.

    Args:
        plane: gray picture, shape (height, width).
        options: candidates good to a few pixels.
        paint: contrast of the yard lines, gray levels, signed.
    """
    if len(options) == 1 or any(cut_edges(option.camera, option.field) for option in options):
        return options
    placed = []
    for option in options:
        field = with_number_rows(plane, option.camera, option.field, paint)
        if field is not None and _are_numbered(plane, option.camera, field):
            placed.append(option)
    return placed or options


def _are_numbered(plane: Plane, camera: Camera, field: FieldModel) -> bool:
    """Return whether the repeated digits of every row are on one side of their lines."""
    return set(repeated_digit_sides(plane, camera, field)) in ({1}, {-1})


def distance_px(a: Camera, b: Camera, field_a: FieldModel, field_b: FieldModel) -> float:
    """Return the largest distance between where two solutions have the goal lines' ends, px."""
    if field_a.name != field_b.name:
        return np.inf
    ends = np.array([(x, y) for x in (0.0, field_a.length_mm) for y in (0.0, field_a.width_mm)])
    return float(np.nan_to_num(np.abs(a.to_pixels(ends) - b.to_pixels(ends)), nan=np.inf).max())


def with_mean_focal(solution: FieldSolution, planes: Sequence[Plane]) -> FieldSolution:
    """Return the solution at the mean of the focal lengths that explain paint and lens."""
    fit = average_focal(solution.fit, solution.observations, solution.prior, solution.stretch)
    if fit is solution.fit:
        return solution
    found = solution.with_fit(fit, solution.observations)
    evidence = gather_evidence(planes[0], fit.camera, found.field, SELECTION_LIMITS.fine_search_px)
    return dataclasses.replace(found, evidence=evidence)


def best_trusted(
    solutions: list[FieldSolution],
    image: Image,
    fields: Sequence[FieldModel],
    planes: Sequence[Plane],
    prior: LensPrior | None,
    paint: float | None = None,
    *,
    distance_follows: bool = False,
) -> FieldSolution:
    """Return the best solution, if it can be trusted and no other is as good.

    Args:
        solutions: to choose from.
        planes: gray pictures.
        prior: the lens, when it was measured beforehand.
        paint: contrast of the yard lines, gray levels, signed, of a print that was measured in the picture; None when
            the print is as it is described.
        distance_follows: whether the camera's distance follows afterwards: until then the likeliest focal length
            is as good as the mean, unless it speaks against the solution.

    Raises:
        AmbiguousField: several solutions are as good; carries them.
        CalibrationError: no trustworthy solution; says what to change.
    """
    placed = [_placed(planes[0], solution, fields, paint) for solution in solutions]
    order = sorted(
        range(len(solutions)),
        key=lambda i: (
            solutions[i].fit.strain / 50
            - solutions[i].evidence.score
            - SELECTION_LIMITS.placement_bonus * placed[i].shown
        ),
    )
    ranked = [solutions[i] for i in order]
    if not ranked:
        raise CalibrationError(no_match_text(fields))
    best, is_open, numbered = ranked[0], prior is None or paint is not None, placed[order[0]].sure
    if is_open and (not distance_follows or find_problems(best.evidence, best.fit, best.field, numbered=numbered)):
        best = with_mean_focal(best, planes)
    problems = find_problems(best.evidence, best.fit, best.field, numbered=numbered)
    if paint is not None and _least_ended(best) < SELECTION_LIMITS.min_ends_share:
        problems.append("the yard lines do not end where a sideline should be")
    if other_length := length_problem(placed[order[0]].marks, best.field):
        problems.append(other_length)
    if cut_edges(best.fit.camera, best.field):
        raise AimError(problems[0])
    if problems:
        _offer_goal_lines(ranked)
        clear = "Clear the field of hands, light it evenly, "
        unknown = "or measure a length on the board and give that (--length)"
        advice = "Focus the camera" if is_blurred(image) else clear + (unknown if len(fields) > 1 else "check --field")
        raise CalibrationError(f"no trustworthy solution for {best.field.name}: {'; '.join(problems)}. {advice}.")
    # Yard lines are evenly spaced, so the same lines shifted by a step may fit as well: then a person chooses.
    for other in ranked[1:]:
        near = other.evidence.score > best.evidence.score - VERIFICATION_LIMITS.rival_within
        same = distance_px(other.fit.camera, best.fit.camera, other.field, best.field) < SELECTION_LIMITS.same_px
        if near and not same and not find_problems(other.evidence, other.fit, other.field):
            averaged = with_mean_focal(best, planes) if is_open else best
            raise AmbiguousField([FieldReading(reading_label(option), option) for option in (averaged, other)])
    return best


def _least_ended(solution: FieldSolution) -> float:
    """Return the share of the yard lines that were seen to end at the sideline where fewer do."""
    ends_mm = solution.observations.points_mm[:, 1]
    field = solution.field
    seen = [np.isclose(ends_mm, y_mm, atol=1e-6).sum() for y_mm in (0.0, field.width_mm)]
    return float(min(seen)) / len(field.yard_lines_yd())


@dataclass(frozen=True, slots=True)
class _Placed:
    """What tells which of a solution's lines are the goal lines.

    Attributes:
        shown: whether something shows it.
        sure: whether it is sure.
        marks: the steps of yard lines that have one-yard marks; None where that is not clear.
    """

    shown: bool
    sure: bool
    marks: tuple[int, int] | None = None


def _placed(plane: Plane, solution: FieldSolution, fields: Sequence[FieldModel], paint: float | None) -> _Placed:
    """Return whether numbers stand on just the lines that have them, and one-yard marks between just the goal lines."""
    camera, field = solution.fit.camera, solution.field
    if paint is None:
        return _Placed(shown=False, sure=False)
    numbered = _are_numbered(plane, camera, field)
    steps = round(field.length_yd / field.yard_line_every_yd)
    marks = marked_steps(plane, camera, field, paint)
    marked = marks == (0, steps)
    # Marks tell how long the field is as well; numbers are on the same lines of fields of several lengths.
    return _Placed(numbered or marked, marked or (numbered and len(fields) == 1), marks)


def _offer_goal_lines(ranked: Sequence[FieldSolution]) -> None:
    """Let the operator choose where only the goal lines are in doubt.

    Raises:
        AmbiguousField: there are several solutions of which nothing else is.
    """
    best = ranked[0]
    offered = [best]
    for other in ranked[1:]:
        if all(
            distance_px(other.fit.camera, one.fit.camera, other.field, one.field) > SELECTION_LIMITS.same_px
            for one in offered
        ):
            offered.append(other)
    offered = [one for one in offered if not find_problems(one.evidence, one.fit, one.field, numbered=True)]
    if len(offered) > 1 and offered[0] is best:
        raise AmbiguousField([FieldReading(reading_label(option), option) for option in offered])


def reading_label(solution: FieldSolution) -> str:
    """Return what tells a reading from others: its field, and where that is in the picture."""
    ends = solution.fit.camera.to_pixels(np.array([(0.0, 0.0), (solution.field.length_mm, solution.field.width_mm)]))
    (x0, y0), (x1, y1) = np.rint(ends).astype(int).tolist()
    return f"{solution.field.name} from pixel {x0}, {y0} to {x1}, {y1}"


def no_match_text(fields: Sequence[FieldModel]) -> str:
    """Return what to do when the lines of a picture are none of the fields."""
    names = ", ".join(field.name for field in fields)
    if len(fields) > 1:
        return (
            f"yard lines are seen, but no two lines make sidelines with the proportions of {names}: the field is cut by"
            " the picture, or it is of another kind. Show all of it; or measure a length on the board and give that"
            " (--length), or describe the print in a .toml file (--field)."
        )
    return (
        f"yard lines are seen, but no two lines make sidelines with the proportions of {names}: the field is cut by the"
        " picture, or it is of another kind. Show all of it, or describe it in a .toml file and give that to --field."
    )
