"""The figure refiner (second look): a small network that measures one figure's base at full resolution.

Its input is a patch that `models.patches` cuts: the base's supposed front to the right, its supposed length 34 px of
64. The detector is often unsure which end is the front. So that places do not depend on it, corners are in the order
that fits the patch, and a logit of its own tells whether front and rear are swapped.

Output, one row of `OUTPUTS` numbers a patch, places in units of half a patch from its middle (-1 left or upper edge):

    0:10   x, y of front-left, front-right, rear-right, rear-left corner and helmet
    10:15  log of each one's spread, in the same units: mean absolute error of either coordinate
    15:20  logits: each of them is visible
    20     logit: front and rear are swapped, so the true order is rear-right, rear-left, front-left, ...
    21     logit: the figure has fallen
    22     logit: there is a figure in the middle of the patch at all
"""

from __future__ import annotations

from typing import Final

from torch import Tensor, nn

from downfield.training.layers import Residual, convolve

POINTS: Final = 5
OUTPUTS: Final = 4 * POINTS + 3
FLIP, FALLEN, FIGURE = 20, 21, 22

_WIDTHS = (24, 48, 96)
HIDDEN: Final = 256
"""Width of the first full layer: it costs next to nothing, beside the convolutions."""


class SecondLook(nn.Module):
    """The network: three stages of residual convolutions, then two fully connected layers.

    Input is red, green, blue in 0..1, shape (n, 3, 64, 64); output has shape (n, `OUTPUTS`).

    Args:
        hidden: width of the first full layer; older networks have narrower ones.

    """

    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__()
        low, middle, high = _WIDTHS
        self.features = nn.Sequential(
            convolve(3, low, 2),
            Residual(low),
            convolve(low, middle, 2),
            Residual(middle),
            Residual(middle),
            convolve(middle, high, 2),
            Residual(high),
            Residual(high),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(high * 64, hidden), nn.ReLU(), nn.Linear(hidden, OUTPUTS))

    def forward(self, patches: Tensor) -> Tensor:
        """Return the outputs of each patch."""
        said: Tensor = self.head(self.features(patches))
        return said
