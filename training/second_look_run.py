"""Training of the figure refiner (second look)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from downfield.models.refiner import FALLEN, FIGURE, LOG_ERRORS, POINTS, TURN, VISIBLE
from downfield.training.labeled_frames import Sources
from downfield.training.patches import PatchStream, collate_patches
from downfield.training.places import EMPTY_PER_FRAME
from downfield.training.second_look import SecondLook
from downfield.training.trainer import Batch, Lesson, Losses, load_batches, save_learner

FRAMES: Final = 4  # in a batch, about 30 patches each
HIDDEN_WEIGHT: Final = 0.5  # of hidden points' places: they can only be inferred
FALLEN_PLACE_WEIGHT: Final = 0.3  # of fallen figures' places: their base stands on its edge
FLIP_WEIGHT: Final = 2.0  # of taking the rear for the front: nothing else is as costly
FALL_WEIGHT: Final = 2.0  # of whether a figure lies: few do
_PER_FRAME = 22 + EMPTY_PER_FRAME


def second_look_loss(said: Tensor, batch: Batch) -> tuple[Tensor, Losses]:
    """Return the loss of the refiner's output.

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
    spread = said[:, LOG_ERRORS].clamp(-7, 2)
    error = (said[:, POINTS].reshape(-1, 5, 2) - batch["points"]).abs().sum(dim=2)
    # A Laplace likelihood of both coordinates: robust, and its spread is the mean error to expect.
    place = ((error / spread.exp() + 2 * spread) * weight).sum() / weight.sum().clamp(min=1)
    off = (error * (flags > 1)).sum() / (flags > 1).sum().clamp(min=1) / 2 * 32
    seen = _entropy(said[:, VISIBLE], (flags > 1).float(), (flags > 0).float())
    flip = _entropy(said[:, TURN], batch["flip"], upright)
    fallen = _entropy(said[:, FALLEN], batch["fallen"], figure)
    there = _entropy(said[:, FIGURE], figure, torch.ones_like(figure))
    loss = place + seen + FLIP_WEIGHT * flip + FALL_WEIGHT * fallen + there
    return loss, {"place": place, "off_px": off, "seen": seen, "flip": flip, "fallen": fallen, "figure": there}


def _entropy(logits: Tensor, true: Tensor, weight: Tensor) -> Tensor:
    each = binary_cross_entropy_with_logits(logits, true, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)


def _batches(sources: Sources, start: int, until: int) -> Iterator[Batch]:
    stream = PatchStream(sources, "train", seed=2)
    return load_batches(stream, collate_patches, range(start // _PER_FRAME, until // _PER_FRAME), FRAMES)


def _step(model: Any, batch: Batch) -> tuple[Tensor, Losses]:
    return second_look_loss(model(batch["img"]).float(), batch)


SECOND_LOOK: Final = Lesson(SecondLook, _batches, _step, save_learner)
"""What the second look has to learn; a sample is a patch, and a full frame gives 30 or more."""
