"""The ball look: where balls may lie in a whole frame, by a network that looks for nothing else.

It is shown the frame at two thirds of its size. Of each cell of 8 x 8 pixels it says three numbers: a logit of a ball's
middle being in it, and how far right and down of the cell's middle it is, in cells. Whether that is the ball, and
whether one is in an arm, the second look says.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.head import logit, sigmoid
from downfield.models.letterbox import Letterbox
from downfield.models.runtime import Network

CELL_PX: Final = 8
"""Side of a cell, pixels of the input."""

MOST: Final = 3
"""Balls that are told of: there is one on the table, but what looks most like it may be a helmet."""

_SAME_PX = 16.0  # of the input: places that are nearer are one ball's
_HALF_BOX_PX = 7.0  # of the input: half a ball's box, with some room


class BallDetector:
    """Finds what may be the ball.

    Args:
        network: says the numbers.
        threshold: score from which something is told of.
        odds: slope and intercept that make the network's logit the log-odds of being right.

    """

    def __init__(self, network: Network, *, threshold: float = 0.02, odds: tuple[float, float] = (1.0, 0.0)) -> None:
        self._network, self._threshold, self._odds = network, threshold, odds
        self._box = Letterbox(network.size_px, network.size_px)
        self._input = self._box.new_input()

    def find_candidates(self, image: Image) -> list[Detection]:
        """What may be the ball in a picture, uint8 (height, width, 3), best first.

        Raises:
            InputError: the network is not one that can take a ball look.

        """
        frame_px = (image.shape[1], image.shape[0])
        if frame_px != self._box.frame_px:
            self._box = Letterbox(frame_px, self._network.size_px)
            self._input = self._box.new_input()
        self._box.fit(image, self._input)
        slope, intercept = self._odds
        least = (float(logit(np.array(self._threshold))) - intercept) / slope
        places, logits = self._said(least)
        chosen = _apart(places)
        middles, half = self._box.to_frame(places[chosen]), _HALF_BOX_PX / self._box.scale
        scores = sigmoid(slope * logits[chosen] + intercept).tolist()
        boxes = np.concatenate([middles - half, middles + half], axis=1).tolist()
        return [
            Detection("ball", score, (left, top, right, bottom), helmet_px=(x, y), helmet_score=1.0)
            for (x, y), score, (left, top, right, bottom) in zip(middles.tolist(), scores, boxes, strict=True)
        ]

    def _said(self, least: float) -> tuple[Array, Array]:
        """Places in the input, from its outer edge, shape (n, 2), and their logits, shape (n,), from a least one on."""
        said = self._network.run(self._input)
        columns, rows = (side // CELL_PX for side in self._network.size_px)
        if said.shape != (1, 3, rows, columns):
            name = self._network.name
            raise InputError(f"{name}: its output is {said.shape}; a ball look gives (1, 3, {rows}, {columns})")
        cells = said[0].reshape(3, -1)
        hot = np.flatnonzero(cells[0] >= least)
        hot = hot[np.argsort(-cells[0, hot], kind="stable")]
        picked = cells[:, hot].astype(np.float64)
        middles = np.stack([hot % columns, hot // columns], axis=1) + 0.5
        return (middles + picked[1:].T) * CELL_PX, picked[0]


def _apart(places: Array) -> list[int]:
    """Rows of the first few places, shape (n, 2), that are not near an earlier one."""
    chosen: list[int] = []
    for row, place in enumerate(places):
        if len(chosen) == MOST:
            break
        if not chosen or np.linalg.norm(places[chosen] - place, axis=1).min() > _SAME_PX:
            chosen.append(row)
    return chosen
