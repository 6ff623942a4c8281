"""The refiner: its network over patches at full resolution, and its loss.

It measures a figure and finds the ball in the same patch. Patches and outputs are those of
`downfield.models.refiner`, the ball's cells those of `downfield.models.ball_refiner`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import torch
from torch import Tensor, nn

from downfield.models.ball_refiner import CELLS
from downfield.models.refiner import FALLEN, FIGURE, LOG_ERRORS, OUTPUTS, PATCH_PX, POINTS, TURN, VISIBLE
from downfield.training.data.samples import PatchSamples
from downfield.training.networks.blocks import (
    Losses,
    ResidualBlock,
    convolution,
    doubled,
    in_full_precision,
    normalized_convolution,
    weighted_entropy,
)

HIDDEN: Final = 256  # width of the first full layer: beside the convolutions it costs next to nothing

_WIDTHS: Final = (24, 48, 96)  # channels at a half, a quarter and an eighth of the patch
_BALL_WIDTH: Final = 32
_NOWHERE_LOGIT: Final = -6.0  # at first: 256 cells against "nowhere"
_HALF_BASE: Final = (17 / 32, 10.2 / 32)  # of an ordinary base in a patch, units
_HALF_PX: Final = PATCH_PX / 2


class RefinerNetwork(nn.Module):
    """The refiner.

    Input is red, green, blue in 0..1, shape (n, 3, 64, 64). Output are the figure's numbers, shape (n, `OUTPUTS`), and
    the logits of the ball being in each of 16 x 16 cells against 0 for nowhere, shape (n, 256).

    A ball is a few pixels wide: its cells are told from features at every scale, those at half the patch's size too.
    """

    def __init__(self) -> None:
        super().__init__()
        half, quarter, eighth = _WIDTHS
        self.at_2 = nn.Sequential(convolution(3, half, 2), ResidualBlock(half))
        self.at_4, self.at_8 = (
            nn.Sequential(convolution(wider, width, 2), ResidualBlock(width), ResidualBlock(width))
            for wider, width in pairwise(_WIDTHS)
        )
        side = PATCH_PX // 8
        last = nn.Linear(HIDDEN, OUTPUTS)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(eighth * side * side, HIDDEN), nn.ReLU(), last)
        self.close = normalized_convolution(half, _BALL_WIDTH, 3, 2)
        self.near = normalized_convolution(quarter, _BALL_WIDTH, 3)
        self.around = normalized_convolution(eighth, _BALL_WIDTH, 1)
        cells = nn.Conv2d(_BALL_WIDTH, 1, 1)
        self.heat = nn.Sequential(ResidualBlock(_BALL_WIDTH), ResidualBlock(_BALL_WIDTH), cells)
        with torch.no_grad():
            last.weight.mul_(0.1)
            last.bias.copy_(_usual_outputs())
            nn.init.normal_(cells.weight, std=0.01)
            assert cells.bias is not None
            cells.bias.fill_(_NOWHERE_LOGIT)

    def forward(self, patches: Tensor) -> tuple[Tensor, Tensor]:
        """Return the figure's numbers and the ball's cells."""
        half = self.at_2(patches)
        quarter = self.at_4(half)
        eighth = self.at_8(quarter)
        outputs = in_full_precision(self.head, eighth)
        ball = torch.relu(self.close(half) + self.near(quarter) + doubled(self.around(eighth)))
        return outputs, self.heat(ball).flatten(1)


def _usual_outputs() -> Tensor:
    """Return outputs about right for most patches: an ordinary base, helmet in the middle, errors of a tenth."""
    x, y = _HALF_BASE
    points = [x, -y, x, y, -x, y, -x, -y, 0.0, 0.0]
    return torch.tensor([*points, *[-2.0] * 5, *[0.0] * 8])


@dataclass(frozen=True, slots=True)
class RefinerLossWeights:
    """Weights of the loss's parts and patches."""

    hidden: float = 0.5  # weight of hidden keypoints, which can only be inferred
    fallen_place: float = 0.3  # weight of fallen figures' keypoints: their base stands on its edge
    turn: float = 2.0  # weight of the front: no other error costs a game as much as rear taken for front
    fall: float = 2.0  # weight of having fallen: few figures have
    ball: float = 4.0  # weight of a ball's presence: most patches show none, so the mean is small
    ball_cell: float = 0.5  # weight of the ball's cell, over the patches that show it
    ball_shown: float = 0.2  # visible share of a ball from which it must be found; below, either answer is right
    # units of a patch: of a ball farther out either answer is right, since another patch has it in its middle
    ball_within: float = 0.85
    log_errors: tuple[float, float] = (-7.0, 2.0)  # range of the logarithms of predicted errors


WEIGHTS: Final = RefinerLossWeights()


