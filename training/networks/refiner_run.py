"""Teaches a network's refiners further, from patches in files, and writes the network that has them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from downfield.core.errors import InputError
from downfield.models.card import NetworkCard, read_card
from downfield.training.export import CALIBRATION_PATCHES, Pictures
from downfield.training.networks.augmentation import varied_patches
from downfield.training.networks.course import REFINER, Course, CourseKind, Losses, in_brief
from downfield.training.networks.graphs import export_refiner
from downfield.training.networks.pair_trainer import Samples, TurnPlan, train_courses
from downfield.training.networks.patch_blocks import read_blocks
from downfield.training.networks.refiner_loss import refiner_loss
from downfield.training.networks.replay import ReplayPool
from downfield.training.networks.samples import PatchSamples, as_input
from downfield.training.networks.time_budget import RateSchedule, TimeBudget
from downfield.training.refined_network import open_second_look, write_refined
from downfield.training.second_look import SecondLook

SECOND_LOOK: Final = "second-look"
"""Name of the first refiner's course and checkpoint."""

_CELLS: Final = 256  # of a ball, which the first refiner does not look for


@dataclass(frozen=True, slots=True)
class RefinerPlan:
    """How refiners learn.

    Attributes:
        batch: patches in a step.
        pool: most patches kept in memory.
        mixed: files of which a batch is mixed.
        turns: how turns are spent.

    """

    batch: int = 256
    pool: int = 200_000
    mixed: int = 16
    turns: TurnPlan = field(default_factory=lambda: TurnPlan(seconds=20.0, sampling=0.02))


@dataclass(frozen=True, slots=True)
class RefinerRun:
    """One run.

    Attributes:
        network: folder of the network to begin from.
        runs: folder of the checkpoints; those it holds are continued from.
        patches: folders of patches; each counts the same.
        opinion: checkpoint from which the second refiner is taught as well; None to leave that as it is.
        seed: of all chance.
        plan: how they learn.
        clock: seconds that only ever rise.

    """

    network: Path
    runs: Path
    patches: Sequence[Path]
    opinion: Path | None = None
    seed: int = 1
    plan: RefinerPlan = field(default_factory=RefinerPlan)
    clock: Callable[[], float] = time.monotonic

    def execute(
        self, seconds: float, out: Path, *, schedule: RateSchedule, name: str, report: Callable[[str], None]
    ) -> None:
        """Train for a time and write the network.

        Args:
            seconds: of the training.
            out: folder of the new network; its weights of opinions are those of the old one.
            schedule: of the learning rate.
            name: of the new network.
            report: told how it goes.

        Raises:
            InputError: the network has no refiner of Downfield's own or no second one, a checkpoint is none, or a
                folder holds no patches.

        """
        card = read_card(self.network)
        second = _refiner_of(self.network, card)
        if self.opinion is not None and card.second_opinion is None:
            raise InputError(f"{self.network}: this network has no second refiner to train")
        torch.manual_seed(self.seed)
        self.runs.mkdir(parents=True, exist_ok=True)
        samples = read_blocks(self.patches, self.seed)
        pool = ReplayPool(self.plan.pool, self.plan.mixed, self.seed)
        device = torch.device("cpu")
        kinds = [CourseKind(SECOND_LOOK, lambda: second, _second_look_loss)]
        if self.opinion is not None:
            kinds.append(REFINER)
        courses: dict[str, tuple[Course, Samples]] = {
            kind.name: (Course(kind, device, pool, self.plan.batch), samples) for kind in kinds
        }
        for kind, (course, _) in courses.items():
            kept = self.runs / f"{kind}.pt"
            begin = kept if kept.exists() else self.opinion if kind == REFINER.name else None
            if begin is not None:
                course.resume(begin)
        budget = TimeBudget(seconds, min(2.0, 0.1 * seconds), self.clock)
        train_courses(courses, budget, schedule, self.plan.turns, self.runs, clock=self.clock, report=report)
        self._write(card, courses, out, name, _pictures(samples, self.seed))

    def _write(
        self,
        card: NetworkCard,
        courses: dict[str, tuple[Course, Samples]],
        out: Path,
        name: str,
        patches: Sequence[Pictures],
    ) -> None:
        """Write the network with the refiners' moving averages."""
        refiner = courses[SECOND_LOOK][0].average
        assert isinstance(refiner, SecondLook)
        write_refined(self.network, dataclasses.replace(card, name=name), refiner, out, patches)
        if self.opinion is not None:
            opinion = read_card(out).second_opinion
            assert opinion is not None
            export_refiner(courses[REFINER.name][0].average, out, opinion, patches)


def _refiner_of(network: Path, card: NetworkCard) -> SecondLook:
    if card.second_look is None or card.refiner_sees_ball:
        raise InputError(f"{network}: this network has no figure refiner that can be taught by itself")
    return open_second_look(network / card.second_look.fp32)


def _second_look_loss(network: nn.Module, samples: tuple[Tensor, ...]) -> tuple[Tensor, Losses]:
    patches = varied_patches(PatchSamples(*samples))
    with in_brief(patches.image):
        outputs = network(as_input(patches.image))
    nowhere = torch.full((len(outputs), _CELLS), -20.0)
    loss, parts = refiner_loss(outputs, nowhere, patches)
    return loss, {name: part for name, part in parts.items() if name != "ball"}


def _pictures(samples: Samples, seed: int) -> list[Pictures]:
    """Return patches on which int8 is calibrated, of several files."""
    rng, out = np.random.default_rng(seed), list[Pictures]()
    while len(out) < CALIBRATION_PATCHES:
        images = next(samples).image.numpy()
        rows = rng.choice(len(images), min(len(images), CALIBRATION_PATCHES // 8 or 1), replace=False)
        out += [np.ascontiguousarray(images[row][None]) for row in rows]
    return out[:CALIBRATION_PATCHES]
