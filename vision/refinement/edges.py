"""Where color changes fast across the sides of a base's top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.footprint import Footprint, outlines_of

_SEGMENTS: Final = 6  # of a side
_LINES: Final = 3  # of a segment
_ACROSS_MM: Final = 2.6  # how far to both sides of a predicted side the picture is sampled
_STEP_MM: Final = 0.2
_CORNER_CLEAR_MM: Final = 0.8  # of a side's end beyond its rounded corner
_BLUR_MM: Final = 0.4  # of the slope filter: about the picture's own at 1.5 px/mm
_CANDIDATES: Final = 3  # per segment
_LEAST_SNR: Final = 4.0
_PLAIN_SNR: Final = 10.0  # so much more than that, and a change of color is plain
_FLOOR_MM: Final = 0.25  # no edge of a segment is found more finely, whatever the contrast
_INNER_MM: Final = 1.4  # further than this inside of a side there is the base's top, or what stands on it
_INSIDE_MM: Final = 0.9  # this far inside of an edge its blur is over
_LEAST_SPREAD: Final = 4.0  # gray levels
_LIKE: Final = 2.5  # spreads by which the color just inside an edge may differ from the base's
_LOWER_SHARE: Final = 0.5  # of the trust in upper edges that lower ones get: the side's color is not known
_LEAST_NOISE: Final = 0.4  # gray levels: a picture that is computed has none
_CORRELATED: Final = 3.0  # samples nearer than a pixel share their noise: it is more than third differences say
_SHOWS_BELOW_MM: Final = 0.7  # a lower edge nearer than this to the upper one can't be told from it

_OFFSETS: Final[Array] = np.arange(-_ACROSS_MM, _ACROSS_MM + _STEP_MM / 2, _STEP_MM, dtype=np.float64)
_REACH: Final = round(3 * _BLUR_MM / _STEP_MM)
_KERNEL_AT: Final[Array] = np.arange(-_REACH, _REACH + 1, dtype=np.float64) * _STEP_MM
_KERNEL: Final[Array] = -_KERNEL_AT * np.exp(-0.5 * (_KERNEL_AT / _BLUR_MM) ** 2)
_SLOPE: Final[Array] = _KERNEL[::-1].copy()  # opencv correlates, and does not convolve
_ONE: Final[Array] = np.ones(1)
_NOISE_SCALE: Final = float(np.linalg.norm(_KERNEL)) * np.sqrt(3.0) * _CORRELATED
_EVERY_OTHER: Final = np.arange(3 * len(_OFFSETS)).reshape(-1, 3)[::2].ravel()  # sample's three colors, one by one
_INSIDE: Final = slice(_REACH, len(_OFFSETS) - _REACH)
_SQUARE: Final[Array] = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
_SIDES: Final[Array] = np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]])  # front, right, rear, left


Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Edges:
    """Candidates for the edges of n bases' tops: two rows for each of their segments, for the upper and the lower edge.

    Attributes:
        offset_mm: outward from the predicted side, shape (n, rows, k).
        strength: of the change of color, 0..1 and 0 where there is none, shape (n, rows, k).
        sigma_mm: standard deviation of the offset, shape (n, rows, k).
        slopes: of an edge's offset for a movement of the base ahead, to its left, and by turning; shape (n, rows, 3).

    """

    offset_mm: Array
    strength: Array
    sigma_mm: Array
    slopes: Array


def _shapes(outlines: Array) -> Array:
    """What the lines across bases' sides depend on, as of `_unit_lines`, shape (n, 4)."""
    shapes = np.ones((len(outlines), 4))
    half = shapes[:, 1:3] = outlines[:, 3:5] / 2
    shapes[:, 3] = np.minimum(outlines[:, 5] + _CORNER_CLEAR_MM, 0.4 * half.min(axis=1))
    return shapes


@cache
def _unit_lines() -> tuple[Array, Array]:
    """The lines across the sides of a base's top, where the picture is sampled, in the base's own frame.

    They depend linearly on 1, half a base's length and width, and what is left clear at its corners, and the sizes of
    bases are learned anew in every frame: what each of the four makes comes first in the shapes.

    Returns:
        Places ahead and to the left, shape (4, lines of a segment, segments, samples, 2); slopes of a segment's offset
        for the base's movement, shape (4, segments, 3).

    """
    corner = [_lines_of(np.zeros(2), 0.0), *(_lines_of(one, 0.0) for one in np.eye(2)), _lines_of(np.zeros(2), 1.0)]
    nothing = corner[0]
    places, slopes = (np.stack([nothing[k], *(one[k] - nothing[k] for one in corner[1:])]) for k in range(2))
    return places, slopes


