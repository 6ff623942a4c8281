"""The figure detector (first look): a YOLO26-pose network that finds figures, the ball and hands in whole frames."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import torch
from ultralytics.cfg import get_cfg
from ultralytics.nn.tasks import PoseModel
from ultralytics.utils import DEFAULT_CFG

from downfield.training.crops import CROPS_PER_FRAME, CropStream, collate
from downfield.training.labeled_frames import Sources
from downfield.training.pose_loss import SeenPoseLoss
from downfield.training.trainer import Batch, Learner, Lesson, Losses, load_batches

CLASSES: Final = ("upright", "fallen", "ball", "hand")
KEYPOINTS: Final = 5

BATCH: Final = 16  # crops
OKS_SIGMAS: Final = (0.07, 0.07, 0.07, 0.07, 0.3)
"""Of the keypoints, as shares of an object's size, by which being off them counts: a figure's corners should come
within 2 to 3 px; the ball, all of 6 px wide, has only the last one, and must be let off as many."""

CLASS_WEIGHTS: Final = (2.0, 5.0, 12.0, 6.0)
"""Of the score of each class: a frame has 22 figures and one ball, and what is not found can't be looked at again."""


def save_weights(learner: Learner, path: Path) -> None:
    """Write the averaged network as ultralytics' own checkpoint, which `ultralytics.YOLO` opens."""
    part = path.with_suffix(".part")
    torch.save({"model": learner.average.ema, "train_args": {"task": "pose", "imgsz": 960}, "epoch": -1}, part)
    part.replace(path)


def _network() -> Any:
    model = PoseModel(str(files("downfield.training") / "first-look.yaml"), verbose=False)
    model.args = get_cfg(DEFAULT_CFG)
    model.names = dict(enumerate(CLASSES))
    model.kpt_shape = [KEYPOINTS, 3]
    model.kpt_oks_sigmas = list(OKS_SIGMAS)
    model.class_weights = torch.tensor(CLASS_WEIGHTS)
    return model


def _batches(sources: Sources, start: int, until: int) -> Iterator[Batch]:
    stream = CropStream(sources, "train", seed=1)
    return load_batches(stream, collate, range(start // CROPS_PER_FRAME, until // CROPS_PER_FRAME), BATCH // CROPS_PER_FRAME)


def _step(model: Any, batch: Batch) -> tuple[torch.Tensor, Losses]:
    if getattr(model, "criterion", None) is None:  # made late, so that the average is not one too
        model.criterion = SeenPoseLoss(model)
    loss, parts = model(batch)
    return loss.sum(), parts


FIRST_LOOK: Final = Lesson(_network, _batches, _step, save_weights)
"""What the first look has to learn; a sample is a crop."""
