"""What the second look learns from: patches around all figures of a frame, cut where a first look might put them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from downfield.models.patch import PATCH_PX, cut_patches, magnified, patch_transform, to_patch, to_units
from downfield.models.training.augment import Image, recolour
from downfield.models.training.balls import BALL_KIND, BALL_POINT, lay_balls
from downfield.models.training.guesses import guesses_of
from downfield.models.training.labelled_frames import FrameDraw, Objects, Sources, labels_of, read_frame, read_objects
from downfield.models.training.learner import Batch
from downfield.models.training.shadows import cast_hard_shadows
from downfield.models.training.turning import mirrored_frame
from downfield.vision.footprint import Array

FIGURE_KINDS: Final = (0, 1)  # upright, fallen
EMPTY_PER_FRAME: Final = 8
"""Patches of a frame with no figure in their middle."""

PER_PICTURE: Final = 2
"""Items out of one decoded picture: decoding costs more than all the rest."""

_FALLEN_KIND = 1
_LYING_AGAIN = 1
_LURES = 3
_LURE_AWAY = 0.2  # of a base's length: how far off a patch about a lure, such as the ball itself, is cut

# Where a first look puts a base, or where one was that is followed, as shares of its length, and its heading, degrees.
_AWAY, _FAR_AWAY, _FAR_CHANCE = 0.05, 0.25, 0.4
_TURN_DEG, _FAR_TURN_DEG = 6.0, 40.0
_GROWTH, _FAR_GROWTH = 0.07, 0.15
_STRETCH = (0.04, 0.08)  # deviations of a base's length and width, logarithms
_AVOIDED = 0.65  # of a base's length: nearer to a place that may be taken nothing is known to be empty
_EMPTY_REACH = 1.3
_NARROW = 0.6  # a base's width by its length
_BETWEEN_CHANCE, _NEAR_CHANCE = 0.35, 0.75  # up to which an empty place is between two figures, and near one
_TRIES = 20
_ALIKE = 4  # patches recoloured alike
_SHORTEST_PX = 6.0
_ALONG = 4  # places along a body that lies
_MIRROR_CHANCE = 0.5

# Guesses that a first look really made of the same pictures.
_SEEN_CHANCE = 0.5  # of the figures it found
_OWN_WITHIN = 0.4  # of a base's length and width: a middle so near to its middle is that figure's,
_EMPTY_FROM = 0.47  # and so far from everybody's is nobody's, such as one between two bases that touch
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
        self._plain, self._seed = plain, seed
        self._last: tuple[Path, Image] | None = None

    def __getitem__(self, index: int) -> Batch:
        path, _ = self._frames.draw(index // PER_PICTURE)
        rng = np.random.default_rng([self._seed, index, PER_PICTURE])
        if self._last is None or self._last[0] != path:
            self._last = path, read_frame(path)
        image = self._last[1]
        objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
        lures, seen = None, guesses_of(path)
        if not self._plain:
            if rng.random() < _MIRROR_CHANCE:
                image, objects, seen = mirrored_frame(image, objects, seen)
            image, objects = lay_balls(image, objects, rng)
            image, lures = cast_hard_shadows(image, objects, rng)
        return patches_of(cut_guessed(image, objects, rng, plain=self._plain, seen=seen, lures=lures))


@dataclass(frozen=True, slots=True)
class Cut:
    """Patches of a frame's figures, and after them of empty places.

    Attributes:
        patches: blue green red, uint8, shape (m, 64, 64, 3).
        transforms: that they were cut with, shape (m, 2, 3).
        kinds: class of each figure, shape (n,), where n is at most m.
        points: of each figure in the picture, x, y and flag, shape (n, 5, 3).

    """

    patches: Image
    transforms: Array
    kinds: Array
    points: Array


def cut_guessed(
    image: Image,
    objects: Objects,
    rng: np.random.Generator,
    *,
    plain: bool = False,
    avoid: Array | None = None,
    seen: Array | None = None,
    lures: Array | None = None,
    besides: Array | None = None,
    lying_again: int = _LYING_AGAIN,
    faithful: bool = False,
    closer: float = 1.0,
) -> Cut:
    """Patches of a frame, cut where a first look might have put figures.

    Args:
        image: the frame.
        objects: what is in it.
        rng: where chance comes from.
        plain: without recolouring.
        avoid: places that are not known to be empty, pixels, shape (n, 2).
        seen: corners of figures as a first look saw them here, rightly or not, shape (n, 4, 2); None when none looked.
        lures: places that may be taken for a figure's, pixels, shape (n, 2).
        besides: corners by which more patches are cut, the last ones, shape (n, 4, 2).
        lying_again: how often fallen figures, which are few, are cut once more.
        faithful: whether recolouring leaves colours nearly what they are.
        closer: how many times as large as for the second look.

    """
    chosen = np.isin(objects.kinds, FIGURE_KINDS) & (objects.points[:, :4, 2] > 0).all(axis=1)
    balls = objects.points[objects.kinds == BALL_KIND, BALL_POINT, :2]
    each = np.flatnonzero(chosen)
    each = np.concatenate([each, np.repeat(each[objects.kinds[each] == _FALLEN_KIND], lying_again)])
    points, kinds = objects.points[each], objects.kinds[each]
    ways = _along_bodies(objects)
    along = ways[:, each]
    guessed = _guess(points[:, :4, :2], along, rng)
    about = (objects.points[:, :4, :2] + ways[:, :, None])[:, np.isin(objects.kinds, FIGURE_KINDS)]
    taken = _Taken(about.reshape(-1, 4, 2), np.zeros((0, 2)) if avoid is None else avoid)
    tempting = balls
    if lures is not None:
        tempting = np.concatenate([tempting, lures[rng.permutation(len(lures))[:_LURES]]])
    empty = _empty(points[:, :4, :2], taken, (image.shape[1], image.shape[0]), tempting, rng)
    if seen is not None:
        wrong = _wrong(seen, taken, rng)
        guessed, empty = _as_seen(guessed, points[:, :4, :2], along, seen, rng), np.concatenate([wrong, empty])
    more = np.zeros((0, 4, 2)) if besides is None else besides
    transforms = patch_transform(np.concatenate([guessed, empty[:EMPTY_PER_FRAME], more]))
    if not plain:
        transforms = _stretched(transforms, points[:, :4, :2], rng)
    transforms = magnified(transforms, closer)
    patches = cut_patches(image, transforms)
    if not plain:
        alike = [patches[i : i + _ALIKE] for i in range(0, len(patches), _ALIKE)]
        patches = np.concatenate([_recoloured(some, rng, faithful=faithful) for some in alike])
    return Cut(patches, transforms, kinds, points)


def patches_of(cut: Cut) -> Batch:
    """What is true of the figures in patches.

    Args:
        cut: the patches.

    Returns:
        ``img`` uint8 (n, 3, 64, 64) red green blue; ``points`` (n, 5, 2) in units, in the patch's order; ``flags``
        (n, 5): 0 unknown, 1 hidden, 2 seen; ``flip``, ``fallen``, ``figure`` (n,): 0 or 1.

    """
    count, total = len(cut.points), len(cut.patches)
    units = np.zeros((total, 5, 2))
    flags = np.zeros((total, 5))
    units[:count] = to_units(to_patch(cut.points[..., :2], cut.transforms[:count]))
    flags[:count] = cut.points[..., 2]
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
        "fallen": _padded(cut.kinds == _FALLEN_KIND, total),
        "figure": _padded(np.ones(count), total),
    }
    return to_batch(cut.patches, truth)


def to_batch(patches: Image, truth: dict[str, Array]) -> Batch:
    """Patches, blue green red, and what is true of them as tensors."""
    tensors = {name: torch.from_numpy(values.astype(np.float32)) for name, values in truth.items()}
    return {"img": torch.from_numpy(np.ascontiguousarray(patches[..., ::-1].transpose(0, 3, 1, 2)))} | tensors


def _stretched(transforms: Array, corners: Array, rng: np.random.Generator) -> Array:
    """Transforms that show bases longer or shorter for their width than they are: makes differ more than data sets.

    Args:
        transforms: shape (m, 2, 3).
        corners: of the bases in the first of them, along and across which it is stretched, shape (n, 4, 2).
        rng: where chance comes from.

    """
    ahead = np.zeros((len(transforms), 2))
    ahead[:, 0] = 1.0
    placed = to_patch(corners, transforms[: len(corners)])
    ahead[: len(corners)] = placed[:, :2].mean(axis=1) - placed[:, 2:].mean(axis=1)
    way = np.arctan2(ahead[:, 1], ahead[:, 0])
    turn = np.stack([np.stack([np.cos(way), -np.sin(way)], axis=-1), np.stack([np.sin(way), np.cos(way)], axis=-1)], 1)
    grown = np.exp(rng.normal(0, _STRETCH, (len(transforms), 2)))
    stretch = turn * grown[:, None] @ turn.transpose(0, 2, 1)
    middle = np.array([(PATCH_PX - 1) / 2] * 2)
    out: Array = stretch @ transforms
    out[:, :, 2] += middle - stretch @ middle
    return out


def _recoloured(patches: Image, rng: np.random.Generator, *, faithful: bool) -> Image:
    """A few patches as if of one camera and lamp, shape (n, 64, 64, 3): together they cost hardly more than one."""
    side = patches.shape[2]
    return recolour(patches.reshape(-1, side, 3), rng, faithful=faithful).reshape(patches.shape)


def collate_patches(items: Sequence[Batch]) -> Batch:
    """One batch of several frames' patches."""
    return {name: torch.cat([item[name] for item in items]) for name in items[0]}


