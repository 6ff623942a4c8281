"""Proposes a field for a print that nobody has described, read in the picture, to scale by one measured length."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from downfield.calibration.field.free_solver import UNKNOWN, find_goal_rungs, free_candidates
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.lines.matching import MATCHING_LIMITS, NO_RUNG
from downfield.calibration.field.lines.rectified_lines import find_yard_line_ends
from downfield.calibration.field.measured_solving import solve_by_measuring
from downfield.calibration.field.progress import ProgressListener, ProgressReporter
from downfield.calibration.field.selection import reading_label
from downfield.calibration.field.shrunk_pictures import ShrunkPictures
from downfield.calibration.field.solution import AmbiguousField, FieldSolution
from downfield.calibration.field.solver import FieldLines, find_lines
from downfield.calibration.jacobians import BOW, TRANSLATION
from downfield.calibration.pictures import check_picture
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, FieldError, InputError
from downfield.core.field.model import FieldModel, preset, preset_names
from downfield.core.records import check

PROPOSED: Final = "proposed"
"""Name of a field that was read in a picture; its title has its sizes."""

_UNSIZED: Final = "Measured from the print; no length was measured."

_LENGTHS_MM: Final = (5.0, 5000.0)
"""Least and largest length that may be measured on a board."""
_LEAST_PX: Final = 20.0
"""Least length in the picture: where each end is marked to a pixel, the scale is good to 7 % at the worst."""


_USUAL_LENGTH_MM: Final = 914.0  # of a field goal line to goal line, before anything is measured
_TEN_YD: Final = 10.0
_USUAL_YARD_RATIO: Final = 1.1  # a yard is a little longer across than along, as most boards are printed


def kinds_of_field() -> tuple[FieldModel, ...]:
    """Return one field of every kind that the presets have, by its yards, as long as is usual."""
    kinds: dict[tuple[float, float, float], FieldModel] = {}
    for name in preset_names():
        field = preset(name)
        kinds.setdefault((field.length_yd, field.width_yd, field.yard_line_every_yd), field)
    return tuple(_as_kind(field) for field in kinds.values())


def rarer_kinds() -> tuple[FieldModel, ...]:
    """Return kinds of field that no preset has: a print is taken for one only where its one-yard marks show it.

    Youth, eight-man and flag football are played on fields of 80 x 40 and 60 x 30 yards.
    """
    usual = preset("ultimate")
    return tuple(
        _as_kind(
            dataclasses.replace(
                usual,
                length_yd=length_yd,
                width_yd=length_yd / 2,
                hash_rows_y_yd=tuple(y * length_yd / 2 / usual.width_yd for y in usual.hash_rows_y_yd),
                number_rows_y_yd=tuple(y * length_yd / 2 / usual.width_yd for y in usual.number_rows_y_yd),
            )
        )
        for length_yd in (80.0, 60.0)
    )


def ten_yard_kinds() -> tuple[FieldModel, ...]:
    """Return the kinds of field that are long enough to be printed with a line every ten yards only."""
    return tuple(
        dataclasses.replace(
            kind,
            name=f"{kind.name} with a line every ten",
            title=f"{kind.title} with a line every ten",
            yard_line_every_yd=_TEN_YD,
        )
        for kind in kinds_of_field()
        if kind.length_yd >= _TEN_YD * MATCHING_LIMITS.min_rungs and kind.length_yd % _TEN_YD == 0
    )


def _ten_yard_kinds_of(lines: FieldLines) -> tuple[FieldModel, ...]:
    """Return the kinds with a line every ten yards, where there are not many more lines than these have."""
    tens, (_, _, ladder, _) = ten_yard_kinds(), lines
    most = max(round((kind.length_yd + 2 * kind.end_zone_yd) / _TEN_YD) + 1 for kind in tens)
    return tens if len(np.unique(ladder.rung[ladder.rung != NO_RUNG])) <= most else ()


def _as_kind(field: FieldModel) -> FieldModel:
    along = _USUAL_LENGTH_MM / field.length_yd
    return dataclasses.replace(
        field,
        name=f"{field.length_yd:g} yards",
        title=f"A field of {field.length_yd:g} yards",
        mm_per_yd_x=along,
        mm_per_yd_y=along * _USUAL_YARD_RATIO,
        line_mm=1.6,
        measured=False,
        source="",
    )


def solve_unknown(images: Sequence[Image], *, progress: ProgressListener | None = None) -> FieldSolution:
    """Find a printed field of any kind in pictures and solve the camera; its scale is a usual one.

    Args:
        images: one or more frames of the same camera, blue green red or gray.
        progress: takes reports of how far it has come.

    Raises:
        AmbiguousField: the print can be read in several ways; carries them.
        CalibrationError: no field can be read; says what to change.
    """
    for image in images:
        check_picture(image)
    if shrunk := ShrunkPictures.of(images):
        return shrunk.solved(partial(solve_unknown, shrunk.images, progress=progress), reading_label)
    reporter = ProgressReporter(progress)
    reporter.enter("finding lines")
    planes = [clearest_channel(image) for image in images]
    lines = find_lines(images[0], planes[0])
    ends = find_yard_line_ends(planes[0], *lines)
    if ends is None:
        raise CalibrationError(
            "yard lines are seen, but not where they end. Bring both sidelines into view, clear them, and light the"
            " field evenly; or describe it in a .toml file and give that to --field."
        )
    kinds, tens = kinds_of_field(), _ten_yard_kinds_of(lines)
    every = (*kinds, *rarer_kinds(), *tens)
    goals = find_goal_rungs(planes[0], *lines, tens, ends)
    # Nine marks between yard lines are also four, so the tens come first.
    likely = tens if goals else every
    goals = goals or find_goal_rungs(planes[0], *lines, kinds, ends)
    suited = [kind for kind in likely if goals and goals.suit(kind)] or (*kinds, *tens)
    options = [option for kind in suited for option in free_candidates(*lines, kind, ends, UNKNOWN, goals)]
    proportions = DescribedProportions(_USUAL_YARD_RATIO, UNKNOWN.spread)
    best = solve_by_measuring(planes, options, ends.paint, images[0], every, None, proportions, reporter)
    reporter.finish()
    return best


@dataclass(frozen=True, slots=True)
class KnownLength:
    """A length measured on the board: of the board, a base, a ruler, a coin or a card that lies on the field.

    Attributes:
        length_mm: as measured.
        ends_px: both ends in the picture, pixel x and y.
        what: what was measured, for people.
    """

    length_mm: float
    ends_px: tuple[tuple[float, float], tuple[float, float]]
    what: str = "a measured length"

    def __post_init__(self) -> None:
        low, high = _LENGTHS_MM
        check(low <= self.length_mm <= high, InputError, f"the length must be {low:g} to {high:g} mm")
        apart_px = math.dist(*self.ends_px)
        check(
            apart_px >= _LEAST_PX,
            InputError,
            f"the ends of the length are {apart_px:.0f} px apart, under {_LEAST_PX:.0f}. Measure something longer.",
        )

    def check_inside(self, image: Image) -> None:
        """Refuse ends beside a picture.

        Raises:
            InputError: names the end.
        """
        height, width = image.shape[:2]
        for x, y in self.ends_px:
            inside = 0 <= x < width and 0 <= y < height
            check(
                inside, InputError, f"the end {x:g},{y:g} of the length is outside the picture of {width}x{height} px"
            )


@dataclass(frozen=True, slots=True)
class FieldProposal:
    """A field read from a picture, for somebody to confirm.

    Attributes:
        field: the field as it was read, to scale; its proportions are those of the solution, so it counts as not
            `measured`: another picture measures them again.
        solution: the camera over it.
        summary: the field in one line, for people.
    """

    field: FieldModel
    solution: FieldSolution
    summary: str


def is_unsized(field: FieldModel) -> bool:
    """Return whether a field was proposed without any measured length, so that its scale is merely a usual one."""
    return field.source == _UNSIZED


def propose_field(
    images: Sequence[Image], known_length: KnownLength | None = None, *, progress: ProgressListener | None = None
) -> FieldProposal:
    """Read a field that is not known from pictures of it.

    Args:
        images: one or more frames of the same camera.
        known_length: sets the scale; without it the board is taken to be of a usual size.
        progress: takes reports of how far it has come.

    Raises:
        AmbiguousField: the print can be read in several ways; carries them.
        CalibrationError: no field can be read; says what to change.
        InputError: an end of the known length is not in the picture or on the board, or makes an impossible board.
    """
    if known_length is not None:
        known_length.check_inside(images[0])
    try:
        return _proposal(solve_unknown(images, progress=progress), known_length)
    except AmbiguousField as ways:
        scaled = [
            dataclasses.replace(reading, solution=_proposal(reading.solution, known_length).solution)
            for reading in ways.readings
        ]
        raise AmbiguousField(scaled, str(ways)) from None


def _scale(solution: FieldSolution, known: KnownLength) -> float:
    ends_mm = solution.fit.camera.to_board(np.array(known.ends_px))
    length_mm = float(np.linalg.norm(ends_mm[1] - ends_mm[0]))
    check(np.isfinite(length_mm) and length_mm > 0, InputError, "an end of the known length is not on the board")
    return known.length_mm / length_mm


def _scaled(solution: FieldSolution, scale: float) -> FieldSolution:
    """Return the same picture of a board that is larger by a factor."""
    if scale == 1.0:
        return solution
    try:
        field = _scaled_field(solution.field, scale)
    except FieldError:
        long_mm, wide_mm = solution.field.length_mm * scale, solution.field.width_mm * scale
        raise InputError(
            f"by the known length the field would be {long_mm:.0f} x {wide_mm:.0f} mm, which no board's is. Check the"
            " millimeters and both ends."
        ) from None
    camera = solution.fit.camera
    tx, ty, tz = (float(value) * scale for value in camera.translation_mm)
    bow = camera.bow and dataclasses.replace(
        camera.bow,
        x_mm=_times(camera.bow.x_mm, scale),
        y_mm=_times(camera.bow.y_mm, scale),
        along_mm=camera.bow.along_mm * scale,
        twist_mm=camera.bow.twist_mm * scale,
        across_mm=camera.bow.across_mm * scale,
        both_mm=camera.bow.both_mm * scale,
    )
    # Lens, rotation and stretch stay; translation and bow are lengths.
    units = np.ones(len(solution.fit.covariance))
    units[TRANSLATION] = units[BOW] = scale
    fit = dataclasses.replace(
        solution.fit,
        camera=dataclasses.replace(camera, translation_mm=(tx, ty, tz), bow=bow),
        covariance=solution.fit.covariance * units[:, None] * units,
    )
    observations = dataclasses.replace(solution.observations, points_mm=solution.observations.points_mm * scale)
    return dataclasses.replace(solution, field=field, fit=fit, observations=observations)


def _scaled_field(field: FieldModel, scale: float) -> FieldModel:
    styles = {
        kind: dataclasses.replace(style, width_mm=style.width_mm and style.width_mm * scale)
        for kind in ("sideline", "goal_line", "end_line", "yard_line", "hash_mark")
        for style in [getattr(field, kind)]
    }
    return dataclasses.replace(
        field,
        mm_per_yd_x=field.mm_per_yd_x * scale,
        mm_per_yd_y=field.mm_per_yd_y * scale,
        line_mm=field.line_mm * scale,
        margin_mm=_times(field.margin_mm, scale),
        **styles,
    )


def _times(pair: tuple[float, float], scale: float) -> tuple[float, float]:
    return pair[0] * scale, pair[1] * scale


def _proposal(solution: FieldSolution, known: KnownLength | None) -> FieldProposal:
    """Return what to propose of a solution whose scale is a usual one."""
    solution = solution if known is None else _scaled(solution, _scale(solution, known))
    source = f"Measured from the print and {known.what} of {known.length_mm:g} mm." if known else _UNSIZED
    along, across = solution.field.mm_per_yd
    sizes = f"{solution.field.length_yd:g} yards, {along:.2f} mm along, {across:.2f} mm across"
    field = dataclasses.replace(
        solution.field,
        name=PROPOSED,
        title=f"Measured field: {sizes}",
        measured=False,
        source=source,
    )
    summary = f"{sizes}; {source[0].lower()}{source[1:-1]}"
    return FieldProposal(field, dataclasses.replace(solution, field=field), summary)
