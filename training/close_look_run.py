"""Training of the ball refiner (close look)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import Tensor

from downfield.models.ball_detection import CELLS
from downfield.training.ball_patches import BALL_PATCHES_PER_FRAME, BallPatches
from downfield.training.close_look import CloseLook
from downfield.training.labeled_frames import Sources
from downfield.training.patches import collate_patches
from downfield.training.trainer import Batch, Lesson, Losses, load_batches, save_learner

FRAMES: Final = 4  # in a batch


def close_look_loss(heat: Tensor, batch: Batch) -> Tensor:
    """Return the loss of the ball's place: cross-entropy over all cells and nowhere.

    Args:
        heat: logits of the cells, shape (n, 256); that of nowhere is 0.
        batch: as `ball_patches.ball_patches_of` makes it.

    """
    n, cells = heat.shape
    at = ((batch["ball_place"] + 1) * CELLS / 2 - 0.5).clamp(0, CELLS - 1.001)
    low = at.floor()
    share = at - low
    column, row = low.long().unbind(dim=1)
    target = heat.new_zeros(n, cells)
    for down in (0, 1):  # shared among the four nearest cells
        for right in (0, 1):
            weight = (share[:, 0] if right else 1 - share[:, 0]) * (share[:, 1] if down else 1 - share[:, 1])
            cell = ((row + down) * CELLS + column + right)[:, None]
            target.scatter_add_(1, cell, (weight * batch["ball"])[:, None])
    logs = torch.cat([heat, heat.new_zeros(n, 1)], dim=1).log_softmax(dim=1)
    each = -(torch.cat([target, (1 - batch["ball"])[:, None]], dim=1) * logs).sum(dim=1)
    return (each * batch["ball_known"]).sum() / batch["ball_known"].sum().clamp(min=1)


def _batches(sources: Sources, start: int, until: int) -> Iterator[Batch]:
    stream = BallPatches(sources, "train", seed=5)
    return load_batches(stream, collate_patches, range(start // BALL_PATCHES_PER_FRAME, until // BALL_PATCHES_PER_FRAME), FRAMES)


def _step(model: Any, batch: Batch) -> tuple[Tensor, Losses]:
    loss = close_look_loss(model(batch["img"]).float(), batch)
    return loss, {"ball": loss}


CLOSE_LOOK: Final = Lesson(CloseLook, _batches, _step, save_learner)
"""What the close look has to learn; a sample is a patch."""
