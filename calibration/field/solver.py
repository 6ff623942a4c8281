"""Calibrates from the printed field alone: detect the lines, read the print, solve, and weigh the readings.

A symmetric print allows several board frames: the one whose x points to the right of the picture (down, when the board
lies across it) is taken.

Large pictures are solved at a smaller size: four times the pixels take three times as long and tell nothing more. What
a printed field leaves open is left open by the lens, not by noise of the pixels, and a line of paint is wide enough at
1920 px. The solution is stated in pixels of the large picture, whose pixel centers are at whole numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.field.free_solver import find_candidates, find_goal_rungs, solve_print
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.lines.matching import Candidate, FieldLines, find_lines
from downfield.calibration.field.lines.rectified_lines import YardLineEnds, find_yard_line_ends
from downfield.calibration.field.marks.mirroring import UNMIRROR, mirrored_probability, refuse_mirrored
from downfield.calibration.field.print_prior import SupposedPrint, described_print, recognized, unknown_print
from downfield.calibration.field.progress import ProgressListener, ProgressReporter
from downfield.calibration.field.refinement import refine_solution, solve_again
from downfield.calibration.field.selection import (
    SELECTION_LIMITS,
    best_trusted,
    likeliest,
    no_match_text,
    reading_label,
    with_mean_focal,
)
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.jacobians import PLACE_PARAMETERS
from downfield.calibration.lens.prior import LensFromDistance, LensPrior, MeasuredLens, TypicalLens
from downfield.calibration.pictures import BLURRED, check_picture, is_blurred
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Array, Image, Plane
from downfield.core.errors import AimError, CalibrationError
from downfield.core.field.model import FieldModel, preset, preset_names

_SIZED: Final = 0.1
"""Largest relative error of a print's size beside which the lean of figures, good to 25 %, tells the distance."""
_MAX_CHECKED: Final = 160
"""Largest number of ways to read a print as it is described that are checked, the likelier shifts first."""


_MIRRORED_OR_NOT: Final = (
    "the field's numbers read about as well in a mirror, so the picture may be mirrored. Choose whether it is; or focus"
    " the camera and clear the numbers."
)

_NO_ENDS: Final = (
    "yard lines are seen, but not where they end. Bring both sidelines into view, clear them, and light the field"
    " evenly; or place the field's corners by hand."
)


_MAX_WIDTH_PX: Final = 2400  # wider pictures are shrunk
_SHRUNK_WIDTH_PX: Final = 1920  # width of a shrunk picture


