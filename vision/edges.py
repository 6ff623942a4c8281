"""Finds the edges of bases' tops: the places where the color changes fast across a side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Bools, Image
from downfield.core.footprint import Footprint, outlines_of


@dataclass(frozen=True, slots=True)
class EdgeLimits:
    """Sampling and thresholds of finding edges."""

    segments: int = 6  # Segments of a side
    lines: int = 3  # Sampled lines of a segment
    reach_mm: float = 2.6  # Distance to both sides of a predicted side over which the image is sampled
    step_mm: float = 0.2  # Distance between samples
    corner_clear_mm: float = 0.8  # Part of a side's end, beyond its rounded corner, that is left out
    blur_mm: float = 0.4  # Width of the slope filter: about the image's own blur at 1.5 px/mm
    candidates: int = 3  # Candidates per segment
    min_snr: float = 4.0  # Signal-to-noise ratio below which there is no edge
    clear_snr: float = 10.0  # An edge is clear when its signal-to-noise ratio is this much higher
    min_sigma_mm: float = 0.25  # Least error of a segment's edge, whatever the contrast
    inner_mm: float = 1.4  # Further inside a side than this lies the base's top, or the figure on it
    inside_mm: float = 0.9  # Distance inside an edge at which its blur has ended
    min_color_spread: float = 4.0  # Least spread of the base's color, gray levels
    similar_spreads: float = 2.5  # Spreads by which the color just inside an edge may differ from the base's
    lower_edge_trust: float = 0.5  # Trust in lower edges relative to upper ones: the color of the side is not known
    min_noise: float = 0.4  # Least noise, gray levels: a rendered image has none of its own
    # Samples nearer than a pixel share their noise: it is this many times what third differences suggest
    noise_correlation: float = 3.0
    lower_edge_clear_mm: float = 0.7  # A lower edge nearer than this to the upper one cannot be separated from it


_LIMITS: Final = EdgeLimits()

_OFFSETS: Final[Array] = np.arange(
    -_LIMITS.reach_mm, _LIMITS.reach_mm + _LIMITS.step_mm / 2, _LIMITS.step_mm, dtype=np.float64
)
_REACH: Final = round(3 * _LIMITS.blur_mm / _LIMITS.step_mm)  # samples
_KERNEL_AT: Final[Array] = np.arange(-_REACH, _REACH + 1, dtype=np.float64) * _LIMITS.step_mm
_KERNEL: Final[Array] = -_KERNEL_AT * np.exp(-0.5 * (_KERNEL_AT / _LIMITS.blur_mm) ** 2)
_SLOPE: Final[Array] = _KERNEL[::-1].copy()  # OpenCV correlates instead of convolving
_ONE: Final[Array] = np.ones(1)
_NOISE_SCALE: Final = float(np.linalg.norm(_KERNEL)) * np.sqrt(3.0) * _LIMITS.noise_correlation
_EVERY_OTHER: Final = np.arange(3 * len(_OFFSETS)).reshape(-1, 3)[::2].ravel()  # sample's three colors, one by one
_INSIDE: Final = slice(_REACH, len(_OFFSETS) - _REACH)
_SQUARE: Final[Array] = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
_SIDES: Final[Array] = np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]])  # front, right, rear, left
Profiles = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EdgeCandidates:
    """Candidates for the edges of n bases' tops; each segment has two rows, for its upper and its lower edge."""

    offset_mm: Array  # outward from the predicted side, shape (n, rows, k)
    strength: Array  # strength of the change of color, 0..1 (0 without a candidate), shape (n, rows, k)
    sigma_mm: Array  # standard deviation of the offset, shape (n, rows, k)
    slopes: Array  # change of an edge's offset as the base moves ahead, to its left, or turns; shape (n, rows, 3)


def _line_coefficients(outlines: Array) -> Array:
    """Return the coefficients of `_basis_lines` for bases, shape (n, 4)."""
    coefficients = np.ones((len(outlines), 4))
    half = coefficients[:, 1:3] = outlines[:, 3:5] / 2
    coefficients[:, 3] = np.minimum(outlines[:, 5] + _LIMITS.corner_clear_mm, 0.4 * half.min(axis=1))
    return coefficients


@cache
def _basis_lines() -> tuple[Array, Array]:
    """Return the lines across the sides of a base's top along which the image is sampled, in the base's own frame.

    They depend linearly on 1, half the base's length and width, and the part left out at its corners. The sizes of
    bases are estimated anew in every frame, so the lines are kept as a basis with these four coefficients.

    Returns:
        Places ahead and to the left, shape (4, lines of a segment, segments, samples, 2); slopes of a segment's offset
        for the base's movement, shape (4, segments, 3).
    """
    origin = _side_lines(np.zeros(2), 0.0)
    units = [*(_side_lines(half, 0.0) for half in np.eye(2)), _side_lines(np.zeros(2), 1.0)]
    places, slopes = (np.stack([origin[k], *(unit[k] - origin[k] for unit in units)]) for k in range(2))
    return places, slopes


