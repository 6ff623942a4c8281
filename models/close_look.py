"""The close look: whether a patch shows the ball, in a figure's arm or on the board, and where; a network of its own.

It takes patches cut as the second look's are (`patch.py`), only closer, uint8 (n, 64, 64, 3), blue green red. It gives
logits of the ball's middle being seen in each of 16 x 16 cells of the patch, row by row; that of being nowhere is 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Pixel
from downfield.models.first_look import base_lengths
from downfield.models.head import logit, sigmoid
from downfield.models.patches import BASE_LENGTH_PX, from_patch, from_units, scale_of, to_patch, to_units
from downfield.models.runtime import Network

CELLS: Final = 16
"""In a row of a patch."""

BALL_PATCH_ZOOM: Final = 1.4
"""Times as large as in the second look's patches, which show bases smaller than most cameras do: a ball is small. An
ordinary base leaves 5 mm around it, and all but one in twenty-five of the balls in arms lie over it."""

BATCHES: Final = (1, 4, 12, 25)
"""Patches of one pass: those of the ball look's places, of what is in doubt, and of 22 figures and those places."""

_MIDDLES = (np.arange(CELLS) + 0.5) * 2 / CELLS - 1  # units
_CELLS_AT = np.stack(np.meshgrid(_MIDDLES, _MIDDLES), axis=-1).reshape(1, -1, 2)
_UNCLEAR = (-1.5, 3.0)  # log-odds between which a patch is worth a second view: one in thirty shows the ball
_LEAST = 0.02
_SURE, _SUREST = 6.0, 8.0  # log-odds: more is not believed of one view, and of the only one
_HOPELESS = -4.0  # log-odds
_SHOWN, _ABOUT = 0.8, 0.3  # units: how far from a patch's middle a place is in it, and cells are about a place
_OTHERS_WORD = 0.5  # of a patch about the place itself
_SHARE = 0.25  # half a ball's box, by a base's length


class BallRefiner:
    """Sees the ball in patches; one thread may search for it while another follows it.

    Args:
        searching: says the logits of patches in which it may be.
        following: the same network, opened once more, for patches about where it was.

    """

    def __init__(self, searching: Network, following: Network) -> None:
        self._searching, self._following = searching, following

    def search(self, patches: Image) -> Array:
        """Logits of the cells of patches, (n, 64, 64, 3), in one of which the ball may be; shape (n, 256).

        Those in doubt are looked at once more, turned by half a circle, and the mean is taken.

        Raises:
            InputError: the network is not one that can take a close look.

        """
        heat = _said(self._searching, patches)
        low, high = _UNCLEAR
        there = np.logaddexp.reduce(heat, axis=1)
        rows = np.flatnonzero((there > low) & (there < high))
        if len(rows):
            heat[rows] = (heat[rows] + _said(self._searching, patches[rows, ::-1, ::-1])[:, ::-1]) / 2
        return heat

    def follow(self, patches: Image) -> Array:
        """Logits of the cells of patches about where the ball was a moment ago, as `search` gives them.

        Raises:
            InputError: as of `search`.

        """
        return _said(self._following, patches)


def _said(network: Network, patches: Image) -> Array:
    said = network.run(patches)
    if said.shape != (len(patches), CELLS**2):
        raise InputError(f"{network.name}: its output is {said.shape}; a close look gives (n, {CELLS**2})")
    return said.astype(np.float64)


def with_patch_corners(balls: Sequence[Detection], figures: Sequence[Detection]) -> list[Detection]:
    """Balls with corners, so that patches are cut about them, of the size that figures' patches have in the picture."""
    if not balls:
        return []
    length = float(np.median(base_lengths(np.array([figure.corners_px for figure in figures]))))
    square = length / 2 * np.array([[1.0, -0.6], [1.0, 0.6], [-1.0, 0.6], [-1.0, -0.6]])
    out = []
    for ball in balls:
        left, top, right, bottom = ball.box_px
        middle = ball.helmet_px or ((left + right) / 2, (top + bottom) / 2)
        corners: list[Pixel] = [(x, y) for x, y in (square + middle).tolist()]
        out.append(dataclasses.replace(ball, corners_px=tuple(corners)))
    return out


def decode_ball(balls: Sequence[Detection], heat: Array, transforms: Array) -> list[Detection]:
    """The ball where it is seen best, if anywhere: there is one on the table.

    Args:
        balls: as they were found before; the last patches are theirs.
        heat: of all patches, from `BallRefiner`.
        transforms: that the patches were cut with.

    """
    scores = np.logaddexp.reduce(heat, axis=1)
    shares = np.exp(heat - scores[:, None]).reshape(-1, CELLS, CELLS)
    units = np.stack([shares.sum(axis=1) @ _MIDDLES, shares.sum(axis=2) @ _MIDDLES], axis=1)
    places = from_patch(from_units(units[:, None]), transforms)[:, 0]
    # Both have a say where both looked, and neither may be so sure of something strange that the other is not heard.
    own = len(heat) - len(balls)
    heard = np.minimum(scores, _SUREST)
    heard[own:] = (np.minimum(scores[own:], _SURE) + logit(np.array([ball.score for ball in balls]))) / 2
    heard = _by_all_views(heard, places, heat, transforms)
    best = int(heard.argmax())
    score = float(sigmoid(heard[best]))
    if score < _LEAST:
        return []
    x, y = places[best].tolist()
    half = float(_SHARE * BALL_PATCH_ZOOM * BASE_LENGTH_PX / scale_of(transforms[best]))
    return [Detection("ball", score, (x - half, y - half, x + half, y + half), helmet_px=(x, y), helmet_score=1.0)]


def _by_all_views(heard: Array, places: Array, heat: Array, transforms: Array) -> Array:
    """What is heard of a ball in each patch, with what the other patches say that show the same place.

    What looks like the ball in one of them seldom does in all: each is cut and turned otherwise.

    Args:
        heard: log-odds of each patch, shape (n,).
        places: where it would be, px, shape (n, 2).
        heat: as of `decode_ball`.
        transforms: likewise.

    Returns:
        Log-odds, shape (n,).

    """
    out = heard.copy()
    for row in np.flatnonzero(heard > _HOPELESS).tolist():
        units = to_units(to_patch(np.broadcast_to(places[row], (len(heat), 1, 2)), transforms))
        others = np.abs(units[:, 0]).max(axis=1) < _SHOWN
        others[row] = False
        if others.any():
            about = np.linalg.norm(_CELLS_AT - units[others], axis=2) < _ABOUT
            said = np.logaddexp.reduce(np.where(about, heat[others], -np.inf), axis=1)
            each = _OTHERS_WORD * np.clip(said, -_SURE, _SURE)
            out[row] = (heard[row] + each.sum()) / (1 + _OTHERS_WORD * len(each))
    return out