@dataclass(frozen=True, slots=True)
class ShrunkPictures:
    """Smaller copies of pictures."""

    images: tuple[Image, ...]
    size_px: tuple[int, int]  # width and height of the large pictures
    factor: Array  # of large to small pixels, along x and y, shape (2,)

    @staticmethod
    def of(images: Sequence[Image]) -> ShrunkPictures | None:
        """Return smaller copies of pictures of one camera; None where they are small enough."""
        height, width = images[0].shape[:2]
        if width <= _MAX_WIDTH_PX:
            return None
        small = (_SHRUNK_WIDTH_PX, round(height * _SHRUNK_WIDTH_PX / width))
        copies = tuple(
            np.asarray(cv2.resize(image, small, interpolation=cv2.INTER_AREA), dtype=np.uint8) for image in images
        )
        return ShrunkPictures(copies, (width, height), np.array([width, height]) / small)

    def prior(self, prior: LensPrior | None, *, large: bool = False) -> LensPrior | None:
        """Return what is known of the lens, in pixels of the copies, or of the large pictures from those of them."""
        if isinstance(prior, MeasuredLens):
            units, center = self._units()[: len(prior.mean)], prior.mean[2:4] + 0.5
            mean, root = (prior.mean * units, prior.root / units) if large else (prior.mean / units, prior.root * units)
            mean[2:4] = (center * self.factor if large else center / self.factor) - 0.5
            return MeasuredLens(mean, root)
        return self._typical(prior, large=large) if isinstance(prior, TypicalLens) else prior

    def distance(self, estimate: LensFromDistance | None) -> LensFromDistance | None:
        """Return how to estimate the lens of a camera that took a copy."""
        return estimate and (lambda camera: self._typical(estimate(self.camera(camera))))

    def _typical(self, prior: TypicalLens | None, *, large: bool = False) -> TypicalLens | None:
        height, width = self.images[0].shape[:2]
        return prior and dataclasses.replace(prior, size_px=self.size_px if large else (width, height))

    def camera(self, camera: Camera) -> Camera:
        """Return a camera that took a copy as the one that took the large picture."""
        lens = camera.lens
        fx, fy = (np.array(lens.focal_px) * self.factor).tolist()
        x, y = ((np.array(lens.center_px) + 0.5) * self.factor - 0.5).tolist()
        large = dataclasses.replace(lens, size_px=self.size_px, focal_px=(fx, fy), center_px=(x, y))
        return dataclasses.replace(camera, lens=large)

    def solved(self, solve: Callable[[], FieldSolution], label: Callable[[FieldSolution], str]) -> FieldSolution:
        """Return the solution for the large pictures, of a function that solves the copies.

        Args:
            solve: returns it for the copies.
            label: returns what tells a reading from others by its pixels.

        Raises:
            AmbiguousField: the copies can be read in several ways; carries them for the large pictures.
        """
        try:
            return self._large(solve())
        except AmbiguousField as ways:
            readings = []
            for reading in ways.readings:
                large = self._large(reading.solution)
                text = label(large) if reading.label == label(reading.solution) else reading.label
                readings.append(FieldReading(text, large, reading.mirrored))
            reason = "" if str(ways) == str(AmbiguousField(ways.readings)) else str(ways)
            raise AmbiguousField(readings, reason) from None

    def _units(self) -> Array:
        """Return how many of the camera's parameters' units there are in the large picture for one in the copies."""
        units = np.ones(len(PLACE_PARAMETERS))
        units[:2] = units[2:4] = self.factor
        return units

    def _large(self, solution: FieldSolution) -> FieldSolution:
        fit, seen = solution.fit, solution.observations
        units, mean = self._units()[: len(fit.covariance)], float(self.factor.mean())
        return dataclasses.replace(
            solution,
            fit=dataclasses.replace(
                fit,
                camera=self.camera(fit.camera),
                covariance=fit.covariance * units[:, None] * units,
                residual_px=fit.residual_px * mean,
                rows_px=fit.rows_px * mean,
                lines_px=fit.lines_px * mean,
            ),
            observations=dataclasses.replace(
                seen, px=(seen.px + 0.5) * self.factor - 0.5, sigma_px=seen.sigma_px * mean
            ),
            prior=self.prior(solution.prior, large=True),
        )


def solve_field(
    images: Sequence[Image],
    fields: Sequence[FieldModel] = (),
    *,
    prior: LensPrior | None = None,
    distance: LensFromDistance | None = None,
    known: bool = False,
    proportions: DescribedProportions | None = None,
    progress: ProgressListener | None = None,
) -> FieldSolution:
    """Find a printed field in pictures and solve the camera.

    Args:
        images: one or more frames of the same camera, blue green red or gray; more frames show what figures and hands
            cover in one, and average noise.
        fields: the field that is printed, as somebody described it; several, or none, where it is not known.
        distance: what is known of the camera's distance, which paint seen straight down does not show: a measured
            height, or how far figures in the first frame lean outward. Not used when the lens was measured.
        known: whether the one field was measured in pictures of this very print before: then it is as it is described.
        proportions: of a known print, as well as they were measured; exact when None.

    Raises:
        AmbiguousField: several solutions are as good; carries them.
        CalibrationError: no trustworthy solution; says what to change.
    """
    for image in images:
        check_picture(image)
    if shrunk := ShrunkPictures.of(images):
        prior, distance = shrunk.prior(prior), shrunk.distance(distance)
        solve = partial(
            solve_field,
            shrunk.images,
            fields,
            prior=prior,
            distance=distance,
            known=known,
            proportions=proportions,
            progress=progress,
        )
        return shrunk.solved(solve, reading_label)
    reporter = ProgressReporter(progress)
    reporter.enter("finding lines")
    planes = [clearest_channel(image) for image in images]
    lines = find_lines(images[0], planes[0])
    ends = find_yard_line_ends(planes[0], lines)
    if ends is None:
        no_match = BLURRED if is_blurred(images[0]) else no_match_text(fields)
        raise CalibrationError(no_match if fields else _NO_ENDS, "place_corners")
    if fields and known:
        best = _solve_as_described(planes, lines, ends, images[0], fields, prior, proportions, reporter)
    else:
        described = fields[0] if len(fields) == 1 else None
        suppose = partial(described_print, field=described) if described else unknown_print
        supposed = suppose(planes[0], lines, ends)
        if described and not supposed.options:
            raise CalibrationError(no_match_text(fields), "measure")
        best = _solve_by_measuring(planes, supposed, ends.paint, images[0], prior, reporter)
        best = best if described else recognized(best, fields or [preset(name) for name in preset_names()])
    placed = best if distance is None else at_distance(best, images, distance)
    best = with_mean_focal(best, planes) if placed is best else placed
    reporter.finish()
    return best


