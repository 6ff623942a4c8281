"""A refiner that sees the ball as well: one graph, one patch of one size, both outputs side by side.

Its output has the refiner's numbers (`models/refiner.py`) and then the ball refiner's (`models/ball_detection.py`), so
a process opens one file where other networks need three. Each thread has its own graph: that which tracks also follows
the ball, that which detects also searches for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from downfield.models.ball_detection import BALL_COLUMNS, FIGURE_COLUMNS, BallRefiner, NetworkColumns
from downfield.models.runtime import Network
from downfield.models.two_stage_detector import TwoStageDetector

ZOOM: Final = 1.0
"""Enlargement of ball patches: none, since they are figures' patches."""


def open_shared_refiner(
    two_stage: Callable[..., TwoStageDetector], tracking: Network, searching: Network
) -> TwoStageDetector:
    """Return a detector whose refiner also sees the ball.

    Args:
        two_stage: makes a `TwoStageDetector` from a refiner and its further arguments.
        tracking: the graph of the thread that tracks.
        searching: the graph of the thread that detects.

    """
    ball = BallRefiner(NetworkColumns(searching, BALL_COLUMNS), NetworkColumns(tracking, BALL_COLUMNS), zoom=ZOOM)
    beside = two_stage(NetworkColumns(searching, FIGURE_COLUMNS))
    return two_stage(NetworkColumns(tracking, FIGURE_COLUMNS), ball, beside=beside)
