"""Chooses where training patches are cut in a frame: at simulated detections, and at empty places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.models.refiner import PATCH_PX, patch_transform, to_patch
from downfield.training.data.objects import BALL_KIND, BALL_POINT, FALLEN_KIND, FIGURE_KINDS, Objects

FALLEN_REPEATS: Final = 1  # additional patches of each fallen figure: few figures fall

_DISTRACTORS: Final = 3
_STRETCH: Final = (0.04, 0.08)  # deviations of a base's length and width, logarithms


@dataclass(frozen=True, slots=True)
class PatchPlaces:
    """Patches of a frame's figures, followed by patches of empty places."""

    transforms: Array  # from the frame's pixels to the patches', shape (m, 2, 3)
    kinds: Array  # class of each figure, shape (n,), where n is at most m
    points: Array  # of each figure in the frame, x, y and flag, shape (n, 5, 3)


def patch_labels(places: PatchPlaces) -> tuple[Array, Array, Array, Array, Array]:
    """Return the labels of patches: figures come first, then empty places.

    Returns:
        Keypoints in the patch's order, pixels, shape (m, 5, 2); their flags, shape (m, 5), 0 outside the patch; and of
        each patch, 0 or 1: whether its figure faces -x, has fallen, and is there, shape (m,) each.
    """
    total, count = len(places.transforms), len(places.points)
    placed, flags = np.zeros((total, 5, 2)), np.zeros((total, 5))
    flip, fallen = np.zeros(total), np.zeros(total)
    if count:
        placed[:count] = to_patch(places.points[..., :2], places.transforms[:count])
        flags[:count] = places.points[..., 2]
        ahead = placed[:count, :2].mean(axis=1) - placed[:count, 2:4].mean(axis=1)
        flip[:count], fallen[:count] = ahead[:, 0] < 0, places.kinds == FALLEN_KIND
        order = np.where(flip[:count, None] > 0, (2, 3, 0, 1, 4), (0, 1, 2, 3, 4))
        placed[:count] = np.take_along_axis(placed[:count], order[..., None], axis=1)
        flags[:count] = np.take_along_axis(flags[:count], order, axis=1)
    inside = ((placed > -0.5) & (placed < PATCH_PX - 0.5)).all(axis=2)
    return placed, np.where(inside, flags, 0), flip, fallen, (np.arange(total) < count).astype(float)


def balls_in_patches(objects: Objects, shown: Array, transforms: Array) -> Array:
    """Return the ball that shows most in each patch: x, y and its visible share, 0 for none, shape (n, 3).

    Args:
        objects: of the frame.
        shown: visible shares of them.
        transforms: from the frame's pixels to the patches', shape (n, 2, 3).
    """
    chosen = (objects.kinds == BALL_KIND) & (objects.points[:, BALL_POINT, 2] > 0)
    out = np.zeros((len(transforms), 3))
    if not chosen.any() or not len(transforms):
        return out
    middles = objects.points[chosen, BALL_POINT, :2]
    placed = to_patch(np.broadcast_to(middles, (len(transforms), *middles.shape)), transforms)
    inside = ((placed > -0.5) & (placed < PATCH_PX - 0.5)).all(axis=2)
    share = np.where(inside, shown[chosen], 0.0)
    best, rows = share.argmax(axis=1), np.arange(len(transforms))
    out[:, 2] = share[rows, best]
    out[:, :2] = np.where(out[:, 2:] > 0, placed[rows, best], 0.0)
    return out


def place_patches(
    objects: Objects,
    size_px: tuple[int, int],
    rng: np.random.Generator,
    *,
    avoid: Array | None = None,
    distractors: Array | None = None,
) -> PatchPlaces:
    """Choose patches of a frame where a detector might have put figures; bases are stretched a little.

    Args:
        avoid: places that may hold an unlabeled figure, pixels, shape (n, 2).
        distractors: places that may be taken for a figure's, pixels, shape (n, 2).
    """
    is_figure = np.isin(objects.kinds, FIGURE_KINDS)
    each = np.flatnonzero(is_figure & (objects.points[:, :4, 2] > 0).all(axis=1))
    each = np.concatenate([each, np.repeat(each[objects.kinds[each] == FALLEN_KIND], FALLEN_REPEATS)])
    points, kinds = objects.points[each], objects.kinds[each]
    ways = along_bodies(objects)
    guessed = guessed_bases(points[:, :4, :2], ways[:, each], rng)
    about = (objects.points[:, :4, :2] + ways[:, :, None])[:, is_figure]
    taken = about.reshape(-1, 4, 2), np.zeros((0, 2)) if avoid is None else avoid
    tempting = objects.points[objects.kinds == BALL_KIND, BALL_POINT, :2]
    if distractors is not None:
        tempting = np.concatenate([tempting, distractors[rng.permutation(len(distractors))[:_DISTRACTORS]]])
    empty = empty_bases(points[:, :4, :2], taken, size_px, tempting, rng)
    transforms = _stretched(patch_transform(np.concatenate([guessed, empty])), points[:, :4, :2], rng)
    return PatchPlaces(transforms, kinds, points)


