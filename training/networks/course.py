"""One of the two networks in training: steps, moving average, checkpoints."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from downfield.core.errors import InputError
from downfield.models.ball_detection import CELLS
from downfield.training.networks.augmentation import varied_frames, varied_patches
from downfield.training.networks.checkpoints import load_weights, read_checkpoint, write_checkpoint
from downfield.training.networks.detector import DetectorNetwork
from downfield.training.networks.detector_loss import detector_loss
from downfield.training.networks.refiner import RefinerNetwork
from downfield.training.networks.refiner_loss import refiner_loss
from downfield.training.networks.replay import ReplayPool
from downfield.training.networks.samples import FrameSamples, PatchSamples, as_input
from downfield.training.precision import BRIEF
from downfield.training.second_look import SecondLook, without_norms

DECAY: Final = 0.01  # of weights, not of norms and biases
CLIP: Final = 10.0  # norm of gradients
AVERAGED: Final = 0.998  # of the moving average, once it is warm
_NO_BALL: Final = -20.0  # logit

Losses = dict[str, Tensor]
CourseLoss = Callable[[nn.Module, tuple[Tensor, ...]], tuple[Tensor, Losses]]


@dataclass(frozen=True, slots=True)
class CourseKind:
    """What tells the detector's training from the refiner's.

    Attributes:
        name: of the network and its checkpoint.
        network: makes an untrained one.
        loss: of a network and drawn samples.
        pace: its learning rate, relative to the run's.

    """

    name: str
    network: Callable[[], nn.Module]
    loss: CourseLoss
    pace: float = 1.0


def _detector_loss(network: nn.Module, samples: tuple[Tensor, ...]) -> tuple[Tensor, Losses]:
    frames = varied_frames(FrameSamples(*samples))
    with in_brief(frames.image):
        pose, ball = network(as_input(frames.image))
    return detector_loss(pose, ball, frames)


def _refiner_loss(network: nn.Module, samples: tuple[Tensor, ...]) -> tuple[Tensor, Losses]:
    patches = varied_patches(PatchSamples(*samples))
    with in_brief(patches.image):
        outputs, heat = network(as_input(patches.image))
    return refiner_loss(outputs, heat, patches)


def in_brief(like: Tensor) -> Any:
    """Return a context of half precision, where the device knows it."""
    return torch.autocast(like.device.type, dtype=torch.bfloat16, enabled=like.is_cuda or BRIEF)


def _second_look_loss(network: nn.Module, samples: tuple[Tensor, ...]) -> tuple[Tensor, Losses]:
    patches = varied_patches(PatchSamples(*samples))
    with in_brief(patches.image):
        outputs = network(as_input(patches.image))
    nowhere = torch.full((len(outputs), CELLS**2), _NO_BALL, device=outputs.device)
    loss, parts = refiner_loss(outputs, nowhere, patches)
    return loss, {name: part for name, part in parts.items() if name != "ball"}


DETECTOR: Final = CourseKind("detector", DetectorNetwork, _detector_loss)
REFINER: Final = CourseKind("refiner", RefinerNetwork, _refiner_loss)
SECOND_LOOK: Final = CourseKind("second-look", lambda: without_norms(SecondLook()), _second_look_loss)
"""The figure refiner of before, which goes on from what it knows: it looks for no ball."""
KINDS: Final = (DETECTOR, REFINER)


class Course:
    """A network in training.

    Args:
        kind: which.
        device: where it learns.
        pool: what it learns from.
        batch: samples in a step.

    Attributes:
        kind: the same.
        pool: the same.
        steps: taken in all runs.
        average: the moving average, which is what is used.

    """

    def __init__(self, kind: CourseKind, device: torch.device, pool: ReplayPool, batch: int) -> None:
        self.kind, self.pool, self.steps = kind, pool, 0
        self._batch, self._begun = batch, 0
        self._network: nn.Module = kind.network().to(device, memory_format=torch.channels_last).train()
        self.average: nn.Module = copy.deepcopy(self._network).eval()
        heavy = [weight for weight in self._network.parameters() if weight.ndim > 1]
        light = [weight for weight in self._network.parameters() if weight.ndim <= 1]
        groups = [{"params": heavy, "weight_decay": DECAY}, {"params": light, "weight_decay": 0.0}]
        self._optimizer = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.99), fused=device.type == "cuda")

    @property
    def own_steps(self) -> int:
        """Steps taken in this run."""
        return self.steps - self._begun

    def learn(self, rate: float) -> Losses:
        """Take one step at a learning rate; one that would spoil the weights is left out. Return the loss's parts."""
        for group in self._optimizer.param_groups:
            group["lr"] = self.kind.pace * rate
        loss, parts = self.kind.loss(self._network, self.pool.draw(self._batch))
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self._network.parameters(), CLIP)
        if bool(norm.isfinite()):
            self._optimizer.step()
        self.steps += 1
        self._follow()
        return {name: part.detach() for name, part in parts.items()}

    def _follow(self) -> None:
        """Move the average on; what was averaged over few steps forgets faster."""
        keep = min(AVERAGED, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(_numbers(self.average), _numbers(self._network), 1 - keep)

    def save(self, folder: Path) -> Path:
        """Write the checkpoint from which training continues; return its path."""
        path = folder / f"{self.kind.name}.pt"
        contents = {
            "average": self.average.state_dict(),
            "model": self._network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "steps": self.steps,
        }
        write_checkpoint(path, contents)
        return path

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint; one without the network itself continues from its average.

        Raises:
            InputError: the file is no checkpoint of this network.

        """
        kept = read_checkpoint(path)
        try:
            load_weights(self._network, kept.get("model", kept["average"]))
            load_weights(self.average, kept["average"])
            if "optimizer" in kept:
                self._optimizer.load_state_dict(kept["optimizer"])
        except (InputError, ValueError) as error:
            raise InputError(f"{path}: {error}") from None
        self.steps = self._begun = int(kept["steps"])


def _numbers(network: nn.Module) -> list[Tensor]:
    """Return a network's weights and the running statistics of its norms, the tensors themselves."""
    return [each for each in network.state_dict().values() if each.is_floating_point()]


def slim_checkpoint(path: Path, out: Path) -> None:
    """Write the part of a checkpoint that is enough to continue or to export: a quarter of it, to keep and carry.

    Raises:
        InputError: the file is no checkpoint.

    """
    kept = read_checkpoint(path)
    write_checkpoint(out, {"average": kept["average"], "steps": kept["steps"]})
