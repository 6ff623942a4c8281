"""Trains one network, resumable over any number of runs.

The learning rate stays level, so training can stop and resume anywhere; a *finish* brings it down to zero from the
current checkpoint and leaves the level run untouched, to be continued later (the warm-up,
stable, decay schedule of Hu et al., MiniCPM, 2024).
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
from downfield.training.labeled_frames import Sources
from downfield.training.precision import BRIEF

RATE: Final = 2e-3  # of AdamW
LAST_RATE: Final = 0.01  # share of it at the end of a finish
WARM_UP: Final = 300  # batches
DECAY: Final = 5e-4  # of weights, not of norms and biases
CLIP: Final = 10.0  # norm of gradients

_SAVE_S = 300
_REPORT_EVERY = 100  # batches

Batch = dict[str, Tensor]
Losses = dict[str, Tensor]
TrainingStep = Callable[[Any, Batch], tuple[Tensor, Losses]]
"""From a model and a batch to the loss, and its parts to tell of."""

ProgressReport = Callable[[int, dict[str, float]], None]
"""Told now and then how many samples were learned from, and the mean losses since it was last told."""


@dataclass(slots=True)
class Learner:
    """A network in training.

    Attributes:
        model: the network.
        average: its moving average, which is what is used.
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
class Lesson:
    """How a network is trained.

    Attributes:
        network: makes one that has learned nothing.
        batches: of data sets, from one number of samples seen to another; the pictures are under ``img``.
        step: makes the loss of a batch.
        finished: writes what an export takes.

    """

    network: Callable[[], Any]
    batches: Callable[[Sources, int, int], Iterator[Batch]]
    step: TrainingStep
    finished: Callable[[Learner, Path], None]

    def new(self) -> Learner:
        """Return an untrained learner."""
        model = self.network()
        model.train()
        model.to(memory_format=torch.channels_last)
        heavy = [weight for weight in model.parameters() if weight.ndim > 1]
        light = [weight for weight in model.parameters() if weight.ndim <= 1]
        groups = [{"params": heavy, "weight_decay": DECAY}, {"params": light, "weight_decay": 0.0}]
        return Learner(model, ModelEMA(model), torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99)))


def save_learner(learner: Learner, path: Path) -> None:
    """Write a checkpoint, whole or not at all."""
    kept = {
        "model": learner.model.state_dict(),
        "average": learner.average.ema.state_dict(),
        "updates": learner.average.updates,
        "optimizer": learner.optimizer.state_dict(),
        "seen": learner.seen,
        "descent": learner.descent,
    }
    part = path.with_suffix(".part")
    torch.save(kept, part)
    part.replace(path)


def load_learner(learner: Learner, path: Path) -> None:
    """Load a checkpoint into a new learner; optimizer state that it lacks is accumulated anew.

    Raises:
        InputError: the checkpoint is not one of this network.

    """
    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
        learner.model.load_state_dict(kept["model"])
        learner.average.ema.load_state_dict(kept["average"])
        learner.average.updates = kept["updates"]
        if "optimizer" in kept:
            learner.optimizer.load_state_dict(kept["optimizer"])
        learner.seen, learner.descent = kept["seen"], kept.get("descent")
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path}: not a checkpoint of this network: {error}") from None


def train(
    lesson: Lesson,
    learner: Learner,
    sources: Sources,
    until: int,
    *,
    finish: bool = False,
    checkpoint: Path | None = None,
    report: ProgressReport = lambda _seen, _losses: None,
) -> None:
    """Train on the training split.

    Args:
        lesson: what is learned.
        learner: what learns; changed in place.
        sources: data sets with their shares.
        until: samples seen at the end, counted from the very first.
        finish: bring the learning rate down to nothing on the way; a learner in the middle of that goes on with it.
        checkpoint: where to save every few minutes and at the end; None for nowhere.
        report: told how it goes.

    Raises:
        InputError: a data set has no training pictures.

    """
    if finish and learner.descent is None:
        learner.descent = (learner.seen, until)
    saved = time.monotonic()
    told: list[Losses] = []
    try:
        for batch in lesson.batches(sources, learner.seen, until):
            for group in learner.optimizer.param_groups:
                group["lr"] = _rate(learner)
            told.append(_take(learner, batch, lesson.step))
            learner.seen += len(batch["img"])
            if len(told) == _REPORT_EVERY:
                report(learner.seen, _means(told))
                told = []
            if checkpoint is not None and time.monotonic() - saved > _SAVE_S:
                save_learner(learner, checkpoint)
                saved = time.monotonic()
            if learner.seen >= until:  # a batch may hold more samples than its share
                break
    finally:  # an interrupt too
        if checkpoint is not None:
            save_learner(learner, checkpoint)


def load_batches(
    stream: Dataset[Any], collate: Callable[[Any], Batch], items: range, items_a_batch: int
) -> Iterator[Batch]:
    """Yield batches of a stream's items, prepared in a separate process; an incomplete last one is left out."""
    loader: DataLoader[Any] = DataLoader(
        stream, items_a_batch, sampler=items, num_workers=1, collate_fn=collate, prefetch_factor=4, drop_last=True
    )
    yield from loader


def _rate(learner: Learner) -> float:
    share = 1.0
    if learner.descent is not None:
        begun, ends = learner.descent
        share = 1 - (1 - LAST_RATE) * (learner.seen - begun) / max(ends - begun, 1)
    return RATE * share * min(int(learner.average.updates) / WARM_UP, 1.0)


def _take(learner: Learner, batch: Batch, step: TrainingStep) -> Losses:
    batch = batch | {"img": (batch["img"].float() / 255).contiguous(memory_format=torch.channels_last)}
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=BRIEF):
        loss, parts = step(learner.model, batch)
    learner.optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(learner.model.parameters(), CLIP)
    learner.optimizer.step()
    learner.average.update(learner.model)
    return {name: value.detach() for name, value in parts.items()}


def _means(told: list[Losses]) -> dict[str, float]:
    return {name: float(torch.stack([losses[name].float() for losses in told]).mean()) for name in told[0]}