def _stretched(transforms: Array, corners: Array, rng: np.random.Generator) -> Array:
    """Stretch bases along or across, since real makes differ more than the data sets do.

    Args:
        transforms: shape (m, 2, 3).
        corners: of the bases in the first of them, along and across which it is stretched, shape (n, 4, 2).
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


EMPTY_PER_FRAME: Final = 8  # patches of a frame with no figure in their middle

_DISTRACTOR_AWAY = 0.2  # of a base's length: how far off a patch about a distractor, such as the ball itself, is cut
_DISTRACTOR_GROWTH = 0.25  # standard deviation of the logarithm of its size: a detector measures print, not a base
_SQUARE_CHANCE = 0.5  # of such a patch along the picture's sides, as print mostly lies

# Errors of simulated detections, and of figures that are followed: shares of a base's length, and degrees of heading.
_AWAY, _FAR_AWAY, _FAR_CHANCE = 0.05, 0.25, 0.4
_TURN_DEG, _FAR_TURN_DEG = 6.0, 40.0
_GROWTH, _FAR_GROWTH = 0.07, 0.15
_AVOIDED = 0.65  # of a base's length: no place so near to one that may be taken counts as empty
_EMPTY_REACH = 1.3
_NARROW = 0.6  # a base's width by its length
_BETWEEN_CHANCE, _NEAR_CHANCE = 0.35, 0.75  # up to which an empty place is between two figures, and near one
_TRIES = 20
_SHORTEST_PX = 6.0
_ALONG = 4  # places along a body that lies
_EMPTY_FROM = 0.47  # a place so far from every base is empty, such as one between two bases that touch


def along_bodies(objects: Objects) -> Array:
    """Return offsets from bases to where a detector may put the same figures, shape (`_ALONG`, n, 2).

    The body of a fallen figure lies beside its base, and a detector puts the figure there as often; of others 0.
    """
    way = objects.points[:, 4, :2] - objects.points[:, :4, :2].mean(axis=1)
    lies = (objects.kinds == FALLEN_KIND) & (objects.points[:, 4, 2] > 0)
    steps: Array = np.linspace(0, 1, _ALONG)[:, None, None] * np.where(lies[:, None], way, 0.0)
    return steps


def guessed_bases(corners: Array, along: Array, rng: np.random.Generator) -> Array:
    """Simulate detected bases, front and rear at random.

    Args:
        corners: of the bases, shape (n, 4, 2).
        along: ways along their bodies, shape (k, n, 2); see `along_bodies`.

    Returns:
        Corners, shape (n, 4, 2).
    """
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


def empty_bases(
    corners: Array, taken: tuple[Array, Array], size_px: tuple[int, int], distractors: Array, rng: np.random.Generator
) -> Array:
    """Choose bases where there are none: at distractors, near figures and anywhere.

    Args:
        corners: of real bases, shape (n, 4, 2).
        taken: corners of figures, shape (n, 4, 2), and other places that are not empty, shape (k, 2).
        distractors: places that may be taken for a figure's, pixels, shape (k, 2).

    Returns:
        Corners, shape (`EMPTY_PER_FRAME` at most, 4, 2).
    """
    if not len(corners):
        return np.zeros((0, 4, 2))
    out = []
    middles, lengths = corners.mean(axis=1), _lengths(corners)
    for number in range(EMPTY_PER_FRAME * _TRIES):
        k = int(rng.integers(len(corners)))
        middle, length, turn = middles[k], float(lengths[k]), rng.uniform(0, 2 * np.pi)
        chance, growth = rng.random(), 1.0
        if number < len(distractors):
            spot = distractors[number] + rng.normal(0, _DISTRACTOR_AWAY, 2) * length
            growth = np.exp(rng.normal(0, _DISTRACTOR_GROWTH))
            if rng.random() < _SQUARE_CHANCE:
                ahead = corners[k, :2].sum(axis=0) - corners[k, 2:].sum(axis=0)
                turn = rng.integers(4) * np.pi / 2 - np.arctan2(ahead[1], ahead[0])
                turn += np.radians(rng.normal(0, _TURN_DEG))
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
        figures, avoid = taken
        off = np.linalg.norm(avoid - spot, axis=1).min(initial=np.inf)
        if _apart(figures, spot).min(initial=np.inf) <= _EMPTY_FROM or off <= _AVOIDED * length:
            continue
        out.append(_turned((corners[k] - middle)[None], np.array([turn]), np.array([growth]))[0] + spot)
        if len(out) == EMPTY_PER_FRAME:
            break
    return np.array(out).reshape(-1, 4, 2)


def _apart(corners: Array, spot: Array) -> Array:
    """Return how far a spot, shape (2,), is from bases, shape (n, 4, 2), in their lengths and widths, shape (n,)."""
    ahead = corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1)
    aside = corners[:, [0, 3]].mean(axis=1) - corners[:, [1, 2]].mean(axis=1)
    off = spot - corners.mean(axis=1)
    # A base on its edge is not found more exactly for being narrow.
    least = (0.4 * _lengths(corners)) ** 2
    along, across = (
        np.einsum("nk,nk->n", off, axis) / np.maximum((axis**2).sum(axis=1), least) for axis in (ahead, aside)
    )
    apart: Array = np.hypot(along, across)
    return apart


def _lengths(corners: Array) -> Array:
    """Return the longer sides of bases, at least a few pixels, since a base on its edge has hardly any length."""
    ahead = np.linalg.norm(corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1), axis=1)
    aside = np.linalg.norm(corners[:, [0, 3]].mean(axis=1) - corners[:, [1, 2]].mean(axis=1), axis=1)
    longer: Array = np.maximum(np.maximum(ahead, aside), _SHORTEST_PX)
    return longer


def _turned(offsets: Array, turn: Array, growth: Array) -> Array:
    cos, sin = np.cos(turn) * growth, np.sin(turn) * growth
    matrix = np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)
    turned: Array = offsets @ matrix.swapaxes(-1, -2)
    return turned
