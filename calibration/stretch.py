"""How far a print may be longer or shorter across than it is described, and what an error of that does to places.

A yard across the field and one along it are printed with scales of their own. Where a file has them roughly, or there
is none, their ratio is measured with the camera: one more parameter of the fit. It can't be left to the camera: only
seen straight from above does a longer print look like pixels that are not square; to a camera that leans it also looks
like another principal point and another height.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.jacobians import PARAMETERS, locate
from downfield.core.arrays import Array
from downfield.core.field import FieldModel
from downfield.core.footprint import BASE_TOP_MM


@dataclass(frozen=True, slots=True)
class OpenStretch:
    """What is known of a stretch before a fit; log ratios.

    Attributes:
        likeliest: the likeliest stretch of the points.
        spread: its standard deviation.
        begin: where the fit begins.

    """

    likeliest: float
    spread: float
    begin: float = 0.0

    def residual(self, stretch: Array) -> Array:
        """Return how far a stretch is from the likeliest, in standard deviations."""
        off: Array = (stretch - self.likeliest) / self.spread
        return off


@dataclass(frozen=True, slots=True)
class DescribedProportions:
    """The proportions of a print as it is described.

    Attributes:
        yard_ratio: millimeters of a yard across over those of one along.
        spread: standard deviation of its logarithm.

    """

    yard_ratio: float
    spread: float

    @staticmethod
    def of(field: FieldModel, spread: float) -> DescribedProportions:
        """Return the proportions of a field."""
        return DescribedProportions(field.mm_per_yd_y / field.mm_per_yd_x, spread)

    def stretch(self, field: FieldModel) -> OpenStretch:
        """Return how far a field that was measured so far may still be stretched."""
        return OpenStretch(math.log(self.yard_ratio * field.mm_per_yd_x / field.mm_per_yd_y), self.spread)


def stretched_field(field: FieldModel, stretch: float) -> FieldModel:
    """Return the field, longer across by a log ratio."""
    return dataclasses.replace(field, mm_per_yd_y=field.mm_per_yd_y * math.exp(stretch)) if stretch else field


_HEIGHTS_MM: Final = (0.0, BASE_TOP_MM, 4 * BASE_TOP_MM)
_LEAST_SHARE: Final = 1e-9
"""Of the largest singular value: what of the parameters is told apart by the places."""


def carried_by_camera(camera: Camera, points_mm: Array, free: int) -> Array:
    """Return the change of a camera's parameters that displaces places as an error of the print's stretch does.

    Where the stretch is too large by 1, a place is taken for one that is nearer to the lower sideline, in yards, by its
    own distance from there.

    Args:
        camera: the camera.
        points_mm: board points of the print, shape (n, 3).
        free: number of the parameters that may change, the first of them.

    Returns:
        Shape (19,).

    """
    low, high = points_mm[:, :2].min(axis=0), points_mm[:, :2].max(axis=0)
    x, y, z = np.meshgrid(np.linspace(low[0], high[0], 7), np.linspace(low[1], high[1], 5), _HEIGHTS_MM)
    places = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    px = camera.to_pixels(places)
    seen = np.isfinite(px).all(axis=1)
    board, _, _, by_parameters = locate(camera, px[seen], places[seen, 2])
    wanted = np.column_stack([np.zeros(len(board)), -board[:, 1]]).ravel()
    effects = by_parameters[:, :, :free].reshape(len(wanted), -1)
    scale = 1 / np.maximum(np.linalg.norm(effects, axis=0), 1e-300)
    answer = np.linalg.lstsq(effects * scale, wanted, rcond=_LEAST_SHARE)[0]
    change = np.zeros(len(PARAMETERS))
    change[:free] = answer * scale
    return change
