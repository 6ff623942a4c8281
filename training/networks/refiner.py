"""The refiner of the two networks: one figure's base, state and ball from a patch at full resolution.

Its patches and the first of its outputs are those of `downfield.models.refiner`, the second those of the ball refiner
(`downfield.models.ball_detection`), here in the same patch.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from downfield.models.refiner import OUTPUTS, PATCH_PX
from downfield.training.networks.blocks import (
    ResidualBlock,
    convolution,
    doubled,
    in_full_precision,
    normalized_convolution,
    residual_blocks,
)

_WIDTHS: Final = (16, 32, 64, 128)  # channels at a half, a quarter, an eighth and a sixteenth of the patch
_DEPTHS: Final = (0, 2, 2, 2)  # residual blocks there
_HIDDEN: Final = 256  # width of the first full layer
_BALL_WIDTH: Final = 32
_NOWHERE_LOGIT: Final = -6.0  # at first: 256 cells against "nowhere"
_HALF_BASE: Final = (17 / 32, 10.2 / 32)  # of an ordinary base in a patch, units


class RefinerNetwork(nn.Module):
    """The refiner.

    Input is red, green, blue in 0..1, shape (n, 3, 64, 64). Output are the figure's numbers, shape (n, `OUTPUTS`), and
    the logits of the ball being in each of 16 x 16 cells against 0 for nowhere, shape (n, 256).
    """

    def __init__(self) -> None:
        super().__init__()
        half, quarter, eighth, sixteenth = _WIDTHS
        self.at_2 = nn.Sequential(convolution(3, half, 2), *residual_blocks(_DEPTHS[0], half))
        self.at_4 = nn.Sequential(convolution(half, quarter, 2), *residual_blocks(_DEPTHS[1], quarter))
        self.at_8 = nn.Sequential(convolution(quarter, eighth, 2), *residual_blocks(_DEPTHS[2], eighth))
        self.at_16 = nn.Sequential(convolution(eighth, sixteenth, 2), *residual_blocks(_DEPTHS[3], sixteenth))
        side = PATCH_PX // 16
        last = nn.Linear(_HIDDEN, OUTPUTS)
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(sixteenth * side * side, _HIDDEN), nn.ReLU(inplace=True), last
        )
        self.near = normalized_convolution(quarter, _BALL_WIDTH, 1)
        self.around = normalized_convolution(eighth, _BALL_WIDTH, 1)
        cells = nn.Conv2d(_BALL_WIDTH, 1, 1)
        self.heat = nn.Sequential(ResidualBlock(_BALL_WIDTH), cells)
        with torch.no_grad():
            last.weight.mul_(0.1)
            last.bias.copy_(_usual_outputs())
            nn.init.normal_(cells.weight, std=0.01)
            assert cells.bias is not None
            cells.bias.fill_(_NOWHERE_LOGIT)

    def forward(self, patches: Tensor) -> tuple[Tensor, Tensor]:
        """Return the figure's numbers and the ball's cells."""
        quarter = self.at_4(self.at_2(patches))
        eighth = self.at_8(quarter)
        outputs = in_full_precision(self.head, self.at_16(eighth))
        ball = torch.relu(self.near(quarter) + doubled(self.around(eighth)))
        return outputs, self.heat(ball).flatten(1)


def _usual_outputs() -> Tensor:
    """Return outputs about right for most patches: an ordinary base, helmet in the middle, errors of a tenth."""
    x, y = _HALF_BASE
    points = [x, -y, x, y, -x, y, -x, -y, 0.0, 0.0]
    return torch.tensor([*points, *[-2.0] * 5, *[0.0] * 8])
