"""The state of each figure besides its motion, its posture and its front."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools
from downfield.vision.tracking.initialization import LineUpPoses
from downfield.vision.tracking.limits import TRACKER_LIMITS


@dataclass(slots=True)
class FigureStates:
    """States of n figures. Masks and not one enumeration, since a figure can be sure, grasped and lost at once.

    Attributes:
        seen_ns: time of the last detection, shape (n,) as all but the last few.
        handled_ns: time of the last contact with a hand.
        surprised_ns: time of the last movement against the prediction.
        touched_ns: time of the last contact with another figure.
        merged_ns: time of the last detection of it and another as one.
        visible: visible share of the base top, 0..1.
        sure: whether its identity is beyond doubt.
        grasped: whether it is in a hand.
        lost: whether it may be anywhere.
        stood_mm: place before the hand came, shape (n, 2).
        systematic: covariance of place from the calibration, shape (n, 2, 2).
        by_height: movement of the place per mm of base height, shape (n, 2).
    """

    seen_ns: NDArray[np.int64]
    handled_ns: NDArray[np.int64]
    surprised_ns: NDArray[np.int64]
    touched_ns: NDArray[np.int64]
    merged_ns: NDArray[np.int64]
    visible: Array
    sure: Bools
    grasped: Bools
    lost: Bools
    stood_mm: Array
    systematic: Array
    by_height: Array

    @classmethod
    def of(cls, line_up: LineUpPoses, t_ns: int) -> FigureStates:
        """Return the states of the figures of a line-up, found at a time."""
        count = len(line_up.players)
        never = np.full(count, t_ns - 10 * TRACKER_LIMITS.let_go_ns, dtype=np.int64)
        return cls(
            seen_ns=np.where(line_up.found, line_up.stood_ns, never + 1),
            handled_ns=never.copy(),
            surprised_ns=never.copy(),
            touched_ns=never.copy(),
            merged_ns=never.copy(),
            visible=np.ones(count),
            sure=np.ones(count, dtype=np.bool_),
            grasped=np.zeros(count, dtype=np.bool_),
            lost=~line_up.found,
            stood_mm=line_up.pose[:, :2].copy(),
            systematic=np.zeros((count, 2, 2)),
            by_height=np.zeros((count, 2)),
        )