def _along_bodies(objects: Objects) -> Array:
    """Ways from the middles of bases to where the same figures may be put, `_ALONG` of each, shape (`_ALONG`, n, 2).

    The body of one that lies is beside its base, and a first look puts the figure there as often; of others no way.
    """
    way = objects.points[:, 4, :2] - objects.points[:, :4, :2].mean(axis=1)
    lies = (objects.kinds == _FALLEN_KIND) & (objects.points[:, 4, 2] > 0)
    steps: Array = np.linspace(0, 1, _ALONG)[:, None, None] * np.where(lies[:, None], way, 0.0)
    return steps


def _guess(corners: Array, along: Array, rng: np.random.Generator) -> Array:
    """Corners as a first look might say them, half of them with front and rear exchanged; shape (n, 4, 2)."""
    n = len(corners)
    far = rng.random(n) < _FAR_CHANCE
    middle = corners.mean(axis=1)
    length = _lengths(corners)
    turn = np.radians(np.where(far, rng.uniform(-_FAR_TURN_DEG, _FAR_TURN_DEG, n), rng.normal(0, _TURN_DEG, n)))
    turn += np.pi * (rng.random(n) < 0.5)
    away = rng.normal(0, 1, (n, 2)) * (np.where(far, _FAR_AWAY / 2, _AWAY) * length)[:, None]
    growth = np.exp(rng.normal(0, 1, n) * np.where(far, _FAR_GROWTH, _GROWTH))
    away += along[rng.integers(_ALONG, size=n), np.arange(n)]
    guessed: Array = _turned(corners - middle[:, None], turn, growth)
    guessed += (middle + away)[:, None]
    return guessed


