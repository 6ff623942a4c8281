"""What the second look learns from: patches around all figures of a frame, cut where a first look might put them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.models.patch import cut_patches, patch_transform, to_patch, to_units
from downfield.models.training.augment import Image, recolour
from downfield.models.training.labelled_frames import FrameDraw, Objects, Sources, labels_of, read_frame, read_objects
from downfield.models.training.learner import Batch
from downfield.vision.footprint import Array

FIGURE_KINDS: Final = (0, 1)  # upright, fallen
EMPTY_PER_FRAME: Final = 6
"""Patches of a frame with no figure in their middle."""

# Where a first look puts a base, as shares of its length, and its heading, degrees.
_AWAY, _FAR_AWAY, _FAR_CHANCE = 0.05, 0.25, 0.1
_TURN_DEG, _FAR_TURN_DEG = 6.0, 40.0
_GROWTH = 0.07
_EMPTY_NEAREST = 0.65  # of a base's length: a middle further from every figure's is empty
_EMPTY_REACH = 1.3
_TRIES = 20


class PatchStream(Dataset[Batch]):
    """An endless stream: item i is all figures of some frame and some empty places, a function of the seed and i alone.

    Args:
        sources, split, seed: see `FrameDraw`.
        plain: without recolouring, to be measured on.

    Raises:
        InputError: a folder holds no labelled pictures of the split.

    """

    def __init__(self, sources: Sources, split: str, seed: int, *, plain: bool = False) -> None:
        self._frames = FrameDraw(sources, split, seed)
        self._plain = plain

    def __getitem__(self, index: int) -> Batch:
        path, rng = self._frames.draw(index)
        image = read_frame(path)
        objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
        return patches_of(image, objects, rng, plain=self._plain)


def patches_of(
    image: Image, objects: Objects, rng: np.random.Generator, *, plain: bool = False, avoid: Array | None = None
) -> Batch:
    """Patches of a frame's figures and of empty places, with what is true of them.

    Args:
        image: the frame.
        objects: what is in it.
        rng: where chance comes from.
        plain: without recolouring.
        avoid: places that are not known to be empty, pixels, shape (n, 2).

    Returns:
        ``img`` uint8 (n, 3, 64, 64) red green blue; ``points`` (n, 5, 2) in units, in the patch's order; ``flags``
        (n, 5): 0 unknown, 1 hidden, 2 seen; ``flip``, ``fallen``, ``figure`` (n,): 0 or 1.

    """
    chosen = np.isin(objects.kinds, FIGURE_KINDS) & (objects.points[:, :4, 2] > 0).all(axis=1)
    points, kinds = objects.points[chosen], objects.kinds[chosen]
    guessed = _guess(points[:, :4, :2], rng)
    taken = points[:, :4, :2].mean(axis=1)
    if avoid is not None:
        taken = np.concatenate([taken, avoid])
    empty = _empty(points[:, :4, :2], taken, (image.shape[1], image.shape[0]), rng)
    transforms = patch_transform(np.concatenate([guessed, empty]))
    patches = cut_patches(image, transforms)
    if not plain:
        patches = np.stack([recolour(patch, rng) for patch in patches])
    count, total = len(points), len(patches)
    units = np.zeros((total, 5, 2))
    flags = np.zeros((total, 5))
    units[:count] = to_units(to_patch(points[..., :2], transforms[:count]))
    flags[:count] = points[..., 2]
    ahead = units[:count, :2].mean(axis=1) - units[:count, 2:4].mean(axis=1)
    flip = ahead[:, 0] < 0
    order = np.where(flip[:, None], (2, 3, 0, 1, 4), (0, 1, 2, 3, 4))
    units[:count] = np.take_along_axis(units[:count], order[..., None], axis=1)
    flags[:count] = np.take_along_axis(flags[:count], order, axis=1)
    inside = (np.abs(units) < 1).all(axis=2)
    truth = {
        "points": units,
        "flags": np.where(inside, flags, 0),
        "flip": _padded(flip, total),
        "fallen": _padded(kinds == 1, total),
        "figure": _padded(np.ones(count), total),
    }
    tensors = {name: torch.from_numpy(values.astype(np.float32)) for name, values in truth.items()}
    return {"img": torch.from_numpy(np.ascontiguousarray(patches[..., ::-1].transpose(0, 3, 1, 2)))} | tensors


def collate_patches(items: Sequence[Batch]) -> Batch:
    """One batch of several frames' patches."""
    return {name: torch.cat([item[name] for item in items]) for name in items[0]}


def _guess(corners: Array, rng: np.random.Generator) -> Array:
    """Corners as a first look might say them, half of them with front and rear exchanged; shape (n, 4, 2)."""
    n = len(corners)
    far = rng.random(n) < _FAR_CHANCE
    middle = corners.mean(axis=1)
    length: Array = np.linalg.norm(corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1), axis=1)
    length = np.maximum(length, 6.0)  # a base that stands on its front has hardly any
    turn = np.radians(np.where(far, rng.uniform(-_FAR_TURN_DEG, _FAR_TURN_DEG, n), rng.normal(0, _TURN_DEG, n)))
    turn += np.pi * (rng.random(n) < 0.5)
    away = rng.normal(0, 1, (n, 2)) * (np.where(far, _FAR_AWAY / 2, _AWAY) * length)[:, None]
    guessed: Array = _turned(corners - middle[:, None], turn, np.exp(rng.normal(0, _GROWTH, n)))
    guessed += (middle + away)[:, None]
    return guessed


def _empty(corners: Array, taken: Array, size_px: tuple[int, int], rng: np.random.Generator) -> Array:
    """Bases where there are none, near figures and anywhere; shape (`EMPTY_PER_FRAME` at most, 4, 2)."""
    if not len(corners):
        return np.zeros((0, 4, 2))
    out = []
    for _ in range(EMPTY_PER_FRAME * _TRIES):
        model = corners[int(rng.integers(len(corners)))]
        middle = model.mean(axis=0)
        length = float(np.linalg.norm(model[:2].mean(axis=0) - model[2:].mean(axis=0)))
        if rng.random() < 0.5:
            way = rng.uniform(0, 2 * np.pi)
            spot = middle + rng.uniform(_EMPTY_NEAREST, _EMPTY_REACH) * length * np.array([np.cos(way), np.sin(way)])
        else:
            spot = rng.uniform(0, 1, 2) * size_px
        if np.linalg.norm(taken - spot, axis=1).min() < _EMPTY_NEAREST * length:
            continue
        out.append(_turned((model - middle)[None], rng.uniform(0, 2 * np.pi, 1), np.ones(1))[0] + spot)
        if len(out) == EMPTY_PER_FRAME:
            break
    return np.array(out).reshape(-1, 4, 2)


def _turned(offsets: Array, turn: Array, growth: Array) -> Array:
    cos, sin = np.cos(turn) * growth, np.sin(turn) * growth
    matrix = np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)
    turned: Array = offsets @ matrix.swapaxes(-1, -2)
    return turned


def _padded(values: Any, total: int) -> Array:
    out = np.zeros(total)
    out[: len(values)] = values
    return out
