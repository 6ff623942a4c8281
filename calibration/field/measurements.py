"""What one person with a tape measure knows of a print: goal line to goal line, sideline to sideline, each optional.

Yards are printed, so they are right without any measurement. Millimeters are not: a length gives the print's size, and
both give its proportions too, from which a picture tells the camera's tilt and height.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.records import check

MEASURED_ERROR_MM: Final = 1.2
"""Standard deviation of a length of a print by tape: either end is read to a millimeter, at an edge of the paint."""

_LENGTHS_MM: Final = (100.0, 5000.0)  # least and largest length from line to line of a board


@dataclass(frozen=True, slots=True)
class FieldMeasurements:
    """Lengths that were measured on a print."""

    goal_to_goal_mm: float | None = None  # from goal line to goal line along a sideline; None where it was not measured
    side_to_side_mm: float | None = None  # from sideline to sideline, along a goal line; None where it was not measured
    error_mm: float = MEASURED_ERROR_MM  # standard deviation of each

    def __post_init__(self) -> None:
        low, high = _LENGTHS_MM
        for name, value in (
            ("from goal line to goal line", self.goal_to_goal_mm),
            ("from sideline to sideline", self.side_to_side_mm),
        ):
            check(
                value is None or low <= value <= high,
                InputError,
                f"the length {name} must be {low:g} to {high:g} mm ({low / 25.4:.0f} to {high / 25.4:.0f} in), not"
                f" {value or 0:g} mm",
            )
        check(self.error_mm > 0, InputError, f"the error of a length must be above 0 mm, not {self.error_mm:g}")

    @staticmethod
    def of(field: FieldModel) -> FieldMeasurements:
        """Return the lengths of a field whose millimeters were measured."""
        return FieldMeasurements(field.length_mm, field.width_mm)

    @property
    def count(self) -> int:
        """How many lengths were measured."""
        return (self.goal_to_goal_mm is not None) + (self.side_to_side_mm is not None)

    def mm_per_yd(self, field: FieldModel) -> tuple[float | None, float | None]:
        """Return the millimeters of a yard along and across a field of so many yards, by the lengths."""
        along, across = self.goal_to_goal_mm, self.side_to_side_mm
        return along and along / field.length_yd, across and across / field.width_yd

    def ratio_spread(self) -> float | None:
        """Return the standard deviation of the log ratio of both lengths; None unless both were measured."""
        if self.goal_to_goal_mm is None or self.side_to_side_mm is None:
            return None
        return math.hypot(self.error_mm / self.goal_to_goal_mm, self.error_mm / self.side_to_side_mm)
