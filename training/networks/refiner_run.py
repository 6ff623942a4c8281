"""Teaches a network's refiners further, from patches in files, and writes the network that has them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from downfield.core.errors import InputError
from downfield.models.card import read_card
from downfield.training.networks.course import REFINER, SECOND_LOOK, Course
from downfield.training.networks.pair_trainer import Samples, TurnPlan, train_courses
from downfield.training.networks.patch_blocks import read_blocks
from downfield.training.networks.replay import ReplayPool
from downfield.training.networks.taught_network import calibration_blocks, write_taught
from downfield.training.networks.time_budget import RateSchedule, TimeBudget
from downfield.training.refined_network import open_second_look
from downfield.training.second_look import SecondLook


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
        opinion: checkpoint from which the second refiner is taught; None to leave that as it is.
        first: whether the first refiner is taught.
        seed: of all chance.
        plan: how they learn.
        clock: seconds that only ever rise.

    """

    network: Path
    runs: Path
    patches: Sequence[Path]
    opinion: Path | None = None
    first: bool = True
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
            InputError: there is nothing to teach, the network has no refiner of Downfield's own or no second one, a
                checkpoint is none, or a folder holds no patches.

        """
        if not self.first and self.opinion is None:
            raise InputError(
                "There is nothing to teach: give the second refiner's checkpoint, or have the first taught."
            )
        if self.opinion is not None and read_card(self.network).second_opinion is None:
            raise InputError(f"{self.network}: this network has no second refiner to train")
        torch.manual_seed(self.seed)
        self.runs.mkdir(parents=True, exist_ok=True)
        samples = read_blocks(self.patches, self.seed)
        pool = ReplayPool(self.plan.pool, self.plan.mixed, self.seed)
        device = torch.device("cpu")
        kinds = [REFINER] if self.opinion is not None else []
        if self.first:
            refiner = _second_look_of(self.network)
            kinds.append(dataclasses.replace(SECOND_LOOK, network=lambda: refiner))
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
        patches = calibration_blocks(self.patches, self.seed)
        write_taught(self.network, self.runs, out, name=name, patches=patches, parts=courses)


def _second_look_of(network: Path) -> SecondLook:
    card = read_card(network)
    if card.second_look is None or card.refiner_sees_ball:
        raise InputError(f"{network}: this network has no figure refiner that can be taught by itself")
    return open_second_look(network / card.second_look.fp32)
