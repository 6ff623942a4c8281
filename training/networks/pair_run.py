"""One run of training the two networks: devices, sizes, samples and checkpoints put together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from downfield.core.errors import InputError
from downfield.training.labeled_frames import Sources
from downfield.training.networks.course import DETECTOR, REFINER, Course, slim_checkpoint
from downfield.training.networks.pair_trainer import Samples, TurnPlan, train_courses
from downfield.training.networks.replay import ReplayPool
from downfield.training.networks.set_samples import detector_samples, refiner_samples
from downfield.training.networks.time_budget import RateSchedule, TimeBudget


@dataclass(frozen=True, slots=True)
class RunSizes:
    """What fits a device.

    Attributes:
        crops: in a step of the detector.
        patches: in a step of the refiner.
        pool_crops: most crops kept.
        pool_patches: most patches kept.
        workers: processes that prepare samples, for each network.
        turns: how turns are spent.

    """

    crops: int
    patches: int
    pool_crops: int
    pool_patches: int
    workers: int
    turns: TurnPlan


ON_CUDA = RunSizes(256, 2048, 60_000, 1_200_000, 6, TurnPlan(seconds=1.5))
ON_PROCESSOR = RunSizes(16, 256, 2_000, 20_000, 1, TurnPlan())
_LAST_S = 12.0  # for the last checkpoints


@dataclass(frozen=True, slots=True)
class PairRun:
    """One run.

    Attributes:
        out: folder of the checkpoints.
        resume: folder of checkpoints to continue from; None to begin anew.
        device: `cpu`, `cuda`, or `auto`.
        seed: of all chance.
        sizes: None for those of the device.
        clock: seconds that only ever rise.

    """

    out: Path
    resume: Path | None = None
    device: str = "auto"
    seed: int = 1
    sizes: RunSizes | None = None
    clock: Callable[[], float] = time.monotonic

    def execute(
        self, sources: Sources, seconds: float, *, rate: float, level: float, report: Callable[[str], None]
    ) -> None:
        """Train for a time, start-up included, and write checkpoints, whole and slim (`*.slim.pt`).

        Raises:
            InputError: there is no such device, a checkpoint is none, or a data set has no training pictures.

        """
        budget = TimeBudget(seconds, min(_LAST_S, 0.1 * seconds), self.clock)
        device = chosen_device(self.device)
        sizes = self.sizes or (ON_CUDA if device.type == "cuda" else ON_PROCESSOR)
        torch.manual_seed(self.seed)
        torch.set_float32_matmul_precision("high")
        self.out.mkdir(parents=True, exist_ok=True)
        frames = detector_samples(sources, 10 * self.seed + 1, crops=sizes.crops, workers=sizes.workers)
        patches = refiner_samples(sources, 10 * self.seed + 2, workers=sizes.workers)
        courses: dict[str, tuple[Course, Samples]] = {
            "detector": (Course(DETECTOR, device, ReplayPool(sizes.pool_crops), sizes.crops), frames),
            "refiner": (Course(REFINER, device, ReplayPool(sizes.pool_patches), sizes.patches), patches),
        }
        if self.resume is not None:
            for name, (course, _) in courses.items():
                course.resume(self.resume / f"{name}.pt")
        schedule = RateSchedule(rate, level)
        train_courses(courses, budget, schedule, sizes.turns, self.out, clock=self.clock, report=report)
        for name in courses:
            slim_checkpoint(self.out / f"{name}.pt", self.out / f"{name}.slim.pt")
            report(f"written: {self.out / f'{name}.pt'}")


def chosen_device(name: str) -> torch.device:
    """Return a device by its name.

    Raises:
        InputError: there is no such device here.

    """
    cuda = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if cuda else "cpu")
    if name not in ("cpu", "cuda"):
        raise InputError(f"There is no device '{name}'. Choose auto, cpu or cuda.")
    if name == "cuda" and not cuda:
        raise InputError("torch finds no CUDA device here. Use --device cpu.")
    return torch.device(name)
