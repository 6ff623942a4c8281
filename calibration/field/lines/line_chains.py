"""Finds thin lines in a picture: chains of sub-pixel points along ridges and edges, without knowing the camera.

A painted line is a ridge of the picture, brighter or darker than what is on both sides of it; a sideline beside a
painted border is only an edge. Both are found by derivatives of a Gaussian at a few scales, thinned across the line,
and linked into chains. Chains are kept apart by the picture axis they follow, since a field photographed by its
operator lies roughly along the picture's rows.

Ridges by the eigenvalues of the Hessian: C. Steger, An unbiased detector of curvilinear structures, IEEE TPAMI 20(2),
1998.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image, Indices, Plane


@dataclass(frozen=True, slots=True)
class ChainLimits:
    """Thresholds of finding lines in a picture."""

    # standard deviations of the Gaussians, for paint 1.5 to 9 px wide
    ridge_scales_px: tuple[float, float, float] = (1.2, 2.2, 4.0)
    edge_scale_px: float = 1.5  # the same for edges
    min_response_ratio: float = 4.0  # responses below this many times the median response are texture and noise
    min_response: float = 0.6  # gray levels: below this even a clean picture shows only compression
    min_chain_px: int = 24  # least length of a chain
    long_px: int = 60  # chains this long decide whether the paint is bright or dark
    max_bend_px: float = 1.2  # a chain's points lie this near to its own parabola, or it is no line


_LIMITS: Final = ChainLimits()
_LEAST_UPRIGHT: Final = math.cos(math.radians(2 * 40))  # 40 degrees from the axis, as a cosine of twice the angle
_RIDGE: Final = 1e-9 * np.eye(3)  # keeps the parabola of a few points solvable


@dataclass(frozen=True, slots=True)
class Chains:
    """Chains of points along lines that follow one axis of the picture."""

    along: int  # 0 for chains that run along x (level), 1 along y (upright)
    points_px: Array  # x, y of all points, chain after chain, shape (n, 2)
    chain: NDArray[np.intp]  # which chain each point belongs to, rising from 0, shape (n,)
    is_ridge: NDArray[np.bool_]  # whether each chain is a ridge, else an edge; ridges come first; shape (chains,)
    strength: Array  # contrast of each chain, 1 being typical of the strong ones of its kind, shape (chains,)

    @property
    def lengths(self) -> NDArray[np.intp]:
        """Number of points in each chain, which is about its length in pixels."""
        return np.bincount(self.chain, minlength=len(self.is_ridge))

    def ridges(self) -> Chains:
        """Return the ridges alone."""
        count = int(np.count_nonzero(self.is_ridge))  # they come first
        points = self.chain < count
        kept = slice(None, count)
        return Chains(self.along, self.points_px[points], self.chain[points], self.is_ridge[kept], self.strength[kept])


def find_chains(image: Image | Plane) -> tuple[Chains, Chains]:
    """Find the chains in a picture, level ones first, upright ones second."""
    gray = clearest_channel(image)
    edge, edge_turn = _edges(gray)
    edges = [_chains_along(along, edge, edge_turn) for along in (0, 1)]
    # Beside a bright line run two fainter dark ones that are no paint, and the other way about.
    bright, dark = ([_chains_along(along, *ridge) for along in (0, 1)] for ridge in _ridges(gray))
    ridges = max(bright, dark, key=_distinctness)
    level, upright = (_joined(along, ridges[along], edges[along]) for along in (0, 1))
    return level, upright


def _distinctness(families: list[list[Array]]) -> float:
    """Return the total response along the long chains of both families."""
    return sum(float(chain[:, 2].sum()) for chains in families for chain in chains if len(chain) >= _LIMITS.long_px)


def clearest_channel(image: Image | Plane) -> Plane:
    """Return the gray, blue, green or red channel with the clearest thin lines, shape (height, width), 0..255."""
    if image.ndim == 2:
        return np.asarray(image, dtype=np.float32)
    planes = [cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), *cv2.split(image)]
    floats = [np.asarray(plane, dtype=np.float32) for plane in planes]
    return max(floats, key=_line_contrast)


def levels_at(plane: Plane | Image, places_px: Array) -> Array:
    """Return a picture's values at places, shape (n, m, 2): (n, m), or (n, m, 3) of one in color.

    Outside the picture they are those of its border.
    """
    at = np.clip(places_px, -30000, 30000).astype(np.float32)
    values = cv2.remap(plane, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(values, dtype=np.float64)


def smoothed(values: Array, sigma: float) -> Array:
    """Return values along a line, shape (n,), smoothed by a Gaussian, standard deviation in samples."""
    column = np.ascontiguousarray(values, dtype=np.float64)[:, None]
    return np.asarray(cv2.GaussianBlur(column, (1, 0), sigma, sigmaY=sigma), dtype=np.float64)[:, 0]


def find_peaks(values: Array, least: float = -math.inf) -> tuple[Indices, Array]:
    """Return the samples at which values, shape (n,), have a peak above the least, and how far beside each it is."""
    inner = values[1:-1]
    peak = 1 + np.flatnonzero((inner >= values[:-2]) & (inner > values[2:]) & (inner > least))
    before, here, after = values[peak - 1], values[peak], values[peak + 1]
    return peak, np.clip(0.5 * (before - after) / np.minimum(before - 2 * here + after, -1e-9), -0.5, 0.5)


def _line_contrast(plane: Plane) -> float:
    """Return the contrast of thin structure against noise: the upper tail of a ridge response over its median."""
    half = cv2.resize(plane, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    response = np.abs(cv2.Laplacian(cv2.GaussianBlur(half, (0, 0), 1.0), cv2.CV_32F))
    middle, strong = np.percentile(response, (50, 96))
    return float(strong / (middle + 0.5))


def _ridges(gray: Plane) -> tuple[tuple[Plane, Plane], tuple[Plane, Plane]]:
    """Find bright ridges, then dark ones: the strongest response over the scales, and how upright they are.

    Lines are upright by the cosine of twice their normal's angle: 1 where they run along y, -1 along x.
    """
    best = {sign: np.zeros_like(gray) for sign in (-1, 1)}
    upright = {sign: np.zeros_like(gray) for sign in (-1, 1)}
    for scale in _LIMITS.ridge_scales_px:
        smooth, unit = cv2.GaussianBlur(gray, (0, 0), scale), scale**1.5
        # Beside a mere step the picture bends too, but there it also slopes, which it does not on a line.
        orders = (((2, 0), 0.25), ((0, 2), 0.25), ((1, 1), 0.5), ((1, 0), 0.125 / scale), ((0, 1), 0.125 / scale))
        xx, yy, xy, by_x, by_y = (
            cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3, scale=share * unit) for order, share in orders
        )
        mean, half, slope = cv2.add(xx, yy), cv2.subtract(xx, yy), cv2.magnitude(by_x, by_y)
        apart = cv2.magnitude(half, xy)
        turn = half / np.maximum(apart, np.float32(1e-6))
        for sign, across in ((-1, -mean), (1, mean)):  # the second derivative across dark paint is positive
            # The eigenvalue across the line less the curvature along it: blobs and flat ground give nothing.
            response = cv2.subtract(cv2.min(apart, across), slope)
            np.copyto(upright[sign], turn, where=response > best[sign])
            cv2.max(response, best[sign], dst=best[sign])
    return (best[-1], -upright[-1]), (best[1], upright[1])


def _edges(gray: Plane) -> tuple[Plane, Plane]:
    """Return the gradient's magnitude, and how upright edges are, as `_ridges` does."""
    smooth = cv2.GaussianBlur(gray, (0, 0), _LIMITS.edge_scale_px)
    x, y = (cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3, scale=0.125) for order in ((1, 0), (0, 1)))
    strength = np.asarray(cv2.magnitude(x, y), dtype=np.float32)
    turn: Plane = (x * x - y * y) / np.maximum(strength * strength, np.float32(1e-12))
    return strength, turn


