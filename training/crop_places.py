"""Where training crops are cut in a frame, and which of its objects they show."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.training.objects import BALL_KIND, Objects
from downfield.training.turning import MIRRORED_POINTS, quarter_turn

CROP_PX: Final = 320
INPUT_WIDTH_PX: Final = 960
"""Width at which the network sees a frame; crops are cut at that scale."""

BALL_PX: Final = 14.0
"""Side of the box the ball is given at least, pixels of the input: a cell is 8, and the ball itself all of 6."""

HAND_PX: Final = 64.0
"""How far from its fingertips a hand's box goes, pixels of the input, about a palm's length: how much of the arm behind
it the picture shows can't be told from any one place."""

_SCALES = (0.8, 1.3)
_EXACT = 0.5  # share of crops at scale 1, pixel for pixel as the network will see them
_TRIES = 3  # places tried for the fullest
_LEAST_INSIDE = 0.35  # of a box: less of an object than this inside a crop is not asked for
_RARE = (1, 2, 3)  # classes fallen, ball, hand
_HAND = 3
_RARE_CHANCE = 0.75  # of a crop about one of them, each kind alike


def with_room(objects: Objects) -> Objects:
    """Return the objects with the ball's box at least `BALL_PX` and hands' boxes at most `HAND_PX`."""
    boxes = objects.boxes.copy()
    hands = (objects.kinds == _HAND) & (objects.points[:, 4, 2] > 0)
    tips = objects.points[hands, 4, :2]
    near = np.clip(boxes[hands].reshape(-1, 2, 2), tips[:, None] - HAND_PX, tips[:, None] + HAND_PX)
    boxes[hands] = near.reshape(-1, 4)
    ball = objects.kinds == BALL_KIND
    middles = (boxes[ball, :2] + boxes[ball, 2:]) / 2
    half = np.maximum((boxes[ball, 2:] - boxes[ball, :2]) / 2, BALL_PX / 2)
    boxes[ball] = np.concatenate([middles - half, middles + half], axis=1)
    return dataclasses.replace(objects, boxes=boxes)


def draw_cut(objects: Objects, size_px: tuple[int, int], rng: np.random.Generator) -> tuple[Array, bool]:
    """Choose a crop: often about something rare, turned by quarters, mirrored, half of them at scale 1.

    Args:
        objects: of the frame at the network's scale.
        size_px: of that frame.
        rng: where chance comes from.

    Returns:
        The affine matrix from the frame's pixels to the crop's, shape (2, 3), and whether it is mirrored.

    """
    exact = bool(rng.random() < _EXACT)
    scale = 1.0 if exact else float(np.exp(rng.uniform(*np.log(_SCALES))))
    center = _place(objects, size_px, scale, rng)
    turn, mirrored = quarter_turn(rng)
    linear = turn * scale
    shift = np.full(2, (CROP_PX - 1) / 2) - linear @ center
    if exact:  # whole pixels stay whole pixels
        shift = np.rint(shift)
    return np.concatenate([linear, shift[:, None]], axis=1), mirrored


def _place(objects: Objects, size_px: tuple[int, int], scale: float, rng: np.random.Generator) -> Array:
    """Choose the center of a crop, frame pixels: the fullest of some tried, often around something rare."""
    width, height = size_px
    side = CROP_PX / scale
    middles = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2
    if not len(middles) or rng.random() < 0.04:
        return rng.uniform(0, 1, 2) * (width, height)
    rare = [middles[objects.kinds == kind] for kind in _RARE if (objects.kinds == kind).any()]
    among = rare[int(rng.integers(len(rare)))] if rare and rng.random() < _RARE_CHANCE else middles
    low, high = np.full(2, side / 2), np.maximum((width - side / 2, height - side / 2), side / 2)
    tried = among[rng.integers(len(among))] + rng.uniform(-0.45, 0.45, (_TRIES, 2)) * side
    tried = np.clip(tried, low - 0.15 * side, high + 0.15 * side)
    inside = (np.abs(middles[None] - tried[:, None]) < side / 2).all(axis=2).sum(axis=1)
    best: Array = tried[int(inside.argmax())]
    return best


def moved(objects: Objects, matrix: Array, *, mirrored: bool) -> tuple[Objects, NDArray[np.bool_]]:
    """Return the objects that a crop shows, in its pixels, and which of the frame's they are, shape (n,)."""
    corners = objects.boxes.reshape(-1, 2, 2) @ matrix[:, :2].T + matrix[:, 2]
    whole = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    boxes = np.clip(whole, -0.5, CROP_PX - 0.5)
    area = np.prod(whole[:, 2:] - whole[:, :2], axis=1)
    kept = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1) > _LEAST_INSIDE * np.maximum(area, 1e-9)
    points = objects.points.copy()
    points[..., :2] = points[..., :2] @ matrix[:, :2].T + matrix[:, 2]
    outside = ((points[..., :2] < -0.5) | (points[..., :2] >= CROP_PX - 0.5)).any(axis=2)
    points[outside, 2] = 0
    if mirrored:
        points = points[:, MIRRORED_POINTS]
    return Objects(objects.kinds[kept], boxes[kept], points[kept]), kept
