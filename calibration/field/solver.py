"""A calibration from the printed field alone: detect the paint, match it, solve, and doubt the answer.

The board frame follows the camera: of the answers that a symmetric print allows, the one whose x points to the right of
the picture (down, when the board lies across it) is taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from downfield.calibration.camera import Camera, flat_bow
from downfield.calibration.camera_fit import CameraFit, Observations, fit_camera, with_scaled_focal
from downfield.calibration.field.line_chains import clearest_channel, find_chains
from downfield.calibration.field.line_pencils import Bending, Pencil, estimate_bending, fit_pencil
from downfield.calibration.field.matching import Candidate, Ladder, candidates, find_ladder
from downfield.calibration.field.mirroring import refuse_mirrored
from downfield.calibration.field.paint_measurement import observe_paint
from downfield.calibration.field.verification import (
    RIVAL_WITHIN,
    FieldEvidence,
    cut_edges,
    find_problems,
    gather_evidence,
    share_of_lines_found,
)
from downfield.calibration.lens.prior import LensPrior, TypicalLens
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.core.arrays import Image, Plane
from downfield.core.errors import CalibrationError
from downfield.core.field import FieldModel

LensFromDistance = Callable[[Camera], TypicalLens | None]
"""From a solution good on the paint, whose focal length and distance may be wrong in step, to what is known of its lens
by its distance; None when nothing is."""

_ROUGH_SEARCH_PX, _ROUGH_EVERY_YD = 5.0, 3.0
_SEARCHES_PX = (5.0, 3.0, 1.8)
_FINE_SEARCH_PX = 1.8
_FOCAL_STARTS = (0.75, 1.33)
_BETTER_COST = 0.05
_LOOKED_AT = 160  # candidates at most, the likelier shifts first
_SECOND_LOOK = 16
_REFINED = 4  # of the likeliest candidates
_HOPELESS = 0.3  # a rough score this far below the best is not looked at again
_FEWEST_SIGHTINGS = 60
_SAME_PX = 4.0  # solutions nearer than this everywhere are one


@dataclass(frozen=True, slots=True)
class FieldSolution:
    """A camera over a printed field, with what speaks for it.

    Attributes:
        field: the printed field.
        fit: the camera, its covariance and residuals.
        sightings: what it was fitted to.
        evidence: what it was not.

    """

    field: FieldModel
    fit: CameraFit
    sightings: Observations
    evidence: FieldEvidence


def solve_field(
    images: Sequence[Image],
    fields: Sequence[FieldModel],
    *,
    prior: LensPrior | None = None,
    distance: LensFromDistance | None = None,
) -> FieldSolution:
    """Find a printed field in pictures and solve the camera.

    Args:
        images: one or more frames of the same camera, blue green red or gray; more frames see what figures and hands
            cover in one, and average noise.
        fields: printed fields it may be.
        prior: the lens, when it was measured beforehand.
        distance: what else tells how far away the camera is, for paint seen straight down can't: a measured height, or
            how far figures in the first frame lean outward. Of no use when the lens was measured.

    Raises:
        CalibrationError: no answer that may be trusted, with what to change.

    """
    for image in images:
        check_picture(image)
    planes = [clearest_channel(image) for image in images]
    across, along, ladder, bending = _find_lines(images[0])
    options = islice(candidates(across, along, ladder, bending, tuple(fields)), _LOOKED_AT)
    likely = _likeliest(planes[0], list(options))
    if not likely:
        raise CalibrationError(_no_match(fields))
    solutions = [refine_solution(planes, option.camera, option.field, prior=prior) for option in likely]
    best = _trusted([solution for solution in solutions if solution], images[0], fields, planes, prior)
    refuse_mirrored(planes[0], best.fit.camera, best.field)
    if prior is None and distance is not None:
        return _at_distance(best, planes, distance)
    return best


def refine_solution(
    planes: Sequence[Plane],
    camera: Camera,
    field: FieldModel,
    *,
    prior: LensPrior | None = None,
    first_search_px: float = _SEARCHES_PX[0],
) -> FieldSolution | None:
    """A camera good to a few pixels made as good as the paint allows; None when too little paint is found.

    Args:
        planes: gray pictures; the camera is that of the first.
        camera: where to begin.
        field: the printed field.
        prior: the lens, when it was measured beforehand.
        first_search_px: how far off the camera may be.

    """
    # The bow counts from the start: a dished board's lines lie by more than the last search beside a flat one's.
    camera = dataclasses.replace(camera, bow=flat_bow(field))
    for search in (first_search_px, *_SEARCHES_PX[1:]):
        sightings = observe_paint(planes[:1], camera, field, search)
        if len(sightings.px) < _FEWEST_SIGHTINGS:
            return None
        camera = fit_camera(camera, sightings, prior=prior, fine=True).camera
    return _finished(planes, camera, field, prior)


def _finished(
    planes: Sequence[Plane], camera: Camera, field: FieldModel, prior: LensPrior | None
) -> FieldSolution | None:
    """The last fit, to all frames."""
    sightings = observe_paint(planes, camera, field, _FINE_SEARCH_PX)
    if len(sightings.px) < _FEWEST_SIGHTINGS:
        return None
    fit = fit_camera(camera, sightings, prior=prior, fine=True)
    return FieldSolution(field, fit, sightings, gather_evidence(planes[0], fit.camera, field, _FINE_SEARCH_PX))


def _at_distance(solution: FieldSolution, planes: Sequence[Plane], distance: LensFromDistance) -> FieldSolution:
    """The solution with what is known of the camera's distance."""
    prior = distance(solution.fit.camera)
    if prior is None:
        return solution
    better = fit_camera(solution.fit.camera, solution.sightings, prior=prior, fine=True)
    return _finished(planes, better.camera, solution.field, prior) or solution


