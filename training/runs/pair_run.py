"""One run of training a pair: devices, sizes, samples and checkpoints put together.

`python -m downfield.training.runs.pair_run OUT SECONDS` does it with little but torch and numba.
"""

from __future__ import annotations

import argparse
import dataclasses
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from downfield.core.errors import DownfieldError, InputError
from downfield.training.data.samples import FrameSamples, PatchSamples
from downfield.training.networks.checkpoints import slim_checkpoint
from downfield.training.runs.network_training import DETECTOR, FIGURE_REFINER, REFINER, NetworkTraining, ReplayPool
from downfield.training.runs.turns import RateSchedule, Samples, TimeBudget, TurnPlan, train_networks
from downfield.training.traced.stream import (
    TracedRecipe,
    traced_detector_samples,
    traced_refiner_samples,
    use_device,
)
from downfield.training.traced.tables import TableRecipe

if TYPE_CHECKING:
    from downfield.training.data.labeled_frames import Sources


@dataclass(frozen=True, slots=True)
class RunSizes:
    """Sizes that fit a device.

    Attributes:
        crops: crops in a step of the detector.
        patches: patches in a step of the refiner.
        pool_crops: most crops kept in memory.
        pool_patches: most patches kept in memory.
        workers: processes that prepare samples, for each network.
        turns: how the networks take turns.
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
_FIGURE_REFINER_PACE = 0.25  # relative learning rate: it was trained for long, and should not forget


@dataclass(frozen=True, slots=True)
class PairRun:
    """One run.

    Without data sets it traces tables endlessly. Where the folder to continue from holds `first-refiner.pt`, that
    refiner is trained on the same patches.

    Attributes:
        out: folder of the checkpoints.
        resume: folder of checkpoints to continue from; None to begin anew.
        device: `cpu`, `cuda`, or `auto`.
        seed: of all random draws.
        sizes: None for those of the device.
        clock: monotonic clock, seconds.
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
            sources: data sets to train on; None to trace endlessly.
            rate: learning rate while it is level.
            level: share of the time after which the rate falls, 0..1.
            real: sets of contributed pictures, each with its share of the drawn tables' patches; only the refiner is
                trained on them, since not every object in them is labeled.

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
        trainings: dict[str, tuple[NetworkTraining, Samples]] = {
            "detector": (NetworkTraining(DETECTOR, device, ReplayPool(sizes.pool_crops), sizes.crops), frames),
            "refiner": (NetworkTraining(REFINER, device, ReplayPool(sizes.pool_patches), sizes.patches), patches),
        }
        if self.resume is not None and (self.resume / f"{FIGURE_REFINER.name}.pt").exists():
            kind = dataclasses.replace(FIGURE_REFINER, pace=_FIGURE_REFINER_PACE)
            pool = trainings[REFINER.name][0].pool  # the same patches serve both
            trainings[FIGURE_REFINER.name] = NetworkTraining(kind, device, pool, sizes.patches), patches
        if self.resume is not None:
            for name, (training, _) in trainings.items():
                training.resume(self.resume / f"{name}.pt")
        schedule = RateSchedule(rate, level)
        train_networks(trainings, budget, schedule, sizes.turns, self.out, clock=self.clock, report=report)
        for name in trainings:
            slim_checkpoint(self.out / f"{name}.pt", self.out / f"{name}.slim.pt")
            report(f"written: {self.out / f'{name}.pt'}")

    def _samples(
        self, sources: Sources | None, real: Sources, sizes: RunSizes, device: torch.device
    ) -> tuple[Samples, Samples]:
        """Return the samples of the detector and of the refiner."""
        frames, patches = self._drawn_samples(sources, sizes, device)
        if not real:
            return frames, patches
        from downfield.training.data.set_samples import refiner_samples, with_real_tables

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
        from downfield.training.data.set_samples import detector_samples, refiner_samples

        return (
            detector_samples(sources, seeds[0], crops=sizes.crops, workers=sizes.workers),
            refiner_samples(sources, seeds[1], workers=sizes.workers),
        )


def traced_patches(seed: int, first: int = 0) -> Iterator[PatchSamples]:
    """Return patches of one table after another, traced on the processor for files that are used many times."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit status: 2 after an error that a user can fix."""
    parser = argparse.ArgumentParser(prog="downfield.training.runs.pair_run", description="Train detector and refiner.")
    parser.add_argument("out", type=Path, help="folder of the checkpoints; a run in it is continued")
    parser.add_argument("seconds", type=float, help="time of the run, start-up included")
    parser.add_argument("--resume", type=Path, help="folder of checkpoints to continue from")
    parser.add_argument("--level", type=float, default=1.0, help="share of the time after which the rate falls")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate while it is level")
    parser.add_argument("--seed", type=int, default=1, help="of all random draws; take a new one for every run")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto for cuda where there is one")
    given = parser.parse_args(arguments)
    for stop in (signal.SIGINT, signal.SIGTERM):  # both keep what was learned
        signal.signal(stop, signal.default_int_handler)
    begun = given.out if (given.out / "detector.pt").exists() else None
    run = PairRun(given.out, given.resume or begun, given.device, given.seed)
    try:
        run.execute(None, given.seconds, rate=given.rate, level=given.level, report=_say)
    except DownfieldError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
