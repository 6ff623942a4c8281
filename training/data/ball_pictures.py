"""Training pictures of the ball's networks.

For the detector crops, most of them around a ball, at the scale it runs at; for the refiner patches around figures and
ball candidates, a third of which show a ball.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.core.arrays import Array, Image
from downfield.models.ball_detection import BALL_PATCH_ZOOM
from downfield.models.refiner import to_patch, to_units
from downfield.training.data.labeled_frames import (
    FrameDraw,
    Sources,
    ball_guesses_of,
    guesses_of,
    labels_of,
    read_frame,
    read_objects,
    things_of,
)
from downfield.training.data.objects import BALL_KIND, BALL_POINT, Objects, cut_out, quarter_turn
from downfield.training.data.patches import Batch, cut_guessed, to_batch
from downfield.training.data.variation import cast_hard_shadows, lay_balls, recolor
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.labels import ThingLabel

BALL_CROP_PX: Final = 128
BALL_CELL_PX: Final = 8
BALL_CROPS_PER_FRAME: Final = 12
"""Crops out of one decoded frame: decoding costs more than cutting."""

_SCALE: Final = 2 / 3  # at which a frame of 1920 px is seen
_GROWTH = (0.72, 1.4)
_ABOUT_BALL, _ABOUT_FIGURE = 0.6, 0.3  # of the crops; the rest are of anywhere
_CROP_SEEN_FROM: Final = 0.25  # visible share from which a ball must be found; below it either answer is right
_NEAR_CELLS, _LIKE_CELLS = 1.0, 1.25  # cells from a ball's middle: presence is not trained, and place is
_AROUND_CELLS = 2.0  # cells around an optional ball, which are not trained


class BallCrops(Dataset[Batch]):
    """An endless stream: item i is `BALL_CROPS_PER_FRAME` crops of some frame, a function of the seed and i alone.

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
        optional = [thing.center_px for thing in self._things.get(path, ()) if _is_optional(thing)]
        return crops_of(image, objects, rng, np.array(optional).reshape(-1, 2))


def crops_of(image: Image, objects: Objects, rng: np.random.Generator, optional: Array) -> Batch:
    """Cut crops of one frame, with their labels.

    Args:
        optional: middles of balls that may be found or not, shape (n, 2).

    Returns:
        ``img`` uint8 (n, 3, 128, 128) red green blue; ``ball`` and ``known`` (n, 16, 16): whether a ball's middle is in
        a cell, and whether that is trained; ``place`` (n, 2, 16, 16): how far right and down of a cell's middle one is,
        in cells, and ``placed`` (n, 16, 16): whether that is trained.
    """
    balls = objects.points[objects.kinds == BALL_KIND, BALL_POINT, :2]
    balls = np.array([ball for ball in balls if not (np.abs(optional - ball) < 1).all(axis=1).any()]).reshape(-1, 2)
    made = [_crop(image, _crop_center(image, objects, balls, rng), rng) for _ in range(BALL_CROPS_PER_FRAME)]
    truths = [_crop_truth(_moved(balls, matrix), _moved(optional, matrix)) for _, matrix in made]
    pictures = np.stack([picture for picture, _ in made])[..., ::-1].transpose(0, 3, 1, 2)
    truth = {name: torch.from_numpy(np.stack([each[name] for each in truths]).astype(np.float32)) for name in truths[0]}
    return {"img": torch.from_numpy(np.ascontiguousarray(pictures))} | truth


def _is_optional(thing: ThingLabel) -> bool:
    """Return whether a ball is ignored here: carried ones are left to the refiner, hidden ones can't be seen."""
    return thing.kind == "ball" and (thing.state == "carried" or thing.shown < _CROP_SEEN_FROM)


def _crop_center(image: Image, objects: Objects, balls: Array, rng: np.random.Generator) -> Array:
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


def _crop_truth(balls: Array, optional: Array) -> dict[str, Array]:
    side = BALL_CROP_PX // BALL_CELL_PX
    middles = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1) + 0.5
    ball, known = np.zeros((side, side)), np.ones((side, side))
    place, placed = np.zeros((2, side, side)), np.zeros((side, side))
    for at in optional:
        known[np.linalg.norm(middles - at, axis=2) < _AROUND_CELLS] = 0
    for at in balls:
        off = at - middles
        away = np.linalg.norm(off, axis=2)
        known[(away < _NEAR_CELLS) & (ball == 0)] = 0
        like = away < _LIKE_CELLS
        place[:, like], placed[like] = off[like].T, 1
        column, row = np.floor(at).astype(int).tolist()
        if 0 <= column < side and 0 <= row < side:
            ball[row, column] = known[row, column] = 1
    return {"ball": ball, "known": known, "place": place, "placed": placed}


BALL_PATCHES_PER_FRAME: Final = 16
"""Patches of a frame at most."""