def _lines_of(half: Array, clear: float) -> tuple[Array, Array]:
    """Places and slopes of the lines across a rectangle's sides."""
    places, slopes = [], []
    for normal in _SIDES:
        along = np.array([-normal[1], normal[0]])
        out, reach = float(np.abs(normal) @ half), float(np.abs(along) @ half) - clear
        count = _SEGMENTS * _LINES
        at = (np.arange(count) + 0.5) / count * 2 * reach - reach
        feet = out * normal + at[:, None] * along
        places.append((feet[:, None] + _OFFSETS[:, None] * normal).reshape(_SEGMENTS, _LINES, len(_OFFSETS), 2))
        x, y = feet.reshape(_SEGMENTS, _LINES, 2).mean(axis=1).T
        slopes.append(np.stack([np.full_like(x, normal[0]), np.full_like(x, normal[1]), x * normal[1] - y * normal[0]]))
    ordered = np.ascontiguousarray(np.concatenate(places).transpose(1, 0, 2, 3))
    return ordered, np.concatenate(slopes, axis=1).T


def find_edges(image: Image, camera: Camera, bases: Sequence[Footprint]) -> Edges:
    """Find the candidates for the edges of bases' tops."""
    outlines, count = outlines_of(bases), len(bases)
    height_mm = np.array([at.size.height_mm for at in bases])
    shapes = _shapes(outlines)
    slopes = (shapes @ _unit_lines()[1].reshape(4, -1)).reshape(count, -1, 3)
    profiles = _sampled(image, camera, outlines, height_mm, shapes)
    slope = cv2.sepFilter2D(profiles, cv2.CV_32F, _SLOPE, _ONE)
    blue, green, red = slope[:, _INSIDE].transpose(2, 0, 1)
    offset, height = _peaks(np.sqrt(blue * blue + green * green + red * red))
    snr = height.reshape(count, -1) / _noise(profiles, count)[:, None]
    snr = snr.reshape(height.shape)
    strength = 1 - np.exp(-np.maximum(snr - _LEAST_SNR, 0.0) / _PLAIN_SNR)
    sigma = np.hypot(_FLOOR_MM, 1.2 * _BLUR_MM / np.maximum(snr, 1.0))
    below = np.einsum("nsi,ni->ns", slopes[:, :, :2], _below_mm(camera, outlines, height_mm)).reshape(-1, 1)
    upper = strength * _leaves_base(profiles, offset, count)
    lower = strength * (_LOWER_SHARE * (below > _SHOWS_BELOW_MM))
    shape = count, -1, _CANDIDATES
    return Edges(
        np.stack([offset, offset - below], axis=1).reshape(shape),
        np.stack([upper, lower], axis=1).reshape(shape),
        np.repeat(sigma, 2, axis=0).reshape(shape),
        np.repeat(slopes.reshape(-1, 3), 2, axis=0).reshape(count, -1, 3),
    )


def _squares_mm(outlines: Array) -> Array:
    """A square around each base in its own frame, shape (n, 4, 2)."""
    reach = outlines[:, 3:5].max(axis=1) / 2 + _ACROSS_MM
    squares: Array = _SQUARE * reach[:, None, None]
    return squares


def _on_board(outlines: Array, height_mm: Array, squares_mm: Array) -> Array:
    """Points of bases' own frames, shape (n, 4, 2), in the planes of their tops, board frame, shape (n, 4, 3)."""
    x, y, heading = outlines[:, :3].T
    turn = np.radians(heading)[:, None]
    cos, sin = np.cos(turn), np.sin(turn)
    ahead, left = squares_mm[..., 0], squares_mm[..., 1]
    board = np.empty((*ahead.shape, 3))
    board[..., 0] = ahead * cos - left * sin + x[:, None]
    board[..., 1] = ahead * sin + left * cos + y[:, None]
    board[..., 2] = height_mm[:, None]
    return board


