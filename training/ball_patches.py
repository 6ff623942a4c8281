"""Training patches of the ball refiner: around figures and ball candidates; a third of them show a ball."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
from torch.utils.data import Dataset

from downfield.core.arrays import Array, Image
from downfield.models.ball_detection import BALL_PATCH_ZOOM
from downfield.models.refiner import to_patch, to_units
from downfield.training.balls import lay_balls
from downfield.training.guesses import ball_guesses_of, guesses_of
from downfield.training.labeled_frames import FrameDraw, Sources, labels_of, read_frame, read_objects, things_of
from downfield.training.objects import BALL_KIND, BALL_POINT, Objects
from downfield.training.patches import cut_guessed, to_batch
from downfield.training.shadows import cast_hard_shadows
from downfield.training.trainer import Batch
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.labels import ThingLabel

BALL_PATCHES_PER_FRAME: Final = 16
"""Patches of a frame at most."""

_WITH_BALL: Final = 6  # of them at most show one
_SEEN_FROM: Final = 0.2  # share of a ball that must show to be asked for; of less it may be seen or not
_WITHIN, _EDGE = 0.85, 1.1  # units: a ball between these may be said or not: it is in the middle of another patch
_SEEN_FLAG, _HIDDEN_FLAG = 2, 1
_MOVED_PX: Final = 1.5


class BallPatches(Dataset[Batch]):
    """An endless stream: item i is patches of some frame, a function of the seed and i alone.

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
        hardly = [thing.center_px for thing in self._things.get(path, ()) if _hardly_shows(thing)]
        objects = _hidden(objects, np.array(hardly).reshape(-1, 2))
        image, objects = lay_balls(image, objects, rng)
        image, lures = cast_hard_shadows(image, objects, rng)
        return ball_patches_of(
            image, objects, rng, lures=lures, seen=guesses_of(path), taken_for_ball=ball_guesses_of(path)
        )


def ball_patches_of(
    image: Image,
    objects: Objects,
    rng: np.random.Generator,
    *,
    plain: bool = False,
    lures: Array | None = None,
    seen: Array | None = None,
    taken_for_ball: Array | None = None,
) -> Batch:
    """Cut patches of a frame, with whether and where they show a ball.

    Args:
        image: the frame.
        objects: what is in it; balls that are seen but hardly are flagged as hidden.
        rng: where chance comes from.
        plain: without recoloring.
        lures: places that may be taken for a figure's, pixels, shape (n, 2).
        seen: corners of figures as a first look saw them here, shape (n, 4, 2); None when none looked.
        taken_for_ball: corners about what a ball look took for one, rightly or not, likewise.

    Returns:
        ``img`` uint8 (n, 3, 64, 64) red green blue, where n is at most `BALL_PATCHES_PER_FRAME`; ``ball``, ``ball_known`` (n,): 0 or
        1; ``ball_place`` (n, 2) in units.

    """
    more = _shaken(taken_for_ball, rng)
    cut = cut_guessed(
        image,
        objects,
        rng,
        plain=plain,
        lures=lures,
        seen=seen,
        besides=more,
        lying_again=0,
        faithful=True,
        closer=BALL_PATCH_ZOOM,
    )
    truth = _truth(objects.points[objects.kinds == BALL_KIND, BALL_POINT], cut.transforms)
    # What was taken for a ball and is none is the hardest to tell, and comes first.
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
    return thing.kind == "ball" and thing.shown < _SEEN_FROM


def _hidden(objects: Objects, balls: Array) -> Objects:
    """Return the objects with the balls at some places, shape (n, 2), flagged as hidden."""
    points = objects.points.copy()
    for row in np.flatnonzero(objects.kinds == BALL_KIND):
        if (np.abs(balls - points[row, BALL_POINT, :2]) < 1).all(axis=1).any():
            points[row, BALL_POINT, 2] = _HIDDEN_FLAG
    return dataclasses.replace(objects, points=points)


def _truth(balls: Array, transforms: Array) -> dict[str, Array]:
    """Return whether and where patches show a ball: x, y and flag of each, shape (n, 3)."""
    total = len(transforms)
    ball, place, known = np.zeros(total), np.zeros((total, 2)), np.ones(total)
    for x, y, flag in balls:
        units = to_units(to_patch(np.broadcast_to((x, y), (total, 1, 2)), transforms))[:, 0]
        reach = np.abs(units).max(axis=1)
        shown = (reach < _WITHIN) & (flag == _SEEN_FLAG)
        known[shown & (ball > 0)] = 0  # one place can be said
        ball[shown], place[shown] = 1, units[shown]
        known[(reach < _EDGE) & ~shown] = 0  # hidden, or at the edge
    return {"ball": ball, "ball_known": known, "ball_place": place}
