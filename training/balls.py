"""Draws balls into pictures, since a rendered picture shows a single ball of few makes, mostly hidden.

A ball is drawn near figures, over them or somewhere on the table, as a football from above or a disc with a football or
a cross on it, of any likely color, now and then partly covered by what is there.
"""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Image
from downfield.training.objects import BALL_KIND, BALL_POINT, Objects

"""Row of a ball's keypoints that says its middle."""

_CHANCE = 0.35  # of a picture
_MOST = 3  # balls drawn into one
_SEEN_FLAG = 2.0
_LENGTH = (0.18, 0.45)  # of a base's length
_SLENDER = (0.5, 0.8)  # width by length
_DISC_CHANCE = 0.3
_REACH, _FAR, _FAR_CHANCE = 0.75, 8.0, 0.35  # of a base's length, from its middle
_LEAST_PX = 4.0
_COVER_CHANCE, _COVERED = 0.4, (-0.35, 0.9)  # where what covers it begins, by half its length: at least a third is seen
_FINE = 8  # drawn so much larger, for soft edges
_SOFT_PX = (0.3, 1.2)
_COLORS = np.array(
    [(35, 60, 110), (25, 40, 75), (60, 95, 150), (225, 225, 230), (170, 200, 215), (70, 190, 215), (40, 110, 190)]
)  # blue green red: browns, whites, yellow and orange
_TINT = 22.0  # deviation about them
_SHADE = (0.25, 0.6)


def lay_balls(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Objects]:
    """Draw balls into some pictures; return the picture and its objects.

    Args:
        image: blue green red, uint8 (height, width, 3).
        objects: what is in it.
        rng: where chance comes from.

    Returns:
        The picture, the same one where nothing is drawn, and the objects with the balls.

    """
    known = (objects.points[:, :4, 2] > 0).all(axis=1)
    corners = objects.points[known, :4, :2]
    if not len(corners) or rng.random() >= _CHANCE:
        return image, objects
    image = image.copy()
    length_px = float(np.median(np.linalg.norm(corners[:, 0] - corners[:, 3], axis=1)))
    boxes, middles = [], []
    for _ in range(1 + int(rng.integers(_MOST))):
        about = corners[int(rng.integers(len(corners)))].mean(axis=0)
        reach = _FAR if rng.random() < _FAR_CHANCE else _REACH
        x, y = about + rng.uniform(-reach, reach, 2) * length_px
        half = max(rng.uniform(*_LENGTH) * length_px, _LEAST_PX) / 2
        if _draw(image, np.array((x, y)), half, rng):
            boxes.append((x - half, y - half, x + half, y + half))
            middles.append((x, y))
    if not boxes:
        return image, objects
    points = np.zeros((len(boxes), objects.points.shape[1], 3))
    points[:, BALL_POINT] = [(*middle, _SEEN_FLAG) for middle in middles]
    return image, dataclasses.replace(
        objects,
        kinds=np.concatenate([objects.kinds, np.full(len(boxes), BALL_KIND)]),
        boxes=np.concatenate([objects.boxes, boxes]),
        points=np.concatenate([objects.points, points]),
    )


def _draw(image: Image, middle: Array, half_px: float, rng: np.random.Generator) -> bool:
    """Draw one ball in place; return whether there was room for it."""
    margin = int(np.ceil(half_px)) + 3
    left, top = (int(value) - margin for value in np.floor(middle))
    side = 2 * margin + 1
    if left < 0 or top < 0 or left + side > image.shape[1] or top + side > image.shape[0]:
        return False
    area = image[top : top + side, left : left + side]
    drawn, mask = _ball(side, middle - (left, top), half_px, rng)
    light = np.clip(np.median(area.max(axis=2)) / 170.0, 0.25, 1.15)
    soft = rng.uniform(*_SOFT_PX)
    share = cv2.GaussianBlur(mask, (0, 0), soft)[..., None] / 255.0
    paint = cv2.GaussianBlur(drawn, (0, 0), soft).astype(np.float64) * light
    shadow = np.roll(share, rng.integers(-2, 3, 2), axis=(0, 1)) * rng.uniform(0, 0.5)
    area[:] = np.clip(area * (1 - shadow) * (1 - share) + paint * share, 0, 255).astype(np.uint8)
    return True


def _ball(side: int, middle: Array, half_px: float, rng: np.random.Generator) -> tuple[Image, NDArray[np.float32]]:
    """Return a ball's picture and how much of each pixel it covers, 0..255, shape (side, side, 3) and (side, side)."""
    fine = side * _FINE
    x, y = ((middle + 0.5) * _FINE).tolist()
    turn = rng.uniform(0, 360)
    ink, other = (_color(rng) for _ in range(2))
    picture = np.zeros((fine, fine, 3), dtype=np.uint8)
    mask = np.zeros((fine, fine), dtype=np.uint8)
    disc = rng.random() < _DISC_CHANCE
    slender = 1.0 if disc else rng.uniform(*_SLENDER)
    half = half_px * _FINE
    whole = ((x, y), (2 * half, 2 * half * slender), turn)
    picture[:] = ink
    cv2.ellipse(mask, whole, 255, -1)
    way = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    if disc and rng.random() < 0.5:
        cv2.ellipse(picture, ((x, y), (1.3 * half, 0.8 * half), turn), other, -1)
    elif disc:
        for axis in (way, np.array([-way[1], way[0]])):
            _stroke(picture, np.array((x, y)), axis * half * 0.7, other, 0.25 * half)
    elif rng.random() < 0.6:  # laces or stripes
        _stroke(picture, np.array((x, y)), way * half * rng.uniform(0.2, 0.5), other, 0.15 * half)
        for end in (-0.6, 0.6) if rng.random() < 0.4 else ():
            across = np.array([-way[1], way[0]]) * half * slender
            _stroke(picture, np.array((x, y)) + end * half * way, across, other, 0.15 * half)
    rows, columns = np.mgrid[0:fine, 0:fine]
    lit = rng.uniform(0, 2 * np.pi)
    aside = ((columns - x) * np.cos(lit) + (rows - y) * np.sin(lit)) / half
    shaded = picture * (1 - rng.uniform(*_SHADE) * np.clip(aside * 0.5 + 0.5, 0, 1))[..., None]
    if rng.random() < _COVER_CHANCE:
        cut = rng.uniform(0, 2 * np.pi)
        along = ((columns - x) * np.cos(cut) + (rows - y) * np.sin(cut)) / half
        mask[along > rng.uniform(*_COVERED) + 0.3] = 0
    size = (side, side)
    small = cv2.resize(shaded.astype(np.uint8), size, interpolation=cv2.INTER_AREA)
    covers = cv2.resize(mask, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), np.asarray(covers, dtype=np.float32)


def _stroke(picture: Image, at: Array, reach: Array, ink: tuple[int, ...], thick: float) -> None:
    (x, y), (u, v) = (np.rint(point).astype(int).tolist() for point in (at - reach, at + reach))
    cv2.line(picture, (x, y), (u, v), ink, max(round(thick), 1), cv2.LINE_AA)


def _color(rng: np.random.Generator) -> tuple[int, ...]:
    color = _COLORS[int(rng.integers(len(_COLORS)))] + rng.normal(0, _TINT, 3)
    return tuple(int(value) for value in np.clip(color, 0, 255))
