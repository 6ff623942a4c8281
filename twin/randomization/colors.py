"""Colors of tables: lists to choose from, which `Deck.choice` deals out among the splits, and any color at all.

Neighbors in a list should be similar, since every split gets others of them.

`Parts` are the solids of one figure or thing while it is built, with the rotations that build it, in degrees.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.twin.randomization.deck import Deck
from downfield.twin.table.appearance import Color, Material, Solid
from downfield.twin.table.snapshot import to_vector


def rgb(code: int) -> Color:
    """Return the color of a web color code such as ``0x2E7D32``."""
    return ((code >> 16 & 255) / 255, (code >> 8 & 255) / 255, (code & 255) / 255)


def _colors(*codes: int) -> tuple[Color, ...]:
    return tuple(rgb(code) for code in codes)


GREENS = _colors(
    0x2E7D32, 0x2F7A3A, 0x1F6B3A, 0x23703C, 0x3B8C3F, 0x4C9A2A, 0x489636, 0x0F5D3A, 0x135F35, 0x5C8F3A,
    0x35662B, 0x38693A, 0x2D8A57, 0x2B8550, 0x206040, 0x69A03C, 0x64A045, 0x1B7F4B, 0x1E7846, 0x447744,
)  # fmt: skip
SNOWS = _colors(0xF2F4F6, 0xEEF0EE, 0xE6ECF2, 0xE9EEF4, 0xF7F7F4)
SNOW_LINES = _colors(0x1F4E9A, 0x24509C, 0x20262E, 0x2A2E33, 0x2C6A3F)

ARENAS = _colors(
    0x2F6F9F, 0x2B6A96, 0x7A4A2E, 0x754A34, 0x3A3F48,
    0x8A2F35, 0x843038, 0x4C7F3A, 0x4A7A42, 0x5A4A80,
)  # fmt: skip

PAINTS = _colors(
    0xF4F4EE, 0xF0F0EC, 0xE6E6DA, 0xE2E4DC, 0xFFFFFF,
    0xD9DDD0, 0xDADCD4, 0xF6EFC8, 0xF2ECCC, 0xEDEDED,
)  # fmt: skip

STRONG = _colors(
    0xB3202A, 0xA8242E, 0x1B3F8B, 0x203F84, 0xE0A526, 0xDDB02C, 0xD9AA34, 0x4B2A7B, 0x46307A, 0xE0641F,
    0x101820, 0x16202A, 0x0E5C4A, 0x14584A, 0x6E1423, 0x2A8FBD, 0x3090B8, 0x5A3A1E, 0x563C24, 0xC0C5CA,
)  # fmt: skip

DARKS = _colors(
    0x1A1F2B, 0x20242E, 0x0F2A5C, 0x142C58, 0x5E1220, 0x123F2A, 0x184030, 0x3A1B5A, 0x381F54, 0x202020,
    0x7A1218, 0x761820, 0x0B4F6C, 0x10506A, 0x3B2A1A, 0x1D4D1F, 0x225026, 0x2A3550, 0x2C374E, 0x14142E,
)  # fmt: skip

LIGHTS = _colors(
    0xF5F5F2, 0xF2F2EE, 0xE9E4D4, 0xE7E3D6, 0xFFFFFF, 0xDCE3EA, 0xDDE4EC, 0xF3E7A8, 0xF0E5AE, 0xD5D8D6,
    0xF7DCA0, 0xF4DAA6, 0xCFE6F5, 0xD2E6F2, 0xECECEC,
)  # fmt: skip

BASES = _colors(
    0x1F7A3C, 0x237A42, 0x2E8B45, 0xF4F4F4, 0xEFEFEF, 0x161616, 0x1C1C1C, 0x3FA7A0, 0x48A8A4, 0x0F5F33,
    0xC8B23A, 0xC4AE44, 0x1D3F8F, 0x234288, 0xB0262B, 0x7FBF8A, 0x86BE90, 0x6FB0C8, 0x76B0C4, 0x7C8288,
)  # fmt: skip

SKINS = _colors(
    0xE8B796, 0xE2B08E, 0xC98E66, 0xC48A64, 0x8D5A3B,
    0x5A3825, 0x60402C, 0xF0C8A8, 0xECC4A6, 0xA8714A,
)  # fmt: skip

TABLES = _colors(
    0x7A5A3C, 0x76583E, 0x3A2C22, 0xB99B72, 0xB4986F, 0x2A2A2E, 0x2E2E30, 0xD8D4CC, 0xD2D0CA, 0x5C3A2A,
    0x1E3A2A, 0x223C2E, 0x8C8C90, 0x86888C, 0x40506A,
)  # fmt: skip


def any_color(deck: Deck, dull: float = 0.0) -> Color:
    """Return any color at all; the duller, the less saturated."""
    rng = deck.rng
    return colorsys.hsv_to_rgb(rng.random(), rng.random() ** 0.7 * (1 - dull), float(rng.uniform(0.05, 1.0)))


def near(deck: Deck, color: Color, scale: float = 1.0, spread: float = 0.02) -> Color:
    """Return a color scaled in brightness, each channel off by a standard deviation."""
    red, green, blue = np.clip(np.array(color) * scale + deck.rng.normal(0, spread, 3), 0.01, 1.0).tolist()
    return (red, green, blue)


def scaled(color: Color, share: float, add: float = 0.0) -> Color:
    """Return a darker or brighter color."""
    red, green, blue = (min(max(share * channel + add, 0.0), 1.0) for channel in color)
    return (red, green, blue)


def is_bright(color: Color) -> bool:
    """Return whether dark print is read on it."""
    return sum(color) > 1.2


def jittered(deck: Deck, color: Color, by: float) -> Color:
    """Return a color with each channel off by up to `by`, evenly distributed, cut to 0..1."""
    red, green, blue = (min(max(channel + deck.free(-by, by), 0.0), 1.0) for channel in color)
    return (red, green, blue)


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
    """Solids in the order in which they are added. `material`: of solids that are given none."""

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
