"""The ball detector (ball look): a small network that finds where in a picture a ball may lie.

It runs over the whole frame at two thirds of its size. A ball is ten pixels long, so only its surroundings distinguish
it from a helmet or a numeral of the field.

Output, shape (n, 3, height / 8, width / 8): of each cell of 8 x 8 pixels the logit of a ball's middle being in it, and
how far right and down of the cell's middle, in cells.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from downfield.training.layers import Residual, convolve

_STEM = (12, 24)  # at half and a quarter of the picture's size
_NEAR, _FAR = 32, 48  # at an eighth and a sixteenth
_RARE = -5.0  # logit at first: hardly any cell has a ball


class BallLook(nn.Module):
    """The network. Input is red, green, blue in 0..1, shape (n, 3, height, width), both multiples of 16."""

    def __init__(self) -> None:
        super().__init__()
        half, quarter = _STEM
        self.near = nn.Sequential(
            convolve(3, half, 2),
            convolve(half, quarter, 2),
            convolve(quarter, _NEAR, 2),
            Residual(_NEAR),
            Residual(_NEAR),
        )
        self.far = nn.Sequential(convolve(_NEAR, _FAR, 2), Residual(_FAR), Residual(_FAR), nn.Conv2d(_FAR, _NEAR, 1))
        self.both = nn.Sequential(nn.ReLU(), Residual(_NEAR), nn.Conv2d(_NEAR, 3, 1))
        last = self.both[-1]
        nn.init.zeros_(last.weight)
        with torch.no_grad():
            last.bias.copy_(torch.tensor([_RARE, 0.0, 0.0]))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the outputs of each cell."""
        near = self.near(pictures)
        around = nn.functional.interpolate(self.far(near), scale_factor=2.0)
        said: Tensor = self.both(near + around)
        return said