_WITH_BALL: Final = 6  # of them at most show one
_PATCH_SEEN_FROM: Final = 0.2  # visible share from which a ball must be found; below it either answer is right
_WITHIN, _EDGE = (
    0.85,
    1.1,
)  # units: of a ball between these either answer is right, as another patch has it in its middle
_SEEN_FLAG, _HIDDEN_FLAG = 2, 1
_MOVED_PX: Final = 1.5


class BallPatches(Dataset[Batch]):
    """An endless stream: item i is patches of some frame, a function of the seed and i alone.

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
        hardly = [thing.center_px for thing in self._things.get(path, ()) if _hardly_shows(thing)]
        objects = _hidden(objects, np.array(hardly).reshape(-1, 2))
        image, objects = lay_balls(image, objects, rng)
        image, distractors = cast_hard_shadows(image, objects, rng)
        return ball_patches_of(
            image,
            objects,
            rng,
            distractors=distractors,
            detected=guesses_of(path),
            taken_for_ball=ball_guesses_of(path),
        )


def ball_patches_of(
    image: Image,
    objects: Objects,
    rng: np.random.Generator,
    *,
    plain: bool = False,
    distractors: Array | None = None,
    detected: Array | None = None,
    taken_for_ball: Array | None = None,
) -> Batch:
    """Cut patches of a frame, with whether and where they show a ball.

    Args:
        objects: what is in it; balls that are seen but hardly are flagged as hidden.
        plain: without recoloring.
        distractors: places that may be taken for a figure's, pixels, shape (n, 2).
        detected: corners of figures that a detector found in the frame, shape (n, 4, 2); None for none.
        taken_for_ball: corners about what the ball detector took for a ball, right or wrong, likewise.

    Returns:
        ``img`` uint8 (n, 3, 64, 64) red green blue, n at most `BALL_PATCHES_PER_FRAME`; ``ball``, ``ball_known`` (n,):
        0 or 1; ``ball_place`` (n, 2) in units.
    """
    more = _shaken(taken_for_ball, rng)
    cut = cut_guessed(
        image,
        objects,
        rng,
        plain=plain,
        distractors=distractors,
        detected=detected,
        extra_corners=more,
        fallen_repeats=0,
        faithful=True,
        zoom=BALL_PATCH_ZOOM,
    )
    truth = _patch_truth(objects.points[objects.kinds == BALL_KIND, BALL_POINT], cut.transforms)
    # False balls of the detector are the hardest patches, and come first.
    order = np.concatenate(
        [np.arange(len(cut.patches) - len(more), len(cut.patches)), rng.permutation(len(cut.patches) - len(more))]
    )
    with_ball = truth["ball"][order] > 0
    chosen = np.concatenate([order[with_ball][:_WITH_BALL], order[~with_ball]])[:BALL_PATCHES_PER_FRAME]
    return to_batch(cut.patches[chosen], {name: values[chosen] for name, values in truth.items()})


def _shaken(corners: Array | None, rng: np.random.Generator) -> Array:
    """Jitter the corners of patches and turn half of them round."""
    if corners is None:
        return np.zeros((0, 4, 2))
    moved = corners + rng.normal(0, _MOVED_PX, (len(corners), 1, 2))
    turned = rng.random(len(corners)) < 0.5
    return np.where(turned[:, None, None], np.roll(moved, 2, axis=1), moved)


def _hardly_shows(thing: ThingLabel) -> bool:
    return thing.kind == "ball" and thing.shown < _PATCH_SEEN_FROM


def _hidden(objects: Objects, balls: Array) -> Objects:
    """Return the objects with the balls at some places, shape (n, 2), flagged as hidden."""
    points = objects.points.copy()
    for row in np.flatnonzero(objects.kinds == BALL_KIND):
        if (np.abs(balls - points[row, BALL_POINT, :2]) < 1).all(axis=1).any():
            points[row, BALL_POINT, 2] = _HIDDEN_FLAG
    return dataclasses.replace(objects, points=points)


def _patch_truth(balls: Array, transforms: Array) -> dict[str, Array]:
    """Return whether and where patches show a ball: x, y and flag of each, shape (n, 3)."""
    total = len(transforms)
    ball, place, known = np.zeros(total), np.zeros((total, 2)), np.ones(total)
    for x, y, flag in balls:
        units = to_units(to_patch(np.broadcast_to((x, y), (total, 1, 2)), transforms))[:, 0]
        reach = np.abs(units).max(axis=1)
        shown = (reach < _WITHIN) & (flag == _SEEN_FLAG)
        known[shown & (ball > 0)] = 0  # only one place can be reported
        ball[shown], place[shown] = 1, units[shown]
        known[(reach < _EDGE) & ~shown] = 0  # hidden, or at the edge
    return {"ball": ball, "ball_known": known, "ball_place": place}
