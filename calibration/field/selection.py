"""Chooses among ways to read a print: which candidates are worth solving, and which solution can be trusted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.matching import Candidate
from downfield.calibration.field.marks.mark_rows import with_number_rows
from downfield.calibration.field.marks.repeated_digit import are_others_numbered, repeated_digit_sides
from downfield.calibration.field.marks.yard_marks import marked_steps, marks_log_odds
from downfield.calibration.field.open_focal import average_focal
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.field.verification import (
    VERIFICATION_LIMITS,
    Testimony,
    cut_text,
    gather_evidence,
    probability,
    problems_of,
    share_of_lines_found,
    weigh,
)
from downfield.calibration.pictures import BLURRED, is_blurred
from downfield.core.arrays import Image, Plane
from downfield.core.errors import AimError, CalibrationError
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """Thresholds of choosing."""

    rough_search_px: float = 5.0  # distance within which a candidate's paint is searched for
    rough_every_yd: float = 3.0  # spacing of the samples of a candidate's paint
    max_verified: int = 16  # largest number of candidates that are verified
    max_solved: int = 4  # largest number of candidates that are solved
    max_log_deficit: float = 6.0  # a candidate whose rough log odds are this far below the best's is not solved
    score_says: float = 8.0  # log odds by a rough score of 1 above another's
    shift_says: float = 15.0  # log odds by the share of lines across met: one of 23 in vain is a factor of two
    prior_share: float = 0.05  # weight of the log prior of a kind of field in the quick check
    same_px: float = 4.0  # solutions nearer than this everywhere are the same
    likely: float = 0.1  # another reading with at least this probability leaves the answer to a person
    numbers_say: float = 5.0  # log odds of a reading whose numbers stand on the lines that have them
    # shares of boards by the yards from goal line to goal line
    lengths: tuple[tuple[float, float], ...] = ((100.0, 0.8), (50.0, 0.1), (110.0, 0.05))
    other_length: float = 0.02  # the same of other lengths, and of boards with yard lines farther apart than usual
    usual_step_yd: float = 5.0  # usual distance of yard lines
    fine_search_px: float = 1.8  # distance within which a solution's paint is searched for


SELECTION_LIMITS: Final = SelectionLimits()


def likeliest(
    plane: Plane, options: list[Candidate], paint: float | None = None
) -> tuple[list[Candidate], list[Candidate]]:
    """Choose the few candidates worth solving, and those to try where these fail: by a quick check, then a better one.

    Args:
        options: candidates good to a few pixels.
        paint: contrast of the yard lines, gray levels, signed; None where numbers are not to be read yet.
    """
    shares = [
        share_of_lines_found(plane, option.camera, option.field, SELECTION_LIMITS.rough_search_px)
        + option.shift_score
        + SELECTION_LIMITS.prior_share * _log_prior(option.field)
        for option in options
    ]
    kept: list[Candidate] = []
    for i in np.argsort(shares)[::-1]:
        near = (distance_px(options[i].camera, one.camera, options[i].field, one.field) for one in kept)
        if all(apart_px > SELECTION_LIMITS.same_px for apart_px in near):
            kept.append(options[i])
    if len(kept) == 1:
        return kept, []
    scored = [(_rough_log_odds(plane, option, paint), option) for option in kept[: SELECTION_LIMITS.max_verified]]
    scored.sort(key=lambda item: -item[0])
    least = scored[0][0] - SELECTION_LIMITS.max_log_deficit if scored else 0.0
    count = sum(log_odds > least for log_odds, _ in scored[: SELECTION_LIMITS.max_solved])
    ranked = [option for _, option in scored[: 2 * SELECTION_LIMITS.max_solved]]
    return ranked[:count], ranked[count:]


def _rough_log_odds(plane: Plane, option: Candidate, paint: float | None) -> float:
    """Return how likely a candidate is before it is solved, natural log up to a constant."""
    evidence = gather_evidence(
        plane, option.camera, option.field, SELECTION_LIMITS.rough_search_px, every_yd=SELECTION_LIMITS.rough_every_yd
    )
    log_odds = SELECTION_LIMITS.score_says * evidence.score + _log_prior(option.field)
    log_odds += SELECTION_LIMITS.shift_says * option.shift_score
    if paint is not None:
        field = with_number_rows(plane, option.camera, option.field, paint)
        log_odds += 0.0 if field is None else numbers_log_odds(plane, option.camera, field)
    return log_odds


def numbers_log_odds(plane: Plane, camera: Camera, field: FieldModel) -> float:
    """Return the log odds that numbers stand on just a reading's lines: by any other one is on or past a goal line."""
    if not all(repeated_digit_sides(plane, camera, field) or (0,)):
        return 0.0
    elsewhere = are_others_numbered(plane, camera, field)
    return -SELECTION_LIMITS.numbers_say if elsewhere else SELECTION_LIMITS.numbers_say


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
    solutions: Sequence[FieldSolution], image: Image, planes: Sequence[Plane], paint: float
) -> FieldSolution:
    """Return the likeliest solution with its probability and its rivals, if it can be trusted.

    Args:
        paint: contrast of the yard lines, gray levels, signed.

    Raises:
        AmbiguousField: another solution is likely, too; carries them.
        CalibrationError: no trustworthy solution; says what to change.
    """
    if not solutions:
        raise CalibrationError(BLURRED if is_blurred(image) else _NOT_MEASURED, "place_corners")
    weighed = [_weighed(planes[0], solution, paint) for solution in solutions]
    odds = [sum(each.log_odds for each in testimony) for testimony in weighed]
    logs = np.array(odds) + [_log_prior(solution.field) for solution in solutions]
    order = [int(i) for i in np.argsort(-logs)]
    best, said = solutions[order[0]], weighed[order[0]]
    if cut := cut_text(best.fit.camera, best.field):
        raise AimError(cut)
    # Solutions that put everything in one place are one reading.
    distinct: list[int] = []
    for i in order:
        if all(_differ(solutions[i], solutions[k]) for k in distinct):
            distinct.append(i)
    right = probability(said)
    shares = np.exp(logs[distinct] - logs[distinct].max())
    shares *= right / shares.sum()
    readings = [
        FieldReading(reading_label(solutions[i]), dataclasses.replace(solutions[i], probability=float(share)))
        for i, share in zip(distinct, shares, strict=True)
    ]
    if right < VERIFICATION_LIMITS.trusted:
        clear = "Focus the camera" if is_blurred(image) else "Clear the field of hands, light it evenly"
        problems = "; ".join(problems_of(said)) or "too little of it is seen"
        raise CalibrationError(
            f"no trustworthy solution for {best.field.name}: {problems}. {clear}, or place its corners by hand.",
            "place_corners",
        )
    rivals = [reading for reading in readings[1:] if reading.probability > SELECTION_LIMITS.likely]
    if rivals:
        for reading in rivals:
            if cut := cut_text(reading.solution.fit.camera, reading.solution.field):
                raise AimError(cut)
        raise AmbiguousField([readings[0], *rivals])
    return dataclasses.replace(readings[0].solution, rivals=tuple(readings[1:]))


