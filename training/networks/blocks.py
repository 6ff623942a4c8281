"""Parts of the networks: 3 x 3 convolutions with ReLU, residual where the width stays, which int8 runs best."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

Losses = dict[str, Tensor]  # parts of a loss by name, as they are reported


class ResidualBlock(nn.Module):
    """Two convolutions with a residual connection; starts as the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = convolution(width, width)
        self.second = normalized_convolution(width, width, 3)
        nn.init.zeros_(self.second[1].weight)

    def forward(self, features: Tensor) -> Tensor:
        """Return the input plus its convolution, same shape."""
        return torch.relu(features + self.second(self.first(features)))


def convolution(into: int, out: int, stride: int = 1) -> nn.Sequential:
    """Return a 3 x 3 convolution with normalization and ReLU."""
    return nn.Sequential(*normalized_convolution(into, out, 3, stride), nn.ReLU(inplace=True))


def normalized_convolution(into: int, out: int, side: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution with normalization and no activation."""
    layer = nn.Conv2d(into, out, side, stride, padding=side // 2, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(out))


def in_full_precision(layers: nn.Module, features: Tensor) -> Tensor:
    """Run layers that give places in float32, whatever precision the rest is trained in."""
    with torch.autocast(features.device.type, enabled=False):
        output: Tensor = layers(features if features.dtype == torch.float32 else features.float())
    return output


def doubled(features: Tensor) -> Tensor:
    """Return feature maps at twice their size."""
    return nn.functional.interpolate(features, scale_factor=2.0, mode="nearest")


def fused(network: nn.Module) -> nn.Module:
    """Return the network in evaluation mode with normalizations folded into convolutions; changed in place."""
    network.eval()
    for part in network.modules():
        if not isinstance(part, nn.Sequential):
            continue
        for name, after in pairwise(list(part._modules)):
            layer, norm = part._modules[name], part._modules[after]
            if isinstance(layer, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                part._modules[name] = nn.utils.fusion.fuse_conv_bn_eval(layer, norm)
                part._modules[after] = nn.Identity()
    return network


def weighted_entropy(logits: Tensor, true: Tensor, weight: Tensor) -> Tensor:
    """Return the mean binary cross-entropy of logits, weighted; a sum of weights below 1 counts as 1."""
    each = binary_cross_entropy_with_logits(logits, true, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)
