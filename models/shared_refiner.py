"""A refiner that sees the ball as well: one graph, one patch of one size, both outputs side by side.

Its output has the refiner's numbers (`models/refiner.py`) and then the ball refiner's (`models/ball_detection.py`), so
a process opens one file where other networks need three. Each thread has its own graph: that which tracks also follows
the ball, that which detects also searches for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.models.ball_detection import CELLS, BallRefiner
from downfield.models.refiner import OUTPUTS
from downfield.models.runtime import Network, Outputs
from downfield.models.two_stage_detector import TwoStageDetector

SHARED_OUTPUTS: Final = OUTPUTS + CELLS**2
"""Numbers that the network gives for a patch."""

FIGURE_COLUMNS, BALL_COLUMNS = slice(0, OUTPUTS), slice(OUTPUTS, SHARED_OUTPUTS)
"""The columns of the figure, and of the ball's cells."""

ZOOM: Final = 1.0
"""Enlargement of ball patches: none, since they are figures' patches."""


class NetworkColumns:
    """Some columns of another network's output.

    Args:
        network: the network.
        columns: the columns.

    """

    def __init__(self, network: Network, columns: slice) -> None:
        self.name, self.size_px = network.name, network.size_px
        self._network, self._columns = network, columns

    def run(self, pictures: Image) -> Outputs:
        """Run the network on pictures, uint8 (n, height, width, 3); the output is valid until the next run.

        Raises:
            InputError: the network gives other numbers.

        """
        outputs = self._network.run(pictures)
        if outputs.shape != (len(pictures), SHARED_OUTPUTS):
            raise InputError(
                f"{self.name}: its output has shape {outputs.shape}; a refiner that sees the ball gives"
                f" (n, {SHARED_OUTPUTS})."
            )
        return outputs[:, self._columns]


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
