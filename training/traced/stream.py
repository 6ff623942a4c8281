"""Training samples of both networks out of traced tables: windows are planned, traced and developed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from downfield.models.refiner import PATCH_PX
from downfield.training.data.objects import CROP_PX
from downfield.training.data.samples import FrameSamples, PatchSamples, frame_samples, patch_samples
from downfield.training.traced.development import develop
from downfield.training.traced.tables import TableRecipe, WindowPlan, draw_table, plan_crops, plan_patches
from downfield.twin.tracing.tracer import Tracer, Windows


@dataclass(frozen=True, slots=True)
class TracedRecipe:
    """What is traced.

    Attributes:
        tables: what is made of a table.
        crops: for the detector out of each view.
        crop_paths: traced for a pixel of crops.
        patch_paths: the same for patches; powers of two are spread best.
        webcams: how many cameras develop the same light.
    """

    tables: TableRecipe = field(default_factory=TableRecipe)
    crops: int = 2
    crop_paths: int = 8
    patch_paths: int = 4
    webcams: int = 2


@dataclass(frozen=True, slots=True)
class TableSamples:
    """What is learned from one table.

    Attributes:
        patches: for the refiner; None where no camera shows a figure.
    """

    frames: FrameSamples
    patches: PatchSamples | None


def trace_table(recipe: TracedRecipe, seed: int, number: int) -> TableSamples:
    """Return crops and patches of one table: a function of recipe, seed and number alone."""
    table = draw_table(seed, number, recipe.tables)
    rng = np.random.default_rng([seed, number, 0xC7])
    crops = plan_crops(table, recipe.crops, rng, webcams=recipe.webcams)
    patches = plan_patches(table, rng, webcams=recipe.webcams)
    kinds, points, boxes, shown = _repeated(crops)
    pictures = _trace(crops, CROP_PX, recipe.crop_paths, seed + number)
    frames = frame_samples((pictures, kinds.long(), points, boxes, shown))
    if not len(patches.views):
        return TableSamples(frames, None)
    pictures = _trace(patches, PATCH_PX, recipe.patch_paths, seed + number)
    return TableSamples(frames, patch_samples((pictures, *_repeated(patches))))


def _trace(plan: WindowPlan, side_px: int, paths: int, seed: int) -> Tensor:
    """Return the pictures of a plan, webcam by webcam, uint8 blue green red, (webcams * windows, side, side, 3)."""
    noise = torch.Generator()
    noise.manual_seed(seed)
    windows = Windows(plan.views, plan.inverses, plan.feet_px, (side_px, side_px))
    views = [(view.scene, view.camera) for view in plan.table.views]
    light = torch.as_tensor(Tracer(plan.table.texture).windows(plan.table.scenes, views, windows, paths, seed))
    inverses = torch.from_numpy(plan.inverses.astype(np.float32))
    return torch.cat([develop(light, torch.from_numpy(rows), inverses, generator=noise) for rows in plan.sensors])


def _repeated(plan: WindowPlan) -> list[Tensor]:
    """Return the truth of a plan's windows, once for each webcam."""
    parts = (torch.from_numpy(part) for part in plan.truth)
    return [part.repeat(len(plan.sensors), *[1] * (part.ndim - 1)) for part in parts]
