"""What the first look says, read: only the cells that say anything are decoded.

The head is that of YOLO26-pose (ultralytics), one-to-many branch, before any choosing: one column a cell, the cells row
by row. Of each: four distances from the cell's center to the box's left, top, right and bottom; a logit per class; x, y
and logit of each keypoint; logits of each keypoint's x and y spread. Lengths are in cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.models.card import KINDS

STRIDE_PX: Final = 8
"""Side of a cell, pixels of the input."""

KEYPOINTS: Final = 5
"""The base top's four corners, then the helmet; of the ball and of hands only the last, their center and fingertips."""

CHANNELS: Final = 4 + len(KINDS) + 3 * KEYPOINTS + 2 * KEYPOINTS

_LEAST_SHARE = 1e-6
_CLASSES = slice(4, 4 + len(KINDS))
_POINTS = slice(_CLASSES.stop, _CLASSES.stop + 3 * KEYPOINTS)
_SPREADS = slice(_POINTS.stop, CHANNELS)


@dataclass(frozen=True, slots=True)
class HeadOutput:
    """What was seen, best first, in pixels of the input counted from its outer edge.

    Attributes:
        kinds: rows of `KINDS`, shape (n,).
        scores: 0..1, shape (n,).
        boxes: left, top, right, bottom, shape (n, 4).
        points: shape (n, 5, 2).
        point_scores: 0..1, how surely each is seen, shape (n, 5).
        spreads: of the points along x and y, shape (n, 5, 2), before any scale.

    """

    kinds: NDArray[np.intp]
    scores: Array
    boxes: Array
    points: Array
    point_scores: Array
    spreads: Array


def decode_head(head: NDArray[np.float32], columns: int, thresholds: Array) -> HeadOutput:
    """Decode the cells whose best class reaches its threshold.

    Args:
        head: shape (`CHANNELS`, cells).
        columns: cells in a row.
        thresholds: score from which each kind counts, shape (kinds,).

    """
    least = logit(thresholds)
    hot = np.flatnonzero((head[_CLASSES] >= least.astype(np.float32)[:, None]).any(axis=0))
    picked = head[:, hot].astype(np.float64).T
    logits = picked[:, _CLASSES]
    # Of kinds with different thresholds the one that clears its own by most is it.
    kinds = (logits - least).argmax(axis=1)
    best = logits[np.arange(len(hot)), kinds]
    order = np.argsort(-best, kind="stable")
    picked, kinds, best, hot = picked[order], kinds[order], best[order], hot[order]
    centers = np.stack([hot % columns, hot // columns], axis=1) + 0.5
    reach = picked[:, :4]
    points = picked[:, _POINTS].reshape(-1, KEYPOINTS, 3)
    return HeadOutput(
        kinds=kinds,
        scores=sigmoid(best),
        boxes=np.concatenate([centers - reach[:, :2], centers + reach[:, 2:]], axis=1) * STRIDE_PX,
        points=(points[..., :2] + centers[:, None]) * STRIDE_PX,
        point_scores=sigmoid(points[..., 2]),
        spreads=sigmoid(picked[:, _SPREADS].reshape(-1, KEYPOINTS, 2)) * STRIDE_PX,
    )


def sigmoid(values: Array) -> Array:
    """The logistic function, without overflow."""
    shares: Array = 0.5 * (1 + np.tanh(0.5 * values))
    return shares


def logit(shares: Array) -> Array:
    """Its inverse, of shares kept a little away from 0 and 1."""
    kept = np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE)
    logits: Array = np.log(kept) - np.log1p(-kept)
    return logits
