"""What the second look learns from: patches around all figures of a frame, cut where a first look might put them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from torch.utils.data import Dataset

from downfield.models.patch import cut_patches, patch_transform, to_patch, to_units
from downfield.models.training.augment import Image, recolour
from downfield.models.training.guesses import guesses_of
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
_SHORTEST_PX = 6.0

# Guesses that a first look really made of the same pictures.
_SEEN_CHANCE = 0.6  # of the figures it found
_SEEN_WITHIN = 0.5  # of a base's length
_SEEN_AWAY = 0.02  # moved a little, so that the same guess is never seen twice


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
        return patches_of(image, objects, rng, plain=self._plain, seen=guesses_of(path))


def patches_of(
    image: Image,
    objects: Objects,
    rng: np.random.Generator,
    *,
    plain: bool = False,
    avoid: Array | None = None,
    seen: Array | None = None,
) -> Batch:
    """Patches of a frame's figures and of empty places, with what is true of them.

    Args:
        image: the frame.
        objects: what is in it.
        rng: where chance comes from.
        plain: without recolouring.
        avoid: places that are not known to be empty, pixels, shape (n, 2).
        seen: corners of figures as a first look saw them here, rightly or not, shape (n, 4, 2); None when none looked.

    Returns:
        ``img`` uint8 (n, 3, 64, 64) red green blue; ``points`` (n, 5, 2) in units, in the patch's order; ``flags``
        (n, 5): 0 unknown, 1 hidden, 2 seen; ``flip``, ``fallen``, ``figure`` (n,): 0 or 1.

    """
    chosen = np.isin(objects.kinds, FIGURE_KINDS) & (objects.points[:, :4, 2] > 0).all(axis=1)
    points, kinds = objects.points[chosen], objects.kinds[chosen]
    guessed = _guess(points[:, :4, :2], rng)
    figures = objects.points[np.isin(objects.kinds, FIGURE_KINDS), :4]
    taken = np.concatenate([figures[..., :2].mean(axis=1), np.zeros((0, 2)) if avoid is None else avoid])
    empty = _empty(points[:, :4, :2], taken, (image.shape[1], image.shape[0]), rng)
    if seen is not None:
        wrong = _wrong(seen, taken, rng)
        guessed, empty = _as_seen(guessed, points[:, :4, :2], seen, rng), np.concatenate([wrong, empty])
    transforms = patch_transform(np.concatenate([guessed, empty[:EMPTY_PER_FRAME]]))
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
    length = _lengths(corners)
    turn = np.radians(np.where(far, rng.uniform(-_FAR_TURN_DEG, _FAR_TURN_DEG, n), rng.normal(0, _TURN_DEG, n)))
    turn += np.pi * (rng.random(n) < 0.5)
    away = rng.normal(0, 1, (n, 2)) * (np.where(far, _FAR_AWAY / 2, _AWAY) * length)[:, None]
    guessed: Array = _turned(corners - middle[:, None], turn, np.exp(rng.normal(0, _GROWTH, n)))
    guessed += (middle + away)[:, None]
    return guessed


def _as_seen(guessed: Array, corners: Array, seen: Array, rng: np.random.Generator) -> Array:
    """Most guesses replaced by where a first look saw that figure, front and rear as it will."""
    if not len(seen) or not len(corners):
        return guessed
    apart = np.linalg.norm(corners.mean(axis=1)[:, None] - seen.mean(axis=1)[None], axis=2)
    nearest = apart.argmin(axis=1)
    found = apart.min(axis=1) < _SEEN_WITHIN * _lengths(seen[nearest])
    chosen = found & (rng.random(len(corners)) < _SEEN_CHANCE)
    theirs = seen[nearest]
    turned = rng.random(len(corners)) < 0.5
    theirs = np.where(turned[:, None, None], np.roll(theirs, 2, axis=1), theirs)
    theirs = theirs + rng.normal(0, 1, (len(theirs), 1, 2)) * (_SEEN_AWAY * _lengths(theirs))[:, None, None]
    better: Array = np.where(chosen[:, None, None], theirs, guessed)
    return better


def _wrong(seen: Array, taken: Array, rng: np.random.Generator) -> Array:
    """Some of the figures that a first look saw where there are none, as many as two thirds of the empty places."""
    if not len(seen):
        return np.zeros((0, 4, 2))
    apart = np.linalg.norm(seen.mean(axis=1)[:, None] - taken[None], axis=2).min(axis=1, initial=np.inf)
    wrong = np.flatnonzero(apart > _EMPTY_NEAREST * _lengths(seen))
    picked: Array = seen[rng.permutation(wrong)[: 2 * EMPTY_PER_FRAME // 3]]
    return picked


def _lengths(corners: Array) -> Array:
    """The longer sides of bases, at least a few pixels: one that stands on its front has hardly any length."""
    ahead = np.linalg.norm(corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1), axis=1)
    aside = np.linalg.norm(corners[:, [0, 3]].mean(axis=1) - corners[:, [1, 2]].mean(axis=1), axis=1)
    longer: Array = np.maximum(np.maximum(ahead, aside), _SHORTEST_PX)
    return longer


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
