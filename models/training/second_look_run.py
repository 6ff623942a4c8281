"""Training of the second look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from downfield.models.training.labelled_frames import Sources
from downfield.models.training.learner import Batch, Lesson, Losses, load, save_learner
from downfield.models.training.patches import EMPTY_PER_FRAME, PatchStream, collate_patches
from downfield.models.training.second_look import BALL_CELLS, FALLEN, FIGURE, FLIP, OF_FIGURE, POINTS, SecondLook

FRAMES: Final = 4  # in a batch, about 30 patches each
HIDDEN_WEIGHT: Final = 0.5  # of hidden points' places: they can only be inferred
FALLEN_PLACE_WEIGHT: Final = 0.3  # of fallen figures' places: their base stands on its edge
FLIP_WEIGHT: Final = 2.0  # of taking the rear for the front: nothing else is as costly
BALL_WEIGHT: Final = 4.0  # of seeing the ball: few patches have it, and at less it is not learnt even by heart
FALL_WEIGHT: Final = 2.0  # of whether a figure lies: few do
_PER_FRAME = 22 + EMPTY_PER_FRAME


def second_look_loss(said: Tensor, batch: Batch) -> tuple[Tensor, Losses]:
    """The loss of what a second look said.

    Args:
        said: shape (n, `OUTPUTS`).
        batch: as `patches.patches_of` makes it.

    Returns:
        The loss, and its parts.

    """
    figure, upright = batch["figure"], batch["figure"] * (1 - batch["fallen"])
    flags = batch["flags"]
    weight = torch.where(flags > 1, 1.0, HIDDEN_WEIGHT) * (flags > 0)
    weight = weight * torch.where(batch["fallen"] > 0, FALLEN_PLACE_WEIGHT, 1.0)[:, None]
    spread = said[:, 2 * POINTS : 3 * POINTS].clamp(-7, 2)
    error = (said[:, : 2 * POINTS].reshape(-1, POINTS, 2) - batch["points"]).abs().sum(dim=2)
    # A Laplace likelihood of both coordinates: robust, and its spread is the mean error to expect.
    place = ((error / spread.exp() + 2 * spread) * weight).sum() / weight.sum().clamp(min=1)
    off = (error * (flags > 1)).sum() / (flags > 1).sum().clamp(min=1) / 2 * 32
    seen = _entropy(said[:, 3 * POINTS : 4 * POINTS], (flags > 1).float(), (flags > 0).float())
    flip = _entropy(said[:, FLIP], batch["flip"], upright)
    fallen = _entropy(said[:, FALLEN], batch["fallen"], figure)
    there = _entropy(said[:, FIGURE], figure, torch.ones_like(figure))
    loss = place + seen + FLIP_WEIGHT * flip + FALL_WEIGHT * fallen + there
    return loss, {"place": place, "off_px": off, "seen": seen, "flip": flip, "fallen": fallen, "figure": there}


def ball_loss(heat: Tensor, batch: Batch) -> Tensor:
    """The loss of where a second look sees the ball: cross-entropy over all cells and nowhere.

    Args:
        heat: logits of the cells, shape (n, cells); that of nowhere is 0.
        batch: as `patches.patches_of` makes it.

    """
    n, cells = heat.shape
    side = BALL_CELLS
    at = ((batch["ball_place"] + 1) * side / 2 - 0.5).clamp(0, side - 1.001)
    low = at.floor()
    share = at - low
    column, row = low.long().unbind(dim=1)
    target = heat.new_zeros(n, cells)
    for down in (0, 1):  # shared among the four nearest cells
        for right in (0, 1):
            weight = (share[:, 0] if right else 1 - share[:, 0]) * (share[:, 1] if down else 1 - share[:, 1])
            cell = ((row + down) * side + column + right)[:, None]
            target.scatter_add_(1, cell, (weight * batch["ball"])[:, None])
    logs = torch.cat([heat, heat.new_zeros(n, 1)], dim=1).log_softmax(dim=1)
    each = -(torch.cat([target, (1 - batch["ball"])[:, None]], dim=1) * logs).sum(dim=1)
    return (each * batch["ball_known"]).sum() / batch["ball_known"].sum().clamp(min=1)


def _entropy(logits: Tensor, true: Tensor, weight: Tensor) -> Tensor:
    each = binary_cross_entropy_with_logits(logits, true, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)


def _batches(sources: Sources, start: int, until: int) -> Iterator[Batch]:
    stream = PatchStream(sources, "train", seed=2)
    return load(stream, collate_patches, range(start // _PER_FRAME, until // _PER_FRAME), FRAMES)


def _step(model: Any, batch: Batch) -> tuple[Tensor, Losses]:
    said = model(batch["img"]).float()
    loss, parts = second_look_loss(said, batch)
    ball = ball_loss(said[:, OF_FIGURE:], batch)
    return loss + BALL_WEIGHT * ball, parts | {"ball": ball}


SECOND_LOOK: Final = Lesson(SecondLook, _batches, _step, save_learner)
"""What the second look has to learn; a sample is a patch, and a full frame gives 30 or more."""
