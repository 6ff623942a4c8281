"""Straightens chains by undoing the lens's distortion, and fits each family of lines as a pencil through one point.

Straight lines stay straight in a lens without distortion (the plumb-line principle: D. C. Brown, Close-range camera
calibration, 1971), so the distortion is the one whose removal leaves the chains straightest. It is described by the
one-term division model (A. Fitzgibbon, CVPR 2001), which is undone in closed form; the full lens is fitted later.

Lines that are parallel on the board meet in one point of the straightened picture. Along a transversal through the
picture's middle, such a pencil's slopes are a linear function of where its lines cross. That function is fitted, so
the vanishing point may be at infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.field.lines.line_chains import Chains
from downfield.core.arrays import Array

_DISTORTIONS: Final = np.linspace(-0.64, 0.16, 81)  # 16% pincushion at the corner to a fisheye 130 degrees across
_COARSE: Final = 4  # of these every fourth is tried first


_MAX_STRAIGHT_RMS_PX: Final = 0.6  # rms of a chain about its line that is still measurement noise
_PARALLEL_PX: Final = 2.5  # chains whose crossings differ by less belong to one line
_MAX_SLOPE_DIFFERENCE: Final = 0.02  # Radians: a chain leaning this far from the pencil belongs to something else
_MIN_LINE_PX: Final = 60  # least length of the chains of a line


@dataclass(frozen=True, slots=True)
class DivisionModel:
    """A one-term division model about the picture's middle."""

    size_px: tuple[int, int]
    amount: float  # how far a corner lies inside its straight place, as a share of its radius, negative for barrel

    @property
    def center_px(self) -> Array:
        """The middle of the picture."""
        return (np.array(self.size_px) - 1) / 2

    def undistort(self, px: Array) -> Array:
        """Undistort pixels, shape (n, 2), to offsets from the middle, px, same shape."""
        off = np.asarray(px) - self.center_px
        radius2 = (off**2).sum(axis=1) / (self.center_px**2).sum()
        straight: Array = off / (1 + self.amount * radius2)[:, None]
        return straight

    def distort(self, straight_px: Array) -> Array:
        """Invert `undistort`."""
        radius2 = (straight_px**2).sum(axis=1) / (self.center_px**2).sum()
        root = np.sqrt(np.maximum(1 - 4 * self.amount * radius2, 0))
        bent: Array = straight_px * (2 / (1 + root))[:, None] + self.center_px
        return bent


@dataclass(frozen=True, slots=True)
class Pencil:
    """Lines of one family in the straightened picture, about its middle.

    A line crosses the transversal (the picture axis across the family, through the middle) at c and runs along the
    other axis at a slope of ``lean + fan * c``.
    """

    along: int  # picture axis the lines follow
    lean: float  # lean, fan: the slope law; fan per pixel
    fan: float
    crossing_px: Array  # where each line crosses the transversal, rising, shape (n,)
    support_px: Array  # length of the chains that make each line, shape (n,)
    is_ridge: NDArray[np.bool_]  # whether each line is mostly ridge

    def homogeneous(self, crossing_px: Array) -> Array:
        """Return the lines as homogeneous vectors, shape (n, 3)."""
        slope = self.lean + self.fan * crossing_px
        one = np.ones_like(crossing_px)
        return np.stack([slope, -one, crossing_px] if self.along == 0 else [-one, slope, crossing_px], axis=1)


def estimate_distortion(families: tuple[Chains, ...], size_px: tuple[int, int]) -> DivisionModel:
    """Estimate the distortion whose removal leaves the ridge chains straightest."""
    ridges = [chains.ridges() for chains in families]
    costs: dict[int, float] = {}

    def least(trials: range) -> int:
        """Return the trial of `_DISTORTIONS` with the least cost."""
        for i in trials:
            if i not in costs and 0 <= i < len(_DISTORTIONS):
                distortion = DivisionModel(size_px, float(_DISTORTIONS[i]))
                costs[i] = sum(_crookedness(chains, distortion) for chains in ridges)
        return min(costs, key=lambda i: costs[i])

    coarse = least(range(0, len(_DISTORTIONS), _COARSE))
    best = least(range(coarse - _COARSE + 1, coarse + _COARSE))
    if not 0 < best < len(_DISTORTIONS) - 1:
        return DivisionModel(size_px, float(_DISTORTIONS[best]))
    low, mid, high = (costs[i] for i in (best - 1, best, best + 1))
    shift = 0.5 * (low - high) / max(low - 2 * mid + high, 1e-12)
    return DivisionModel(size_px, float(_DISTORTIONS[best] + shift * (_DISTORTIONS[1] - _DISTORTIONS[0])))


