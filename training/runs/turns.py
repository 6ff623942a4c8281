"""Trains several networks on one device within a given time, which GPUs are lent by; resumable over many short runs.

The networks take turns by the clock. In a turn new samples go into a pool for a part of the time, then the network is
trained on the pool for the rest: a GPU trains faster than samples are made. The learning rate rises, stays level and
falls; a run whose rate stays level to the end can be resumed as if it had not been interrupted (the warm-up, stable,
decay schedule of Hu et al., MiniCPM, 2024).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from downfield.training.data.samples import FrameSamples, PatchSamples
from downfield.training.runs.network_training import NetworkTraining


@dataclass(frozen=True, slots=True)
class RateSchedule:
    """The learning rate over a run.

    Attributes:
        rate: while it is level.
        level: share of the time after which it comes down; 1 for never.
        last_share: of the rate at the end.
        warm_up_steps: after so many steps it is level,
        warm_up_share: or after this share of the time, whichever comes first.
    """

    rate: float = 3e-3
    level: float = 0.55
    last_share: float = 0.01
    warm_up_steps: int = 150
    warm_up_share: float = 0.04

    def at(self, over: float, steps: int) -> float:
        """Return the rate when a share of the time is over and so many steps of this run are taken."""
        warm = min(1.0, max((steps + 1) / self.warm_up_steps, over / self.warm_up_share))
        if over <= self.level:
            return self.rate * warm
        descent = (over - self.level) / max(1 - self.level, 1e-6)
        return self.rate * warm * (1 - (1 - self.last_share) * min(descent, 1.0))


class TimeBudget:
    """The time of one run.

    Args:
        reserve_s: of them for the last checkpoints.
    """

    def __init__(self, seconds: float, reserve_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begun = clock, clock()
        self._seconds = max(seconds - reserve_s, 1e-3)

    @property
    def over(self) -> float:
        """The share of it that is over, 0..1."""
        return min((self._clock() - self._begun) / self._seconds, 1.0)

    @property
    def is_up(self) -> bool:
        """Whether all of it is over."""
        return self.over >= 1.0


Samples = Iterator[FrameSamples] | Iterator[PatchSamples]
Report = Callable[[str], None]

_REPORT_STEPS: Final = 4  # losses are read every so many steps: reading waits for the device


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """How turns are spent.

    Attributes:
        seconds: of a turn.
        sampling: share of a turn for taking samples in.
        detector: share of all time for the detector; the rest is the refiner's.
        check_s: seconds between checkpoints.
    """

    seconds: float = 8.0
    sampling: float = 0.5
    detector: float = 0.45
    check_s: float = 60.0


def train_networks(
    trainings: Mapping[str, tuple[NetworkTraining, Samples]],
    budget: TimeBudget,
    schedule: RateSchedule,
    plan: TurnPlan,
    out: Path,
    *,
    clock: Callable[[], float],
    report: Report = lambda _line: None,
) -> None:
    """Train until the time is over, and write checkpoints on the way and at the end.

    Args:
        trainings: networks in training by name, each with its samples.
    """
    spent = dict.fromkeys(trainings, 0.0)
    shares = {name: plan.detector if name == "detector" else 1 - plan.detector for name in trainings}
    saved_s = clock()
    try:
        while not budget.is_up:
            name = min(spent, key=lambda each: spent[each] / max(shares[each], 1e-6))
            begun_s = clock()
            training, samples = trainings[name]
            _take_samples(training, samples, begun_s + plan.sampling * plan.seconds, budget, clock)
            losses = _learn(training, budget, schedule, clock() + (1 - plan.sampling) * plan.seconds, clock)
            spent[name] += max(clock() - begun_s, 1e-6)
            report(_line(training, budget, losses))
            if clock() - saved_s >= plan.check_s:
                saved_s = clock()
                _save(trainings, out)
    finally:  # interrupted, what was learned is kept
        _save(trainings, out)


def _take_samples(
    training: NetworkTraining, samples: Samples, until_s: float, budget: TimeBudget, clock: Callable[[], float]
) -> None:
    """Add at least one batch to the pool."""
    device = next(training.average.parameters()).device
    while True:
        batch = next(samples)
        training.pool.add(tuple(part.to(device, non_blocking=True) for part in batch))
        if clock() >= until_s or budget.is_up:
            return


def _learn(
    training: NetworkTraining, budget: TimeBudget, schedule: RateSchedule, until_s: float, clock: Callable[[], float]
) -> dict[str, float]:
    """Take at least one step; return the mean of the losses' parts."""
    parts: list[dict[str, torch.Tensor]] = []
    while True:
        losses = training.learn(schedule.at(budget.over, training.own_steps))
        if training.own_steps % _REPORT_STEPS == 1:
            parts.append(losses)
        if clock() >= until_s or budget.is_up:
            break
    parts = parts or [losses]
    return {name: float(torch.stack([each[name].float() for each in parts]).mean()) for name in losses}


def _save(trainings: Mapping[str, tuple[NetworkTraining, Samples]], out: Path) -> None:
    for training, _ in trainings.values():
        training.save(out)


def _line(training: NetworkTraining, budget: TimeBudget, losses: Mapping[str, float]) -> str:
    parts = "  ".join(f"{name} {value:.3f}" for name, value in losses.items())
    state = f"{training.kind.name}: step {training.steps}, {training.pool.added} samples"
    return f"{100 * budget.over:3.0f} %  {state}  {parts}"
