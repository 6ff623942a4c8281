"""Trains a network's refiners further, on patches in files, and writes the network that has them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from downfield.core.errors import InputError
from downfield.models.card import read_card
from downfield.training.data.patch_files import read_blocks
from downfield.training.export.networks import calibration_blocks, figure_refiner_of, write_retrained
from downfield.training.runs.network_training import FIGURE_REFINER, REFINER, NetworkTraining, ReplayPool
from downfield.training.runs.turns import RateSchedule, Samples, TimeBudget, TurnPlan, train_networks


@dataclass(frozen=True, slots=True)
class RefinerPlan:
    """How refiners are trained.

    Attributes:
        batch: patches in a step.
        pool: most patches kept in memory, about 13 kB each.
        mixed: number of files from which a batch is drawn.
        turns: how the two networks take turns.
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
        second: checkpoint from which the second refiner is trained; None to leave that as it is.
        first: also train the first refiner.
        seed: of all random draws.
        plan: sizes and turns.
        clock: monotonic clock, seconds.
    """

    network: Path
    runs: Path
    patches: Sequence[Path]
    second: Path | None = None
    first: bool = True
    seed: int = 1
    plan: RefinerPlan = field(default_factory=RefinerPlan)
    clock: Callable[[], float] = time.monotonic

    def execute(
        self, seconds: float, out: Path, *, schedule: RateSchedule, name: str, report: Callable[[str], None]
    ) -> None:
        """Train for a time and write the network.

        Args:
            out: folder of the new network; how much each refiner counts is copied from the old one.

        Raises:
            InputError: there is nothing to train, the network has no refiner of Downfield's own or no second one, a
                checkpoint is none, or a folder holds no patches.
        """
        if not self.first and self.second is None:
            raise InputError(
                "There is nothing to train: give the second refiner's checkpoint with --second, or --first."
            )
        if self.second is not None and read_card(self.network).second_opinion is None:
            raise InputError(f"{self.network}: this network has no second refiner to train")
        torch.manual_seed(self.seed)
        self.runs.mkdir(parents=True, exist_ok=True)
        samples = read_blocks(self.patches, self.seed)
        pool = ReplayPool(self.plan.pool, self.plan.mixed, self.seed)
        device = torch.device("cpu")
        kinds = [REFINER] if self.second is not None else []
        if self.first:
            refiner = figure_refiner_of(self.network)
            kinds.append(dataclasses.replace(FIGURE_REFINER, network=lambda: refiner))
        trainings: dict[str, tuple[NetworkTraining, Samples]] = {
            kind.name: (NetworkTraining(kind, device, pool, self.plan.batch), samples) for kind in kinds
        }
        for kind, (training, _) in trainings.items():
            kept = self.runs / f"{kind}.pt"
            begin = kept if kept.exists() else self.second if kind == REFINER.name else None
            if begin is not None:
                training.resume(begin)
        budget = TimeBudget(seconds, min(2.0, 0.1 * seconds), self.clock)
        train_networks(trainings, budget, schedule, self.plan.turns, self.runs, clock=self.clock, report=report)
        patches = calibration_blocks(self.patches, self.seed)
        write_retrained(self.network, self.runs, out, name=name, patches=patches, parts=trainings)
