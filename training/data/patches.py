"""Training pictures cut from frames: patches of the refiner where the detector might put the figures; crops at random.

Crops, on which the detector is trained, are turned, flipped, scaled and recolored.
A crop has the size at which figures are seen when a whole frame goes through the network, so a network trained on
crops runs on frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Unpack

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.core.arrays import Array, Image
from downfield.models.refiner import cut_patches, to_units
from downfield.training.data.labeled_frames import FrameDraw, Sources, labels_of, read_frame, read_objects
from downfield.training.data.objects import CROP_PX, INPUT_WIDTH_PX, Objects, cut_out, draw_cut, moved, with_room
from downfield.training.data.places import PatchPlaces, PlaceOptions, patch_labels, place_patches
from downfield.training.data.variation import cast_hard_shadows, recolor

Batch = dict[str, torch.Tensor]  # pictures and their labels by name, each with as many rows as the batch has samples

_ALIKE = 4  # patches recolored alike


CROPS_PER_FRAME: Final = 2  # crops out of one decoded frame: decoding costs more than cutting


class CropStream(Dataset[list[tuple[Image, Objects]]]):
    """An endless stream of crops: item i is `CROPS_PER_FRAME` crops of some frame, a function of the seed and i alone.

    Raises:
        InputError: a folder holds no labeled pictures of the split.
    """

    def __init__(self, sources: Sources, split: str, seed: int) -> None:
        self._frames = FrameDraw(sources, split, seed)

    def __getitem__(self, index: int) -> list[tuple[Image, Objects]]:
        path, rng = self._frames.draw(index)
        small, objects = read_small(path)
        small, _ = cast_hard_shadows(small, objects, rng)
        return [cut(small, objects, rng) for _ in range(CROPS_PER_FRAME)]


def read_small(path: Path) -> tuple[Image, Objects]:
    """Read a frame at the network's scale, with its objects. Raises InputError: it can't be decoded."""
    image = read_frame(path, halved=True)
    if image.shape[1] < INPUT_WIDTH_PX:
        image = read_frame(path)
    size = (INPUT_WIDTH_PX, round(INPUT_WIDTH_PX * image.shape[0] / image.shape[1]))
    small = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
    return small, with_room(read_objects(labels_of(path), size))


def cut(image: Image, objects: Objects, rng: np.random.Generator) -> tuple[Image, Objects]:
    """Cut one crop of a frame that is at the network's scale, with its objects; boxes are cut at its edge."""
    matrix, mirrored = draw_cut(objects, (image.shape[1], image.shape[0]), rng)
    inside, _ = moved(objects, matrix, mirrored=mirrored)
    return recolor(cut_out(image, matrix, CROP_PX, rng), rng), inside


@dataclass(frozen=True, slots=True)
class PatchCut(PatchPlaces):
    """Patches of a frame's figures, followed by patches of empty places."""

    patches: Image  # blue green red, uint8, shape (m, 64, 64, 3)


def cut_guessed(
    image: Image, objects: Objects, rng: np.random.Generator, *, plain: bool = False, **options: Unpack[PlaceOptions]
) -> PatchCut:
    """Cut patches of a frame where a detector might have put figures.

    Args:
        plain: neither stretch nor recolor, as for calibration.
        options: where patches are cut, as of `place_patches`.
    """
    places = place_patches(objects, (image.shape[1], image.shape[0]), rng, stretched=not plain, **options)
    patches = cut_patches(image, places.transforms)
    if not plain:
        alike = [patches[i : i + _ALIKE] for i in range(0, len(patches), _ALIKE)]
        patches = np.concatenate([_recolored(some, rng) for some in alike])
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


def _recolored(patches: Image, rng: np.random.Generator) -> Image:
    """Recolor a few patches as if of one camera and light, shape (n, 64, 64, 3)."""
    side = patches.shape[2]
    return recolor(patches.reshape(-1, side, 3), rng).reshape(patches.shape)


def collate_patches(items: Sequence[Batch]) -> Batch:
    """Collate the patches of several frames into a batch."""
    return {name: torch.cat([item[name] for item in items]) for name in items[0]}
