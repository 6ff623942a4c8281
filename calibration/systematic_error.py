"""What displaces many sightings in one picture together, though neither lens nor pose does.

A line that bounds the field borders on anything: a rail that hides some of it, shade, a bevel, paint of its own color.
All of it is then seen a little aside, and the board a little wider or narrower than it is. And a camera that reads its
picture row by row (a rolling shutter) while the board's motor or a breath shakes it displaces every row by a little: a
wave down the picture. Its first shape, which slants and stretches the picture, looks just as the tilt of a board does;
the others show in the many yard lines.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array

_DEGREES = 6  # of the wave: two of its periods while a picture is read
# Of the picture's width:
_ASIDE_SPREAD = 0.35 / 1920  # on validation tables a quarter of a pixel, and now and then much more
_WAVE_SPREAD = 0.15 / 1920  # before anything is known of it
_LEAST_SPREAD = 0.01 / 1920
_SLANT_RATIO = 2.0  # of the first shape to all others together: a slow wave is little but slant


@dataclass(frozen=True, slots=True)
class SystematicError:
    """Shapes of displacement along the sightings' normals, and how large each may be.

    The wave comes first, along x by Legendre degrees 1.., then along y; then each line that bounds the field.

    Attributes:
        shapes: displacement of each sighting by one pixel of each shape, shape (n, k).
        spread_px: standard deviations before seeing, shape (k,).
        width_px: of the picture.

    """

    shapes: Array
    spread_px: Array
    width_px: int

    @staticmethod
    def of(px: Array, normals: Array, bound: NDArray[np.intp], size_px: tuple[int, int]) -> SystematicError:
        """The shapes at sightings.

        Args:
            px: where they are seen, shape (n, 2).
            normals: unit directions along which they count, shape (n, 2).
            bound: number of the line each lies on if it bounds the field, else -1, shape (n,).
            size_px: the picture's width and height.

        """
        width, height = size_px
        rows = np.clip(2 * px[:, 1] / (height - 1) - 1, -1, 1)
        wave = np.polynomial.legendre.legvander(rows, _DEGREES)[:, 1:]
        aside = bound[:, None] == np.unique(bound[bound >= 0])
        shapes = np.column_stack([normals[:, :1] * wave, normals[:, 1:] * wave, aside])
        spread = [_WAVE_SPREAD] * (2 * _DEGREES) + [_ASIDE_SPREAD] * aside.shape[1]
        return SystematicError(shapes, np.array(spread) * width, width)

    @property
    def count(self) -> int:
        """How many shapes there are."""
        return len(self.spread_px)

    def as_seen(self, sizes_px: Array) -> SystematicError:
        """The disturbance with the wave's spread learned from its own sizes, shape (k,), found by a first fit.

        What the yard lines show of it along x, beyond the slant, bounds what can't be seen: the slant, and the wave
        along y, which few lines measure.
        """
        shown = _SLANT_RATIO * math.sqrt(float(np.square(sizes_px[1:_DEGREES]).sum())) + _LEAST_SPREAD * self.width_px
        spread = self.spread_px.copy()
        spread[0] = min(shown, _WAVE_SPREAD * self.width_px)
        spread[_DEGREES : 2 * _DEGREES] = min(shown, _WAVE_SPREAD * self.width_px)
        return dataclasses.replace(self, spread_px=spread)

    def rows_px(self, sizes_px: Array) -> float:
        """The largest displacement of a row by a wave of given sizes, shape (k,)."""
        wave = np.polynomial.legendre.legvander(np.linspace(-1, 1, 65), _DEGREES)[:, 1:]
        moved = wave @ sizes_px[: 2 * _DEGREES].reshape(2, _DEGREES).T
        return float(np.linalg.norm(moved, axis=1).max())
