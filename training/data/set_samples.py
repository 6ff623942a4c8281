"""Endless samples of both networks from labeled data sets, such as those of `downfield twin dataset`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from downfield.core.arrays import Array, Image
from downfield.models.refiner import PATCH_PX, to_patch
from downfield.training.data.labeled_frames import (
    FrameDraw,
    Sources,
    labels_of,
    read_frame,
    read_objects,
    unsure_places_of,
)
from downfield.training.data.objects import Objects
from downfield.training.data.patches import CROPS_PER_FRAME, CropStream, cut_guessed
from downfield.training.data.places import patch_labels
from downfield.training.data.samples import BALL, MOST_OBJECTS, FrameSamples, PatchSamples, frame_samples, patch_samples
from downfield.training.data.variation import lay_balls

HARDLY_SHOWN: Final = 0.1  # visible share of a ball that its labels call hidden: it may be found or not

_PATCH_FRAMES: Final = 4  # in a batch, about 30 patches each
_CENTER: Final = (PATCH_PX - 1) / 2


def detector_samples(sources: Sources, seed: int, *, crops: int, workers: int = 1) -> Iterator[FrameSamples]:
    """Yield batches of crops without end, prepared in processes of their own.

    Args:
        workers: processes that prepare batches; 0 for none.

    Raises:
        InputError: a data set has no training pictures.
    """
    stream = CropStream(sources, "train", seed)
    return _endless(stream, max(crops // CROPS_PER_FRAME, 1), workers, _frames_of)


def refiner_samples(sources: Sources, seed: int, *, workers: int = 1, first: int = 0) -> Iterator[PatchSamples]:
    """Yield batches of patches without end, from batch `first` on; see `detector_samples`."""
    return _endless(BallAndFigurePatches(sources, seed), _PATCH_FRAMES, workers, _patches_of, first)


class BallAndFigurePatches(Dataset[PatchSamples]):
    """An endless stream: item i is the patches of some frame, with the ball in each, a function of seed and i alone.

    Raises:
        InputError: a data set has no training pictures.
    """

    def __init__(self, sources: Sources, seed: int) -> None:
        self._frames = FrameDraw(sources, "train", seed)

    def __getitem__(self, index: int) -> PatchSamples:
        path, rng = self._frames.draw(index)
        image, unsure = read_frame(path), unsure_places_of(path)
        image, objects = lay_balls(image, read_objects(labels_of(path), (image.shape[1], image.shape[0])), rng)
        cut = cut_guessed(image, objects, rng, avoid=unsure)
        *labels, balls = *patch_labels(cut), balls_in_patches(objects.points[objects.kinds == BALL, 4], cut.transforms)
        if unsure is not None:  # a picture of a real table, whose own ball has no label
            balls[balls[:, 2] == 0, 2] = HARDLY_SHOWN
        parts = (torch.from_numpy(part.astype(np.float32)) for part in (*labels, balls))
        return PatchSamples(torch.from_numpy(cut.patches), *parts)


def balls_in_patches(balls: Array, transforms: Array) -> Array:
    """Return the ball nearest to the center of each patch: x, y in its pixels and its visible share, shape (n, 3).

    Args:
        balls: x, y in the picture and flag, shape (m, 3).
        transforms: of the patches, shape (n, 2, 3).
    """
    out = np.zeros((len(transforms), 3))
    known = balls[balls[:, 2] > 0]
    if not len(known) or not len(transforms):
        return out
    places = to_patch(np.broadcast_to(known[None, :, :2], (len(transforms), len(known), 2)), transforms)
    reach = np.abs(places - _CENTER).max(axis=2)
    nearest = reach.argmin(axis=1)
    rows = np.arange(len(transforms))
    inside = reach[rows, nearest] <= PATCH_PX / 2
    out[:, :2] = np.where(inside[:, None], places[rows, nearest], 0.0)
    out[:, 2] = np.where(inside, np.where(known[nearest, 2] > 1, 1.0, HARDLY_SHOWN), 0.0)
    return out


def _endless(
    stream: Dataset[Any], items: int, workers: int, collate: Callable[[Sequence[Any]], Any], first: int = 0
) -> Iterator[Any]:
    loader: DataLoader[Any] = DataLoader(
        stream, items, sampler=range(first * items, 1 << 40), num_workers=workers, collate_fn=collate
    )
    return iter(loader)


def _frames_of(items: Sequence[Sequence[tuple[Image, Objects]]]) -> FrameSamples:
    crops = [crop for item in items for crop in item]
    return frame_samples(tuple(torch.stack(parts) for parts in zip(*(_frame_of(*crop) for crop in crops), strict=True)))


def _frame_of(image: Image, objects: Objects) -> tuple[Tensor, ...]:
    """Return a crop and its objects as of `FrameSamples`."""
    count = min(len(objects.kinds), MOST_OBJECTS)
    kinds = torch.full((MOST_OBJECTS,), -1)
    points, boxes, shown = torch.zeros(MOST_OBJECTS, 5, 3), torch.zeros(MOST_OBJECTS, 4), torch.zeros(MOST_OBJECTS)
    kinds[:count] = torch.from_numpy(objects.kinds[:count].astype(np.int64))
    points[:count] = torch.from_numpy(objects.points[:count].astype(np.float32))
    boxes[:count] = torch.from_numpy(objects.boxes[:count].astype(np.float32))
    shown[:count] = 1.0
    hidden = (kinds == BALL) & (points[:, 4, 2] < 2)
    return torch.from_numpy(image), kinds, points, boxes, torch.where(hidden, HARDLY_SHOWN, shown)


def _patches_of(items: Sequence[PatchSamples]) -> PatchSamples:
    return patch_samples(tuple(torch.cat(parts) for parts in zip(*items, strict=True)))
