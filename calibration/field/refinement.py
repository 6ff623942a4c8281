"""Refines a camera that is good to a few pixels to the paint of a field, in one picture and in several."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from downfield.calibration.camera import Camera, flat_bow
from downfield.calibration.camera_fit import fit_camera
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.lines.plane_camera import fit_either_lens
from downfield.calibration.field.paint.paint_measurement import observe_paint
from downfield.calibration.field.selection import SELECTION_LIMITS, with_mean_focal
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.verification import gather_evidence
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.stretch import DescribedProportions, open_stretch, stretched_field
from downfield.core.arrays import Image, Plane
from downfield.core.field.model import FieldModel

_SEARCHES_PX: Final[tuple[float, float, float]] = (5.0, 3.0, 1.8)  # distance within which paint is searched for, by fit
_MIN_OBSERVATIONS: Final = 60  # observations that a fit needs


def refine_solution(
    planes: Sequence[Plane],
    camera: Camera,
    field: FieldModel,
    *,
    prior: LensPrior | None = None,
    proportions: DescribedProportions | None = None,
    searches_px: Sequence[float] = _SEARCHES_PX,
    ends: bool = False,
) -> FieldSolution | None:
    """Refine a camera good to a few pixels to the paint; None when too little paint is found.

    Args:
        planes: gray pictures; the camera is that of the first.
        searches_px: how far off the paint is searched, fit by fit; the camera may be off by the first.
        ends: whether the ends of yard lines are observed from the first fit on: where the sidelines' own paint is not
            found, nothing else shows how wide the field is.
    """
    # The bow is fitted from the start: a dished board's lines are further from a flat one's than the last search.
    camera = dataclasses.replace(camera, bow=flat_bow(field))
    for search in searches_px:
        observations = observe_paint(planes[:1], camera, field, search, quick=True, ends=ends)
        if len(observations.px) < _MIN_OBSERVATIONS:
            return None
        stretch = open_stretch(proportions, field)
        fit = fit_either_lens(camera, observations, field, prior, stretch)
        camera, field = fit.camera, stretched_field(field, fit.stretch)
    return _fit_all_frames(planes, camera, field, prior, proportions)


def _fit_all_frames(
    planes: Sequence[Plane],
    camera: Camera,
    field: FieldModel,
    prior: LensPrior | None,
    proportions: DescribedProportions | None,
) -> FieldSolution | None:
    observations = observe_paint(planes, camera, field, SELECTION_LIMITS.fine_search_px)
    if len(observations.px) < _MIN_OBSERVATIONS:
        return None
    stretch = open_stretch(proportions, field)
    fit = fit_camera(camera, observations, prior=prior, stretch=stretch, fine=True)
    seen = stretched_field(field, fit.stretch)
    evidence = gather_evidence(planes[0], fit.camera, seen, SELECTION_LIMITS.fine_search_px)
    return FieldSolution(field, fit, observations, evidence, prior, proportions).with_fit(fit, observations)


def solve_again(
    solution: FieldSolution, images: Sequence[Image], prior: LensPrior | None, proportions: DescribedProportions | None
) -> FieldSolution:
    """Return a solution of pictures, solved again with what else is known of lens and print.

    Unchanged where too little paint is found.
    """
    planes = [clearest_channel(image) for image in images]
    field, stretch = solution.field, open_stretch(proportions, solution.field)
    fit = fit_camera(solution.fit.camera, solution.observations, prior=prior, stretch=stretch, fine=True)
    found = _fit_all_frames(planes, fit.camera, stretched_field(field, fit.stretch), prior, proportions)
    if found is None:
        return solution
    kept = {name: getattr(solution, name) for name in ("scale", "probability", "rivals")}
    return with_mean_focal(dataclasses.replace(found, **kept), planes)
