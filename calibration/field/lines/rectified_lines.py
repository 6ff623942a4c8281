"""Reads where a print's yard lines end, before the camera is known, from the picture rectified by its two pencils.

Along the ladder of yard lines and across it the two pencils make a grid, so the picture can be sampled as a regular
one. Yard lines stand out from the ground between them from sideline to sideline and nowhere else: not on a border of
any width or color, not on the board's margin. So the inner edges of the sidelines are where their contrast ends,
however the sidelines themselves are painted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.field.lines.line_chains import find_peaks, levels_at, smoothed
from downfield.calibration.field.lines.matching import NO_RUNG, FieldLines
from downfield.core.arrays import Array, Plane


@dataclass(frozen=True, slots=True)
class RectifiedLimits:
    """Sizes and thresholds of reading the rectified picture."""

    # places about a rung where paint is searched for, in steps of the ladder
    center_steps: tuple[float, ...] = (-0.04, -0.02, 0.0, 0.02, 0.04)
    # places beside a rung where the ground is sampled, clear of the one-yard marks, in steps of the ladder
    ground_steps: tuple[float, float] = (-0.13, 0.13)
    # places between rungs where a sideline's edge is searched for, in steps of the ladder
    between_steps: tuple[float, ...] = (0.3, 0.5, 0.7)
    # places about a rung where the width of the yard lines is measured, in steps of the ladder
    profile_steps: tuple[float, ...] = tuple(i / 200 for i in range(-26, 27))
    min_contrast: float = 0.5  # contrast from which a yard line is there, as a share of its typical contrast
    # percentile of the contrast along a line, and among lines, that is typical: half of a line may be covered, or
    # outside of the field, and half of the lines may be none
    typical_percentile: float = 75.0
    # a rung with a smaller share of the typical contrast is no yard line, or in an end zone of the paint's color
    min_rung_contrast: float = 0.4
    seen_inside: float = 0.75  # probability that a yard line is seen at a place between the sidelines
    seen_outside: float = 0.12  # probability that something looks like one elsewhere
    max_edge_distance_px: float = 5.0  # largest distance of a sideline's edge from where the contrast ends
    min_edge_share: float = 0.12  # least contrast of an edge as a share of the clearest one there: less is noise
    min_border_px: float = 1.0  # least width of a border
    max_border_px: float = 24.0  # largest width of a border
    min_border_edge_share: float = 0.3  # least contrast of a border's outer edge, by that of its clearer edge
    min_contrast_levels: float = 3.0  # least contrast of yard lines, gray levels
    smooth_px: float = 1.0  # standard deviation of the Gaussian against noise


_LIMITS: Final = RectifiedLimits()


@dataclass(frozen=True, slots=True)
class YardLineEnds:
    """Where the yard lines end."""

    crossing_px: tuple[float, float]  # of the inner edges of both sidelines in the other pencil, low and high, px
    border: tuple[float, float]  # widths of borders beyond them, of their distance; 0 where no outer edge is seen
    width_steps: float  # width of the yard lines at half their contrast, of the ladder's step
    paint: float  # contrast of the yard lines against the ground, gray levels, signed


def find_yard_line_ends(plane: Plane, lines: FieldLines) -> YardLineEnds | None:
    """Find where the yard lines end; None when they do not stand out, or only at one end."""
    ladder = lines.ladder
    rungs = np.unique(ladder.rung[ladder.rung != NO_RUNG]).astype(np.float64)
    size = plane.shape[0] if lines.across.along == 1 else plane.shape[1]
    rows = np.arange(-0.52 * size, 0.52 * size)

    def levels(offsets: tuple[float, ...], at: Array) -> Array:
        """Sample beside rungs, shape (offsets, rows, rungs)."""
        steps = at + np.array(offsets)[:, None]
        sampled = _sampled(plane, lines, ladder.crossing_px(steps.ravel()), rows)
        return sampled.reshape(len(rows), len(offsets), len(at)).transpose(1, 0, 2)

    center, ground = levels(_LIMITS.center_steps, rungs), levels(_LIMITS.ground_steps, rungs).mean(axis=0)
    middle = slice(len(rows) * 2 // 5, len(rows) * 3 // 5)
    sign = float(np.sign(np.median((center[len(center) // 2] - ground)[middle])))
    contrast = (sign * (center - ground)).max(axis=0)
    each = np.percentile(contrast, _LIMITS.typical_percentile, axis=0)
    typical = float(np.percentile(each, _LIMITS.typical_percentile))
    if typical < _LIMITS.min_contrast_levels:
        return None
    clear = each > _LIMITS.min_rung_contrast * typical
    seen = (contrast > _LIMITS.min_contrast * each)[:, clear].mean(axis=1)
    ends = _likeliest_run(seen)
    if ends is None:
        return None
    turf = levels(_LIMITS.between_steps, rungs[:-1])
    slope = np.abs(np.gradient(smoothed(np.median(turf, axis=(0, 2)), _LIMITS.smooth_px)))
    edges = np.add(*find_peaks(slope))
    low, high = (_nearest_edge(edges, slope, end) for end in ends)
    border = tuple(_next_edge(edges, slope, edge, toward) / (high - low) for edge, toward in ((low, -1), (high, 1)))
    profile = sign * np.median(levels(_LIMITS.profile_steps, rungs)[:, slice(*ends)], axis=1)
    crossing = (low + float(rows[0]), high + float(rows[0]))
    return YardLineEnds(crossing, (border[0], border[1]), _width(profile), sign * typical)


def _width(profiles: Array) -> float:
    """Return the median width at half height of ridges, shape (offsets, n), of the ladder's step."""
    ground = (profiles[0] + profiles[-1]) / 2
    above = profiles > (profiles.max(axis=0) + ground) / 2
    return float(np.median(above.sum(axis=0))) * (_LIMITS.profile_steps[1] - _LIMITS.profile_steps[0])


