"""Solves a field again with something measured that paint seen from above does not show: lengths, or a height.

Lengths of the print give its size and proportions. A height tells how far the camera is: either that of the lens over
the board, by tape; or that of something upright on the board, such as a card, a ruler or a figure, whose top is seen
outward of its foot the more the nearer the camera is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from downfield.calibration.calibration import KNOWN_SCALE
from downfield.calibration.camera_fit import Observations, fit_camera
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.refinement import solve_again
from downfield.calibration.field.selection import with_mean_focal
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import at_distance
from downfield.calibration.jacobians import STRETCH
from downfield.calibration.lens.prior import LENS_PRIOR_LIMITS, lens_at_height
from downfield.calibration.stretch import DescribedProportions, ScaleError
from downfield.core.arrays import Array, Image
from downfield.core.errors import FieldError, InputError
from downfield.core.footprint import BASE_TOP_MM, BaseSize
from downfield.core.records import check
from downfield.core.texts import parse_span


@dataclass(frozen=True, slots=True)
class StandingLimits:
    """What can be measured of something that stands on the board."""

    heights_mm: tuple[float, float] = (15.0, 500.0)  # least and largest height
    place_px: float = 1.5  # standard deviation of an end that somebody marked, at 1920 px width
    height_share: float = 0.01  # relative standard deviation of the height
    min_height_sigma_mm: float = 0.5  # least standard deviation of the height
    min_length_px: float = 12.0  # least distance of the ends in the picture, at 1920 px width
    # lengths whose ratio is further from the picture's than so many standard deviations contradict it
    contradicting_sigmas: float = 4.0
    ratio_doubt: float = 0.02  # added to it: what the picture tells of the ratio rests on what lenses are like
    min_weight: float = 0.5  # weight in the fit under which it contradicts the print
    # relative standard deviation of the size of all bases on a table: makes differ by 5 %, and the detector errs
    bases_spread: float = 0.055
    min_bases: int = 4  # fewer bases are no ruler


_LIMITS: Final = StandingLimits()
_COPIES: Final = 2  # of an observation, so that a fit to every other one has it too


@dataclass(frozen=True, slots=True)
class StandingObject:
    """Something of known height that stands upright on the board."""

    height_mm: float  # as measured
    foot_px: tuple[float, float]  # where it touches the board in the picture, pixel x and y
    top_px: tuple[float, float]  # its top, straight above the foot

    def __post_init__(self) -> None:
        low, high = _LIMITS.heights_mm
        check(low <= self.height_mm <= high, InputError, f"the height of what stands must be {low:g} to {high:g} mm")

    @staticmethod
    def of_text(text: str) -> StandingObject:
        """Return foot, top and height from ``px,py=px,py=mm``. Raises InputError: another form, or too low or high."""
        foot, top, height_mm = parse_span(text, "something that stands")
        return StandingObject(height_mm, foot, top)


def with_camera_height(solution: FieldSolution, images: Sequence[Image], height_mm: float) -> FieldSolution:
    """Return a solution of pictures, solved again with the lens's height over the board, by tape.

    Of a print of unknown size the height tells the size, as exactly as the picture tells the height in sizes of it.

    Raises:
        InputError: no camera sees a board from this height.
    """
    if not is_sized(solution):
        factor = height_mm / float(solution.fit.camera.position_mm[2])
        scale = ScaleError(LENS_PRIOR_LIMITS.tape_mm / height_mm, by_height=-1.0)
        return dataclasses.replace(_rescaled(solution, factor), scale=scale)
    return at_distance(solution, images, partial(lens_at_height, height_mm=height_mm))


def with_standing_object(solution: FieldSolution, images: Sequence[Image], standing: StandingObject) -> FieldSolution:
    """Return a solution of pictures, solved again with something of known height that stands on the board in them.

    Raises:
        InputError: it is seen too short to tell anything, contradicts the print, or that has no known size.
    """
    check(is_sized(solution), InputError, "the print has no known size. Enter a length of it first.")
    camera = solution.fit.camera
    larger = camera.lens.size_px[0] / 1920
    apart_px = math.dist(standing.foot_px, standing.top_px)
    if apart_px < _LIMITS.min_length_px * larger:
        raise InputError(
            f"foot and top are only {apart_px:.0f} px apart. Stand it nearer to the field's edge, or take something"
            " taller."
        )
    foot_mm = camera.to_board(np.array([standing.foot_px]))[0, :2]
    check(
        bool(np.isfinite(foot_mm).all()), InputError, "the foot is not on the board. Mark where it touches the board."
    )
    error_mm = max(_LIMITS.min_height_sigma_mm, _LIMITS.height_share * standing.height_mm)
    place_px = math.sqrt(2) * _LIMITS.place_px * larger  # of foot and top
    sigma_px = math.hypot(place_px, apart_px * error_mm / standing.height_mm)
    top = Observations.of_points(np.array([(*foot_mm, standing.height_mm)]), np.array([standing.top_px]), sigma_px)
    seen = _appended(solution.observations, top)
    fit = fit_camera(camera, seen, prior=solution.prior, stretch=solution.stretch, fine=True)
    planes = [clearest_channel(images[0])]
    found = with_mean_focal(solution.with_fit(fit, seen), planes)
    if float(found.fit.weight[-2 * _COPIES :].min()) < _LIMITS.min_weight:
        raise InputError(
            "what stands on the board contradicts the print. Check its height, that it is upright, and where foot and"
            " top are marked."
        )
    return found


def _appended(observations: Observations, top: Observations) -> Observations:
    """Return observations with those of a top, in equal copies side by side."""
    copies = np.repeat([0, 1], _COPIES)
    last = int(observations.cluster.max(initial=0))
    more = dataclasses.replace(
        top[copies], sigma_px=top.sigma_px[copies] * math.sqrt(_COPIES), cluster=last + 1 + copies
    )
    return Observations.joined([observations, more])


def is_sized(solution: FieldSolution) -> bool:
    """Return whether the print's size in millimeters is known."""
    return solution.scale.spread <= KNOWN_SCALE


