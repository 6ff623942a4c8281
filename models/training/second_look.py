"""The second look: a small network that sees one figure at full resolution and says exactly where its base is.

It looks at a patch that `models.patch` cuts: the base's supposed front to the right, its supposed length 34 px of 64.
The first look's doubt is about which end is the front; so that places need not depend on it, corners are said in the
order that fits the patch, and a logit of their own says whether front and rear are the other way round.

Output, one row of `OUTPUTS` numbers a patch, places in units of half a patch from its middle (-1 left or upper edge):

    0:10   x, y of front-left, front-right, rear-right, rear-left corner and helmet
    10:15  log of each one's spread, in the same units: mean absolute error of either coordinate
    15:20  logits: each of them is seen
    20     logit: front and rear are the other way round, so the true order is rear-right, rear-left, front-left, ...
    21     logit: the figure has fallen
    22     logit: there is a figure in the middle of the patch at all
    23:    logits: the ball's middle is seen in each of 16 x 16 cells of the patch, row by row, against 0 for nowhere

The ball may be anywhere in the patch, in this figure's arm or not, so it is looked for with the same eyes everywhere.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from downfield.models.training.parts import Residual, convolve

POINTS: Final = 5
OF_FIGURE: Final = 4 * POINTS + 3
BALL_CELLS: Final = 16  # in a row
OUTPUTS: Final = OF_FIGURE + BALL_CELLS**2
FLIP, FALLEN, FIGURE = 20, 21, 22

_WIDTHS = (24, 48, 96)
_HIDDEN = 96
_SHARP, _COARSE = 2, 5  # layers of features up to where cells are half as large as the ball's, and as large
_BALL_EYES = 32


class SecondLook(nn.Module):
    """The network: three stages of residual convolutions, then two full layers that keep places.

    Input is red, green, blue in 0..1, shape (n, 3, 64, 64); output has shape (n, `OUTPUTS`).
    """

    def __init__(self) -> None:
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
        self.ball_around = nn.Conv2d(high, _BALL_EYES, 1)
        self.ball_close = nn.Conv2d(low, _BALL_EYES, 3, 2, padding=1)
        self.ball_near = nn.Conv2d(middle, _BALL_EYES, 3, padding=1)
        self.ball = nn.Sequential(nn.ReLU(), Residual(_BALL_EYES), Residual(_BALL_EYES), nn.Conv2d(_BALL_EYES, 1, 1))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(high * 64, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, OF_FIGURE))

    def forward(self, patches: Tensor) -> Tensor:
        """What is in each patch."""
        return torch.cat(self.parts(patches), dim=1)

    def parts(self, patches: Tensor) -> tuple[Tensor, Tensor]:
        """What is in each patch: of the figure, shape (n, `OF_FIGURE`), and of the ball, shape (n, cells)."""
        sharp = self.features[:_SHARP](patches)
        coarse = self.features[_SHARP:_COARSE](sharp)
        fine = self.features[_COARSE:](coarse)
        around = nn.functional.interpolate(self.ball_around(fine), scale_factor=2.0)
        ball = self.ball(self.ball_close(sharp) + self.ball_near(coarse) + around)
        return self.head(fine), ball.flatten(1)