def _differ(one: FieldSolution, other: FieldSolution) -> bool:
    return distance_px(one.fit.camera, other.fit.camera, one.field, other.field) >= SELECTION_LIMITS.same_px


def _log_prior(field: FieldModel) -> float:
    """Return the log share of boards that have as many yards and yard lines as far apart."""
    share = dict(SELECTION_LIMITS.lengths).get(field.length_yd, SELECTION_LIMITS.other_length)
    if field.yard_line_every_yd > SELECTION_LIMITS.usual_step_yd:
        share *= SELECTION_LIMITS.other_length
    return math.log(share)


def _weighed(plane: Plane, solution: FieldSolution, paint: float) -> tuple[Testimony, ...]:
    """Return what the picture says of a reading, with its goal lines by numbers and by where the one-yard marks end."""
    camera, field = solution.fit.camera, solution.field
    numbers = numbers_log_odds(plane, camera, field)
    placing = numbers + marks_log_odds(marked_steps(plane, camera, field, paint), field)
    return weigh(solution.evidence, solution.fit, placing=placing, exact=solution.proportions is None)


def reading_label(solution: FieldSolution) -> str:
    """Return what tells a reading from others: its field, and where that is in the picture."""
    ends = solution.fit.camera.to_pixels(np.array([(0.0, 0.0), (solution.field.length_mm, solution.field.width_mm)]))
    (x0, y0), (x1, y1) = np.rint(ends).astype(int).tolist()
    return f"{solution.field.name} from pixel {x0}, {y0} to {x1}, {y1}"


def no_match_text(fields: Sequence[FieldModel]) -> str:
    """Return what to do when the lines of a picture are none of the fields."""
    names = ", ".join(field.name for field in fields)
    return (
        f"yard lines are seen, but no two lines make sidelines with the proportions of {names}: the field is cut by the"
        " picture, or it is of another kind. Show all of it; or measure it from goal line to goal line and from"
        " sideline to sideline."
    )


_NOT_MEASURED: Final = (
    "yard lines are seen, but too little of the field about them to measure it. Show all of it, clear it of hands and"
    " light it evenly, or place its corners by hand."
)
