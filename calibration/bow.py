"""The bow of a board: how far its printed surface lies over the flat plane the pose was solved for.

Pressed metal boards sag, and some are dished on purpose, by up to a few millimeters. What tilts or lifts the plane as a
whole belongs to the pose, so the shapes here are the four lowest that bend it: Legendre products over the board,
along, twisted, across, and both. They span the paraboloid dish of a board held at its rim.
"""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.field import FieldModel
from downfield.core.records import check, record

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

    def shapes(self, points_mm: Array) -> Array:
        """The four shapes at board points, shape (n, 2), as (n, 4)."""
        u, v = self._within(points_mm)
        bend_u, bend_v = _bend(u), _bend(v)
        return np.stack([bend_u, u * v, bend_v, bend_u * bend_v], axis=1)

    def height_mm(self, points_mm: Array) -> Array:
        """Height of the printed surface over the plane at board points, shape (n, 2), as (n,)."""
        u, v = at = self._within(points_mm)
        bend_u, bend_v = _bend(at)
        height: Array = bend_u * (self.along_mm + self.both_mm * bend_v)
        height += self.twist_mm * u * v + self.across_mm * bend_v
        return height

    def slopes(self, points_mm: Array) -> Array:
        """How the height changes along x and along y at board points, shape (n, 2), mm per mm, same shape."""
        u, v = at = self._within(points_mm)
        bend_u, bend_v = _bend(at)
        half_x, half_y = ((high - low) / 2 for low, high in (self.x_mm, self.y_mm))
        slopes = np.empty((len(u), 2))
        slopes[:, 0] = (3 * u * (self.along_mm + self.both_mm * bend_v) + self.twist_mm * v) / half_x
        slopes[:, 1] = (3 * v * (self.across_mm + self.both_mm * bend_u) + self.twist_mm * u) / half_y
        slopes[(np.abs(at) >= _REACH).T] = 0.0
        return slopes

    def _within(self, points_mm: Array) -> Array:
        """Board points, shape (n, 2), in half boards from its middle, as far as it was measured; shape (2, n)."""
        (x_low, x_high), (y_low, y_high) = self.x_mm, self.y_mm
        middle = np.array([[(x_low + x_high) / 2], [(y_low + y_high) / 2]])
        half = np.array([[(x_high - x_low) / 2], [(y_high - y_low) / 2]])
        within: Array = np.minimum(np.maximum((points_mm.T - middle) / half, -_REACH), _REACH)
        return within


def _bend(along: Array) -> Array:
    """The Legendre polynomial of degree 2."""
    bend: Array = 1.5 * along * along - 0.5
    return bend


def flat(field: FieldModel) -> Bow:
    """No bow, over the whole board of a field: where a fit of the bow starts."""
    x_low, y_low, x_high, y_high = field.board_mm
    return Bow((x_low, x_high), (y_low, y_high))
