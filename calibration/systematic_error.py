"""Systematic errors that displace many observations in one picture together, beside lens and pose.

A line that bounds the field may border on anything: a rail that hides part of it, shade, a bevel, paint of its own
color. The whole line is then seen a little aside. And a camera with a rolling shutter that is shaken while it reads the
picture row by row displaces every row a little: a wave down the picture. The wave's first shape slants and stretches
the picture just as a tilt of the board does; the others show in the many yard lines.

How large these errors are differs from table to table. So their spreads are learned in each picture, by what it shows
of their sizes (empirical Bayes; B. Efron, C. Morris, J. Am. Stat. Assoc. 68, 1973): most cameras stand still and most
lines are where their paint is, and what is allowed for the others would be most of the stated error.

Optics blur light, and a camera bends what they blurred by its tone curve and sharpens it: so bright paint looks wider
than it is by a few tenths of a pixel, or narrower. A line that is seen by both edges stays in its place; the inner
edges of all that bounds the field move inward together, as on a print that is a little shorter.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Indices


@dataclass(frozen=True, slots=True)
class SystematicErrorLimits:
    """Sizes of the systematic errors; spreads are standard deviations as shares of the picture's width."""

    degrees: int = 12  # legendre degrees of the rolling-shutter wave: four of its periods while a picture is read
    # of a line that bounds the field: a quarter of a pixel on validation tables, now and then much more
    line_spread: float = 0.35 / 1920
    # of the edges of paint that looks wider than it is: 0.0 to 0.3 px in pictures by renderers of three makers
    growth_spread: float = 0.2 / 1920
    wave_spread: float = 0.15 / 1920  # of the wave before anything is known of it
    min_wave_spread: float = 0.01 / 1920  # least spread of the wave after it was measured
    # ratio of the wave's first shape to all others together: a slow wave is little but slant, 1.7 times the others for
    # half a period while the picture is read, 3.6 for a quarter
    slant_ratio: float = 2.0
    # shares of a spread that are tried when it is learned, equally likely at first
    learned_shares: tuple[float, ...] = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)


_LIMITS: Final = SystematicErrorLimits()

LINE_END: Final = -2
"""Number of the end of a yard line, which lies on a sideline's inner edge, among the numbers of lines."""

_FIRST_LINE: Final = 2 * _LIMITS.degrees + 1  # of the shapes


@dataclass(frozen=True, slots=True)
class SystematicError:
    """Shapes of displacement along the observations' normals, and how large each may be.

    The wave comes first, along x by Legendre degrees 1.., then along y; then paint; then lines that bound the field.
    """

    shapes: Array  # displacement of each observation by one pixel of each shape, shape (n, k)
    spread_px: Array  # prior standard deviations, shape (k,)
    width_px: int

    @staticmethod
    def of(px: Array, normals: Array, boundary: Indices, size_px: tuple[int, int]) -> SystematicError:
        """Return the shapes at observations.

        Args:
            px: where they are seen, shape (n, 2).
            normals: unit directions along which they count, shape (n, 2).
            boundary: number of the line each lies on if it bounds the field; `LINE_END` at the end of a yard line, and
                -1 elsewhere, shape (n,).
        """
        width, height = size_px
        rows = np.clip(2 * px[:, 1] / (height - 1) - 1, -1, 1)
        wave = np.polynomial.legendre.legvander(rows, _LIMITS.degrees)[:, 1:]
        aside = boundary[:, None] == np.unique(boundary[boundary >= 0])
        inward = -(boundary != -1).astype(np.float64)  # the normals of what bounds the field point outward
        shapes = np.column_stack([normals[:, :1] * wave, normals[:, 1:] * wave, inward, aside])
        spread = [_LIMITS.wave_spread] * (_FIRST_LINE - 1) + [_LIMITS.growth_spread]
        spread += [_LIMITS.line_spread] * aside.shape[1]
        return SystematicError(shapes, np.array(spread) * width, width)

    @property
    def count(self) -> int:
        """Number of shapes."""
        return len(self.spread_px)

    @property
    def shift_px(self) -> float:
        """Standard deviation of how far all rows are displaced together, which no picture shows: as far as slanted."""
        return float(self.spread_px[0])

    @property
    def lines(self) -> int:
        """Number of the lines that bound the field, whose shapes are the last."""
        return self.count - _FIRST_LINE

    def with_learned_spread(self, sizes_px: Array, precision: Array) -> SystematicError:
        """Return it with spreads learned from the sizes in a first fit.

        What the yard lines show of the wave beyond the slants tells the spread of what they show badly, and bounds the
        slants, which they can't show. The lines that bound the field tell theirs.

        Args:
            sizes_px: in a fit with these spreads, shape (k,).
            precision: of the sizes by the observations alone, everything else in the fit left open, shape (k, k).
        """
        wave, lines = np.arange(_FIRST_LINE - 1), np.arange(_FIRST_LINE, self.count)
        bent = wave[wave % _LIMITS.degrees > 0]
        spread = self.spread_px.copy()
        for group, learned in zip((bent, lines), self._learned(sizes_px, precision, (bent, lines)), strict=True):
            spread[group] = learned
        shown = _LIMITS.slant_ratio * math.sqrt(len(bent) / 2) * spread[1] + _LIMITS.min_wave_spread * self.width_px
        spread[0] = spread[_LIMITS.degrees] = min(shown, _LIMITS.wave_spread * self.width_px)
        return dataclasses.replace(self, spread_px=spread)

    def _learned(self, sizes_px: Array, precision: Array, groups: tuple[Indices, ...]) -> list[float]:
        """Return the spread of each group of shapes: root mean square over what their sizes make likely, px."""
        pushes = precision @ sizes_px + sizes_px / self.spread_px**2  # by the observations, at sizes of zero
        logs, squares = [], []
        for shares in itertools.product(_LIMITS.learned_shares, repeat=len(groups)):
            spread = self.spread_px.copy()
            for group, share in zip(groups, shares, strict=True):
                spread[group] *= share
            found = spread[:, None] * precision * spread + np.eye(self.count)
            push = pushes * spread
            logs.append(0.5 * float(push @ np.linalg.solve(found, push)) - 0.5 * float(np.linalg.slogdet(found)[1]))
            squares.append([spread[group[0]] ** 2 if len(group) else 0.0 for group in groups])
        weight = np.exp(np.array(logs) - max(logs))
        mean: list[float] = np.sqrt(weight @ np.array(squares) / weight.sum()).tolist()
        return mean

    def with_spread_of(self, other: SystematicError) -> SystematicError:
        """Return it with the spreads that were learned for other observations of the same picture."""
        size = self.width_px / other.width_px
        lines = self.lines
        line = other.spread_px[-1:] if other.count > _FIRST_LINE else self.spread_px[-1:]
        spread = np.concatenate([other.spread_px[:_FIRST_LINE], np.repeat(line, lines)]) * size
        return dataclasses.replace(self, spread_px=spread)

    def rows_px(self, sizes_px: Array) -> float:
        """Return the largest displacement of a row by a wave of the given sizes, shape (k,)."""
        wave = np.polynomial.legendre.legvander(np.linspace(-1, 1, 65), _LIMITS.degrees)[:, 1:]
        moved = wave @ sizes_px[: 2 * _LIMITS.degrees].reshape(2, _LIMITS.degrees).T
        return float(np.linalg.norm(moved, axis=1).max())
