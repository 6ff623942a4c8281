"""Training patches of the figure refiner, cut where the figure detector might put the figures of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import torch

from downfield.core.arrays import Array, Image
from downfield.models.refiner import cut_patches, to_units
from downfield.training.data.objects import Objects
from downfield.training.data.places import PatchPlaces, PlaceOptions, patch_labels, place_patches
from downfield.training.data.variation import recolor

Batch = dict[str, torch.Tensor]
"""Pictures and their labels by name, each with as many rows as the batch has samples."""

_ALIKE = 4  # patches recolored alike


@dataclass(frozen=True, slots=True)
class PatchCut(PatchPlaces):
    """Patches of a frame's figures, followed by patches of empty places.

    Attributes:
        patches: blue green red, uint8, shape (m, 64, 64, 3).
    """

    patches: Image


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