def _chains_along(along: int, response: Plane, upright: Plane) -> list[Array]:
    """Link chains that run along one picture axis: each an array of x, y and response, shape (n, 3)."""
    if along == 0:  # work on the transposed picture, where level lines are upright
        turned = _chains_along(1, np.ascontiguousarray(response.T), -np.ascontiguousarray(upright.T))
        return [chain[:, (1, 0, 2)] for chain in turned]
    floor = max(_LIMITS.min_response_ratio * float(np.median(response[::4, ::4])), _LIMITS.min_response)
    before, here, after = response[:, :-2], response[:, 1:-1], response[:, 2:]
    peak = (here > floor) & (here >= before) & (here > after) & (upright[:, 1:-1] > _LEAST_UPRIGHT)
    _, labels = cv2.connectedComponents(peak.view(np.uint8), connectivity=8)
    flat = np.flatnonzero(peak)
    label = labels.ravel()[flat]
    long = np.bincount(label)[label] >= _LIMITS.min_chain_px
    flat, label = flat[long], label[long]
    order = np.argsort(label, kind="stable")  # rows stay in order within a label
    rows, columns = np.divmod(flat[order], peak.shape[1])
    below, at, above = (plane[rows, columns].astype(np.float64) for plane in (before, here, after))
    shift = 0.5 * (below - above) / np.minimum(below - 2 * at + above, -1e-6)
    points = np.stack([columns + 1 + np.clip(shift, -0.5, 0.5), rows, at], axis=1)
    chains = np.split(points, np.flatnonzero(np.diff(label[order])) + 1) if len(points) else []
    return [chain for part in chains if (chain := _straightened(part)) is not None]


def _straightened(chain: Array) -> Array | None:
    """Return the points of an upright chain that lie on its own parabola, or None when most do not."""
    for _ in range(2):
        x, y = chain[:, 0], chain[:, 1]
        y = (y - y.mean()) / max(float(y[-1] - y[0]) / 2, 1.0)
        shapes = np.stack([np.ones_like(y), y, y * y], axis=1)
        near = np.abs(x - shapes @ np.linalg.solve(shapes.T @ shapes + _RIDGE, shapes.T @ x)) < _LIMITS.max_bend_px
        count = int(np.count_nonzero(near))
        if count < max(_LIMITS.min_chain_px, 0.6 * len(chain)):
            return None
        if count == len(chain):
            break
        chain = chain[near]
    return chain


def _joined(along: int, ridges: list[Array], edges: list[Array]) -> Chains:
    chains = [*ridges, *edges]
    points = np.concatenate(chains)[:, :2] if chains else np.empty((0, 2))
    index = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
    strength = np.concatenate([_relative_strength(ridges), _relative_strength(edges)])
    return Chains(along, points, index, np.arange(len(chains)) < len(ridges), strength)


def _relative_strength(chains: list[Array]) -> Array:
    """Return the median responses of chains relative to that of the strongest third of all points."""
    if not chains:
        return np.empty(0)
    strength = np.array([np.median(chain[:, 2]) for chain in chains])
    lengths = np.array([len(chain) for chain in chains])
    order = np.argsort(strength)
    typical = strength[order][np.searchsorted(np.cumsum(lengths[order]), 0.67 * lengths.sum())]
    relative: Array = strength / typical
    return relative
