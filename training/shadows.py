"""Draws hard shadows of the figures into pictures that were rendered in softer light.

A bare bulb in a dark room casts shadows as dark and sharp as the figures: they have arms and a head, but no base. The
networks must see many to distinguish them.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.training.objects import Objects

_CHANCE = 0.3  # of a picture
_CASTS = 0.9  # of a figure in it
_UPRIGHT = 0
_STRETCH = (0.2, 1.8)  # a shadow's length by its figure's height: a lamp from nearly overhead to 30 degrees
_HEIGHT = (0.9, 1.3)  # of a figure, by its base's length; so are all that follow
_DARK = (0.35, 0.95)
_SOFT = (0.01, 0.07)
_LEG, _TORSO, _ARM, _HEAD = 0.1, 0.28, 0.09, 0.11  # thicknesses, and the head's radius
_APART = 0.12  # of legs and shoulders from the middle
_SPREAD = 0.5  # how far aside a hand may be
_BASE_HEIGHT = 0.1
_SUBPIXEL = 4  # bits


def cast_hard_shadows(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Array]:
    """Draw a hard lamp's shadows into some pictures; return the picture and where the shadows are.

    Args:
        image: blue green red, uint8 (height, width, 3).
        objects: what is in it.
        rng: where chance comes from.

    Returns:
        The picture, the same one where it has none, and the middles of what was cast, pixels, shape (k, 2).

    """
    upright = objects.points[(objects.kinds == _UPRIGHT) & (objects.points[:, :4, 2] > 0).all(axis=1), :4, :2]
    if not len(upright) or rng.random() >= _CHANCE:
        return image, np.zeros((0, 2))
    turn, stretch = rng.uniform(0, 2 * np.pi), float(np.exp(rng.uniform(*np.log(_STRETCH))))
    away = np.array([np.cos(turn), np.sin(turn)])
    lengths = np.linalg.norm(upright[:, :2].mean(axis=1) - upright[:, 2:].mean(axis=1), axis=1)
    shade = np.zeros(image.shape[:2], dtype=np.uint8)
    for corners, length in zip(upright, lengths, strict=True):
        edge = np.concatenate([corners, corners + _BASE_HEIGHT * stretch * length * away])
        cv2.fillConvexPoly(shade, cv2.convexHull(_fixed(edge)), 255, cv2.LINE_AA, _SUBPIXEL)
    for corners in upright:  # bases are too low to shade one another's tops
        cv2.fillConvexPoly(shade, _fixed(corners), 0, cv2.LINE_AA, _SUBPIXEL)
    casting = rng.random(len(upright)) < _CASTS
    for corners, length in zip(upright[casting], lengths[casting], strict=True):
        _cast(shade, corners.mean(axis=0), away * stretch * length, float(length), rng)
    spots = upright[casting].mean(axis=1) + 0.6 * stretch * lengths[casting][:, None] * away
    soft = rng.uniform(*_SOFT) * float(np.median(lengths))
    shade = np.asarray(cv2.GaussianBlur(shade, (0, 0), max(soft, 0.3)), dtype=np.uint8)
    light = cv2.cvtColor(cv2.convertScaleAbs(shade, alpha=-rng.uniform(*_DARK), beta=255), cv2.COLOR_GRAY2BGR)
    lit = np.asarray(cv2.multiply(image, light, scale=1 / 255), dtype=np.uint8)
    return lit, spots


def _cast(shade: Image, foot: Array, ahead: Array, length: float, rng: np.random.Generator) -> None:
    """Draw the shadow of one figure, whose height `ahead` stands for, without its base."""
    aside = np.array([-ahead[1], ahead[0]]) / max(float(np.linalg.norm(ahead)), 1e-9) * length
    height = rng.uniform(*_HEIGHT)

    def at(up: float, sideways: float) -> Array:
        spot: Array = foot + up * height * ahead + sideways * aside
        return spot

    for side in (-_APART, _APART):
        _line(shade, at(0, side * rng.uniform(0.5, 2)), at(0.45, side), _LEG * length)
        hand = at(rng.uniform(0.3, 1.0), np.sign(side) * rng.uniform(_APART, _SPREAD))
        _line(shade, at(0.72, side), hand, _ARM * length)
    _line(shade, at(0.42, 0), at(0.75, 0), _TORSO * length)
    x, y = _fixed(at(0.92, rng.uniform(-_APART, _APART))).tolist()
    cv2.circle(shade, (x, y), round(_HEAD * length * 2**_SUBPIXEL), 255, -1, cv2.LINE_AA, _SUBPIXEL)


def _line(shade: Image, start: Array, end: Array, thickness: float) -> None:
    x, y, u, v = _fixed(np.concatenate([start, end])).tolist()
    cv2.line(shade, (x, y), (u, v), 255, max(round(thickness), 1), cv2.LINE_AA, _SUBPIXEL)


def _fixed(points: Array) -> NDArray[np.int32]:
    fixed: NDArray[np.int32] = np.rint(points * 2**_SUBPIXEL).astype(np.int32)
    return fixed
