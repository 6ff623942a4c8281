"""Where a figure can be in the picture: what its base and the player on it cover, from its pose alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.scene import Figure

Box = tuple[int, int, int, int]  # Left, top, right, bottom; the last two are beyond the box


@dataclass(frozen=True, slots=True)
class VolumeSizes:
    """Sizes of players on their bases."""

    player_mm: float = 52.0  # Height of the tallest players over the board
    reach: float = 1.25  # Legs reach over the base: by this factor of its size at most
    span: float = 1.0  # Arms that are stretched out span this share of the player's height, as those of people do,
    hip: float = 0.45  # and they are above this share of it
    lying_mm: float = 48.0  # A fallen player lies beside its base by this much at most
    lying_high_mm: float = 25.0  # and its base stands up by this much
    body: float = 0.4  # The body alone, where nothing else is known: of the base's size,
    body_mm: float = 42.0  # up to this height
    margin_px: int = 5  # Around all of it: errors of the pose, blur


SIZES: Final = VolumeSizes()

_PLAIN_BASE_MM: Final = 5.5  # Height of a base that the roster does not know

_TURN: Final = np.linspace(0, 2 * np.pi, 16, endpoint=False)
_CIRCLE: Final = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)


@dataclass(frozen=True, slots=True)
class VolumeParts:
    """Where a figure's points are in its volume's: see `_upright_points` or `_lying_points`."""

    reach: slice
    middle: slice
    body: slice
    base: slice


_UPRIGHT: Final = VolumeParts(slice(0, 44), slice(32, 44), slice(44, 56), slice(56, 64))
_LYING: Final = VolumeParts(slice(0, 32), slice(0, 32), slice(32, 52), slice(52, 52))


@dataclass(frozen=True, slots=True)
class FigureVolume:
    """A figure in the picture. Outlines are made where needed: of most figures none is, as no paint is near."""

    box: Box  # around everything it may cover, within the picture
    middle_box: Box  # around base and player without stretched arms
    points_px: Array  # points around it in the picture, shape (n, 2)
    parts: VolumeParts  # which of them are around what

    @property
    def reach_px(self) -> Array:
        """Return the convex outline of what it may cover, shape (n, 2)."""
        return _hull(self.points_px[self.parts.reach])

    @property
    def base_px(self) -> Array:
        """Return that of its base's sides and top, which it surely covers; empty where it is not on the board."""
        return _hull(self.points_px[self.parts.base])

    @property
    def body_px(self) -> Array:
        """Return that of base and body, where nothing but the pose is known."""
        return _hull(self.points_px[self.parts.body])


def figure_volumes(figures: Sequence[Figure], base_mm: Mapping[str, float], camera: Camera) -> dict[str, FigureVolume]:
    """Return what figures cover, by id; those whose base and player are out of the picture are left out.

    Args:
        base_mm: heights of their bases by id.
    """
    upright = [one for one in figures if one.posture == "upright"]
    others = [one for one in figures if one.posture != "upright"]
    made: dict[str, FigureVolume] = {}
    # All at once: figure by figure, numpy's calls take longer than what they compute.
    if upright:
        tops = np.array([base_mm.get(one.id, _PLAIN_BASE_MM) for one in upright])
        made |= _volumes(upright, _upright_points(_corners(upright), tops), _UPRIGHT, camera)
    if others:
        made |= _volumes(others, _lying_points(_corners(others)), _LYING, camera)
    return {one.id: made[one.id] for one in figures if one.id in made}


def _corners(figures: Sequence[Figure]) -> Array:
    """Return the corners of bases, shape (n, 4, 2), mm."""
    return np.stack([one.footprint.corners_mm() for one in figures])


def _upright_points(corners: Array, tops_mm: Array) -> Array:
    """Return points around arms, base and player, body, and base, in this order, shape (n, 64, 3)."""
    middle = corners.mean(axis=1, keepdims=True)
    wide = middle + (corners - middle) * SIZES.reach
    body = middle + (corners - middle) * SIZES.body
    arms = middle + SIZES.span * SIZES.player_mm / 2 * _CIRCLE
    hips_mm = tops_mm + SIZES.hip * (SIZES.player_mm - tops_mm)
    return _raised(
        (arms, hips_mm), (arms, SIZES.player_mm),
        (corners, 0.0), (wide, tops_mm), (wide, SIZES.player_mm),
        (corners, 0.0), (corners, tops_mm), (body, SIZES.body_mm),
        (corners, 0.0), (corners, tops_mm),
    )  # fmt: skip


def _lying_points(corners: Array) -> Array:
    """Return points around what figures that do not stand may cover, and their bases, shape (n, 52, 3)."""
    middle = corners.mean(axis=1, keepdims=True)
    half = np.linalg.norm(corners - middle, axis=2).max(axis=1)[:, None, None]
    around, near = middle + (half + SIZES.lying_mm) * _CIRCLE, middle + half * _CIRCLE
    return _raised((around, 0.0), (near, SIZES.player_mm), (near, 0.0), (corners, SIZES.lying_high_mm))


def _volumes(figures: Sequence[Figure], points: Array, parts: VolumeParts, camera: Camera) -> dict[str, FigureVolume]:
    """Return the volumes of figures whose points are laid out alike."""
    pixels = camera.to_pixels(points.reshape(-1, 3)).reshape(len(figures), -1, 2)
    whole = np.asarray(np.isfinite(pixels).all(axis=(1, 2)))
    pixels = np.where(whole[:, None, None], pixels, 0.0)
    boxes = _boxes(pixels[:, parts.reach], camera.lens.size_px)
    middles = _boxes(pixels[:, parts.middle], camera.lens.size_px)
    made: dict[str, FigureVolume] = {}
    for place, (figure, box, middle) in enumerate(zip(figures, boxes, middles, strict=True)):
        if whole[place] and middle[0] < middle[2] and middle[1] < middle[3]:
            made[figure.id] = FigureVolume(box, middle, pixels[place], parts)
    return made


def _boxes(points: Array, size_px: tuple[int, int]) -> list[Box]:
    """Return boxes around points, with a margin, within the picture; empty or turned about outside of it."""
    low = np.floor(points.min(axis=1)).astype(int) - SIZES.margin_px
    high = np.ceil(points.max(axis=1)).astype(int) + SIZES.margin_px + 1
    corners = np.concatenate([np.maximum(low, 0), np.minimum(high, size_px)], axis=1)
    return [(left, top, right, bottom) for left, top, right, bottom in corners.tolist()]


def _raised(*levels: tuple[Array, Array | float]) -> Array:
    """Return outlines of n figures at heights as points over the board, shape (n, points, 3)."""
    made = [np.broadcast_to(np.reshape(height, (-1, 1, 1)), (*points.shape[:2], 1)) for points, height in levels]
    flat = np.concatenate([points for points, _ in levels], axis=1)
    return np.concatenate([flat, np.concatenate(made, axis=1)], axis=2)


def _hull(points: Array) -> Array:
    if not len(points):
        return points
    hull = cv2.convexHull(points.astype(np.float32))
    return np.asarray(hull, dtype=np.float64).reshape(-1, 2)
