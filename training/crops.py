"""Training crops of the figure detector, cut anew every time from whole frames: turned, flipped, scaled, recolored.

A crop has the size at which figures are seen when a whole frame goes through the network, so a network trained on
crops runs on frames.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.core.arrays import Array, Image
from downfield.training.augment import recolor
from downfield.training.labeled_frames import FrameDraw, Objects, Sources, labels_of, read_frame, read_objects
from downfield.training.shadows import cast_hard_shadows
from downfield.training.turning import MIRRORED_POINTS, cut_out, quarter_turn

CROP_PX: Final = 320
INPUT_WIDTH_PX: Final = 960
"""Width at which the network sees a frame; crops are cut at that scale."""

BALL_PX: Final = 14.0
"""Side of the box the ball is given at least, pixels of the input: a cell is 8, and the ball itself all of 6."""

HAND_PX: Final = 64.0
"""How far from its fingertips a hand's box goes, pixels of the input, about a palm's length: how much of the arm behind
it the picture shows can't be told from any one place."""

PER_FRAME: Final = 2
"""Crops out of one decoded frame: decoding costs more than cutting."""

_SCALES = (0.8, 1.3)
_EXACT = 0.5  # share of crops at scale 1, pixel for pixel as the network will see them
_TRIES = 3  # places tried for the fullest
_LEAST_INSIDE = 0.35  # of a box: less of an object than this inside a crop is not asked for
_RARE = (1, 2, 3)  # classes fallen, ball, hand
_BALL, _HAND = 2, 3
_RARE_CHANCE = 0.75  # of a crop about one of them, each kind alike


class CropStream(Dataset[list[dict[str, Any]]]):
    """An endless stream of crops: item i is `PER_FRAME` crops of some frame, a function of the seed and i alone.

    Args:
        sources, split, seed: see `FrameDraw`.

    Raises:
        InputError: a folder holds no labeled pictures of the split.

    """

    def __init__(self, sources: Sources, split: str, seed: int) -> None:
        self._frames = FrameDraw(sources, split, seed)

    def __getitem__(self, index: int) -> list[dict[str, Any]]:
        path, rng = self._frames.draw(index)
        small, objects = read_small(path)
        small, _ = cast_hard_shadows(small, objects, rng)
        return [_as_tensors(*cut(small, objects, rng)) for _ in range(PER_FRAME)]


def read_small(path: Path) -> tuple[Image, Objects]:
    """Read a frame at the network's scale, with its objects.

    Raises:
        InputError: it can't be decoded.

    """
    image = read_frame(path, halved=True)
    if image.shape[1] < INPUT_WIDTH_PX:
        image = read_frame(path)
    size = (INPUT_WIDTH_PX, round(INPUT_WIDTH_PX * image.shape[0] / image.shape[1]))
    small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
    return small, _with_room(read_objects(labels_of(path), size))


def _with_room(objects: Objects) -> Objects:
    """Return the objects with the ball's box at least `BALL_PX` and hands' boxes at most `HAND_PX`."""
    boxes = objects.boxes.copy()
    hands = (objects.kinds == _HAND) & (objects.points[:, 4, 2] > 0)
    tips = objects.points[hands, 4, :2]
    near = np.clip(boxes[hands].reshape(-1, 2, 2), tips[:, None] - HAND_PX, tips[:, None] + HAND_PX)
    boxes[hands] = near.reshape(-1, 4)
    ball = objects.kinds == _BALL
    middles = (boxes[ball, :2] + boxes[ball, 2:]) / 2
    half = np.maximum((boxes[ball, 2:] - boxes[ball, :2]) / 2, BALL_PX / 2)
    boxes[ball] = np.concatenate([middles - half, middles + half], axis=1)
    return dataclasses.replace(objects, boxes=boxes)


def cut(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Objects]:
    """Cut one crop of a frame that is at the network's scale, with its objects; boxes are cut at its edge."""
    exact = bool(rng.random() < _EXACT)
    scale = 1.0 if exact else float(np.exp(rng.uniform(*np.log(_SCALES))))
    center = _place(image, objects, scale, rng)
    turn, mirrored = quarter_turn(rng)
    linear = turn * scale
    shift = np.full(2, (CROP_PX - 1) / 2) - linear @ center
    if exact:  # whole pixels stay whole pixels
        shift = np.rint(shift)
    matrix = np.concatenate([linear, shift[:, None]], axis=1)
    return recolor(cut_out(image, matrix, CROP_PX, rng), rng), _moved(objects, matrix, mirrored=mirrored)


def _place(image: Image, objects: Objects, scale: float, rng: np.random.Generator) -> Array:
    """Choose the center of a crop, frame pixels: the fullest of some tried, often around something rare."""
    height, width = image.shape[:2]
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


def _moved(objects: Objects, matrix: Array, *, mirrored: bool) -> Objects:
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
    return Objects(objects.kinds[kept], boxes[kept], points[kept])


def _as_tensors(image: Image, objects: Objects) -> dict[str, Any]:
    middle = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2 + 0.5
    size = objects.boxes[:, 2:] - objects.boxes[:, :2]
    points = objects.points.copy()
    points[..., :2] = (points[..., :2] + 0.5) / CROP_PX
    return {
        "img": torch.from_numpy(np.ascontiguousarray(image[..., ::-1].transpose(2, 0, 1))),
        "cls": torch.from_numpy(objects.kinds[:, None].astype(np.float32)),
        "bboxes": torch.from_numpy((np.concatenate([middle, size], axis=1) / CROP_PX).astype(np.float32)),
        "keypoints": torch.from_numpy(points.astype(np.float32)),
    }


def collate(items: Sequence[Sequence[dict[str, Any]]]) -> dict[str, torch.Tensor]:
    """Collate a batch for ultralytics' losses: pictures stacked, objects in one list with their picture's number."""
    crops = [crop for item in items for crop in item]
    counts = torch.tensor([len(crop["cls"]) for crop in crops])
    batch = {key: torch.cat([crop[key] for crop in crops]) for key in ("cls", "bboxes", "keypoints")}
    batch["img"] = torch.stack([crop["img"] for crop in crops])
    batch["batch_idx"] = torch.repeat_interleave(torch.arange(len(crops)), counts).float()
    return batch