def _as_seen(guessed: Array, corners: Array, along: Array, seen: Array, rng: np.random.Generator) -> Array:
    """Most guesses replaced by where a first look saw that figure, front and rear as it will."""
    if not len(seen) or not len(corners):
        return guessed
    apart = np.min([_apart(corners + way[:, None], seen.mean(axis=1)) for way in along], axis=0)
    nearest = apart.argmin(axis=1)
    found = apart.min(axis=1) < _OWN_WITHIN
    chosen = found & (rng.random(len(corners)) < _SEEN_CHANCE)
    theirs = seen[nearest]
    turned = rng.random(len(corners)) < 0.5
    theirs = np.where(turned[:, None, None], np.roll(theirs, 2, axis=1), theirs)
    theirs = theirs + rng.normal(0, 1, (len(theirs), 1, 2)) * (_SEEN_AWAY * _lengths(theirs))[:, None, None]
    better: Array = np.where(chosen[:, None, None], theirs, guessed)
    return better


@dataclass(frozen=True, slots=True)
class _Taken:
    """Where nothing is empty: corners about figures, shape (n, 4, 2), and places that may be taken, shape (k, 2)."""

    figures: Array
    avoid: Array

    def leaves(self, spots: Array, length: Array) -> NDArray[np.bool_]:
        """Which spots, shape (m, 2), are nobody's, for bases of these lengths, shape (m,)."""
        clear = _apart(self.figures, spots).min(axis=0, initial=np.inf) > _EMPTY_FROM
        off = np.linalg.norm(self.avoid[:, None] - spots[None], axis=2).min(axis=0, initial=np.inf)
        nobodys: NDArray[np.bool_] = clear & (off > _AVOIDED * length)
        return nobodys


