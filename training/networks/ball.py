"""The ball's own two networks and their losses.

The detector runs over the whole frame at two thirds of its size. A ball is ten pixels long, so only its surroundings
distinguish it from a helmet or a numeral of the field. The refiner runs over patches around figures, turned as they
stand, and around the detector's candidates; it finds a ball in an arm as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from downfield.models.ball_detection import CELLS
from downfield.training.networks.blocks import Losses, ResidualBlock, convolution
from downfield.training.networks.refiner import cell_shares

FOCUS: Final = 2.0
"""Exponent of the focal loss (T.-Y. Lin et al., ICCV 2017): nearly all cells are empty, and easily so."""

PLACE_WEIGHT: Final = 0.2
"""Weight of the ball detector's offsets, cells, against its logits."""

_STEM_WIDTHS = (12, 24)  # at half and a quarter of the picture's size
_NEAR, _FAR = 32, 48  # at an eighth and a sixteenth
_RARE = -5.0  # logit at first: hardly any cell has a ball


class BallDetectorNetwork(nn.Module):
    """The ball detector.

    Input is red, green, blue in 0..1, shape (n, 3, height, width), both multiples of 16. Output, shape (n, 3, height /
    8, width / 8): of each cell the logit of a ball's middle being in it, and how far right and down of the cell's
    middle, in cells.
    """

    def __init__(self) -> None:
        super().__init__()
        half, quarter = _STEM_WIDTHS
        self.near = nn.Sequential(
            convolution(3, half, 2),
            convolution(half, quarter, 2),
            convolution(quarter, _NEAR, 2),
            ResidualBlock(_NEAR),
            ResidualBlock(_NEAR),
        )
        self.far = nn.Sequential(
            convolution(_NEAR, _FAR, 2), ResidualBlock(_FAR), ResidualBlock(_FAR), nn.Conv2d(_FAR, _NEAR, 1)
        )
        self.both = nn.Sequential(nn.ReLU(), ResidualBlock(_NEAR), nn.Conv2d(_NEAR, 3, 1))
        last = self.both[-1]
        nn.init.zeros_(last.weight)
        with torch.no_grad():
            last.bias.copy_(torch.tensor([_RARE, 0.0, 0.0]))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the outputs of each cell."""
        near = self.near(pictures)
        around = nn.functional.interpolate(self.far(near), scale_factor=2.0)
        outputs: Tensor = self.both(near + around)
        return outputs


_REFINER_WIDTHS = (24, 48, 96)  # at a half, a quarter and an eighth of the patch's size
_HEAT_WIDTH = 32


class BallRefinerNetwork(nn.Module):
    """The ball refiner.

    Input is red, green, blue in 0..1, shape (n, 3, 64, 64). Output, shape (n, 256): logits of a visible ball's middle
    being in each of 16 x 16 cells of the patch, row by row, against 0 for nowhere.
    """

    def __init__(self) -> None:
        super().__init__()
        low, middle, high = _REFINER_WIDTHS
        self.sharp = nn.Sequential(convolution(3, low, 2), ResidualBlock(low))
        self.coarse = nn.Sequential(convolution(low, middle, 2), ResidualBlock(middle), ResidualBlock(middle))
        self.fine = nn.Sequential(convolution(middle, high, 2), ResidualBlock(high), ResidualBlock(high))
        self.close = nn.Conv2d(low, _HEAT_WIDTH, 3, 2, padding=1)
        self.near = nn.Conv2d(middle, _HEAT_WIDTH, 3, padding=1)
        self.around = nn.Conv2d(high, _HEAT_WIDTH, 1)
        self.heat = nn.Sequential(
            nn.ReLU(), ResidualBlock(_HEAT_WIDTH), ResidualBlock(_HEAT_WIDTH), nn.Conv2d(_HEAT_WIDTH, 1, 1)
        )

    def forward(self, patches: Tensor) -> Tensor:
        """Return the logits of the ball's place in each patch."""
        sharp = self.sharp(patches)
        coarse = self.coarse(sharp)
        around = nn.functional.interpolate(self.around(self.fine(coarse)), scale_factor=2.0)
        heat: Tensor = self.heat(self.close(sharp) + self.near(coarse) + around)
        return heat.flatten(1)


def ball_detector_loss(outputs: Tensor, batch: Mapping[str, Tensor]) -> tuple[Tensor, Losses]:
    """Return the loss of the ball detector, and its parts.

    Args:
        outputs: shape (n, 3, rows, columns).
        batch: labels as of `data.ball_pictures.crops_of`.
    """
    logits, ball = outputs[:, 0], batch["ball"]
    each = binary_cross_entropy_with_logits(logits, ball, reduction="none")
    missed = (logits.sigmoid() - ball).abs() ** FOCUS
    presence = (each * missed * batch["known"]).sum() / ball.sum().clamp(min=1)
    off = (outputs[:, 1:] - batch["place"]).abs().sum(dim=1) * batch["placed"]
    place = off.sum() / batch["placed"].sum().clamp(min=1)
    return presence + PLACE_WEIGHT * place, {"presence": presence, "off_cells": place}


def ball_refiner_loss(heat: Tensor, batch: Mapping[str, Tensor]) -> tuple[Tensor, Losses]:
    """Return the cross-entropy of the ball's place over all cells and nowhere, as the loss and its part.

    Args:
        heat: logits of the cells, shape (n, `CELLS` ** 2); that of nowhere is 0.
        batch: labels as of `data.ball_pictures.ball_patches_of`.
    """
    places = ((batch["ball_place"] + 1) * CELLS / 2 - 0.5).clamp(0, CELLS - 1.001)
    target = cell_shares(places) * batch["ball"][:, None]
    logs = torch.cat([heat, heat.new_zeros(len(heat), 1)], dim=1).log_softmax(dim=1)
    each = -(torch.cat([target, (1 - batch["ball"])[:, None]], dim=1) * logs).sum(dim=1)
    loss = (each * batch["ball_known"]).sum() / batch["ball_known"].sum().clamp(min=1)
    return loss, {"ball": loss}