def figure_refiner_loss(outputs: Tensor, truth: PatchSamples) -> tuple[Tensor, Losses]:
    """Return the loss of figures' numbers in patches, shape (p, `OUTPUTS`), and its parts."""
    outputs, points = outputs.float(), (truth.points + 0.5) / _HALF_PX - 1
    flags = truth.flags * (points.abs() < 1).all(dim=-1) * truth.figure[:, None]
    # An entirely hidden figure is trained neither as present nor as absent.
    unseen = truth.figure * (flags <= 1).all(dim=1)
    flags, figure = flags * (1 - unseen)[:, None], truth.figure - unseen
    weight = torch.where(flags > 1, 1.0, WEIGHTS.hidden) * (flags > 0)
    weight = weight * torch.where(truth.fallen > 0, WEIGHTS.fallen_place, 1.0)[:, None]
    error = (outputs[:, POINTS].unflatten(1, (5, 2)) - points).abs().sum(dim=2)
    spread = outputs[:, LOG_ERRORS].clamp(*WEIGHTS.log_errors)
    # A Laplace likelihood of both coordinates: robust, and its spread is the mean error to expect.
    place = ((error / spread.exp() + 2 * spread) * weight).sum() / weight.sum().clamp(min=1)
    clear = (flags[:, :4] > 1) * (1 - truth.fallen)[:, None]
    parts = {
        "place": place,
        "off_px": (error[:, :4] * clear).sum() / clear.sum().clamp(min=1) / 2 * _HALF_PX,
        "visible": weighted_entropy(outputs[:, VISIBLE], (flags > 1).float(), (flags > 0).float()),
        "turn": weighted_entropy(outputs[:, TURN], truth.flip, figure * (1 - truth.fallen)),
        "fallen": weighted_entropy(outputs[:, FALLEN], truth.fallen, figure),
        "figure": weighted_entropy(outputs[:, FIGURE], figure, 1 - unseen),
    }
    loss = place + parts["visible"] + WEIGHTS.turn * parts["turn"] + WEIGHTS.fall * parts["fallen"]
    return loss + parts["figure"], parts


def refiner_loss(outputs: Tensor, heat: Tensor, truth: PatchSamples) -> tuple[Tensor, Losses]:
    """Return the loss of a refiner's output, and its parts.

    Args:
        outputs: figures' numbers, shape (p, `OUTPUTS`).
        heat: logits of the ball's cells, shape (p, `CELLS` ** 2).
    """
    loss, parts = figure_refiner_loss(outputs, truth)
    parts["ball"] = _ball_loss(heat.float(), truth.ball)
    return loss + parts["ball"], parts


def cell_shares(places: Tensor) -> Tensor:
    """Return how the four cells around each place share it, so that their mean is the place.

    Args:
        places: x, y in cells, 0 in the middle of the first, shape (n, 2).

    Returns:
        Shares of all cells, row by row, shape (n, `CELLS` ** 2).
    """
    steps = torch.arange(CELLS, device=places.device)
    near_x, near_y = ((1 - (places[:, k, None] - steps).abs()).clamp(min=0) for k in (0, 1))
    return (near_y[:, :, None] * near_x[:, None]).flatten(1)


def known_ball_loss(heat: Tensor, known: Tensor) -> Tensor:
    """Return the cross-entropy of the ball's cells and "nowhere" with another network's answer, both of shape (n, 256).

    It is the loss of `RefinerNetwork` where only another network knows of the ball.
    """
    logs, shares = (torch.cat([each, each.new_zeros(len(each), 1)], dim=1).log_softmax(dim=1) for each in (heat, known))
    return -WEIGHTS.ball * (shares.exp() * logs).sum(dim=1).mean()


def _ball_loss(heat: Tensor, ball: Tensor) -> Tensor:
    """Return the cross-entropy of the ball being in the patch, and of its cell where it is.

    "Nowhere" has the logit 0. The four cells around the ball's middle share it, so that the mean of all cells is its
    place. Patches that show a ball weigh more in its place, not in its presence: that would find it too often.
    """
    place, share = (ball[:, :2] + 0.5) / (PATCH_PX / CELLS) - 0.5, ball[:, 2]
    reach = ((ball[:, :2] + 0.5) / (PATCH_PX / 2) - 1).abs().amax(dim=1)
    there = (share >= WEIGHTS.ball_shown) & (reach < WEIGHTS.ball_within)
    known = there | (share <= 0)
    target = cell_shares(place) * there[:, None]
    anywhere = heat.logsumexp(dim=1)
    presence = weighted_entropy(anywhere, there.float(), known.float())
    cell = (anywhere - (target * heat).sum(dim=1)) * there
    return WEIGHTS.ball * presence + WEIGHTS.ball_cell * cell.sum() / there.sum().clamp(min=1)