def _side_lines(half: Array, clear: float) -> tuple[Array, Array]:
    places, slopes = [], []
    for normal in _SIDES:
        along = np.array([-normal[1], normal[0]])
        out, reach = float(np.abs(normal) @ half), float(np.abs(along) @ half) - clear
        count = _LIMITS.segments * _LIMITS.lines
        at = (np.arange(count) + 0.5) / count * 2 * reach - reach
        feet = out * normal + at[:, None] * along
        places.append(
            (feet[:, None] + _OFFSETS[:, None] * normal).reshape(_LIMITS.segments, _LIMITS.lines, len(_OFFSETS), 2)
        )
        x, y = feet.reshape(_LIMITS.segments, _LIMITS.lines, 2).mean(axis=1).T
        slopes.append(np.stack([np.full_like(x, normal[0]), np.full_like(x, normal[1]), x * normal[1] - y * normal[0]]))
    ordered = np.ascontiguousarray(np.concatenate(places).transpose(1, 0, 2, 3))
    return ordered, np.concatenate(slopes, axis=1).T


def find_edges(image: Image, camera: Camera, bases: Sequence[Footprint]) -> EdgeCandidates:
    """Find the candidates for the edges of bases' tops.

    Args:
        camera: the camera when the image was taken.
        bases: footprints where the search starts.
    """
    outlines, count = outlines_of(bases), len(bases)
    height_mm = np.array([at.size.height_mm for at in bases])
    coefficients = _line_coefficients(outlines)
    slopes = (coefficients @ _basis_lines()[1].reshape(4, -1)).reshape(count, -1, 3)
    profiles = _sample(image, camera, outlines, height_mm, coefficients)
    slope = cv2.sepFilter2D(profiles, cv2.CV_32F, _SLOPE, _ONE)
    blue, green, red = slope[:, _INSIDE].transpose(2, 0, 1)
    offset, height = _peaks(np.sqrt(blue * blue + green * green + red * red))
    snr = height.reshape(count, -1) / _noise_levels(profiles, count)[:, None]
    snr = snr.reshape(height.shape)
    strength = 1 - np.exp(-np.maximum(snr - _LIMITS.min_snr, 0.0) / _LIMITS.clear_snr)
    sigma = np.hypot(_LIMITS.min_sigma_mm, 1.2 * _LIMITS.blur_mm / np.maximum(snr, 1.0))
    below = np.einsum("nsi,ni->ns", slopes[:, :, :2], _lower_edge_mm(camera, outlines, height_mm)).reshape(-1, 1)
    upper = strength * _base_color_inside(profiles, offset, count)
    lower = strength * (_LIMITS.lower_edge_trust * (below > _LIMITS.lower_edge_clear_mm))
    shape = count, -1, _LIMITS.candidates
    return EdgeCandidates(
        np.stack([offset, offset - below], axis=1).reshape(shape),
        np.stack([upper, lower], axis=1).reshape(shape),
        np.repeat(sigma, 2, axis=0).reshape(shape),
        np.repeat(slopes.reshape(-1, 3), 2, axis=0).reshape(count, -1, 3),
    )


def _to_board_plane(outlines: Array, height_mm: Array, squares_mm: Array) -> Array:
    """Convert points of bases' own frames, shape (n, 4, 2), to the board frame at their tops, shape (n, 4, 3)."""
    x, y, heading = outlines[:, :3].T
    turn = np.radians(heading)[:, None]
    cos, sin = np.cos(turn), np.sin(turn)
    ahead, left = squares_mm[..., 0], squares_mm[..., 1]
    board = np.empty((*ahead.shape, 3))
    board[..., 0] = ahead * cos - left * sin + x[:, None]
    board[..., 1] = ahead * sin + left * cos + y[:, None]
    board[..., 2] = height_mm[:, None]
    return board


