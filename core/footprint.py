"""The footprint of a base on the board: a rectangle with rounded corners at a position and heading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.records import check, record

Face = Literal["front", "rear", "left", "right", "corner"]

BASE_TOP_MM: Final = 5.5
"""Height of an ordinary base's top over the board."""

_FRONT: Final[Array] = np.array([[1.0], [1.0], [-1.0], [-1.0]])  # of the four corners: 1 front, -1 rear
_LEFT: Final[Array] = np.array([[1.0], [-1.0], [-1.0], [1.0]])  # 1 left, -1 right


@record
class BaseSize:
    """The size of one base.

    Attributes:
        length_mm: along the heading.
        width_mm: across the heading.
        height_mm: of the base's top over the board.
        corner_mm: radius of its rounded corners.

    """

    length_mm: float = 30.0
    width_mm: float = 18.0
    height_mm: float = BASE_TOP_MM
    corner_mm: float = 1.0

    def __post_init__(self) -> None:
        # Made for every figure of every frame: the valid case returns early.
        largest = min(self.length_mm, self.width_mm) / 2
        if largest > 0 and self.height_mm >= 0 and 0 <= self.corner_mm <= largest:
            return
        for name in ("length_mm", "width_mm"):
            check(getattr(self, name) > 0, InputError, f"{name} must be above 0, not {getattr(self, name):g}")
        check(self.height_mm >= 0, InputError, f"height_mm can't be negative ({self.height_mm:g})")
        check(0 <= self.corner_mm <= largest, InputError, f"corner_mm must be 0..{largest:g}, not {self.corner_mm:g}")


@record
class Footprint:
    """A base at its place on the board.

    Attributes:
        x_mm, y_mm: center of the base, board frame.
        heading_deg: where its front points, counter-clockwise from +x.
        size: its dimensions.

    """

    x_mm: float
    y_mm: float
    heading_deg: float
    size: BaseSize

    def corners_mm(self) -> Array:
        """Return the sharp corners: front-left, front-right, rear-right, rear-left; shape (4, 2)."""
        return self._rectangle(self.size.length_mm / 2, self.size.width_mm / 2)

    def core_mm(self) -> Array:
        """Return the centers of the corner circles, same order, shape (4, 2); the outline lies corner_mm outside."""
        inset = self.size.corner_mm
        return self._rectangle(self.size.length_mm / 2 - inset, self.size.width_mm / 2 - inset)

    def reach_mm(self, direction_deg: float) -> float:
        """Return how far the outline reaches along a direction, from the board frame's origin."""
        along = np.array([math.cos(math.radians(direction_deg)), math.sin(math.radians(direction_deg))])
        return float((self.core_mm() @ along).max() + self.size.corner_mm)

    def _rectangle(self, half_length: float, half_width: float) -> Array:
        turn = math.radians(self.heading_deg)
        cos, sin = math.cos(turn), math.sin(turn)
        x, y = self.x_mm, self.y_mm
        ahead_x, ahead_y, aside_x, aside_y = half_length * cos, half_length * sin, -half_width * sin, half_width * cos
        return np.array(
            (
                (x + ahead_x + aside_x, y + ahead_y + aside_y),
                (x + ahead_x - aside_x, y + ahead_y - aside_y),
                (x - ahead_x - aside_x, y - ahead_y - aside_y),
                (x - ahead_x + aside_x, y - ahead_y + aside_y),
            )
        )


def outlines_of(footprints: Sequence[Footprint]) -> Array:
    """Return bases as rows: x mm, y mm, heading in degrees, length, width and corner radius mm; shape (n, 6)."""
    return np.array(
        [(f.x_mm, f.y_mm, f.heading_deg, f.size.length_mm, f.size.width_mm, f.size.corner_mm) for f in footprints]
    ).reshape(-1, 6)


def rectangles_mm(outlines: Array) -> tuple[Array, Array]:
    """Return the sharp corners and the centers of the corner circles of many bases; shape (n, 4, 2) each."""
    turn = np.radians(outlines[:, 2])
    cos, sin = np.cos(turn), np.sin(turn)
    ahead, aside = np.empty((len(turn), 1, 2)), np.empty((len(turn), 1, 2))
    ahead[:, 0, 0], ahead[:, 0, 1] = cos, sin
    aside[:, 0, 0], aside[:, 0, 1] = -sin, cos
    half_length, half_width, inset = (
        outlines[:, 3, None, None] / 2,
        outlines[:, 4, None, None] / 2,
        outlines[:, 5, None, None],
    )
    middle = outlines[:, None, :2]
    sharp = middle + _FRONT * half_length * ahead + _LEFT * half_width * aside
    return sharp, sharp - inset * (_FRONT * ahead + _LEFT * aside)
