"""The first look: a YOLO26-pose network that finds figures, the ball and hands in whole frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import torch
from torch.utils.data import DataLoader
from ultralytics.cfg import get_cfg
from ultralytics.nn.tasks import PoseModel
from ultralytics.utils import DEFAULT_CFG

from downfield.models.training.crops import PER_FRAME, CropStream, collate
from downfield.models.training.learner import Batch, Learner, Losses, Report, learn, new_learner
from downfield.models.training.pose_loss import PoseCriterion

CLASSES: Final = ("upright", "fallen", "ball", "hand")
KEYPOINTS: Final = 5

BATCH: Final = 16  # crops
OKS_SIGMAS: Final = (0.07, 0.07, 0.07, 0.07, 0.3)
"""Of the keypoints, as shares of an object's size. A cell is taught to score by how near it puts them: a figure's
corners should come within 2 to 3 px; the ball, all of 6 px wide, has only the last one, and must be let off as many."""


def new_first_look() -> Learner:
    """A first look that has learnt nothing."""
    model = PoseModel(str(files("downfield.models.training") / "first-look.yaml"), verbose=False)
    model.args = get_cfg(DEFAULT_CFG)
    model.names = dict(enumerate(CLASSES))
    model.kpt_shape = [KEYPOINTS, 3]
    model.kpt_oks_sigmas = list(OKS_SIGMAS)
    learner = new_learner(model)
    model.criterion = PoseCriterion(model)
    return learner


def train_first_look(
    learner: Learner,
    sources: Sequence[tuple[Path, float]],
    until: int,
    *,
    finish: bool = False,
    checkpoint: Path | None = None,
    report: Report = lambda _seen, _losses: None,
) -> None:
    """Learn from crops of the training split.

    Args:
        learner: from `new_first_look`.
        sources: data sets, each with the share of frames to take from it.
        until: crops seen at the end, counted from the very first.
        finish: bring the learning rate down to nothing on the way.
        checkpoint: where to save every few minutes and at the end; None for nowhere.
        report: told how it goes.

    Raises:
        InputError: a data set has no training pictures.

    """
    batches = _batches(sources, learner.seen, until)
    learn(learner, batches, _step, until=until, finish=finish, checkpoint=checkpoint, report=report)


def save_weights(learner: Learner, path: Path) -> None:
    """Write the averaged network as ultralytics' own checkpoint, which `ultralytics.YOLO` opens."""
    part = path.with_suffix(".part")
    torch.save({"model": learner.average.ema, "train_args": {"task": "pose", "imgsz": 960}, "epoch": -1}, part)
    part.replace(path)


def _batches(sources: Sequence[tuple[Path, float]], start: int, until: int) -> Iterator[Batch]:
    items = range(start // PER_FRAME, until // PER_FRAME)
    loader: DataLoader[Any] = DataLoader(
        CropStream(sources, "train", seed=1),
        BATCH // PER_FRAME,
        sampler=items,
        num_workers=1,
        collate_fn=collate,
        prefetch_factor=4,
        drop_last=True,
    )
    yield from loader


def _step(model: Any, batch: Batch) -> tuple[torch.Tensor, Losses]:
    loss, parts = model(batch)
    return loss.sum(), parts