def _sampled(image: Image, camera: Camera, outlines: Array, height_mm: Array, shapes: Array) -> Samples:
    """Colors along lines, averaged over those of a segment.

    Args:
        image: the picture.
        camera: as it stood.
        outlines: of n bases, as of `outlines_of`.
        height_mm: of their tops, shape (n,).
        shapes: as of `_shapes`.

    Returns:
        Shape (n * segments, samples, 3), 0 outside the picture.

    """
    squares_mm = _squares_mm(outlines)
    squares_px = camera.to_pixels(_on_board(outlines, height_mm, squares_mm))
    # What is drawn from the picture is the part of it around each base: its left, top, right and bottom ends.
    inside: NDArray[np.bool_] = np.asarray(np.isfinite(squares_px).all(axis=(1, 2)))
    known_px = np.where(inside[:, None, None], squares_px, 0.0)
    low = np.maximum(np.floor(known_px.min(axis=1)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(known_px.max(axis=1)).astype(int) + 2, image.shape[1::-1])
    inside &= (high - low >= 2).all(axis=1)
    own = squares_mm.astype(np.float32)
    seen = (known_px - low[:, None]).astype(np.float32)
    unit = _unit_lines()[0]
    lines = (shapes @ unit.reshape(4, -1)).astype(np.float32).reshape(len(outlines), 1, -1, 2)
    out = np.zeros((len(outlines), *unit.shape[1:4], 3), dtype=np.uint8)
    for row in np.flatnonzero(inside).tolist():
        (left, top), (right, bottom) = low[row].tolist(), high[row].tolist()
        where = cv2.perspectiveTransform(lines[row], cv2.getPerspectiveTransform(own[row], seen[row]))
        where = where.reshape(_LINES, -1, 2)  # drawn as a picture of few rows, which is fastest
        part = image[top:bottom, left:right]
        # One map of both x and y: opencv's types don't know that the other may then be None. An empty one is no such.
        colors = cv2.remap(part, where, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
        out[row] = colors.reshape(out.shape[1:])
    total = np.add(out[:, 0], out[:, 1], dtype=np.uint16)
    for line in range(2, _LINES):
        total += out[:, line]
    mean: Samples = np.divide(total, _LINES, dtype=np.float32)
    return mean.reshape(-1, *mean.shape[2:])


def _noise(profiles: Samples, count: int) -> Array:
    """Standard deviation of the slope filter's answer where nothing is, by base: from third differences, robustly."""
    bend = profiles.reshape(len(profiles), -1).take(_EVERY_OTHER, axis=1)
    for _ in range(3):
        bend = bend[:, 3:] - bend[:, :-3]
    sigma = _medians(np.abs(bend).reshape(count, -1)) / 0.6745 / np.sqrt(20.0)
    noise: Array = np.maximum(sigma, _LEAST_NOISE).astype(np.float64) * _NOISE_SCALE
    return noise


def _peaks(steep: Samples) -> tuple[Array, Array]:
    """The steepest places of every segment, to a fraction of a sample; offsets and heights, shape (n, k) each."""
    middle, before, after = steep[:, 1:-1], steep[:, :-2], steep[:, 2:]
    height = np.where((middle > before) & (middle >= after), middle, 0.0)
    best = np.argsort(-height, axis=1, kind="stable")[:, :_CANDIDATES]
    rows = np.arange(len(steep))[:, None]
    at, flat = rows * steep.shape[1] + best, steep.ravel()
    a, b, c = (flat[at + step].astype(np.float64) for step in range(3))
    shift = np.clip(0.5 * (c - a) / np.maximum(2 * b - a - c, 1e-9), -0.5, 0.5)
    return _OFFSETS[_INSIDE][1:-1][best] + shift * _STEP_MM, height[rows, best].astype(np.float64)


def _leaves_base(profiles: Samples, offset: Array, count: int) -> Array:
    """How much the color just inside of each candidate is that of the base's top, 0..1, shape (n, k)."""
    inner = profiles[:, : round((_ACROSS_MM - _INNER_MM) / _STEP_MM) + 1].reshape(count, -1, 3)
    own = _medians(inner.transpose(0, 2, 1).reshape(count * 3, -1)).reshape(count, 3)
    spread = 1.4826 * _medians(np.abs(inner - own[:, None]).reshape(count, -1)) + _LEAST_SPREAD
    at = np.clip(np.rint((offset - _INSIDE_MM + _ACROSS_MM) / _STEP_MM).astype(int), 1, profiles.shape[1] - 2)
    at += profiles.shape[1] * np.arange(len(profiles))[:, None]
    colors = profiles.reshape(-1, 3)
    before, here, after = (colors.take((at + step).ravel(), axis=0) for step in (-1, 0, 1))
    inside = (before + here + after) / 3
    off = np.linalg.norm(inside.reshape(count, -1, 3) - own[:, None], axis=2) / (_LIKE * spread)[:, None]
    like: Array = np.exp(-0.5 * off.astype(np.float64) ** 2).reshape(offset.shape)
    return like


def _medians(rows: Samples) -> Samples:
    """Medians of rows, shape (n, m), as (n,). numpy's own looks for two ranks at once, and takes ten times as long."""
    middle = (rows.shape[1] - 1) // 2
    upper = np.partition(rows, middle, axis=1)[:, middle:]
    above: Samples = upper[:, 0] if rows.shape[1] % 2 else upper[:, 1:].min(axis=1)
    medians: Samples = (upper[:, 0] + above) / np.float32(2)
    return medians


def _below_mm(camera: Camera, outlines: Array, height_mm: Array) -> Array:
    """How far ahead and to the left of their tops' outlines the lower ones are seen, in the planes of the tops.

    Returns:
        In each base's own frame, shape (n, 2).

    """
    eye = camera.position_mm
    turn = np.radians(outlines[:, 2])
    cos, sin = np.cos(turn), np.sin(turn)
    x, y = ((eye[:2] - outlines[:, :2]) * height_mm[:, None] / max(float(eye[2]), 1e-9)).T
    return np.stack([x * cos + y * sin, y * cos - x * sin], axis=1)
