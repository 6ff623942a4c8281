"""One run of training the two networks: devices, sizes, samples and checkpoints put together."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from downfield.core.errors import InputError
from downfield.training.networks.course import DETECTOR, REFINER, SECOND_LOOK, Course, slim_checkpoint
from downfield.training.networks.pair_trainer import Samples, TurnPlan, train_courses
from downfield.training.networks.replay import ReplayPool
from downfield.training.networks.samples import FrameSamples, PatchSamples
from downfield.training.networks.time_budget import RateSchedule, TimeBudget
from downfield.training.networks.traced_samples import (
    TracedRecipe,
    traced_detector_samples,
    traced_refiner_samples,
    use_device,
)
from downfield.training.networks.traced_tables import TableRecipe

if TYPE_CHECKING:
    from downfield.training.labeled_frames import Sources


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
        traced: what is traced where there are no data sets.

    """

    crops: int
    patches: int
    pool_crops: int
    pool_patches: int
    workers: int
    turns: TurnPlan
    traced: TracedRecipe


ON_CUDA = RunSizes(256, 2048, 100_000, 1_200_000, 7, TurnPlan(seconds=1.5), TracedRecipe())
ON_PROCESSOR = RunSizes(
    16, 256, 2_000, 20_000, 1, TurnPlan(), TracedRecipe(TableRecipe(scenes=2, views=1), crops_per_view=3)
)
_LAST_S = 12.0  # for the last checkpoints
_SECOND_LOOK_PACE = 0.25  # it was trained for long, and shall shift, not forget


@dataclass(frozen=True, slots=True)
class PairRun:
    """One run.

    Without data sets it traces tables of its own without end. Where the folder to continue from holds a checkpoint
    `second-look.pt`, that refiner learns from the same patches.

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
        self,
        sources: Sources | None,
        seconds: float,
        *,
        rate: float,
        level: float,
        report: Callable[[str], None],
        real: Sources = (),
    ) -> None:
        """Train for a time, start-up included, and write checkpoints, whole and slim (`*.slim.pt`).

        Args:
            sources: data sets to learn from; None to trace endlessly.
            seconds: of the run.
            rate: learning rate while it is level.
            level: share of the time after which it comes down.
            report: told how it goes.
            real: sets of contributed pictures, each with its share of the drawn tables' patches; only the refiner
                learns from them, since not every object in them is labeled.

        Raises:
            InputError: there is no such device, a checkpoint is none, or a data set has no training pictures.
            MissingExtraError: numba, which traces, is not installed.

        """
        budget = TimeBudget(seconds, min(_LAST_S, 0.1 * seconds), self.clock)
        device = chosen_device(self.device)
        sizes = self.sizes or (ON_CUDA if device.type == "cuda" else ON_PROCESSOR)
        torch.manual_seed(self.seed)
        torch.set_float32_matmul_precision("high")
        self.out.mkdir(parents=True, exist_ok=True)
        frames, patches = self._samples(sources, real, sizes, device)
        courses: dict[str, tuple[Course, Samples]] = {
            "detector": (Course(DETECTOR, device, ReplayPool(sizes.pool_crops), sizes.crops), frames),
            "refiner": (Course(REFINER, device, ReplayPool(sizes.pool_patches), sizes.patches), patches),
        }
        if self.resume is not None and (self.resume / f"{SECOND_LOOK.name}.pt").exists():
            kind = dataclasses.replace(SECOND_LOOK, pace=_SECOND_LOOK_PACE)
            pool = courses[REFINER.name][0].pool  # the same patches serve both
            courses[SECOND_LOOK.name] = Course(kind, device, pool, sizes.patches), patches
        if self.resume is not None:
            for name, (course, _) in courses.items():
                course.resume(self.resume / f"{name}.pt")
        schedule = RateSchedule(rate, level)
        train_courses(courses, budget, schedule, sizes.turns, self.out, clock=self.clock, report=report)
        for name in courses:
            slim_checkpoint(self.out / f"{name}.pt", self.out / f"{name}.slim.pt")
            report(f"written: {self.out / f'{name}.pt'}")

    def _samples(
        self, sources: Sources | None, real: Sources, sizes: RunSizes, device: torch.device
    ) -> tuple[Samples, Samples]:
        """Return the samples of the detector and of the refiner."""
        frames, patches = self._drawn_samples(sources, sizes, device)
        if not real:
            return frames, patches
        from downfield.training.networks.set_samples import refiner_samples, with_real_tables

        share = sum(own for _, own in real)
        return frames, with_real_tables(
            patches, refiner_samples(real, 10 * self.seed + 3, workers=sizes.workers), share
        )

    def _drawn_samples(
        self, sources: Sources | None, sizes: RunSizes, device: torch.device
    ) -> tuple[Iterator[FrameSamples], Iterator[PatchSamples]]:
        """Return the samples of the twin's tables."""
        seeds = (10 * self.seed + 1, 10 * self.seed + 2)
        if sources is None:
            use_device(device)
            return (
                traced_detector_samples(sizes.traced, seeds[0], device, workers=sizes.workers),
                traced_refiner_samples(sizes.traced, seeds[1], device, workers=sizes.workers),
            )
        from downfield.training.networks.set_samples import detector_samples, refiner_samples

        return (
            detector_samples(sources, seeds[0], crops=sizes.crops, workers=sizes.workers),
            refiner_samples(sources, seeds[1], workers=sizes.workers),
        )


def traced_patches(seed: int, first: int = 0) -> Iterator[PatchSamples]:
    """Return patches of one table after another, traced on the processor for files that are learned from many times.

    Args:
        seed: of all tables.
        first: number of the first table.

    """
    device = torch.device("cpu")
    use_device(device)
    # Few windows of many tables, each through two webcams: tracing takes nearly all of the time.
    recipe = TracedRecipe(TableRecipe(scenes=3, views=1), patch_samples=4, webcams=2)
    return traced_refiner_samples(recipe, seed, device, workers=1, first=first)


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
