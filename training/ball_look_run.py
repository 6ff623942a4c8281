"""Training of the ball detector (ball look)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from downfield.training.ball_crops import BALL_CROPS_PER_FRAME, BallCrops
from downfield.training.patches import collate_patches
from downfield.training.ball_look import BallLook
from downfield.training.labeled_frames import Sources
from downfield.training.trainer import Batch, Lesson, Losses, load_batches, save_learner

FRAMES: Final = 8  # in a batch
FOCUS: Final = 2.0
"""How much less what is known already counts (T.-Y. Lin et al., Focal Loss, ICCV 2017): nearly all cells are empty."""

PLACE_WEIGHT: Final = 0.2


def ball_look_loss(said: Tensor, batch: Batch) -> tuple[Tensor, Losses]:
    """Return the loss of the ball detector's output.

    Args:
        said: shape (n, 3, rows, columns).
        batch: as `ball_crops.crops_of` makes it.

    Returns:
        The loss, and its parts.

    """
    logits, ball = said[:, 0], batch["ball"]
    each = binary_cross_entropy_with_logits(logits, ball, reduction="none")
    missed = (logits.sigmoid() - ball).abs() ** FOCUS
    count = ball.sum().clamp(min=1)
    there = (each * missed * batch["known"]).sum() / count
    off = (said[:, 1:] - batch["place"]).abs().sum(dim=1) * batch["placed"]
    place = off.sum() / batch["placed"].sum().clamp(min=1)
    return there + PLACE_WEIGHT * place, {"there": there, "off_cells": place}


def _batches(sources: Sources, start: int, until: int) -> Iterator[Batch]:
    stream = BallCrops(sources, "train", seed=4)
    return load_batches(stream, collate_patches, range(start // BALL_CROPS_PER_FRAME, until // BALL_CROPS_PER_FRAME), FRAMES)


def _step(model: Any, batch: Batch) -> tuple[Tensor, Losses]:
    return ball_look_loss(model(batch["img"]).float(), batch)


BALL_LOOK: Final = Lesson(BallLook, _batches, _step, save_learner)
"""What the ball look has to learn; a sample is a crop."""
