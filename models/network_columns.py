"""Parts of the output of a refiner that sees the ball: a figure's numbers, and then the ball's cells."""

from __future__ import annotations

from typing import Final

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.models.ball_detection import CELLS
from downfield.models.refiner import OUTPUTS
from downfield.models.runtime import Network, Outputs

SHARED_OUTPUTS: Final = OUTPUTS + CELLS**2
"""Numbers that the network gives for a patch."""

FIGURE_COLUMNS, BALL_COLUMNS = slice(0, OUTPUTS), slice(OUTPUTS, SHARED_OUTPUTS)
"""The columns of the figure, and of the ball's cells."""


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