def with_bases(solution: FieldSolution, corners_px: Array) -> FieldSolution:
    """Return a solution of a print of unknown size, sized by bases of the usual size that stand on it.

    As it is where the size is known, or where there are too few.

    Args:
        corners_px: of the bases' tops in it: front left, front right, rear right, rear left; shape (n, 4, 2).
    """
    usual, factor = math.sqrt(BaseSize().length_mm * BaseSize().width_mm), 1.0
    if is_sized(solution) or len(corners_px) < _LIMITS.min_bases:
        return solution
    for _ in range(3):  # tops are lower in millimeters of a print that is larger than taken
        corners = solution.fit.camera.to_board(corners_px, BASE_TOP_MM / factor)
        sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)  # front, right, rear, left
        sizes = np.log(np.sqrt((sides[:, 0] + sides[:, 2]) / 2 * (sides[:, 1] + sides[:, 3]) / 2))
        sizes = sizes[np.isfinite(sizes)]
        if len(sizes) < _LIMITS.min_bases:
            return solution
        factor = usual / math.exp(float(np.median(sizes)))
    known, scale = _LIMITS.bases_spread, solution.scale
    share = scale.spread**2 / (scale.spread**2 + known**2)
    found = _rescaled(solution, factor**share)
    return dataclasses.replace(found, scale=dataclasses.replace(scale, spread=known * math.sqrt(share)))


def _rescaled(solution: FieldSolution, factor: float) -> FieldSolution:
    """Return the same picture of a board that is larger by a factor. Raises InputError: no board is so large."""
    try:
        return solution.scaled(factor)
    except FieldError:
        long_mm, wide_mm = solution.field.length_mm * factor, solution.field.width_mm * factor
        raise InputError(
            f"by this the field would be {long_mm:.0f} x {wide_mm:.0f} mm, which no board's is. Measure again."
        ) from None


def with_lengths(solution: FieldSolution, images: Sequence[Image], measurements: FieldMeasurements) -> FieldSolution:
    """Return a solution of pictures, solved again with lengths of the print.

    One sets the print's size; both set its proportions too, from which the picture tells the camera's tilt and height.

    Raises:
        InputError: nothing was measured, or the lengths contradict the picture.
    """
    field = solution.field
    along, across = measurements.mm_per_yd(field)
    factor = along / field.mm_per_yd_x if along else (across or 0.0) / field.mm_per_yd_y
    check(factor > 0, InputError, "no length of the print is given")
    length_mm = measurements.goal_to_goal_mm or measurements.side_to_side_mm or 0.0
    found = dataclasses.replace(
        _rescaled(solution, factor), scale=ScaleError(measurements.error_mm / length_mm, 0.0 if along else -1.0)
    )
    spread = measurements.ratio_spread()
    if along is None or across is None or spread is None:
        return found
    _check_ratio(found, across / along, spread)
    return solve_again(found, images, found.prior, DescribedProportions(across / along, spread))


def _check_ratio(solution: FieldSolution, ratio: float, spread: float) -> None:
    """Refuse lengths whose ratio is far from what the picture shows. Raises InputError: they are."""
    seen = solution.field.mm_per_yd_y / solution.field.mm_per_yd_x
    known = solution.fit.covariance
    open_by = math.sqrt(float(known[STRETCH, STRETCH])) if len(known) > STRETCH else 0.0
    off = abs(math.log(ratio / seen))
    check(
        off < _LIMITS.contradicting_sigmas * math.hypot(spread, open_by, _LIMITS.ratio_doubt),
        InputError,
        f"by these lengths a yard across is {ratio:.2f} times one along, and the picture shows {seen:.2f} times."
        " Measure again: from goal line to goal line, without the end zones, and from sideline to sideline.",
    )
