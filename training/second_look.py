"""The figure refiner (second look): a small network that measures one figure's base at full resolution.

Its patches and its output are those of `downfield.models.refiner`.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from downfield.models.refiner import OUTPUTS
from downfield.training.layers import Residual, convolve

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


def without_norms(network: SecondLook) -> SecondLook:
    """Return the network with convolutions that add what their norms would, as exported ones do; changed in place."""
    for layer in network.modules():
        if not isinstance(layer, nn.Sequential):
            continue
        for number, (part, after) in enumerate(zip(layer, list(layer)[1:], strict=False)):
            if isinstance(part, nn.Conv2d) and isinstance(after, nn.BatchNorm2d):
                part.bias = nn.Parameter(torch.zeros(part.out_channels))
                layer[number + 1] = nn.Identity()
    return network
