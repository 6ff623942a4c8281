"""Dirt and damage of a board over its paint: broad stains, scratches, discs, tape and stickers."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.twin.materials import Wear

_TRACK_STEPS = 6
_FIXED = 4  # fractional bits of drawn corners


def soiled(image: NDArray[np.uint8], wear: Wear, px_per_mm: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a print with its dirt and damage, uint8 blue green red.

    Args:
        image: the clean print, drawn on.
        wear: how dirty it is.
        px_per_mm: its resolution.
        rng: of places and shapes.

    """
    if wear.soil > 0:
        image = _stained(image, wear, px_per_mm, rng)
    color = tuple(255 * channel for channel in wear.scratch[::-1])
    for _ in range(wear.scratches):
        _scratch(image, color, px_per_mm, rng)
    for _ in range(wear.marks):
        _mark(image, px_per_mm, rng)
    return image


def _stained(image: NDArray[np.uint8], wear: Wear, px_per_mm: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return the picture times smooth noise a little off gray."""
    rows, columns = image.shape[:2]
    small = [max(int(side / px_per_mm / wear.soil_mm), 3) for side in (rows, columns)]
    noise = rng.standard_normal((*small, 1), dtype=np.float32)
    tint = rng.normal(0, 0.3, 3).astype(np.float32)
    levels = np.clip((1 + wear.soil * noise * (1 + tint)) * 128, 0, 255).astype(np.uint8)
    fine = cv2.resize(levels, (columns, rows), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.multiply(image, fine, scale=1 / 128), dtype=np.uint8)


def _scratch(image: NDArray[np.uint8], color: tuple[float, ...], px_per_mm: float, rng: np.random.Generator) -> None:
    start = rng.uniform(0, 1, 2) * image.shape[1::-1]
    turn = rng.uniform(0, 2 * np.pi) + np.linspace(0, rng.normal(0, 0.4), _TRACK_STEPS)
    steps = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(1, 14) * px_per_mm
    line = np.rint((start + np.cumsum(steps, axis=0)) * (1 << _FIXED)).astype(np.int32)
    wide = max(1, round(rng.uniform(0.2, 0.7) * px_per_mm))
    cv2.polylines(image, [line], False, color, wide, cv2.LINE_AA, _FIXED)


def _mark(image: NDArray[np.uint8], px_per_mm: float, rng: np.random.Generator) -> None:
    """Draw a disc or a piece of tape of about a base's size or less."""
    x, y = (rng.uniform(0, 1, 2) * image.shape[1::-1]).tolist()
    color = tuple(rng.integers(0, 256, 3).tolist())
    if rng.random() < 0.5:
        radius = max(2, round(rng.uniform(2, 14) * px_per_mm))
        cv2.circle(image, (int(x), int(y)), radius, color, -1, cv2.LINE_AA)
        return
    wide, tall = (rng.uniform(4, 34, 2) * px_per_mm).tolist()
    corners = cv2.boxPoints(((x, y), (wide, tall), rng.uniform(0, 180)))
    cv2.fillConvexPoly(image, np.rint(corners).astype(np.int32), color, cv2.LINE_AA)
