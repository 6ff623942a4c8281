"""Systematic errors that displace many observations in one picture together, beside lens and pose.

A line that bounds the field may border on anything: a rail that hides part of it, shade, a bevel, paint of its own
color. The whole line is then seen a little aside. And a camera with a rolling shutter that is shaken while it reads the
picture row by row displaces every row a little: a wave down the picture. The wave's first shape slants and stretches
the picture just as a tilt of the board does; the others show in the many yard lines.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Indices


@dataclass(frozen=True, slots=True)
class SystematicErrorLimits:
    """Sizes of the systematic errors; spreads are standard deviations as shares of the picture's width."""

    degrees: int = 6
    """Legendre degrees of the rolling-shutter wave: two of its periods while a picture is read."""
    line_spread: float = 0.35 / 1920
    """Of a line that bounds the field: a quarter of a pixel on validation tables, now and then much more."""
    wave_spread: float = 0.15 / 1920
    """Of the wave before anything is known of it,"""
    least_wave_spread: float = 0.01 / 1920
    """and at least, after it was measured."""
    slant_ratio: float = 2.0
    """Of the wave's first shape to all others together: a slow wave is little but slant."""


LIMITS: Final = SystematicErrorLimits()


@dataclass(frozen=True, slots=True)
class SystematicError:
    """Shapes of displacement along the observations' normals, and how large each may be.

    The wave comes first, along x by Legendre degrees 1.., then along y; then each line that bounds the field.

    Attributes:
        shapes: displacement of each observation by one pixel of each shape, shape (n, k).
        spread_px: prior standard deviations, shape (k,).
        width_px: of the picture.

    """

    shapes: Array
    spread_px: Array
    width_px: int

    @staticmethod
    def of(px: Array, normals: Array, boundary: Indices, size_px: tuple[int, int]) -> SystematicError:
        """Return the shapes at observations.

        Args:
            px: where they are seen, shape (n, 2).
            normals: unit directions along which they count, shape (n, 2).
            boundary: number of the line each lies on if it bounds the field, else -1, shape (n,).
            size_px: the picture's width and height.

        """
        width, height = size_px
        rows = np.clip(2 * px[:, 1] / (height - 1) - 1, -1, 1)
        wave = np.polynomial.legendre.legvander(rows, LIMITS.degrees)[:, 1:]
        aside = boundary[:, None] == np.unique(boundary[boundary >= 0])
        shapes = np.column_stack([normals[:, :1] * wave, normals[:, 1:] * wave, aside])
        spread = [LIMITS.wave_spread] * (2 * LIMITS.degrees) + [LIMITS.line_spread] * aside.shape[1]
        return SystematicError(shapes, np.array(spread) * width, width)

    @property
    def count(self) -> int:
        """Number of shapes."""
        return len(self.spread_px)

    def with_learned_spread(self, sizes_px: Array) -> SystematicError:
        """Return it with the wave's spread learned from its sizes in a first fit, shape (k,).

        What the yard lines show of the wave along x, beyond the slant, bounds what they can't show: the slant, and
        the wave along y, which few lines measure.
        """
        shown = (
            LIMITS.slant_ratio * math.sqrt(float(np.square(sizes_px[1 : LIMITS.degrees]).sum()))
            + LIMITS.least_wave_spread * self.width_px
        )
        spread = self.spread_px.copy()
        spread[0] = min(shown, LIMITS.wave_spread * self.width_px)
        spread[LIMITS.degrees : 2 * LIMITS.degrees] = min(shown, LIMITS.wave_spread * self.width_px)
        return dataclasses.replace(self, spread_px=spread)

    def rows_px(self, sizes_px: Array) -> float:
        """Return the largest displacement of a row by a wave of the given sizes, shape (k,)."""
        wave = np.polynomial.legendre.legvander(np.linspace(-1, 1, 65), LIMITS.degrees)[:, 1:]
        moved = wave @ sizes_px[: 2 * LIMITS.degrees].reshape(2, LIMITS.degrees).T
        return float(np.linalg.norm(moved, axis=1).max())
