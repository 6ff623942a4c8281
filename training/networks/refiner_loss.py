"""The loss of the refiner: keypoints with errors, visibility, front, fall, presence, and the ball's cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from downfield.models.ball_detection import CELLS
from downfield.models.refiner import FALLEN, FIGURE, LOG_ERRORS, PATCH_PX, POINTS, TURN, VISIBLE
from downfield.training.networks.samples import PatchSamples

Losses = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class RefinerLossWeights:
    """Weights of the loss's parts and patches."""

    hidden: float = 0.5
    """Of hidden keypoints: they can only be inferred."""
    fallen_place: float = 0.3
    """Of fallen figures' places: their base stands on its edge."""
    turn: float = 2.0
    """Of taking the rear for the front: nothing else is as costly."""
    fall: float = 2.0
    """Of having fallen: few have."""
    ball: float = 4.0
    """Of the ball being in a patch: most show none, so the mean is small."""
    ball_cell: float = 0.5
    """Of the ball's cell, over the patches that show it."""
    ball_shown: float = 0.2
    """Visible share of a ball from which it must be found; below it may be."""
    ball_within: float = 0.85
    """Units of a patch: a ball farther out may be found or not, since it is in the middle of another patch."""
    log_errors: tuple[float, float] = (-7.0, 2.0)
    """Range of the logarithms of predicted errors."""


WEIGHTS: Final = RefinerLossWeights()


def refiner_loss(outputs: Tensor, heat: Tensor, truth: PatchSamples) -> tuple[Tensor, Losses]:
    """Return the loss of a refiner's output, and its parts.

    Args:
        outputs: figures' numbers of `RefinerNetwork`, shape (p, `OUTPUTS`).
        heat: its ball cells, shape (p, `CELLS` ** 2).
        truth: the samples.

    """
    outputs, heat = outputs.float(), heat.float()
    half = PATCH_PX / 2
    true = (truth.points + 0.5) / half - 1
    flags = truth.flags * (true.abs() < 1).all(dim=-1) * truth.figure[:, None]
    # Of a figure that is entirely hidden nothing is trained, nor whether it is there.
    unseen = truth.figure * (flags <= 1).all(dim=1)
    flags, figure = flags * (1 - unseen)[:, None], truth.figure - unseen
    weight = torch.where(flags > 1, 1.0, WEIGHTS.hidden) * (flags > 0)
    weight = weight * torch.where(truth.fallen > 0, WEIGHTS.fallen_place, 1.0)[:, None]
    error = (outputs[:, POINTS].unflatten(1, (5, 2)) - true).abs().sum(dim=2)
    spread = outputs[:, LOG_ERRORS].clamp(*WEIGHTS.log_errors)
    # A Laplace likelihood of both coordinates: robust, and its spread is the mean error to expect.
    place = ((error / spread.exp() + 2 * spread) * weight).sum() / weight.sum().clamp(min=1)
    clear = (flags[:, :4] > 1) * (1 - truth.fallen)[:, None]
    parts = {
        "place": place,
        "off_px": (error[:, :4] * clear).sum() / clear.sum().clamp(min=1) / 2 * half,
        "visible": _entropy(outputs[:, VISIBLE], (flags > 1).float(), (flags > 0).float()),
        "turn": _entropy(outputs[:, TURN], truth.flip, figure * (1 - truth.fallen)),
        "fallen": _entropy(outputs[:, FALLEN], truth.fallen, figure),
        "figure": _entropy(outputs[:, FIGURE], figure, 1 - unseen),
        "ball": _ball_loss(heat, truth.ball),
    }
    loss = place + parts["visible"] + WEIGHTS.turn * parts["turn"] + WEIGHTS.fall * parts["fallen"]
    return loss + parts["figure"] + parts["ball"], parts


def _ball_loss(heat: Tensor, ball: Tensor) -> Tensor:
    """Return the cross-entropy of the ball being in the patch, and of its cell where it is.

    "Nowhere" has the logit 0. The four cells around the ball's middle share it, so that the mean of all cells is its
    place. Patches that show a ball weigh more in its place, not in its presence: that would find it too often.
    """
    place, share = (ball[:, :2] + 0.5) / (PATCH_PX / CELLS) - 0.5, ball[:, 2]
    reach = ((ball[:, :2] + 0.5) / (PATCH_PX / 2) - 1).abs().amax(dim=1)
    there = (share >= WEIGHTS.ball_shown) & (reach < WEIGHTS.ball_within)
    known = there | (share <= 0)
    steps = torch.arange(CELLS, device=heat.device)
    near_x, near_y = ((1 - (place[:, k, None] - steps).abs()).clamp(min=0) for k in (0, 1))
    target = (near_y[:, :, None] * near_x[:, None]).flatten(1) * there[:, None]
    anywhere = heat.logsumexp(dim=1)
    presence = _entropy(anywhere, there.float(), known.float())
    cell = (anywhere - (target * heat).sum(dim=1)) * there
    return WEIGHTS.ball * presence + WEIGHTS.ball_cell * cell.sum() / there.sum().clamp(min=1)


def _entropy(logits: Tensor, true: Tensor, weight: Tensor) -> Tensor:
    each = binary_cross_entropy_with_logits(logits, true, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)