def fit_pencil(chains: Chains, distortion: DivisionModel, *, ridges_only: bool = False) -> Pencil:
    """Fit the lines of one family; the pencil is empty when there are none."""
    mean_along, mean_across, slope, _, length = _chain_fit(chains, distortion)
    crossing = mean_across - slope * mean_along
    use = chains.is_ridge if ridges_only else np.ones(len(chains.is_ridge), dtype=bool)
    if use.sum() < 2:
        return Pencil(chains.along, 0.0, 0.0, np.empty(0), np.empty(0), np.empty(0, dtype=bool))
    lean, fan = _slope_law(crossing[use], slope[use], length[use])
    member = use & (np.abs(slope - lean - fan * crossing) < _MAX_SLOPE_DIFFERENCE + 2.0 / length)
    # With the slope known, every chain crosses where its mean point says.
    straight = distortion.undistort(chains.points_px)
    across = _mean(straight[:, 1 - chains.along], chains)
    along = _mean(straight[:, chains.along], chains)
    crossing = (across - lean * along) / (1 + fan * along)
    return _grouped(chains, (lean, fan), member, crossing, length)


def _crookedness(chains: Chains, distortion: DivisionModel) -> float:
    """Return the total misfit of chains about their own lines, robust to chains that are no lines."""
    *_, rms, length = _chain_fit(chains, distortion)
    return float((length * np.log1p((rms / _MAX_STRAIGHT_RMS_PX) ** 2)).sum())


def _mean(values: Array, chains: Chains) -> Array:
    count = len(chains.is_ridge)
    return np.bincount(chains.chain, values, count) / np.maximum(np.bincount(chains.chain, minlength=count), 1)


def _chain_fit(chains: Chains, distortion: DivisionModel) -> tuple[Array, Array, Array, Array, Array]:
    """Fit each chain: mean along, mean across, slope, rms across, number of points."""
    straight = distortion.undistort(chains.points_px)
    along, across = straight[:, chains.along], straight[:, 1 - chains.along]
    mean_along, mean_across = _mean(along, chains), _mean(across, chains)
    off_along, off_across = along - mean_along[chains.chain], across - mean_across[chains.chain]
    spread, mixed, rough = (_mean(product, chains) for product in (off_along**2, off_along * off_across, off_across**2))
    slope = mixed / np.maximum(spread, 1e-9)
    rms = np.sqrt(np.maximum(rough - slope * mixed, 0))
    return mean_along, mean_across, slope, rms, chains.lengths.astype(np.float64)


def _slope_law(crossing: Array, slope: Array, length: Array) -> tuple[float, float]:
    """Fit the slope as a linear function of the crossing: median start, then reweighted least squares."""
    weight, order = length**1.5, np.argsort(slope)
    cumulated = np.cumsum(weight[order])
    lean, fan = float(slope[order][np.searchsorted(cumulated, cumulated[-1] / 2)]), 0.0
    for width in (0.15, 0.08, 0.04, 0.02, 0.01, 0.01):
        off = slope - lean - fan * crossing
        keep = weight / (1 + (off / width) ** 4)
        rows = np.stack([np.ones_like(crossing), crossing], axis=1)
        normal = rows.T @ (keep[:, None] * rows) + np.diag([1e-9, 1e-6])
        lean, fan = np.linalg.solve(normal, rows.T @ (keep * slope))
    return float(lean), float(fan)


def _grouped(
    chains: Chains, law: tuple[float, float], member: NDArray[np.bool_], crossing: Array, length: Array
) -> Pencil:
    """Group chains with the same crossing into one line; ridges and edges apart."""
    found: list[tuple[float, float, bool]] = []
    for ridge in (True, False):
        chosen = np.flatnonzero(member & (chains.is_ridge == ridge))
        chosen = chosen[np.argsort(crossing[chosen])]
        breaks = np.flatnonzero(np.diff(crossing[chosen]) > _PARALLEL_PX) + 1
        for group in np.split(chosen, breaks):
            support = float(length[group].sum())
            if support >= _MIN_LINE_PX:
                found.append((float((crossing[group] * length[group]).sum() / support), support, ridge))
    found.sort()
    table = np.array([line[:2] for line in found]).reshape(-1, 2)
    return Pencil(chains.along, *law, table[:, 0], table[:, 1], np.array([line[2] for line in found], dtype=bool))
