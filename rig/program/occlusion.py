"""Which pixels of the picture are figures: their bases by their poses, their players by what differs from the board.

A shadow darkens all colors alike and is no figure; what is painted is darkened with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.rig.program.empty_board import EmptyBoard
from downfield.rig.program.figure_volume import Box, FigureVolume
from downfield.rig.program.picture_motion import moved_part

Plane = NDArray[np.uint8]
"""One value a pixel, shape (height, width)."""

_SHIFT: Final = 4  # fractional bits of the coordinates that OpenCV draws at


@dataclass(frozen=True, slots=True)
class MatteThresholds:
    """What tells a figure from the board and from a shadow."""

    differs: float = 20.0
    """Gray levels by which a figure differs from the board in one color at least."""
    tint: float = 0.17
    """A shadow leaves about the same share of every color: within this."""
    darkest: float = 0.33
    """It leaves at least this share of the light,"""
    brightest: float = 1.06
    """and adds none."""
    close_px: int = 5
    """Gaps this narrow in a figure are part of it."""


THRESHOLDS: Final = MatteThresholds()

_WHOLE: Final = 180.0
"""A share of the light as a gray level; brighter than 1.4 times the board is as bright."""

_TINTS: Final = np.clip(_WHOLE * (THRESHOLDS.tint + 6.0 / (np.arange(256) + 12)), 0, 255).astype(np.uint8)
"""Greatest difference of a shadow's shares by the darkest color of the board: of dark colors they are noisy."""


def covered(image: Image, board: EmptyBoard, move: Array | None, volumes: Sequence[FigureVolume]) -> Plane:
    """Return how much of each pixel a figure covers, 0..255, shape (height, width).

    Args:
        image: the picture, uint8 BGR.
        board: the board without figures.
        move: of the board's pixels; None where the camera stands still.
        volumes: of the figures to look at.

    """
    out = np.zeros(image.shape[:2], np.uint8)
    for volume in volumes:
        left, top, right, bottom = volume.box
        part = out[top:bottom, left:right]
        cv2.max(part, _matte(image, board, move, volume), dst=part)
    return out


def _matte(image: Image, board: EmptyBoard, move: Array | None, volume: FigureVolume) -> Plane:
    left, top, right, bottom = box = volume.box
    shape = (bottom - top, right - left)
    reach = _filled(shape, volume.reach_px, box)
    known = moved_part(board.known, move, box)
    different = _differs(image[top:bottom, left:right], moved_part(board.image, move, box))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (THRESHOLDS.close_px, THRESHOLDS.close_px))
    solid = cv2.morphologyEx(cv2.medianBlur(different, 3), cv2.MORPH_CLOSE, kernel)
    found = np.where(known == 255, solid, _filled(shape, volume.body_px, box))
    inside = np.asarray(cv2.min(found.astype(np.uint8), reach), dtype=np.uint8)
    soft = np.asarray(cv2.GaussianBlur(inside, (3, 3), 0), dtype=np.uint8)
    base = _filled(shape, volume.base_px, box)
    return np.asarray(cv2.max(soft, base), dtype=np.uint8)


def _differs(now: Image, before: Image) -> Plane:
    """Return 255 where a picture shows something else than the board, lit or in shadow."""
    away = _greatest(cv2.split(cv2.absdiff(now, before)))
    seen, empty = (cv2.add(one, np.full_like(one, 4)) for one in (now, before))
    shares = cv2.split(cv2.divide(seen, empty, scale=_WHOLE))
    low, high = _least(shares), _greatest(shares)
    darkest = _least(cv2.split(before))
    tinted = _above(cv2.subtract(high, cv2.add(low, cv2.LUT(darkest, _TINTS))), 0)
    dark = cv2.bitwise_not(_above(low, THRESHOLDS.darkest * _WHOLE))
    no_shadow = cv2.bitwise_or(cv2.bitwise_or(tinted, dark), _above(high, THRESHOLDS.brightest * _WHOLE))
    return np.asarray(cv2.bitwise_and(_above(away, THRESHOLDS.differs), no_shadow), dtype=np.uint8)


def _above(plane: Any, level: float) -> Plane:
    """Return 255 where a plane is above a level."""
    return np.asarray(cv2.threshold(plane, level, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def _greatest(planes: Sequence[Any]) -> Plane:
    return np.asarray(cv2.max(cv2.max(planes[0], planes[1]), planes[2]), dtype=np.uint8)


def _least(planes: Sequence[Any]) -> Plane:
    return np.asarray(cv2.min(cv2.min(planes[0], planes[1]), planes[2]), dtype=np.uint8)


def _filled(shape: tuple[int, int], outline_px: Array, box: Box) -> Plane:
    out = np.zeros(shape, np.uint8)
    if len(outline_px):
        points = np.round((outline_px - box[:2]) * (1 << _SHIFT)).astype(np.int32)
        cv2.fillConvexPoly(out, points, 255, cv2.LINE_AA, _SHIFT)
    return out
