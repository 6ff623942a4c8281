"""Where the refiner's training patches are cut in a frame: by guesses of its figures, and where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.models.refiner import PATCH_PX, magnified, patch_transform, to_patch
from downfield.training.objects import BALL_KIND, BALL_POINT, FALLEN_KIND, FIGURE_KINDS, Objects
from downfield.training.places import TakenPlaces, along_bodies, empty_bases, guessed_bases

LYING_AGAIN: Final = 1
"""How often fallen figures, which are few, are cut once more."""

_LURES: Final = 3
_STRETCH: Final = (0.04, 0.08)  # deviations of a base's length and width, logarithms


@dataclass(frozen=True, slots=True)
class PatchPlaces:
    """Patches of a frame's figures, followed by patches of empty places.

    Attributes:
        transforms: from the frame's pixels to the patches', shape (m, 2, 3).
        kinds: class of each figure, shape (n,), where n is at most m.
        points: of each figure in the frame, x, y and flag, shape (n, 5, 3).

    """

    transforms: Array
    kinds: Array
    points: Array


def place_patches(
    objects: Objects,
    size_px: tuple[int, int],
    rng: np.random.Generator,
    *,
    stretched: bool = True,
    avoid: Array | None = None,
    seen: Array | None = None,
    lures: Array | None = None,
    besides: Array | None = None,
    lying_again: int = LYING_AGAIN,
    closer: float = 1.0,
) -> PatchPlaces:
    """Choose patches of a frame where a detector might have put figures.

    Args:
        objects: in the frame.
        size_px: of the frame.
        rng: where chance comes from.
        stretched: whether bases are stretched a little, since real makes differ.
        avoid: places that are not known to be empty, pixels, shape (n, 2).
        seen: corners of figures as a first look saw them here, rightly or not, shape (n, 4, 2); None when none looked.
        lures: places that may be taken for a figure's, pixels, shape (n, 2).
        besides: corners by which more patches are cut, the last ones, shape (n, 4, 2).
        lying_again: how often fallen figures are cut once more.
        closer: how many times as large as for the second look.

    """
    is_figure = np.isin(objects.kinds, FIGURE_KINDS)
    each = np.flatnonzero(is_figure & (objects.points[:, :4, 2] > 0).all(axis=1))
    each = np.concatenate([each, np.repeat(each[objects.kinds[each] == FALLEN_KIND], lying_again)])
    points, kinds = objects.points[each], objects.kinds[each]
    ways = along_bodies(objects)
    guessed = guessed_bases(points[:, :4, :2], ways[:, each], seen, rng)
    about = (objects.points[:, :4, :2] + ways[:, :, None])[:, is_figure]
    taken = TakenPlaces(about.reshape(-1, 4, 2), np.zeros((0, 2)) if avoid is None else avoid)
    tempting = objects.points[objects.kinds == BALL_KIND, BALL_POINT, :2]
    if lures is not None:
        tempting = np.concatenate([tempting, lures[rng.permutation(len(lures))[:_LURES]]])
    empty = empty_bases(points[:, :4, :2], taken, size_px, tempting, seen, rng)
    more = np.zeros((0, 4, 2)) if besides is None else besides
    transforms = patch_transform(np.concatenate([guessed, empty, more]))
    if stretched:
        transforms = _stretched(transforms, points[:, :4, :2], rng)
    return PatchPlaces(magnified(transforms, closer), kinds, points)


def _stretched(transforms: Array, corners: Array, rng: np.random.Generator) -> Array:
    """Stretch bases along or across, since real makes differ more than the data sets do.

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
