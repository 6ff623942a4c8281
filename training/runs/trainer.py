"""Trains the bundled network's four parts one by one, each resumable over any number of runs.

The learning rate stays level, so training can stop and resume anywhere; a *finish* brings it down to zero from the
current checkpoint and leaves the level run untouched, to be continued later (the warm-up, stable, decay schedule of
Hu et al., MiniCPM, 2024).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from ultralytics.utils.torch_utils import ModelEMA

from downfield.core.errors import InputError
from downfield.training.data.ball_pictures import BALL_CROPS_PER_FRAME, BALL_PATCHES_PER_FRAME, BallCrops, BallPatches
from downfield.training.data.crops import CROPS_PER_FRAME, CropStream, collate
from downfield.training.data.labeled_frames import Sources
from downfield.training.data.patches import Batch, PatchStream, collate_patches
from downfield.training.data.places import EMPTY_PER_FRAME
from downfield.training.networks.ball import (
    BallDetectorNetwork,
    BallRefinerNetwork,
    ball_detector_loss,
    ball_refiner_loss,
)
from downfield.training.networks.blocks import Losses
from downfield.training.networks.checkpoints import load_file, save_file
from downfield.training.networks.refiner import FigureRefiner, figure_refiner_loss
from downfield.training.networks.yolo_detector import VisibilityPoseLoss, new_yolo_detector
from downfield.training.runs.network_training import CLIP, HAS_BFLOAT16, weight_groups

RATE: Final = 2e-3
"""Learning rate of AdamW while it is level."""
LAST_RATE: Final = 0.01  # share of the rate at the end of a finish
WARM_UP: Final = 300  # batches
DECAY: Final = 5e-4  # of weights, not of norms and biases

_SAVE_S = 300
_REPORT_EVERY = 100  # batches
_PATCHES_PER_FRAME = 22 + EMPTY_PER_FRAME

ProgressReport = Callable[[int, dict[str, float]], None]
"""Called now and then with the number of samples learned from, and the mean losses since the last call."""


@dataclass(slots=True)
class TrainingState:
    """A network in training.

    Attributes:
        model: the network.
        average: its moving average, which is exported.
        optimizer: AdamW.
        seen: samples learned from so far.
        descent: from how many samples seen to how many the rate comes down; None while it is level.
    """

    model: Any
    average: ModelEMA
    optimizer: torch.optim.Optimizer
    seen: int = 0
    descent: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """What a network is trained on, and by which loss.

    Attributes:
        network: makes an untrained one.
        stream: makes the endless samples of data sets, from the training split.
        collate: makes a batch of a stream's items; the pictures are under ``img``.
        samples_per_item: in one item of the stream.
        items: in a batch.
        loss: of a model and a batch, with its parts.
    """

    network: Callable[[], Any]
    stream: Callable[[Sources], Dataset[Any]]
    collate: Callable[[Any], Batch]
    samples_per_item: int
    items: int
    loss: Callable[[Any, Batch], tuple[Tensor, Losses]]

    def new_state(self) -> TrainingState:
        """Return an untrained network with its optimizer."""
        model = self.network()
        model.train()
        model.to(memory_format=torch.channels_last)
        optimizer = torch.optim.AdamW(weight_groups(model, DECAY), lr=RATE, betas=(0.9, 0.99))
        return TrainingState(model, ModelEMA(model), optimizer)

    def batches(self, sources: Sources, start: int, until: int) -> Iterator[Batch]:
        """Yield batches from one number of samples seen to another, prepared in a separate process."""
        items = range(start // self.samples_per_item, until // self.samples_per_item)
        loader: DataLoader[Any] = DataLoader(
            self.stream(sources),
            self.items,
            sampler=items,
            num_workers=1,
            collate_fn=self.collate,
            prefetch_factor=4,
            drop_last=True,
        )
        yield from loader


def _yolo_loss(model: Any, batch: Batch) -> tuple[Tensor, Losses]:
    if getattr(model, "criterion", None) is None:  # made at the first step, so that the average has none
        model.criterion = VisibilityPoseLoss(model)
    loss, parts = model(batch)
    return loss.sum(), parts


TASKS: Final = {
    "figure-detector": TrainingTask(
        new_yolo_detector,
        lambda sources: CropStream(sources, "train", seed=1),
        collate,
        samples_per_item=CROPS_PER_FRAME,
        items=8,
        loss=_yolo_loss,
    ),
    "figure-refiner": TrainingTask(
        FigureRefiner,
        lambda sources: PatchStream(sources, "train", seed=2),
        collate_patches,
        samples_per_item=_PATCHES_PER_FRAME,
        items=4,
        loss=lambda model, batch: figure_refiner_loss(model(batch["img"]).float(), batch),
    ),
    "ball-detector": TrainingTask(
        BallDetectorNetwork,
        lambda sources: BallCrops(sources, "train", seed=4),
        collate_patches,
        samples_per_item=BALL_CROPS_PER_FRAME,
        items=8,
        loss=lambda model, batch: ball_detector_loss(model(batch["img"]).float(), batch),
    ),
    "ball-refiner": TrainingTask(
        BallRefinerNetwork,
        lambda sources: BallPatches(sources, "train", seed=5),
        collate_patches,
        samples_per_item=BALL_PATCHES_PER_FRAME,
        items=4,
        loss=lambda model, batch: ball_refiner_loss(model(batch["img"]).float(), batch),
    ),
}
"""The parts of the bundled network by the names of their commands and checkpoints."""


def save_state(state: TrainingState, path: Path) -> None:
    """Write a checkpoint, whole or not at all."""
    contents = {
        "model": state.model.state_dict(),
        "average": state.average.ema.state_dict(),
        "updates": state.average.updates,
        "optimizer": state.optimizer.state_dict(),
        "seen": state.seen,
        "descent": state.descent,
    }
    save_file(path, contents)


def load_state(state: TrainingState, path: Path) -> None:
    """Load a checkpoint into a new state; an optimizer that it lacks starts from zero.

    Raises:
        InputError: the file is no checkpoint of this network.
    """
    kept = load_file(path)
    try:
        state.model.load_state_dict(kept["model"])
        state.average.ema.load_state_dict(kept["average"])
        state.average.updates = kept["updates"]
        if "optimizer" in kept:
            state.optimizer.load_state_dict(kept["optimizer"])
        state.seen, state.descent = kept["seen"], kept.get("descent")
    except (KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path}: not a checkpoint of this network: {error}") from None


def train(
    task: TrainingTask,
    state: TrainingState,
    sources: Sources,
    until: int,
    *,
    finish: bool = False,
    checkpoint: Path | None = None,
    report: ProgressReport = lambda _seen, _losses: None,
) -> None:
    """Train on the training split; the state is changed in place.

    Args:
        until: samples seen at the end, counted from the very first.
        finish: bring the learning rate down to nothing on the way; a state in the middle of a finish continues it.
        checkpoint: file to save to every few minutes and at the end; None for none.

    Raises:
        InputError: a data set has no training pictures.
    """
    if finish and state.descent is None:
        state.descent = (state.seen, until)
    saved = time.monotonic()
    unreported: list[Losses] = []
    try:
        for batch in task.batches(sources, state.seen, until):
            for group in state.optimizer.param_groups:
                group["lr"] = _rate(state)
            unreported.append(_step(state, batch, task))
            state.seen += len(batch["img"])
            if len(unreported) == _REPORT_EVERY:
                report(state.seen, _means(unreported))
                unreported = []
            if checkpoint is not None and time.monotonic() - saved > _SAVE_S:
                save_state(state, checkpoint)
                saved = time.monotonic()
            if state.seen >= until:  # a batch may hold more samples than its share
                break
    finally:  # an interrupt too
        if checkpoint is not None:
            save_state(state, checkpoint)


def _rate(state: TrainingState) -> float:
    share = 1.0
    if state.descent is not None:
        begun, ends = state.descent
        share = 1 - (1 - LAST_RATE) * (state.seen - begun) / max(ends - begun, 1)
    return RATE * share * min(int(state.average.updates) / WARM_UP, 1.0)


def _step(state: TrainingState, batch: Batch, task: TrainingTask) -> Losses:
    batch = batch | {"img": (batch["img"].float() / 255).contiguous(memory_format=torch.channels_last)}
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BFLOAT16):
        loss, parts = task.loss(state.model, batch)
    state.optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(state.model.parameters(), CLIP)
    state.optimizer.step()
    state.average.update(state.model)
    return {name: value.detach() for name, value in parts.items()}


def _means(losses: list[Losses]) -> dict[str, float]:
    return {name: float(torch.stack([each[name].float() for each in losses]).mean()) for name in losses[0]}
