"""Trains both networks on one device within a given time; resumable over any number of short runs.

The networks take turns by the clock. In a turn new samples go into a pool for a part of the time, then the network
learns from the pool for the rest: on a GPU it learns faster than samples are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from downfield.training.networks.course import Course
from downfield.training.networks.samples import FrameSamples, PatchSamples
from downfield.training.networks.time_budget import RateSchedule, TimeBudget

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


def train_courses(
    courses: Mapping[str, tuple[Course, Samples]],
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
        courses: networks in training by name, each with its samples.
        budget: the time of the run.
        schedule: of the learning rate.
        plan: of turns.
        out: folder of the checkpoints.
        clock: seconds that only ever rise, the budget's.
        report: told how it goes.

    """
    spent = dict.fromkeys(courses, 0.0)
    shares = {name: plan.detector if name == "detector" else 1 - plan.detector for name in courses}
    saved_s = clock()
    try:
        while not budget.is_up:
            name = min(spent, key=lambda each: spent[each] / max(shares[each], 1e-6))
            begun_s = clock()
            course, samples = courses[name]
            _take_samples(course, samples, begun_s + plan.sampling * plan.seconds, budget, clock)
            losses = _learn(course, budget, schedule, clock() + (1 - plan.sampling) * plan.seconds, clock)
            spent[name] += max(clock() - begun_s, 1e-6)
            report(_line(course, budget, losses))
            if clock() - saved_s >= plan.check_s:
                saved_s = clock()
                _save(courses, out)
    finally:  # interrupted, what was learned is kept
        _save(courses, out)


def _take_samples(
    course: Course, samples: Samples, until_s: float, budget: TimeBudget, clock: Callable[[], float]
) -> None:
    """Take in at least one batch."""
    device = next(course.average.parameters()).device
    while True:
        batch = next(samples)
        course.pool.add(tuple(part.to(device, non_blocking=True) for part in batch))
        if clock() >= until_s or budget.is_up:
            return


def _learn(
    course: Course, budget: TimeBudget, schedule: RateSchedule, until_s: float, clock: Callable[[], float]
) -> dict[str, float]:
    """Take at least one step; return the mean of the losses' parts."""
    parts: list[dict[str, torch.Tensor]] = []
    while True:
        losses = course.learn(schedule.at(budget.over, course.own_steps))
        if course.own_steps % _REPORT_STEPS == 1:
            parts.append(losses)
        if clock() >= until_s or budget.is_up:
            break
    parts = parts or [losses]
    return {name: float(torch.stack([each[name].float() for each in parts]).mean()) for name in losses}


def _save(courses: Mapping[str, tuple[Course, Samples]], out: Path) -> None:
    for course, _ in courses.values():
        course.save(out)


def _line(course: Course, budget: TimeBudget, losses: Mapping[str, float]) -> str:
    parts = "  ".join(f"{name} {value:.3f}" for name, value in losses.items())
    return f"{100 * budget.over:3.0f} %  {course.kind.name}: step {course.steps}, {course.pool.added} samples  {parts}"