def _apart(corners: Array, spots: Array) -> Array:
    """How far spots, shape (m, 2), are from the middles of bases, shape (n, 4, 2), in their lengths and widths."""
    ahead = corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1)
    aside = corners[:, [0, 3]].mean(axis=1) - corners[:, [1, 2]].mean(axis=1)
    off = spots[None] - corners.mean(axis=1)[:, None]
    # A base on its edge is not found more exactly for being narrow.
    least = (0.4 * _lengths(corners)) ** 2
    along, across = (
        np.einsum("nmk,nk->nm", off, axis) / np.maximum((axis**2).sum(axis=1), least)[:, None]
        for axis in (ahead, aside)
    )
    apart: Array = np.hypot(along, across)
    return apart


def _wrong(seen: Array, taken: _Taken, rng: np.random.Generator) -> Array:
    """Some of the figures that a first look saw where there are none, as many as half of the empty places."""
    if not len(seen):
        return np.zeros((0, 4, 2))
    wrong = np.flatnonzero(taken.leaves(seen.mean(axis=1), _lengths(seen)))
    picked: Array = seen[rng.permutation(wrong)[: EMPTY_PER_FRAME // 2]]
    return picked


def _lengths(corners: Array) -> Array:
    """The longer sides of bases, at least a few pixels: one that stands on its front has hardly any length."""
    ahead = np.linalg.norm(corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1), axis=1)
    aside = np.linalg.norm(corners[:, [0, 3]].mean(axis=1) - corners[:, [1, 2]].mean(axis=1), axis=1)
    longer: Array = np.maximum(np.maximum(ahead, aside), _SHORTEST_PX)
    return longer


def _empty(corners: Array, taken: _Taken, size_px: tuple[int, int], lures: Array, rng: np.random.Generator) -> Array:
    """Bases where there are none, at lures, near figures and anywhere; shape (`EMPTY_PER_FRAME` at most, 4, 2)."""
    if not len(corners):
        return np.zeros((0, 4, 2))
    out = []
    middles, lengths = corners.mean(axis=1), _lengths(corners)
    for number in range(EMPTY_PER_FRAME * _TRIES):
        k = int(rng.integers(len(corners)))
        middle, length, turn = middles[k], float(lengths[k]), rng.uniform(0, 2 * np.pi)
        chance = rng.random()
        if number < len(lures):
            spot = lures[number] + rng.normal(0, _LURE_AWAY, 2) * length
        elif chance < _BETWEEN_CHANCE and len(corners) > 1:
            # Between two, and turned as one of them: half of each may look like a whole one.
            apart = np.linalg.norm(middles - middle, axis=1)
            other = middles[np.argsort(apart)[1 + int(rng.integers(min(2, len(corners) - 1)))]]
            spot = (middle + other) / 2 + rng.normal(0, _AWAY, 2) * length
            turn = np.radians(rng.normal(0, _TURN_DEG))
        elif chance < _NEAR_CHANCE:
            way = rng.uniform(0, 2 * np.pi)
            spot = middle + rng.uniform(_EMPTY_FROM * _NARROW, _EMPTY_REACH) * length * np.array(
                [np.cos(way), np.sin(way)]
            )
        else:
            spot = rng.uniform(0, 1, 2) * size_px
        if not taken.leaves(spot[None], np.array([length]))[0]:
            continue
        out.append(_turned((corners[k] - middle)[None], np.array([turn]), np.ones(1))[0] + spot)
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
