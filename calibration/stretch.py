"""How far a print may be longer or shorter across than it is described.

A yard across the field and one along it are printed with scales of their own. Where a file has them roughly, or there
is none, their ratio is measured with the camera: one more parameter of the fit. It can't be left to the camera: only
seen straight from above does a longer print look like pixels that are not square; to a camera that leans it also looks
like another principal point and another height.

How large all of the print is no picture of it shows: yards are right without it, and what stands over the paint is
placed by the camera's height in millimeters, which grows with the print.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class OpenStretch:
    """What is known of a stretch before a fit; log ratios."""

    likeliest: float  # the likeliest stretch of the points
    spread: float  # its standard deviation
    begin: float = 0.0  # where the fit begins


@dataclass(frozen=True, slots=True)
class DescribedProportions:
    """The proportions of a print as it is described."""

    yard_ratio: float  # millimeters of a yard across over those of one along
    spread: float  # standard deviation of its logarithm

    @staticmethod
    def of(field: FieldModel, spread: float) -> DescribedProportions:
        """Return the proportions of a field."""
        return DescribedProportions(field.mm_per_yd_y / field.mm_per_yd_x, spread)

    def stretch(self, field: FieldModel) -> OpenStretch:
        """Return how far a field that was measured so far may still be stretched."""
        return OpenStretch(math.log(self.yard_ratio * field.mm_per_yd_x / field.mm_per_yd_y), self.spread)


@dataclass(frozen=True, slots=True)
class ScaleError:
    """How well the size of a print in millimeters is known: errors of the log of true by taken size."""

    spread: float = 0.0  # standard deviation of what nothing else in the solution tells
    by_stretch: float = 0.0  # share of the error of the stretch: -1 where the print was measured across only
    # share of the relative error of the camera's height in millimeters of the print as taken: -1 where the height was
    # measured exactly and the print was not
    by_height: float = 0.0


EXACT_SCALE: Final = ScaleError()


def open_stretch(proportions: DescribedProportions | None, field: FieldModel) -> OpenStretch | None:
    """Return how far a field may still be stretched; None where its proportions are exact."""
    return None if proportions is None else proportions.stretch(field)


def stretched_field(field: FieldModel, stretch: float) -> FieldModel:
    """Return the field, longer across by a log ratio."""
    return dataclasses.replace(field, mm_per_yd_y=field.mm_per_yd_y * math.exp(stretch)) if stretch else field
