"""Traces tables into a trainer's folder, one after another, and first of all the pictures that it is measured on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from downfield.core.errors import DownfieldError
from downfield.training.data.sample_files import write_samples
from downfield.training.data.set_samples import detector_samples, refiner_samples
from downfield.training.keep.folder import TrainerFolder
from downfield.training.keep.plans import TracingPlan
from downfield.training.traced.stream import TableSamples, TracedRecipe, trace_table
from downfield.training.traced.tables import TableRecipe
from downfield.twin.render.renderers import RendererName
from downfield.twin.sets.dataset import Recipe, make_dataset

VALIDATION: Final = Recipe(
    split="val",
    seed=62,
    renderer="traced",
    size_px=(1920, 1080),
    per_table=1,
    carriers=0.06,
    strewn=0.05,
    fallers=0.12,
    samples=8,
)
"""Pictures of other tables than those trained on: other prints, lamps, cameras, bases, molds and paints."""


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
            make_dataset(folder.validation, VALIDATION, validated)
        samples = make_table(folder, plan, number)
        if samples.patches is not None:
            write_samples(samples.patches, folder.patches, number)
        write_samples(samples.frames, folder.crops, number)
        folder.shrink(plan.most_bytes)
        account.save(tables=int(account.contents.get("tables", 0)) + 1)
        number += workers


def make_table(folder: TrainerFolder, plan: TracingPlan, number: int) -> TableSamples:
    """Return the samples of a table: traced, or drawn by another renderer."""
    every = plan.drawn_every
    if every and number % every == every - 1:
        renderer: RendererName = "compositor" if number // every % 2 else "mujoco"
        try:
            return _drawn_table(folder.path / f"drawn-{number}", plan, renderer, number)
        except DownfieldError:  # MuJoCo draws on few servers
            pass
    recipe = TracedRecipe(
        TableRecipe(plan.scenes),
        plan.crops,
        crop_paths=plan.crop_paths,
        patch_paths=plan.patch_paths,
        webcams=plan.webcams,
    )
    return trace_table(recipe, plan.seed, number)


def _drawn_table(scratch: Path, plan: TracingPlan, renderer: RendererName, number: int) -> TableSamples:
    recipe = Recipe(
        "train", seed=1000 * plan.seed + number, renderer=renderer, per_table=2, carriers=0.1, strewn=0.08, fallers=0.1
    )
    try:
        make_dataset(scratch, recipe, 2)
        sources = [(scratch, 1.0)]
        crops = next(detector_samples(sources, number, crops=12, workers=0))
        patches = next(refiner_samples([*sources, *((each, 0.5) for each in plan.pictures)], number, workers=0))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return TableSamples(crops, patches)
