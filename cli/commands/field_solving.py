"""Solves a field as a command line describes it: the print, measurements, and which reading to take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from downfield.calibration.field.measured_height import (
    StandingObject,
    with_camera_height,
    with_lengths,
    with_standing_object,
)
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.proposal import KnownLength, propose_field
from downfield.calibration.field.solution import AmbiguousField, FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.lens.prior import LensPrior
from downfield.cli.console.progress import Advance, show_solving
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel, load_field, preset, preset_names
from downfield.core.texts import parse_span
from downfield.rig.tables.table_calibration import lens_from_distance, with_size_by_bases

_MM_PER_IN: Final = 25.4

LengthOption = Annotated[
    str | None,
    typer.Option(
        "--length",
        metavar="ENDS",
        help="A measured length that sets the scale of an unknown print: both ends in the picture and the millimeters"
        " between them, PX,PY=PX,PY=MM.",
    ),
]
GoalToGoalOption = Annotated[
    str | None,
    typer.Option(
        "--goal-to-goal", metavar="LENGTH", help="Measured from goal line to goal line, such as 30in or 762mm."
    ),
]
SideToSideOption = Annotated[
    str | None,
    typer.Option(
        "--sideline-to-sideline", metavar="LENGTH", help="Measured from sideline to sideline, such as 17.5in or 445mm."
    ),
]
ReadingOption = Annotated[
    int | None, typer.Option(min=1, help="Which reading to take, if the print can be read in several ways.")
]


@dataclass(frozen=True, slots=True)
class FieldRequest:
    """What a command line says of a print and of its camera."""

    fields: list[FieldModel]  # the printed fields it may be
    is_named: bool  # whether it is one of them, and not to be found out
    known: KnownLength | None  # a length that sets the scale of an unknown print
    standing: StandingObject | None  # something of known height on the board
    lengths: FieldMeasurements | None  # of the print
    reading: int | None  # which of several readings to take, from 1
    height_mm: float | None  # of the lens over the board; for a lens that was not measured


def read_request(
    field: str,
    length: str | None = None,
    reading: int | None = None,
    height_mm: float | None = None,
    standing: str | None = None,
    goal_to_goal: str | None = None,
    side_to_side: str | None = None,
) -> FieldRequest:
    """Return what a command line says, before a camera is opened or a picture read.

    Raises:
        InputError: a part of it can't be read, or contradicts another.
    """
    fields = [preset(name) for name in preset_names()] if field == "auto" else [load_field(field)]
    if length is not None and field != "auto":
        raise InputError("--length sets the scale of an unknown print. Use it without --field.")
    known = None
    if length is not None:
        start, end, length_mm = parse_span(length, "a length")
        known = KnownLength(length_mm, (start, end))
    if standing is not None and height_mm is not None:
        raise InputError("--standing and --camera-height tell the same. Use one of them.")
    stands = None if standing is None else StandingObject.of_text(standing)
    lengths = FieldMeasurements(parse_length(goal_to_goal), parse_length(side_to_side))
    if lengths.count and length is not None:
        raise InputError("--length tells the size of the print as well. Use it or the lengths between lines.")
    measured = lengths if lengths.count else None
    return FieldRequest(fields, field != "auto", known, stands, measured, reading, height_mm)


def parse_length(text: str | None) -> float | None:
    """Return mm of a text such as ``30in``, ``30.5 in`` or ``762mm``; None for None. Raises InputError: it is none."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(in|mm)\s*", text.lower())
    if found is None:
        raise InputError(f"'{text[:40]}' is no length. Write it with its unit, such as 30in or 762mm.")
    return float(found[1]) * (_MM_PER_IN if found[2] == "in" else 1.0)


def solve_requested(
    images: Sequence[Image], request: FieldRequest, advance: Advance, *, prior: LensPrior | None = None
) -> FieldSolution:
    """Solve a field in frames of one camera as it was requested, with the lens if that was measured beforehand.

    Raises:
        CalibrationError: no trustworthy solution; says what to change.
        InputError: the print can be read in several ways and none is chosen, or a measurement does not suit.
    """
    known, standing, lengths = request.known, request.standing, request.lengths
    unknown = known is not None or (lengths is not None and not request.is_named)
    is_known = (standing, request.height_mm, prior) != (None, None, None)
    try:
        distance = None if is_known else lens_from_distance(images[0], None)
        if unknown:
            solution = propose_field(
                images, known, measurements=lengths, distance=distance, progress=show_solving(advance)
            ).solution
        else:
            solution = solve_field(
                images, request.fields, prior=prior, distance=distance, progress=show_solving(advance)
            )
    except AmbiguousField as ways:
        solution = _chosen(ways, request.reading)
        advance(100, 100, f"taking reading {request.reading}")
    if lengths is not None and not unknown:
        solution = with_lengths(solution, images, lengths)
    solution = with_size_by_bases(solution, images[0])
    if standing is not None:
        advance(100, 100, "measuring what stands on the board")
        return with_standing_object(solution, images, standing)
    if request.height_mm is not None:
        return with_camera_height(solution, images, request.height_mm)
    return solution


def _chosen(ways: AmbiguousField, reading: int | None) -> FieldSolution:
    """Return the reading that the user chose; refuse, with all of them, if none was."""
    if reading is None or reading > len(ways.readings):
        listed = "; ".join(f"--reading {i}: {way.label}" for i, way in enumerate(ways.readings, start=1))
        raise InputError(f"The print can be read in {len(ways.readings)} ways. Choose one with {listed}.")
    return ways.readings[reading - 1].accepted()
