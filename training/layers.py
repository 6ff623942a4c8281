"""Layers of the networks."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Residual(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = convolve(width, width, 1)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, features: Tensor) -> Tensor:
        """Return the convolved features plus the input."""
        return torch.relu(features + self.second(self.first(features)))


def convolve(into: int, out: int, stride: int) -> nn.Sequential:
    """Return a 3 x 3 convolution with normalization and activation."""
    return nn.Sequential(nn.Conv2d(into, out, 3, stride, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU())