def _solve_as_described(
    planes: Sequence[Plane],
    lines: FieldLines,
    ends: YardLineEnds,
    image: Image,
    fields: Sequence[FieldModel],
    prior: LensPrior | None,
    proportions: DescribedProportions | None,
    reporter: ProgressReporter,
) -> FieldSolution:
    reporter.enter("matching the print")
    goals = find_goal_rungs(planes[0], lines, fields, ends)
    every = (way for field in fields for way in find_candidates(lines, field, ends, None, goals))
    likely, _ = likeliest(planes[0], list(islice(every, _MAX_CHECKED)))
    if not likely:
        raise CalibrationError(BLURRED if is_blurred(image) else no_match_text(fields), "place_corners")
    solutions = []
    for i, option in enumerate(likely):
        reporter.enter("solving the camera", i / len(likely))
        solutions.append(refine_solution(planes, option.camera, option.field, prior=prior, proportions=proportions))
    reporter.enter("checking")
    kept = [solution for solution in solutions if solution]
    best = best_trusted(kept, image, planes, ends.paint)
    # A print looks as regular in a mirror: only its numbers tell.
    refuse_mirrored(planes[0], best.fit.camera, best.field)
    return best


def _solve_by_measuring(
    planes: Sequence[Plane],
    supposed: SupposedPrint,
    paint: float,
    image: Image,
    prior: LensPrior | None,
    reporter: ProgressReporter,
) -> FieldSolution:
    """Solve a print whose proportions and lines are measured in the picture, by the ways to read it."""

    def measured(options: Sequence[Candidate]) -> list[FieldSolution]:
        solutions = []
        for i, option in enumerate(options):
            reporter.enter("solving the camera", i / len(options))
            solution = solve_print(planes, image, option, paint, prior, supposed.proportions)
            if solution is not None:
                solutions.append(dataclasses.replace(solution, scale=supposed.scale))
        reporter.enter("checking")
        return solutions

    reporter.enter("matching the print")
    likely, others = likeliest(planes[0], list(supposed.options), paint)
    solutions = measured(likely)
    try:
        try:
            best = best_trusted(solutions, image, planes, paint)
        except (AimError, AmbiguousField):
            raise
        except CalibrationError:
            if not others:
                raise
            # None of the likelier ways is right after all.
            solutions += measured(others)
            best = best_trusted(solutions, image, planes, paint)
    except AmbiguousField as ways:
        readings = [dataclasses.replace(way, solution=with_mean_focal(way.solution, planes)) for way in ways.readings]
        raise AmbiguousField(readings) from None
    return _not_mirrored(best, planes[0])


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


def at_distance(solution: FieldSolution, images: Sequence[Image], distance: LensFromDistance) -> FieldSolution:
    """Return a solution with what is known of the camera's distance; unchanged where nothing is, or the lens was.

    Unchanged as well where the print has no known size: millimeters are then none in sizes of the print.

    Raises:
        InputError: the camera can't be at this distance.
    """
    if solution.scale.spread > _SIZED:
        return solution
    before = solution.prior
    prior = distance(solution.fit.camera) if isinstance(before, TypicalLens | None) else None
    if prior is None:
        return solution
    return solve_again(solution, images, prior, solution.proportions)
