"""Solids of one figure or thing while it is built, as arrays, and the rotations that build it. Angles in degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.twin.table.appearance import Color, Material, Solid
from downfield.twin.table.snapshot import to_vector

_LEVEL = np.eye(3)


def about_x(angle_deg: float) -> Array:
    """Return a turn about x, shape (3, 3): what points left rises."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def about_y(angle_deg: float) -> Array:
    """Return a turn about y, shape (3, 3): what points up leans ahead."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return np.array([[c, 0, s], [0, 1.0, 0], [-s, 0, c]])


def about_z(angle_deg: float) -> Array:
    """Return a turn about z, shape (3, 3): what points ahead turns left."""
    c, s = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def z_along(direction: Array) -> Array:
    """Return a turn that takes z to a unit vector, shape (3, 3)."""
    helper = np.array([1.0, 0, 0]) if abs(direction[0]) < 0.9 else np.array([0, 0, 1.0])
    x = helper - (helper @ direction) * direction
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(direction, x), direction], axis=1)


def hanging(up_deg: float, out_deg: float, side: int) -> Array:
    """Return the direction of a limb that is raised ahead and to its side (1 left, -1 right) from hanging down."""
    up, out = math.radians(up_deg), math.radians(out_deg)
    return np.array([math.sin(up) * math.cos(out), side * math.sin(out), -math.cos(up) * math.cos(out)])


class Parts:
    """Solids in the order in which they are added.

    Args:
        material: of solids that are given none.
    """

    def __init__(self, material: Material | None = None) -> None:
        self._material = material
        self._rows: list[tuple[Any, ...]] = []

    def add(
        self,
        kind: str,
        size: Sequence[float],
        at: Array | Sequence[float],
        color: Color,
        turn: Array = _LEVEL,
        *,
        part: str = "body",
        material: Material | None = None,
        opacity: float = 1.0,
    ) -> None:
        """Add a solid; `turn` is a rotation matrix, the rest is as of `Solid`."""
        whole = (*size, 0.0, 0.0)[:3]
        self._rows.append((kind, whole, np.asarray(at, dtype=np.float64), turn, color, part, material, opacity))

    def limb(self, start: Array, end: Array, radius_mm: float, color: Color, material: Material | None = None) -> None:
        """Add a capsule from one point to another."""
        along = end - start
        length = max(float(np.linalg.norm(along)), 0.1)
        self.add(
            "capsule", (radius_mm, length / 2), (start + end) / 2, color, z_along(along / length), material=material
        )

    def muscle(
        self, start: Array, end: Array, radius_mm: float, color: Color, material: Material | None = None
    ) -> None:
        """Add an ellipsoid from one point to another, thickest in its middle."""
        along = end - start
        length = max(float(np.linalg.norm(along)), 0.1)
        size = (1.2 * radius_mm, 1.2 * radius_mm, length / 2 + 0.9 * radius_mm)
        self.add("ellipsoid", size, (start + end) / 2, color, z_along(along / length), material=material)

    def moved(self, turn: Array, shift_mm: Array) -> None:
        """Turn all solids about the origin, then shift them."""
        self._rows = [
            (kind, size, turn @ at + shift_mm, turn @ own, *rest) for kind, size, at, own, *rest in self._rows
        ]

    def solids(self) -> tuple[Solid, ...]:
        """Return the solids."""
        if not self._rows:
            return ()
        turns = Rotation.from_matrix(np.stack([row[3] for row in self._rows])).as_quat(scalar_first=True)
        return tuple(
            Solid(kind, to_vector(size), to_vector(at), (w, x, y, z), color, opacity, part, own or self._material)
            for (kind, size, at, _, color, part, own, opacity), (w, x, y, z) in zip(
                self._rows, turns.tolist(), strict=True
            )
        )