def _sampled(plane: Plane, lines: FieldLines, crossing_px: Array, rows: Array) -> Array:
    """Sample where lines of `across`, shape (n,), meet lines of `along`, shape (m,); returns (m, n)."""
    across, along = lines.across, lines.along
    lean = across.lean + across.fan * crossing_px
    slope = (along.lean + along.fan * rows)[:, None]
    first = (crossing_px + lean * rows[:, None]) / (1 - lean * slope)
    second = rows[:, None] + slope * first
    straight = np.stack([first, second] if across.along == 1 else [second, first], axis=-1)
    px = lines.distortion.distort(straight.reshape(-1, 2)).reshape(straight.shape)
    return levels_at(plane, px)


def _likeliest_run(seen: Array) -> tuple[int, int] | None:
    """Return the ends of the stretch where yard lines are, by the share of them that are seen at each place.

    Numbers, circles about them, figures and an arm hide any part of the lines, and what lies beyond them shows some:
    the likeliest stretch is the one with the largest sum of log likelihood ratios. None when it reaches the edge of
    the picture.
    """
    inside, outside = _LIMITS.seen_inside, _LIMITS.seen_outside
    ratio = seen * math.log(inside / outside) + (1 - seen) * math.log((1 - inside) / (1 - outside))
    total = np.concatenate([[0.0], np.cumsum(ratio)])
    lowest = np.minimum.accumulate(total)
    high = int((total - lowest).argmax())
    low = int(total[: high + 1].argmin())
    return None if low == 0 or high == len(seen) else (low, high)


def _nearest_edge(edges: Array, slope: Array, near: int) -> float:
    """Return the edge nearest to a place: a border's outer edge may be the clearer one."""
    close = edges[np.abs(edges - near) <= _LIMITS.max_edge_distance_px]
    height = slope[np.rint(close).astype(int)]
    close = close[height > _LIMITS.min_edge_share * height.max(initial=0.0)]
    return float(close[np.abs(close - near).argmin()]) if len(close) else float(near)


def _next_edge(edges: Array, slope: Array, edge: float, toward: int) -> float:
    """Return how far beyond an edge the next clear one is, px; 0 when there is none near."""
    off = toward * (edges - edge)
    height = slope[np.rint(edges).astype(int)]
    near = (off > _LIMITS.min_border_px) & (off < _LIMITS.max_border_px)
    clear = near & (height > _LIMITS.min_border_edge_share * height[near | (off == 0)].max(initial=0.0))
    return float(off[clear].min(initial=np.inf)) if clear.any() else 0.0