def _sample(image: Image, camera: Camera, outlines: Array, height_mm: Array, coefficients: Array) -> Profiles:
    """Return colors along lines, the mean over those of a segment, (n * segments, samples, 3), 0 outside the image.

    By the outlines of n bases, the heights of their tops, mm, (n,), and their `_line_coefficients`.
    """
    reach_mm = outlines[:, 3:5].max(axis=1) / 2 + _LIMITS.reach_mm
    squares_mm = _SQUARE * reach_mm[:, None, None]  # around each base in its own frame, shape (n, 4, 2)
    squares_px = camera.to_pixels(_to_board_plane(outlines, height_mm, squares_mm))
    # Only the part of the image around each base is resampled: its left, top, right and bottom ends.
    inside: Bools = np.asarray(np.isfinite(squares_px).all(axis=(1, 2)))
    known_px = np.where(inside[:, None, None], squares_px, 0.0)
    low = np.maximum(np.floor(known_px.min(axis=1)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(known_px.max(axis=1)).astype(int) + 2, image.shape[1::-1])
    inside &= (high - low >= 2).all(axis=1)
    own = squares_mm.astype(np.float32)
    seen = (known_px - low[:, None]).astype(np.float32)
    basis = _basis_lines()[0]
    lines = (coefficients @ basis.reshape(4, -1)).astype(np.float32).reshape(len(outlines), 1, -1, 2)
    out = np.zeros((len(outlines), *basis.shape[1:4], 3), dtype=np.uint8)
    for row in np.flatnonzero(inside).tolist():
        (left, top), (right, bottom) = low[row].tolist(), high[row].tolist()
        where = cv2.perspectiveTransform(lines[row], cv2.getPerspectiveTransform(own[row], seen[row]))
        where = where.reshape(_LIMITS.lines, -1, 2)  # as an image of few rows, which is fastest
        part = image[top:bottom, left:right]
        # One map of both x and y; OpenCV's types do not allow the second map to be None.
        colors = cv2.remap(part, where, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
        out[row] = colors.reshape(out.shape[1:])
    total = np.add(out[:, 0], out[:, 1], dtype=np.uint16)
    for line in range(2, _LIMITS.lines):
        total += out[:, line]
    mean: Profiles = np.divide(total, _LIMITS.lines, dtype=np.float32)
    return mean.reshape(-1, *mean.shape[2:])


def _noise_levels(profiles: Profiles, count: int) -> Array:
    """Return the noise of the slope filter's response, one sigma, robustly from third differences; shape (n,)."""
    bend = profiles.reshape(len(profiles), -1).take(_EVERY_OTHER, axis=1)
    for _ in range(3):
        bend = bend[:, 3:] - bend[:, :-3]
    sigma = _medians(np.abs(bend).reshape(count, -1)) / 0.6745 / np.sqrt(20.0)
    noise: Array = np.maximum(sigma, _LIMITS.min_noise).astype(np.float64) * _NOISE_SCALE
    return noise


def _peaks(steep: Profiles) -> tuple[Array, Array]:
    """Return the steepest places of every segment, with subsample precision: offsets and heights, shape (n, k) each."""
    middle, before, after = steep[:, 1:-1], steep[:, :-2], steep[:, 2:]
    height = np.where((middle > before) & (middle >= after), middle, 0.0)
    best = np.argsort(-height, axis=1, kind="stable")[:, : _LIMITS.candidates]
    rows = np.arange(len(steep))[:, None]
    at, flat = rows * steep.shape[1] + best, steep.ravel()
    a, b, c = (flat[at + step].astype(np.float64) for step in range(3))
    shift = np.clip(0.5 * (c - a) / np.maximum(2 * b - a - c, 1e-9), -0.5, 0.5)
    return _OFFSETS[_INSIDE][1:-1][best] + shift * _LIMITS.step_mm, height[rows, best].astype(np.float64)


def _base_color_inside(profiles: Profiles, offset: Array, count: int) -> Array:
    """Return how well the color just inside each candidate matches the base's top, 0..1, shape (n, k)."""
    inner = profiles[:, : round((_LIMITS.reach_mm - _LIMITS.inner_mm) / _LIMITS.step_mm) + 1].reshape(count, -1, 3)
    own = _medians(inner.transpose(0, 2, 1).reshape(count * 3, -1)).reshape(count, 3)
    spread = 1.4826 * _medians(np.abs(inner - own[:, None]).reshape(count, -1)) + _LIMITS.min_color_spread
    at = np.clip(
        np.rint((offset - _LIMITS.inside_mm + _LIMITS.reach_mm) / _LIMITS.step_mm).astype(int), 1, profiles.shape[1] - 2
    )
    at += profiles.shape[1] * np.arange(len(profiles))[:, None]
    colors = profiles.reshape(-1, 3)
    before, here, after = (colors.take((at + step).ravel(), axis=0) for step in (-1, 0, 1))
    inside = (before + here + after) / 3
    off = np.linalg.norm(inside.reshape(count, -1, 3) - own[:, None], axis=2)
    off = off / (_LIMITS.similar_spreads * spread)[:, None]
    like: Array = np.exp(-0.5 * off.astype(np.float64) ** 2).reshape(offset.shape)
    return like


def _medians(rows: Profiles) -> Profiles:
    """Return medians of rows, shape (n, m), as (n,). numpy's own median takes ten times as long."""
    middle = (rows.shape[1] - 1) // 2
    upper = np.partition(rows, middle, axis=1)[:, middle:]
    above: Profiles = upper[:, 0] if rows.shape[1] % 2 else upper[:, 1:].min(axis=1)
    return (upper[:, 0] + above) / np.float32(2)


def _lower_edge_mm(camera: Camera, outlines: Array, height_mm: Array) -> Array:
    """Return how far ahead and to the left lower outlines are of tops', in the tops' planes and own frames, (n, 2)."""
    eye = camera.position_mm
    turn = np.radians(outlines[:, 2])
    cos, sin = np.cos(turn), np.sin(turn)
    x, y = ((eye[:2] - outlines[:, :2]) * height_mm[:, None] / max(float(eye[2]), 1e-9)).T
    return np.stack([x * cos + y * sin, y * cos - x * sin], axis=1)
