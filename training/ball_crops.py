"""Training crops of the ball detector: parts of frames, most of them around a ball, at the scale it runs at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.core.arrays import Array, Image
from downfield.training.augment import recolor
from downfield.training.balls import lay_balls
from downfield.training.labeled_frames import FrameDraw, Sources, labels_of, read_frame, read_objects, things_of
from downfield.training.objects import BALL_KIND, BALL_POINT, Objects
from downfield.training.trainer import Batch
from downfield.training.turning import cut_out, quarter_turn
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.labels import ThingLabel

BALL_CROP_PX: Final = 128
BALL_CELL_PX: Final = 8
BALL_CROPS_PER_FRAME: Final = 12
"""Crops out of one decoded frame: decoding costs more than cutting."""

_SCALE: Final = 2 / 3  # at which a frame of 1920 px is seen
_GROWTH = (0.72, 1.4)
_ABOUT_BALL, _ABOUT_FIGURE = 0.6, 0.3  # of the crops; the rest are of anywhere
_SEEN_FROM: Final = 0.25  # share of a ball that must show to be asked for; of less it may be seen or not
_NEAR, _LIKE = 1.0, 1.25  # cells from a ball's middle: not asked whether it is there, and asked where it is
_AROUND = 2.0  # cells around a ball that is not asked for


class BallCrops(Dataset[Batch]):
    """An endless stream: item i is `BALL_CROPS_PER_FRAME` crops of some frame, a function of the seed and i alone.

    Args:
        sources, split, seed: see `FrameDraw`.

    Raises:
        InputError: a folder holds no finished pictures of the split.

    """

    def __init__(self, sources: Sources, split: Split, seed: int) -> None:
        self._frames = FrameDraw(sources, split, seed)
        self._things = things_of(sources, split)

    def __getitem__(self, index: int) -> Batch:
        path, rng = self._frames.draw(index)
        image = read_frame(path)
        objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
        image, objects = lay_balls(image, objects, rng)
        unasked = [thing.center_px for thing in self._things.get(path, ()) if _unasked(thing)]
        return crops_of(image, objects, rng, np.array(unasked).reshape(-1, 2))


def crops_of(image: Image, objects: Objects, rng: np.random.Generator, unasked: Array) -> Batch:
    """Cut crops of one frame, with their labels.

    Args:
        image: the frame.
        objects: what is in it.
        rng: where chance comes from.
        unasked: middles of balls that it is not asked for, shape (n, 2).

    Returns:
        ``img`` uint8 (n, 3, 128, 128) red green blue; ``ball`` and ``known`` (n, 16, 16): whether a ball's middle is in
        a cell, and whether that is asked; ``place`` (n, 2, 16, 16): how far right and down of a cell's middle one is,
        in cells, and ``placed`` (n, 16, 16): whether that is asked.

    """
    balls = objects.points[objects.kinds == BALL_KIND, BALL_POINT, :2]
    balls = np.array([ball for ball in balls if not (np.abs(unasked - ball) < 1).all(axis=1).any()]).reshape(-1, 2)
    made = [_crop(image, _place(image, objects, balls, rng), rng) for _ in range(BALL_CROPS_PER_FRAME)]
    truths = [_truth(_moved(balls, matrix), _moved(unasked, matrix)) for _, matrix in made]
    pictures = np.stack([picture for picture, _ in made])[..., ::-1].transpose(0, 3, 1, 2)
    truth = {name: torch.from_numpy(np.stack([each[name] for each in truths]).astype(np.float32)) for name in truths[0]}
    return {"img": torch.from_numpy(np.ascontiguousarray(pictures))} | truth


def _unasked(thing: ThingLabel) -> bool:
    """Return whether a ball is ignored here: carried ones are left to the refiner, hidden ones can't be seen."""
    return thing.kind == "ball" and (thing.state == "carried" or thing.shown < _SEEN_FROM)


def _place(image: Image, objects: Objects, balls: Array, rng: np.random.Generator) -> Array:
    """Choose the center of a crop, frame pixels."""
    height, width = image.shape[:2]
    chance = rng.random()
    side = BALL_CROP_PX / _SCALE
    if len(balls) and chance < _ABOUT_BALL:
        return np.asarray(balls[int(rng.integers(len(balls)))] + rng.uniform(-0.45, 0.45, 2) * side)
    if len(objects.boxes) and chance < _ABOUT_BALL + _ABOUT_FIGURE:
        box = objects.boxes[int(rng.integers(len(objects.boxes)))]
        return np.asarray((box[:2] + box[2:]) / 2 + rng.uniform(-0.45, 0.45, 2) * side)
    return rng.uniform(0, 1, 2) * (width, height)


def _crop(image: Image, center: Array, rng: np.random.Generator) -> tuple[Image, Array]:
    """Cut a part of a frame, turned by quarters, mirrored, scaled and recolored; return it and its transform."""
    turn, _ = quarter_turn(rng)
    linear = turn * _SCALE * float(np.exp(rng.uniform(*np.log(_GROWTH))))
    matrix = np.concatenate([linear, (np.full(2, (BALL_CROP_PX - 1) / 2) - linear @ center)[:, None]], axis=1)
    return recolor(cut_out(image, matrix, BALL_CROP_PX, rng), rng, faithful=True), matrix


def _moved(points: Array, matrix: Array) -> Array:
    """Transform points of the frame, shape (n, 2), to cells of a crop from its outer edge."""
    cells: Array = (points @ matrix[:, :2].T + matrix[:, 2] + 0.5) / BALL_CELL_PX
    return cells


def _truth(balls: Array, unasked: Array) -> dict[str, Array]:
    side = BALL_CROP_PX // BALL_CELL_PX
    middles = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1) + 0.5
    ball, known = np.zeros((side, side)), np.ones((side, side))
    place, placed = np.zeros((2, side, side)), np.zeros((side, side))
    for at in unasked:
        known[np.linalg.norm(middles - at, axis=2) < _AROUND] = 0
    for at in balls:
        off = at - middles
        away = np.linalg.norm(off, axis=2)
        known[(away < _NEAR) & (ball == 0)] = 0
        like = away < _LIKE
        place[:, like], placed[like] = off[like].T, 1
        column, row = np.floor(at).astype(int).tolist()
        if 0 <= column < side and 0 <= row < side:
            ball[row, column] = known[row, column] = 1
    return {"ball": ball, "known": known, "place": place, "placed": placed}
