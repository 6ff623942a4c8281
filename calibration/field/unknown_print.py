"""Solves prints that nobody has described: kind, proportions, lines, marks and numbers are read in the picture.

Of every kind of field that boards are printed with, only what its rules fix is supposed: its yards, and how far apart
its yard lines are. The likeliest kinds are measured in the picture as a roughly described print is, with their
proportions wide open, and the one that the picture bears out is taken. Yard lines every ten yards look like those of a
shorter field every five: the marks between them tell, or the numbers and end zones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
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
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import FieldLines, find_lines
from downfield.calibration.pictures import check_picture
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel, preset, preset_names

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
        if kind.length_yd >= _TEN_YD * MATCHING_LIMITS.fewest_rungs and kind.length_yd % _TEN_YD == 0
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
