"""The bow of a board: how far its printed surface lies over the flat plane the pose was solved for.

Pressed metal boards sag, and some are dished on purpose, by up to a few millimetres. What tilts or lifts the plane as a
whole belongs to the pose, so the shapes here are the four lowest that bend it: Legendre products over the board,
along, twisted, across, and both. They span the paraboloid dish of a board held at its rim.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.errors import InputError
from downfield.calibration.field import FieldModel
from downfield.calibration.records import check, record

Array = NDArray[np.float64]

SHAPES = ("along", "twist", "across", "both")

_REACH = 1.2  # beyond this many half boards from the middle the height stays what it is there: nothing was measured


@record
class Bow:
    """A smooth height map of the printed surface.

    Attributes:
        x_mm, y_mm: the stretch of the board it was fitted on, (low, high).
        along_mm, twist_mm, across_mm, both_mm: sizes of the four shapes; each shape is 1 at the board's corner.

    """

    x_mm: tuple[float, float]
    y_mm: tuple[float, float]
    along_mm: float = 0.0
    twist_mm: float = 0.0
    across_mm: float = 0.0
    both_mm: float = 0.0

    def __post_init__(self) -> None:
        check(self.x_mm[0] < self.x_mm[1], InputError, f"x_mm must rise, not {self.x_mm}")
        check(self.y_mm[0] < self.y_mm[1], InputError, f"y_mm must rise, not {self.y_mm}")

    @property
    def sizes_mm(self) -> Array:
        """The four sizes in the order of `SHAPES`, shape (4,)."""
        return np.array([self.along_mm, self.twist_mm, self.across_mm, self.both_mm])

    def shapes(self, points_mm: Array) -> tuple[Array, Array]:
        """The four shapes at board points, shape (n, 2): values (n, 4) and slopes per mm along x and y, (n, 4, 2)."""
        middle, half = self._board()
        inside = np.abs(points_mm - middle) <= _REACH * half
        u, v = np.clip((points_mm - middle) / half, -_REACH, _REACH).T
        bend_u, bend_v = 1.5 * u * u - 0.5, 1.5 * v * v - 0.5
        nought = np.zeros_like(u)
        values = np.stack([bend_u, u * v, bend_v, bend_u * bend_v], axis=1)
        along_u = np.stack([3 * u, v, nought, 3 * u * bend_v], axis=1) / half[0]
        along_v = np.stack([nought, u, 3 * v, bend_u * 3 * v], axis=1) / half[1]
        return values, np.stack([along_u, along_v], axis=2) * inside[:, None, :]

    def height_mm(self, points_mm: Array) -> Array:
        """Height of the printed surface over the plane at board points, shape (n, 2), as (n,)."""
        u, v = (
            np.minimum(np.maximum((along - (low + high) / 2) / ((high - low) / 2), -_REACH), _REACH)
            for along, (low, high) in zip(points_mm.T, (self.x_mm, self.y_mm), strict=True)
        )
        bend_u, bend_v = 1.5 * u * u - 0.5, 1.5 * v * v - 0.5
        height: Array = bend_u * (self.along_mm + self.both_mm * bend_v)
        height += self.twist_mm * u * v + self.across_mm * bend_v
        return height

    def _board(self) -> tuple[Array, Array]:
        """Its middle and half its sides, mm, shape (2,) each."""
        low, high = np.array([self.x_mm, self.y_mm]).T
        return (low + high) / 2, (high - low) / 2


def flat(field: FieldModel) -> Bow:
    """No bow, over the whole board of a field: where a fit of the bow starts."""
    x_low, y_low, x_high, y_high = field.board_mm
    return Bow((x_low, x_high), (y_low, y_high))
