"""The state of each figure besides its motion, its posture and its front; and the tracker's thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools, Indices
from downfield.vision.tracking.initialization import LineUpPoses


@dataclass(frozen=True, slots=True)
class TrackerLimits:
    """Thresholds of the tracker."""

    hand_reach_mm: float = 55.0
    """A hand may move figures nearer to its fingertips than this."""

    grasp_mm: float = 35.0
    """A moving figure nearer to the fingertips than this is held."""

    carried_mm: float = 25.0
    """Largest movement within a frame of a detected figure in a hand."""

    let_go_ns: int = 300_000_000
    """A figure counts as handled for this long after the hand."""

    unseen_ns: int = 250_000_000
    """A figure not detected for less than this was missed, not hidden."""

    missed_once_steps: float = 2.5
    """A figure missed in one detection was detected at most this many steps ago."""

    blind_ns: int = 100_000_000
    """When no figure was detected for this long, the board's power is not known either."""

    surprise_ns: int = 200_000_000
    """Time for which a figure that moved against the prediction may continue to do so."""

    pushed_ns: int = 200_000_000
    """A figure may still slide from a push for this long after it touched another."""

    starting_ns: int = 300_000_000
    """Figures start to walk until this long after the board is known to be on, and leave the place where they stood."""

    coming_to_rest_ns: int = 500_000_000
    """Figures may still fall until this long after the board is known to be off, or after a hand was near them."""

    pivot_mm: float = 4.0
    """Deviation of the place of a figure that a hand hides and leaves in place."""

    pivot_rad: float = 1.0
    """Deviation of the heading of a figure that a hand hides and leaves in place."""

    astray_mm: float = 60.0
    """A figure found further than this from its prediction, without a hand, may be a different figure."""

    replaced_mm: float = 120.0
    """A figure put down further than this from its old place may be a different figure."""

    astray_identity: float = 0.5
    """Probability that a figure found so far from where it was is the same."""


TRACKER_LIMITS: Final = TrackerLimits()


@dataclass(slots=True)
class FigureStates:
    """States of n figures. Masks and not one enumeration, since a figure can be grasped and lost at once.

    Attributes:
        seen_ns: time of the last detection, shape (n,) as all but the last few.
        handled_ns: time of the last contact with a hand.
        surprised_ns: time of the last movement against the prediction.
        touched_ns: time of the last contact with another figure.
        merged_ns: time of the last detection of it and another as one.
        visible: visible share of the base top, 0..1.
        identity: probability that it is this figure.
        named: the same by the line-up, given the teams; a person's word about the teams leaves this.
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
    identity: Array
    named: Array
    grasped: Bools
    lost: Bools
    stood_mm: Array
    systematic: Array
    by_height: Array

    def doubt(self, rows: Indices | Bools, identity: Array | float) -> None:
        """Limit the probability that figures are who they are said to be, shape (k,)."""
        for probability in (self.identity, self.named):
            probability[rows] = np.minimum(probability[rows], identity)

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
            identity=line_up.identity * line_up.teams,
            named=line_up.identity.copy(),
            grasped=np.zeros(count, dtype=np.bool_),
            lost=~line_up.found,
            stood_mm=line_up.pose[:, :2].copy(),
            systematic=np.zeros((count, 2, 2)),
            by_height=np.zeros((count, 2)),
        )
