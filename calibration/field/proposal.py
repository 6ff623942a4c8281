"""Proposes a field for a print that nobody has described, read in the picture, to scale by one measured length."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.field.measured_height import with_lengths
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.progress import ProgressListener
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.field.solver import at_distance, solve_field
from downfield.calibration.lens.prior import LensFromDistance
from downfield.calibration.stretch import EXACT_SCALE
from downfield.core.arrays import Image
from downfield.core.errors import FieldError, InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import check

PROPOSED: Final = "proposed"  # name of a field that was read in a picture; its title has its sizes
_UNSIZED: Final = "Measured from the print; no length was measured."
_LENGTHS_MM: Final = (5.0, 5000.0)  # least and largest length that may be measured on a board
_LEAST_PX: Final = 20.0
"""Least length in the picture: where each end is marked to a pixel, the scale is good to 7 % at the worst."""


@dataclass(frozen=True, slots=True)
class KnownLength:
    """A length measured on the board: of the board, a base, a ruler, a coin or a card that lies on the field."""

    length_mm: float  # as measured
    ends_px: tuple[tuple[float, float], tuple[float, float]]  # both ends in the picture, pixel x and y
    what: str = "a measured length"  # what was measured, for people

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
        """Refuse ends beside a picture. Raises InputError: names the end."""
        height, width = image.shape[:2]
        for x, y in self.ends_px:
            inside = 0 <= x < width and 0 <= y < height
            check(
                inside, InputError, f"the end {x:g},{y:g} of the length is outside the picture of {width}x{height} px"
            )


@dataclass(frozen=True, slots=True)
class FieldProposal:
    """A field read from a picture, for somebody to confirm."""

    # the field as it was read, to scale; its proportions are those of the solution, so it counts as not `measured`:
    # another picture measures them again
    field: FieldModel
    solution: FieldSolution
    summary: str  # the field in one line, for people


def propose_field(
    images: Sequence[Image],
    known_length: KnownLength | None = None,
    *,
    measurements: FieldMeasurements | None = None,
    distance: LensFromDistance | None = None,
    progress: ProgressListener | None = None,
) -> FieldProposal:
    """Read a field that is not known from pictures of it.

    Args:
        known_length: sets the scale; without it the board is taken to be of a usual size.
        measurements: lengths from line to line.

    Raises:
        AmbiguousField: the print can be read in several ways; carries them.
        CalibrationError: no field can be read; says what to change.
        InputError: an end of the known length is not in the picture or on the board, or makes an impossible board.
    """
    if known_length is not None:
        known_length.check_inside(images[0])

    def proposal(solution: FieldSolution) -> FieldProposal:
        found = proposal_of(images, solution, known_length, measurements)
        if distance is None:
            return found
        placed = at_distance(found.solution, images, distance)
        return dataclasses.replace(found, field=placed.field, solution=placed)

    try:
        return proposal(solve_field(images, progress=progress))
    except AmbiguousField as ways:
        return _decided(ways, proposal)


def _decided(ways: AmbiguousField, proposal: Callable[[FieldSolution], FieldProposal]) -> FieldProposal:
    """Return the one reading that measurements leave. Raises AmbiguousField: not just one; InputError: against all."""
    kept: list[tuple[FieldReading, FieldProposal]] = []
    contradiction = InputError("no way to read the print suits what was measured. Measure again.")
    for reading in ways.readings:
        try:
            kept.append((reading, proposal(reading.solution)))
        except InputError as error:
            contradiction = error
    if not kept:
        raise contradiction
    if len(kept) == 1 and len(ways.readings) > 1:
        return kept[0][1]
    readings = [dataclasses.replace(reading, solution=found.solution) for reading, found in kept]
    raise AmbiguousField(readings, str(ways) if len(kept) == len(ways.readings) else "") from None


def _scaled(solution: FieldSolution, known: KnownLength) -> FieldSolution:
    """Return the same picture of a board on which a length is as long as it is known to be."""
    ends_mm = solution.fit.camera.to_board(np.array(known.ends_px))
    length_mm = float(np.linalg.norm(ends_mm[1] - ends_mm[0]))
    check(np.isfinite(length_mm) and length_mm > 0, InputError, "an end of the known length is not on the board")
    scale = known.length_mm / length_mm
    try:
        return dataclasses.replace(solution.scaled(scale), scale=EXACT_SCALE)
    except FieldError:
        long_mm, wide_mm = solution.field.length_mm * scale, solution.field.width_mm * scale
        raise InputError(
            f"by the known length the field would be {long_mm:.0f} x {wide_mm:.0f} mm, which no board's is. Check the"
            " millimeters and both ends."
        ) from None


def proposal_of(
    images: Sequence[Image], solution: FieldSolution, known: KnownLength | None, lengths: FieldMeasurements | None
) -> FieldProposal:
    """Return what to propose of a solution whose scale is a usual one."""
    source = _UNSIZED
    if lengths is not None and lengths.count:
        solution = with_lengths(solution, images, lengths)
        source = "Measured from the print and by tape from line to line."
    elif known is not None:
        solution = _scaled(solution, known)
        source = f"Measured from the print and {known.what} of {known.length_mm:g} mm."
    along, across = solution.field.mm_per_yd
    sizes = f"{solution.field.length_yd:g} yards, {along:.2f} mm along, {across:.2f} mm across"
    field = dataclasses.replace(
        solution.field, name=PROPOSED, title=f"Measured field: {sizes}", measured=False, source=source
    )
    summary = f"{sizes}; {source[0].lower()}{source[1:-1]}"
    return FieldProposal(field, dataclasses.replace(solution, field=field), summary)
