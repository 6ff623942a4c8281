"""Trains both networks on what a trainer's folder holds, measures them from time to time, and keeps what it knows.

The two take turns by processor time. A batch is mixed from many tables, since a pool in memory holds the last few
hundred. The learning rate goes in cycles (Loshchilov and Hutter, SGDR, ICLR 2017): it falls to nothing within some
hours, both networks are measured, since only then they show what they know, and it begins again. What is used is a
moving average over the last tenth of a cycle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import torch

from downfield.core.errors import InputError
from downfield.training.data.sample_files import read_endlessly
from downfield.training.data.samples import FrameSamples, PatchSamples
from downfield.training.keep.folder import TrainerFolder
from downfield.training.keep.network_training import DETECTOR, REFINER, NetworkKind, NetworkTraining, ReplayPool
from downfield.training.keep.plans import LearningPlan
from downfield.training.keep.rows import progress_of
from downfield.training.keep.validation import measure
from downfield.training.networks.blocks import Losses
from downfield.training.networks.checkpoints import slim_checkpoint

_PAUSE_S: Final = 1.0
_REPORTED: Final = 20  # one step in so many counts in the losses that are shown


class Learner:
    """Both networks in training, in a folder. Raises InputError: the plan names a checkpoint that is none."""

    def __init__(self, folder: TrainerFolder, plan: LearningPlan) -> None:
        self._folder, self._plan = folder, plan
        self._account = folder.account("learner")
        self._trainings = {
            DETECTOR.name: self._resumed(DETECTOR, plan.detector, plan.crops, plan.pool_crops),
            REFINER.name: self._resumed(REFINER, plan.refiner, plan.patches, plan.pool_patches),
        }
        seed = int(time.time()) + plan.seed  # after a resumption others are drawn than before it
        self._samples: dict[str, Iterator[Any]] = {
            DETECTOR.name: read_endlessly(folder.crops, FrameSamples, seed),
            REFINER.name: read_endlessly(folder.patches, PatchSamples, seed),
        }
        self._losses: dict[str, dict[str, float]] = {}
        self._per_s: dict[str, float] = {}
        self._saved_s = time.monotonic()
        self._cycle_from_s = time.process_time() - float(self._account.contents.get("cycle_s", 0.0))

    def _resumed(self, kind: NetworkKind, begin: Path, batch: int, pool: int) -> NetworkTraining:
        training = NetworkTraining(kind, ReplayPool(pool, self._plan.mixed, self._plan.seed), batch)
        kept, best = self._folder.path / f"{kind.name}.pt", self._folder.best / f"{kind.name}.pt"
        try:
            training.resume(kept)
        except InputError:  # there is none yet, or the disk lost it
            training.begin(best if best.is_file() else begin)
        return training

    def run(self, stop: Callable[[], bool]) -> None:
        """Train until told to stop, then save."""
        spent = dict.fromkeys(self._trainings, 0.0)  # processor seconds by each network's share of them
        shares = {DETECTOR.name: self._plan.detector_share, REFINER.name: 1 - self._plan.detector_share}
        try:
            while not stop():
                name = min(spent, key=lambda each: spent[each])
                begun_s = time.process_time()
                if not self._take_samples(name):  # nothing is traced for it yet
                    spent[name] = max(spent.values()) + _PAUSE_S
                    time.sleep(_PAUSE_S)
                    continue
                self._learn(name, begun_s + self._plan.turn_s, stop)
                spent[name] += max(time.process_time() - begun_s, 1e-6) / shares[name]
                self._validate_when_due()
        finally:
            self._save()

    def _take_samples(self, name: str) -> bool:
        """Take some tables into a network's pool; return whether it holds any."""
        pool = self._trainings[name].pool
        for _ in range(self._plan.files_per_turn):
            batch = next(self._samples[name])
            if batch is not None:
                pool.add(tuple(batch))
        return len(pool) > 0

    def _learn(self, name: str, until_s: float, stop: Callable[[], bool]) -> None:
        training, begun_s = self._trainings[name], time.process_time()
        steps, parts = training.steps, list[Losses]()
        while time.process_time() < until_s and not stop():
            losses = training.learn(self._plan.rate_at(min(self._cycle_s() / self._plan.cycle_s, 1.0)))
            if training.steps % _REPORTED == 0 or not parts:
                parts.append(losses)
            if time.monotonic() - self._saved_s > self._plan.save_s:
                self._save()
        if parts:
            spent_s = max(time.process_time() - begun_s, 1e-3)
            self._per_s[name] = round((training.steps - steps) * training.batch / spent_s, 1)
            self._losses[name] = {
                part: round(float(torch.stack([each[part].float() for each in parts]).mean()), 4) for part in parts[0]
            }

    def _save(self) -> None:
        for training in self._trainings.values():
            training.save(self._folder.path)
        steps = {name: training.steps for name, training in self._trainings.items()}
        self._account.save(steps=steps, losses=self._losses, per_s=self._per_s, cycle_s=round(self._cycle_s(), 1))
        self._saved_s = time.monotonic()

    def _cycle_s(self) -> float:
        return time.process_time() - self._cycle_from_s

    def _validate_when_due(self) -> None:
        """Measure what was begun from, once there are pictures, and what was learned, at the end of a cycle."""
        can_measure = self._folder.validation_pictures >= self._plan.pictures
        if can_measure and not self._folder.rows():
            spent_s = self._cycle_s()
            self._measure_begun()
            self._cycle_from_s = time.process_time() - spent_s
        if self._cycle_s() < self._plan.cycle_s:
            return
        if can_measure:
            self._validate()
        for training in self._trainings.values():
            training.begin_cycle()
        self._cycle_from_s = time.process_time()

    def _measure_begun(self) -> None:
        """Make the networks begun from the first row, and the best until others are."""
        begun = []
        for kind, path in ((DETECTOR, self._plan.detector), (REFINER, self._plan.refiner)):
            training = NetworkTraining(kind, ReplayPool(1), 1)
            training.begin(path)
            slim_checkpoint(training.save(self._folder.best), self._folder.best / f"{kind.name}.pt")
            begun.append(training.average)
        row = self._measure(begun[0], begun[1])
        self._folder.add_row({"core_h": 0.0, "at": time.time(), "steps": {}, "progress": 0.0, "best": True, "row": row})

    def _measure(self, detector: torch.nn.Module, refiner: torch.nn.Module) -> dict[str, float]:
        row = dict[str, float]()
        for kind, path in self._folder.validation.items():
            measured = measure(detector, refiner, path, self._plan.pictures)
            row |= {f"{kind}_{name}": value for name, value in measured.items()}
        return row

    def _validate(self) -> None:
        """Add a row, and keep the networks where it is the best."""
        self._save()
        detector, refiner = (self._trainings[kind.name] for kind in (DETECTOR, REFINER))
        row = self._measure(detector.average, refiner.average)
        rows = self._folder.rows()
        progress = progress_of(row, rows[0]["row"])
        best = progress < min(float(each["progress"]) for each in rows)
        if best:
            for kind in (DETECTOR, REFINER):
                slim_checkpoint(self._folder.path / f"{kind.name}.pt", self._folder.best / f"{kind.name}.pt")
        steps = {name: training.steps for name, training in self._trainings.items()}
        self._folder.add_row(
            {
                "core_h": round(self._folder.core_hours(), 3),
                "at": time.time(),
                "traced": self._folder.next_table(),
                "steps": steps,
                "losses": self._losses,
                "progress": round(progress, 4),
                "best": best,
                "row": row,
            }
        )
