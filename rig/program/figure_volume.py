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

Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two are beyond the box."""


@dataclass(frozen=True, slots=True)
class VolumeSizes:
    """Sizes of players on their bases."""

    player_mm: float = 52.0
    """Height of the tallest players over the board."""
    reach: float = 1.25
    """Legs reach over the base: by this factor of its size at most."""
    span: float = 1.0
    """Arms that are stretched out span this share of the player's height, as those of people do,"""
    hip: float = 0.45
    """and they are above this share of it."""
    lying_mm: float = 48.0
    """A fallen player lies beside its base by this much at most."""
    body: float = 0.62
    """The body alone, where nothing else is known: of the base's size,"""
    body_mm: float = 38.0
    """up to this height."""
    margin_px: int = 5
    """Around all of it: errors of the pose, blur."""


SIZES: Final = VolumeSizes()

_PLAIN_BASE_MM: Final = 5.5
"""Height of a base that the roster does not know."""

_TURN: Final = np.linspace(0, 2 * np.pi, 16, endpoint=False)
_CIRCLE: Final = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)


@dataclass(frozen=True, slots=True)
class FigureVolume:
    """A figure in the picture.

    Attributes:
        box: around everything it may cover, within the picture.
        middle_box: around base and player without stretched arms.
        reach_px: convex outline of what it may cover, shape (n, 2).
        base_px: outline of its base's sides and top, which it surely covers; empty where it is not on the board.
        body_px: outline of base and body, where nothing but the pose is known.

    """

    box: Box
    middle_box: Box
    reach_px: Array
    base_px: Array
    body_px: Array


def figure_volumes(figures: Sequence[Figure], base_mm: Mapping[str, float], camera: Camera) -> dict[str, FigureVolume]:
    """Return what figures cover, by id; those whose base and player are out of the picture are left out.

    Args:
        figures: as they were seen.
        base_mm: heights of their bases by id.
        camera: where it is in this picture.

    """
    parts = [part for one in figures for part in _outlines(one, base_mm.get(one.id, _PLAIN_BASE_MM))]
    if not parts:
        return {}
    pixels = camera.to_pixels(np.concatenate(parts))  # at once: 22 times is five times as long
    ends = np.cumsum([len(part) for part in parts])[:-1]
    split = np.split(pixels, ends)
    made = (
        _volume(split[place], split[place + 1], split[place + 2], split[place + 3], camera.lens.size_px)
        for place in range(0, len(split), 4)
    )
    return {one.id: volume for one, volume in zip(figures, made, strict=True) if volume is not None}


def _outlines(figure: Figure, base_mm: float) -> tuple[Array, Array, Array, Array]:
    """Return points around arms, base and player, body, and base, shape (n, 3) each."""
    corners = figure.footprint.corners_mm()
    middle = corners.mean(axis=0)
    if figure.posture == "upright":
        wide = middle + (corners - middle) * SIZES.reach
        body = middle + (corners - middle) * SIZES.body
        base = _raised((corners, 0.0), (corners, base_mm))
        arms = middle + SIZES.span * SIZES.player_mm / 2 * _CIRCLE
        hip_mm = base_mm + SIZES.hip * (SIZES.player_mm - base_mm)
        return (
            _raised((arms, hip_mm), (arms, SIZES.player_mm)),
            _raised((corners, 0.0), (wide, base_mm), (wide, SIZES.player_mm)),
            _raised((corners, 0.0), (corners, base_mm), (body, SIZES.body_mm)),
            base,
        )
    half = float(np.linalg.norm(corners - middle, axis=1).max())
    reach = _raised((middle + (half + SIZES.lying_mm) * _CIRCLE, 0.0), (middle + half * _CIRCLE, SIZES.player_mm))
    return np.zeros((0, 3)), reach, _raised((corners, 0.0), (corners, base_mm)), np.zeros((0, 3))


def _volume(arms: Array, middle: Array, body: Array, base: Array, size_px: tuple[int, int]) -> FigureVolume | None:
    reach = np.concatenate([arms, middle])
    if not (np.isfinite(reach).all() and np.isfinite(body).all() and np.isfinite(base).all()):
        return None
    box, middle_box = _box(reach, size_px), _box(middle, size_px)
    if middle_box[0] >= middle_box[2] or middle_box[1] >= middle_box[3]:
        return None
    return FigureVolume(box, middle_box, _hull(reach), _hull(base) if len(base) else base, _hull(body))


def _box(points: Array, size_px: tuple[int, int]) -> Box:
    """Return the box around points, with a margin, within the picture; empty or turned about outside of it."""
    left, top = (np.floor(points.min(axis=0)).astype(int) - SIZES.margin_px).tolist()
    right, bottom = (np.ceil(points.max(axis=0)).astype(int) + SIZES.margin_px + 1).tolist()
    return max(0, left), max(0, top), min(size_px[0], right), min(size_px[1], bottom)


def _raised(*levels: tuple[Array, float]) -> Array:
    """Return outlines at heights as points over the board, shape (n, 3)."""
    return np.concatenate([np.column_stack([points, np.full(len(points), height)]) for points, height in levels])


def _hull(points: Array) -> Array:
    hull = cv2.convexHull(points.astype(np.float32))
    return np.asarray(hull, dtype=np.float64).reshape(-1, 2)
