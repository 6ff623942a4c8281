"""Traces tables into a trainer's folder, one after another, and first of all the pictures that it is measured on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from downfield.models.refiner import PATCH_PX
from downfield.training.data.labeled_frames import labeled_images_of
from downfield.training.data.objects import CROP_PX
from downfield.training.data.sample_files import write_samples
from downfield.training.data.samples import FrameSamples, PatchSamples, frame_samples, joined, patch_samples
from downfield.training.data.set_samples import crops_of, patches_of
from downfield.training.keep.folder import TrainerFolder
from downfield.training.keep.plans import TracingPlan
from downfield.training.traced.development import develop
from downfield.training.traced.tables import WindowPlan, draw_table, plan_crops, plan_patches
from downfield.twin.sets.dataset import make_dataset
from downfield.twin.sets.table_frames import Recipe
from downfield.twin.tracing.tracer import Tracer, Windows

VALIDATION: Final = Recipe(
    split="val", seed=62, renderer="traced", size_px=(1920, 1080), per_table=1, fallers=0.12, samples=8
)
"""Pictures of other tables than those trained on: other prints, lamps, cameras, bases, molds and paints."""

DRAWN_VALIDATION: Final = replace(VALIDATION, renderer="compositor", samples=None)

_DRAWN: Final = 2  # pictures of a table that the compositor draws
_DRAWN_CROPS: Final = 6  # out of each of them


@dataclass(frozen=True, slots=True)
class TableSamples:
    """What is learned from one table."""

    frames: FrameSamples
    patches: PatchSamples | None  # for the refiner; None where no camera shows a figure


def trace_table(plan: TracingPlan, number: int) -> TableSamples:
    """Return crops and patches of one table: a function of plan and number alone."""
    table = draw_table(plan.seed, number, plan.scenes)
    rng = np.random.default_rng([plan.seed, number, 0xC7])
    crops = plan_crops(table, plan.crops, rng, webcams=plan.webcams)
    patches = plan_patches(table, rng, webcams=plan.webcams)
    kinds, points, boxes, shown = _repeated(crops)
    pictures = _trace(crops, CROP_PX, plan.crop_paths, plan.seed + number)
    frames = frame_samples((pictures, kinds.long(), points, boxes, shown))
    if not len(patches.views):
        return TableSamples(frames, None)
    pictures = _trace(patches, PATCH_PX, plan.patch_paths, plan.seed + number)
    return TableSamples(frames, patch_samples((pictures, *_repeated(patches))))


def _trace(plan: WindowPlan, side_px: int, paths: int, seed: int) -> Tensor:
    """Return the pictures of a plan, webcam by webcam, uint8 blue green red, (webcams * windows, side, side, 3)."""
    noise = torch.Generator()
    noise.manual_seed(seed)
    windows = Windows(plan.views, plan.inverses, plan.feet_px, (side_px, side_px))
    views = [(scene, view.camera) for scene, view in enumerate(plan.table.views)]
    light = torch.as_tensor(Tracer(plan.table.texture).windows(plan.table.scenes, views, windows, paths, seed))
    inverses = torch.from_numpy(plan.inverses.astype(np.float32))
    return torch.cat([develop(light, torch.from_numpy(rows), inverses, generator=noise) for rows in plan.sensors])


def _repeated(plan: WindowPlan) -> list[Tensor]:
    """Return the truth of a plan's windows, once for each webcam."""
    parts = (torch.from_numpy(part) for part in plan.truth)
    return [part.repeat(len(plan.sensors), *[1] * (part.ndim - 1)) for part in parts]


def trace_endlessly(
    folder: TrainerFolder, plan: TracingPlan, worker: int, workers: int, stop: Callable[[], bool]
) -> None:
    """Trace tables until told to stop; those of several workers are different ones.

    Args:
        worker: number of this worker, of `workers`; the first one also makes the pictures to measure on.
    """
    account = folder.account(f"tracer-{worker}")
    number = folder.next_table()
    number += (worker - number) % workers
    validated = plan.validation if worker else folder.validation_pictures
    while not stop():
        if validated < plan.validation:  # in turn with tables, so that training begins at once
            validated += 1
            make_dataset(folder.validation["traced"], VALIDATION, validated)
            make_dataset(folder.validation["drawn"], DRAWN_VALIDATION, validated)
        samples = make_table(folder, plan, number)
        if samples.patches is not None:
            write_samples(samples.patches, folder.patches, number)
        write_samples(samples.frames, folder.crops, number)
        folder.shrink(plan.most_bytes)
        account.save(tables=int(account.contents.get("tables", 0)) + 1)
        number += workers


def make_table(folder: TrainerFolder, plan: TracingPlan, number: int) -> TableSamples:
    """Return the samples of a table, traced and with varied pictures beside it, or one in some drawn as usual."""
    every, scratch = plan.drawn_every, folder.path / f"drawn-{number}"
    if every and number % every == every - 1:
        return _drawn_table(scratch, plan, number)
    traced = trace_table(plan, number)
    if not plan.drawn_beside:
        return traced
    recipe = Recipe(
        "train", seed=_seed(plan, number), variety="wide", per_table=1, carriers=0.25, strewn=0.25, fallers=0.12
    )
    rng = np.random.default_rng([plan.seed, number, 0xE7])
    with _pictures(scratch, recipe, plan.drawn_beside) as drawn:
        frames = joined([traced.frames, *(crops_of(path, _DRAWN_CROPS, rng) for path in drawn)])
        parts = [*([] if traced.patches is None else [traced.patches]), patches_of(drawn[0], rng)]
        return TableSamples(frames, joined(parts))


def _drawn_table(scratch: Path, plan: TracingPlan, number: int) -> TableSamples:
    recipe = Recipe("train", seed=_seed(plan, number), per_table=2, carriers=0.25, strewn=0.25, fallers=0.1)
    rng = np.random.default_rng([plan.seed, number, 0xD7])
    with _pictures(scratch, recipe, _DRAWN) as drawn:
        real = [labeled_images_of(each, "train") for each in plan.pictures]
        crops = joined([crops_of(path, _DRAWN_CROPS, rng) for path in drawn])
        one_each = [images[int(rng.integers(len(images)))] for images in real]
        return TableSamples(crops, joined([patches_of(path, rng) for path in (*drawn, *one_each)]))


def _seed(plan: TracingPlan, number: int) -> int:
    return 1000 * plan.seed + number


@contextmanager
def _pictures(scratch: Path, recipe: Recipe, count: int) -> Iterator[list[Path]]:
    """Make pictures of a recipe, which are deleted afterwards."""
    try:
        make_dataset(scratch, recipe, count)
        yield labeled_images_of(scratch, "train")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
