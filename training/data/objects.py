"""Objects in pictures to train on: kinds, boxes and keypoints in pixels; and how they move in mirrors and crops."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.models.refiner import MIRRORED_CORNERS

FALLEN_KIND: Final = 1
FIGURE_KINDS: Final = (0, FALLEN_KIND)  # classes of labels that are figures: upright ones and fallen ones

BALL_KIND: Final = 2
BALL_POINT: Final = 4  # class of balls, and the keypoint that is their middle

CROP_PX: Final = 320
INPUT_WIDTH_PX: Final = 960  # width at which the network sees a frame; crops are cut at that scale

BALL_PX: Final = 14.0
"""Side of the box the ball is given at least, pixels of the input: a cell is 8, and the ball itself all of 6."""

HAND_PX: Final = 64.0
"""How far from its fingertips a hand's box goes, pixels of the input, about a palm's length: how much of the arm behind
it the picture shows can't be known in one cell."""

_CROP_SCALES = (0.8, 1.3)
_EXACT_CROPS = 0.5  # share of crops at scale 1, pixel for pixel as the network will see them
_CROP_TRIES = 3  # places tried for the fullest
_LEAST_INSIDE = 0.35  # of a box: an object with a smaller share inside a crop is not trained
_RARE = (1, 2, 3)  # classes fallen, ball, hand
_HAND = 3
_RARE_CHANCE = 0.75  # of a crop about one of them, each kind alike


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects in a picture, in its pixels."""

    kinds: Array  # class of each, shape (n,)
    boxes: Array  # left, top, right, bottom, shape (n, 4)
    points: Array  # x, y and flag (0 none, 1 hidden, 2 seen) of the keypoints, shape (n, 5, 3)


def parse_objects(text: str, size_px: tuple[int, int]) -> Objects:
    """Return the objects of lines in the form YOLO-pose training reads, in pixels of a picture of a size."""
    rows = np.array(text.split(), dtype=np.float64).reshape(-1, 20)
    width, height = size_px
    center, half = rows[:, 1:3] * (width, height) - 0.5, rows[:, 3:5] * (width, height) / 2
    points = rows[:, 5:].reshape(-1, 5, 3).copy()
    points[..., :2] = points[..., :2] * (width, height) - 0.5
    return Objects(rows[:, 0], np.concatenate([center - half, center + half], axis=1), points)


MIRRORED_POINTS: Final = (*MIRRORED_CORNERS, 4)  # what the keypoints, corners and helmet, are called in a mirror


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

    Returns:
        The affine matrix from the frame's pixels to the crop's, shape (2, 3), and whether it is mirrored.
    """
    exact = bool(rng.random() < _EXACT_CROPS)
    scale = 1.0 if exact else float(np.exp(rng.uniform(*np.log(_CROP_SCALES))))
    center = _crop_center(objects, size_px, scale, rng)
    linear = scale * np.linalg.matrix_power(np.array([[0.0, -1.0], [1.0, 0.0]]), int(rng.integers(4)))
    if mirrored := bool(rng.random() < 0.5):
        linear = linear @ np.diag([-1.0, 1.0])
    shift = np.full(2, (CROP_PX - 1) / 2) - linear @ center
    if exact:  # whole pixels stay whole pixels
        shift = np.rint(shift)
    return np.concatenate([linear, shift[:, None]], axis=1), mirrored


def _crop_center(objects: Objects, size_px: tuple[int, int], scale: float, rng: np.random.Generator) -> Array:
    """Choose the center of a crop, frame pixels: the fullest of some tried, often around something rare."""
    width, height = size_px
    side = CROP_PX / scale
    middles = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2
    if not len(middles) or rng.random() < 0.08:
        return rng.uniform(0, 1, 2) * (width, height)
    rare = [middles[objects.kinds == kind] for kind in _RARE if (objects.kinds == kind).any()]
    among = rare[int(rng.integers(len(rare)))] if rare and rng.random() < _RARE_CHANCE else middles
    low, high = np.full(2, side / 2), np.maximum((width - side / 2, height - side / 2), side / 2)
    tried = among[rng.integers(len(among))] + rng.uniform(-0.45, 0.45, (_CROP_TRIES, 2)) * side
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


def padded(found: Sequence[tuple[Objects, Array]]) -> tuple[NDArray[np.float32], ...]:
    """Return kinds (-1 for none), points, boxes and visible shares of several crops as arrays."""
    most = max((len(objects.kinds) for objects, _ in found), default=0)
    kinds, points = np.full((len(found), most), -1.0), np.zeros((len(found), most, 5, 3))
    boxes, shown = np.zeros((len(found), most, 4)), np.zeros((len(found), most))
    for row, (objects, share) in enumerate(found):
        count = len(objects.kinds)
        kinds[row, :count], points[row, :count] = objects.kinds, objects.points
        boxes[row, :count], shown[row, :count] = objects.boxes, share
    return tuple(part.astype(np.float32) for part in (kinds, points, boxes, shown))
