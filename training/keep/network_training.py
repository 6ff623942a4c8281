"""One network in training against the clock: its pool of samples, steps, moving average and checkpoints."""

from __future__ import annotations

import copy
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from downfield.core.errors import InputError
from downfield.training.data.samples import FrameSamples, PatchSamples, as_input, varied_frames, varied_patches
from downfield.training.networks.blocks import Losses
from downfield.training.networks.checkpoints import (
    DETECTOR_NAME,
    REFINER_NAME,
    load_file,
    load_weights,
    read_checkpoint,
    write_checkpoint,
)
from downfield.training.networks.refiner import RefinerNetwork, refiner_loss
from downfield.training.networks.yolo_detector import VisibilityPoseLoss, new_yolo_detector, yolo_batch

HAS_BFLOAT16: Final = torch.backends.cpu.get_cpu_capability() not in {"DEFAULT", "AVX2"}
"""Whether this processor computes in bfloat16; one that emulates it takes ten times as long as in full precision."""


class ReplayPool:
    """Batches in memory, from which others are drawn; the oldest give way to the newest.

    Args:
        capacity: most samples it holds.
        mixed: batches of which one drawn batch is mixed.
    """

    def __init__(self, capacity: int, mixed: int = 8, seed: int = 0) -> None:
        self._capacity, self._mixed = capacity, mixed
        self._blocks: deque[tuple[Tensor, ...]] = deque()
        self._held = 0
        self._random = random.Random(seed)  # noqa: S311 - not for secrets

    def __len__(self) -> int:
        return self._held

    def add(self, batch: tuple[Tensor, ...]) -> None:
        """Take samples in, tensors of shape (n, ...) each; the oldest batches are dropped."""
        self._blocks.append(batch)
        self._held += len(batch[0])
        while self._held > self._capacity and len(self._blocks) > 1:
            self._held -= len(self._blocks.popleft()[0])

    def draw(self, count: int) -> tuple[Tensor, ...]:
        """Return random samples, in equal parts from some of the batches."""
        each = max(count // self._mixed, 1)
        parts = []
        for _ in range(-(-count // each)):
            block = self._blocks[self._random.randrange(len(self._blocks))]
            rows = torch.randint(len(block[0]), (each,))
            parts.append([part.index_select(0, rows) for part in block])
        return tuple(torch.cat(columns)[:count] for columns in zip(*parts, strict=True))


DECAY: Final = 0.01  # of weights, not of norms and biases
CLIP: Final = 10.0  # norm of gradients
AVERAGED: Final = 0.9998  # most that the moving average keeps in a step

NetworkLoss = Callable[[nn.Module, tuple[Tensor, ...]], tuple[Tensor, Losses]]


@dataclass(frozen=True, slots=True)
class NetworkKind:
    """What one network's training has of its own."""

    name: str
    network: Callable[[], nn.Module]
    loss: NetworkLoss  # of a network and drawn samples, with its parts


def _refiner_loss(network: nn.Module, samples: tuple[Tensor, ...]) -> tuple[Tensor, Losses]:
    patches = varied_patches(PatchSamples(*samples))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BFLOAT16):
        outputs, heat = network(as_input(patches.image))
    return refiner_loss(outputs, heat, patches)


def _detector_loss(network: nn.Module, samples: tuple[Tensor, ...]) -> tuple[Tensor, Losses]:
    frames = varied_frames(FrameSamples(*samples))
    if getattr(network, "criterion", None) is None:  # made at the first step, so that the average has none
        network.criterion = VisibilityPoseLoss(network)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HAS_BFLOAT16):
        loss, parts = network(yolo_batch(frames))
    return loss.sum(), parts


DETECTOR: Final = NetworkKind(DETECTOR_NAME, new_yolo_detector, _detector_loss)
REFINER: Final = NetworkKind(REFINER_NAME, RefinerNetwork, _refiner_loss)


class NetworkTraining:
    """A network in training.

    Attributes:
        average: the moving average, which is what is used.
    """

    def __init__(self, kind: NetworkKind, pool: ReplayPool, batch: int) -> None:
        self.kind, self.pool, self.steps = kind, pool, 0
        self._cycle_begun = 0  # steps before this cycle of the learning rate
        self.batch = batch
        self._network: nn.Module = kind.network().to(memory_format=torch.channels_last).train()
        self.average: nn.Module = copy.deepcopy(self._network).eval()
        weights = list(self._network.parameters())
        groups = [
            {"params": [each for each in weights if each.ndim > 1], "weight_decay": DECAY},
            {"params": [each for each in weights if each.ndim <= 1], "weight_decay": 0.0},
        ]
        self._optimizer = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.99))

    def learn(self, rate: float) -> Losses:
        """Take one step at a learning rate, unless its gradient is infinite; return the loss's parts."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        loss, parts = self.kind.loss(self._network, self.pool.draw(self.batch))
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self._network.parameters(), CLIP)
        if bool(norm.isfinite()):
            self._optimizer.step()
        self.steps += 1
        self._follow()
        return {name: part.detach() for name, part in parts.items()}

    def _follow(self) -> None:
        """Update the average, over about the last tenth of the cycle."""
        steps = self.steps - self._cycle_begun
        keep = min(AVERAGED, (1 + steps) / (10 + steps))
        with torch.no_grad():
            torch._foreach_lerp_(_numbers(self.average), _numbers(self._network), 1 - keep)

    def begin_cycle(self) -> None:
        """Begin a new cycle of the learning rate."""
        self._cycle_begun = self.steps

    def begin(self, path: Path) -> None:
        """Begin from a checkpoint's moving average, counting no steps. Raises InputError: it is of no such network."""
        weights = load_file(path)["average"]
        for network in (self._network, self.average):
            load_weights(network, weights, path)

    def save(self, folder: Path) -> Path:
        """Write the checkpoint from which training continues; return its path."""
        path = folder / f"{self.kind.name}.pt"
        contents = {
            "average": self.average.state_dict(),
            "model": self._network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "steps": self.steps,
            "cycle_begun": self._cycle_begun,
        }
        write_checkpoint(path, contents)
        return path

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint, or from its average alone. Raises InputError: it is of no such network."""
        kept = read_checkpoint(path)
        load_weights(self._network, kept.get("model", kept["average"]), path)
        load_weights(self.average, kept["average"], path)
        try:
            if "optimizer" in kept:
                self._optimizer.load_state_dict(kept["optimizer"])
        except ValueError as error:
            raise InputError(f"{path}: {error}") from None
        self.steps, self._cycle_begun = int(kept["steps"]), int(kept.get("cycle_begun", 0))


def _numbers(network: nn.Module) -> list[Tensor]:
    """Return a network's weights and the running statistics of its norms, the tensors themselves."""
    return [each for each in network.state_dict().values() if each.is_floating_point()]