def _best_focal(solution: FieldSolution, planes: Sequence[Plane], prior: LensPrior | None) -> FieldSolution:
    """The solution, or the one reached from another focal length if that explains the paint and the lens better."""
    starts = [with_scaled_focal(solution.fit.camera, ratio) for ratio in _FOCAL_STARTS]
    fits = [fit_camera(start, solution.sightings, prior=prior, fine=True) for start in starts]
    best = min(fits, key=lambda fit: fit.cost)
    if best.cost > solution.fit.cost - _BETTER_COST:
        return solution
    return _finished(planes, best.camera, solution.field, prior) or solution


def _find_lines(image: Image) -> tuple[Pencil, Pencil, Ladder, Bending]:
    """The yard lines' family, the other one, the ladder among the first, and the lens's bending."""
    size = (image.shape[1], image.shape[0])
    level, upright = find_chains(image)
    bending = estimate_bending((level, upright), size)
    found = []
    for across, along in ((upright, level), (level, upright)):
        pencil = fit_pencil(across, bending, ridges_only=True)
        ladder = find_ladder(pencil, size[0])
        if ladder is not None:
            found.append((ladder.score, pencil, along, ladder))
    if not found:
        if is_blurred(image):
            raise CalibrationError("the picture is blurred: focus the camera and keep it still")
        raise CalibrationError(
            "no evenly spaced yard lines are seen: bring the whole field into view, right side up, and light it evenly"
        )
    _, pencil, along, ladder = max(found, key=lambda item: item[0])
    return pencil, fit_pencil(along, bending), ladder, bending


def _likeliest(plane: Plane, options: list[Candidate]) -> list[Candidate]:
    """The few candidates worth solving: by a first look at all, then by a longer one at the better half."""
    looks = [share_of_lines_found(plane, option.camera, option.field, _ROUGH_SEARCH_PX) for option in options]
    kept: list[Candidate] = []
    for i in np.argsort(looks)[::-1]:
        option = options[i]
        if all(_apart(option.camera, other.camera, option.field, other.field) > _SAME_PX for other in kept):
            kept.append(option)
    scored = [
        (gather_evidence(plane, option.camera, option.field, _ROUGH_SEARCH_PX, every_yd=_ROUGH_EVERY_YD).score, option)
        for option in kept[:_SECOND_LOOK]
    ]
    scored.sort(key=lambda item: -item[0])
    return [option for score, option in scored[:_REFINED] if score > scored[0][0] - _HOPELESS]


def _apart(a: Camera, b: Camera, field_a: FieldModel, field_b: FieldModel) -> float:
    """Largest distance between where two solutions see the goal lines' ends, px."""
    if field_a.name != field_b.name:
        return np.inf
    ends = np.array([(x, y) for x in (0.0, field_a.length_mm) for y in (0.0, field_a.width_mm)])
    return float(np.nan_to_num(np.abs(a.to_pixels(ends) - b.to_pixels(ends)), nan=np.inf).max())


def _trusted(
    solutions: list[FieldSolution],
    image: Image,
    fields: Sequence[FieldModel],
    planes: Sequence[Plane],
    prior: LensPrior | None,
) -> FieldSolution:
    """The best solution, if it may be trusted and no other is as good."""
    ranked = sorted(solutions, key=lambda solution: solution.fit.strain / 50 - solution.evidence.score)
    if not ranked:
        raise CalibrationError(_no_match(fields))
    best = _best_focal(ranked[0], planes, prior) if prior is None else ranked[0]
    problems = find_problems(best.evidence, best.fit, best.field)
    if cut_edges(best.fit.camera, best.field):
        raise CalibrationError(problems[0])
    if problems:
        advice = "focus the camera" if is_blurred(image) else "clear the field of hands, light it evenly, check --field"
        raise CalibrationError(f"no trustworthy solution for {best.field.name}: {'; '.join(problems)}: {advice}")
    for other in ranked[1:]:
        near = other.evidence.score > best.evidence.score - RIVAL_WITHIN
        same = _apart(other.fit.camera, best.fit.camera, other.field, best.field) < _SAME_PX
        if near and not same and not find_problems(other.evidence, other.fit, other.field):
            raise CalibrationError(
                f"two solutions are as good as each other ({best.field.name}, {other.field.name}): clear the field and"
                " try again, name the field with --field, or calibrate by landmarks"
            )
    return best


def _no_match(fields: Sequence[FieldModel]) -> str:
    names = ", ".join(field.name for field in fields)
    return (
        f"yard lines are seen, but no two lines along them make a field of the proportions of {names}: the field is cut"
        " by the picture or of another kind: show all of it, or describe it in a .toml file and give that to --field"
    )
