"""Chooses where training patches are cut: at simulated or real detections, and at empty places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.training.objects import FALLEN_KIND, Objects

EMPTY_PER_FRAME: Final = 8
"""Patches of a frame with no figure in their middle."""

_LURE_AWAY = 0.2  # of a base's length: how far off a patch about a lure, such as the ball itself, is cut

# Where a first look puts a base, or where one was that is followed, as shares of its length, and its heading, degrees.
_AWAY, _FAR_AWAY, _FAR_CHANCE = 0.05, 0.25, 0.4
_TURN_DEG, _FAR_TURN_DEG = 6.0, 40.0
_GROWTH, _FAR_GROWTH = 0.07, 0.15
_AVOIDED = 0.65  # of a base's length: nearer to a place that may be taken nothing is known to be empty
_EMPTY_REACH = 1.3
_NARROW = 0.6  # a base's width by its length
_BETWEEN_CHANCE, _NEAR_CHANCE = 0.35, 0.75  # up to which an empty place is between two figures, and near one
_TRIES = 20
_SHORTEST_PX = 6.0
_ALONG = 4  # places along a body that lies

# Guesses that a first look really made of the same pictures.
_SEEN_CHANCE = 0.5  # of the figures it found
_OWN_WITHIN = 0.4  # of a base's length and width: a middle so near to its middle is that figure's,
_EMPTY_FROM = 0.47  # and so far from everybody's is nobody's, such as one between two bases that touch
_SEEN_AWAY = 0.02  # moved a little, so that the same guess is never seen twice


def along_bodies(objects: Objects) -> Array:
    """Return offsets from bases to where a detector may put the same figures, shape (`_ALONG`, n, 2).

    The body of one that lies is beside its base, and a first look puts the figure there as often; of others no way.
    """
    way = objects.points[:, 4, :2] - objects.points[:, :4, :2].mean(axis=1)
    lies = (objects.kinds == FALLEN_KIND) & (objects.points[:, 4, 2] > 0)
    steps: Array = np.linspace(0, 1, _ALONG)[:, None, None] * np.where(lies[:, None], way, 0.0)
    return steps


def guessed_bases(corners: Array, along: Array, seen: Array | None, rng: np.random.Generator) -> Array:
    """Simulate detected bases, or take real detections for half of those found; front and rear at random.

    Args:
        corners: of the bases, shape (n, 4, 2).
        along: ways along their bodies, shape (k, n, 2); see `along_bodies`.
        seen: corners of figures as a first look saw them here, rightly or not, shape (m, 4, 2); None: none looked.
        rng: where chance comes from.

    Returns:
        Corners, shape (n, 4, 2).

    """
    guessed = _guess(corners, along, rng)
    return guessed if seen is None else _as_seen(guessed, corners, along, seen, rng)


def _guess(corners: Array, along: Array, rng: np.random.Generator) -> Array:
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
class TakenPlaces:
    """Places that are not empty: corners of figures, shape (n, 4, 2), and other occupied places, shape (k, 2)."""

    figures: Array
    avoid: Array

    def leaves(self, spots: Array, length: Array) -> NDArray[np.bool_]:
        """Return which spots, shape (m, 2), are empty, for bases of these lengths, shape (m,)."""
        clear = _apart(self.figures, spots).min(axis=0, initial=np.inf) > _EMPTY_FROM
        off = np.linalg.norm(self.avoid[:, None] - spots[None], axis=2).min(axis=0, initial=np.inf)
        nobodys: NDArray[np.bool_] = clear & (off > _AVOIDED * length)
        return nobodys


def empty_bases(
    corners: Array,
    taken: TakenPlaces,
    size_px: tuple[int, int],
    lures: Array,
    seen: Array | None,
    rng: np.random.Generator,
) -> Array:
    """Choose bases where there are none: at false detections, at lures, near figures and anywhere.

    Args:
        corners: of real bases, shape (n, 4, 2).
        taken: what is not empty.
        size_px: the frame's width and height.
        lures: places that may be taken for a figure's, pixels, shape (k, 2).
        seen: see `guessed_bases`.
        rng: where chance comes from.

    Returns:
        Corners, shape (`EMPTY_PER_FRAME` at most, 4, 2).

    """
    drawn = _empty(corners, taken, size_px, lures, rng)
    wrong = np.zeros((0, 4, 2)) if seen is None else _wrongly_seen(seen, taken, rng)
    both: Array = np.concatenate([wrong, drawn])[:EMPTY_PER_FRAME]
    return both


def _wrongly_seen(seen: Array, taken: TakenPlaces, rng: np.random.Generator) -> Array:
    """Choose some false detections, as many as half of the empty places."""
    if not len(seen):
        return np.zeros((0, 4, 2))
    wrong = np.flatnonzero(taken.leaves(seen.mean(axis=1), _lengths(seen)))
    picked: Array = seen[rng.permutation(wrong)[: EMPTY_PER_FRAME // 2]]
    return picked


def _empty(
    corners: Array, taken: TakenPlaces, size_px: tuple[int, int], lures: Array, rng: np.random.Generator
) -> Array:
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


def _apart(corners: Array, spots: Array) -> Array:
    """Return how far spots, shape (m, 2), are from bases, shape (n, 4, 2), in their lengths and widths."""
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
