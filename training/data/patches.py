"""Training patches of the figure refiner, cut where the figure detector might put the figures of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Unpack

import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.core.arrays import Array, Image
from downfield.models.refiner import cut_patches, to_units
from downfield.training.data.labeled_frames import (
    FrameDraw,
    Sources,
    guesses_of,
    labels_of,
    read_frame,
    read_objects,
    unsure_places_of,
)
from downfield.training.data.objects import Objects, mirrored_frame
from downfield.training.data.places import PatchPlaces, PlaceOptions, patch_labels, place_patches
from downfield.training.data.variation import cast_hard_shadows, lay_balls, recolor

Batch = dict[str, torch.Tensor]
"""Pictures and their labels by name, each with as many rows as the batch has samples."""

PER_PICTURE: Final = 2
"""Items out of one decoded picture: decoding costs more than all the rest."""

_ALIKE = 4  # patches recolored alike
_MIRROR_CHANCE = 0.5


class PatchStream(Dataset[Batch]):
    """An endless stream: item i is all figures of some frame and some empty places, a function of the seed and i alone.

    Args:
        plain: without recoloring, to be measured on.

    Raises:
        InputError: a folder holds no labeled pictures of the split.
    """

    def __init__(self, sources: Sources, split: str, seed: int, *, plain: bool = False) -> None:
        self._frames = FrameDraw(sources, split, seed)
        self._plain, self._seed = plain, seed
        self._last: tuple[Path, Image] | None = None

    def __getitem__(self, index: int) -> Batch:
        path, _ = self._frames.draw(index // PER_PICTURE)
        rng = np.random.default_rng([self._seed, index, PER_PICTURE])
        if self._last is None or self._last[0] != path:
            self._last = path, read_frame(path)
        image = self._last[1]
        objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
        distractors, detected, unsure = None, guesses_of(path), unsure_places_of(path)
        if not self._plain:
            if rng.random() < _MIRROR_CHANCE:
                image, objects, detected = mirrored_frame(image, objects, detected)
                if unsure is not None:
                    unsure[:, 0] = image.shape[1] - 1 - unsure[:, 0]
            image, objects = lay_balls(image, objects, rng)
            image, distractors = cast_hard_shadows(image, objects, rng)
        return patches_of(
            cut_guessed(
                image, objects, rng, plain=self._plain, avoid=unsure, detected=detected, distractors=distractors
            )
        )


@dataclass(frozen=True, slots=True)
class PatchCut(PatchPlaces):
    """Patches of a frame's figures, followed by patches of empty places.

    Attributes:
        patches: blue green red, uint8, shape (m, 64, 64, 3).
    """

    patches: Image


def cut_guessed(
    image: Image,
    objects: Objects,
    rng: np.random.Generator,
    *,
    plain: bool = False,
    faithful: bool = False,
    **options: Unpack[PlaceOptions],
) -> PatchCut:
    """Cut patches of a frame where a detector might have put figures.

    Args:
        plain: neither stretch nor recolor, as for calibration.
        faithful: leave colors nearly what they are: a ball is recognized by its color.
        options: where patches are cut, as of `place_patches`.
    """
    places = place_patches(objects, (image.shape[1], image.shape[0]), rng, stretched=not plain, **options)
    patches = cut_patches(image, places.transforms)
    if not plain:
        alike = [patches[i : i + _ALIKE] for i in range(0, len(patches), _ALIKE)]
        patches = np.concatenate([_recolored(some, rng, faithful=faithful) for some in alike])
    return PatchCut(places.transforms, places.kinds, places.points, patches)


def patches_of(cut: PatchCut) -> Batch:
    """Return patches with their labels.

    Returns:
        ``img`` uint8 (n, 3, 64, 64) red green blue; ``points`` (n, 5, 2) in units, in the patch's order; ``flags``
        (n, 5): 0 unknown, 1 hidden, 2 seen; ``flip``, ``fallen``, ``figure`` (n,): 0 or 1.
    """
    points, flags, flip, fallen, figure = patch_labels(cut)
    truth = {"points": to_units(points), "flags": flags, "flip": flip, "fallen": fallen, "figure": figure}
    return to_batch(cut.patches, truth)


def to_batch(patches: Image, truth: dict[str, Array]) -> Batch:
    """Convert patches, blue green red, and their labels to tensors."""
    tensors = {name: torch.from_numpy(values.astype(np.float32)) for name, values in truth.items()}
    return {"img": torch.from_numpy(np.ascontiguousarray(patches[..., ::-1].transpose(0, 3, 1, 2)))} | tensors


def _recolored(patches: Image, rng: np.random.Generator, *, faithful: bool) -> Image:
    """Recolor a few patches as if of one camera and light, shape (n, 64, 64, 3)."""
    side = patches.shape[2]
    return recolor(patches.reshape(-1, side, 3), rng, faithful=faithful).reshape(patches.shape)


def collate_patches(items: Sequence[Batch]) -> Batch:
    """Collate the patches of several frames into a batch."""
    return {name: torch.cat([item[name] for item in items]) for name in items[0]}
