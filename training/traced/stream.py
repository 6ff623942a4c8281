"""Endless training samples of both networks: worker processes make tables, the device traces and develops windows.

On CUDA the tracer must be compiled for it, which is decided when it is first imported: see `use_device`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from downfield.models.refiner import PATCH_PX
from downfield.training.data.objects import CROP_PX
from downfield.training.data.samples import FrameSamples, PatchSamples, frame_samples, patch_samples
from downfield.training.traced.development import develop
from downfield.training.traced.tables import TableRecipe, WindowPlan, draw_table, plan_crops, plan_patches

TARGET_VARIABLE: Final = "DOWNFIELD_TRACER"
"""Environment variable that the tracer reads: `downfield.twin.tracing.kernels.target.VARIABLE`."""

_AHEAD: Final = 3  # tables each process may be ahead


@dataclass(frozen=True, slots=True)
class TracedRecipe:
    """What is traced.

    Attributes:
        tables: what is made of a table.
        crops_per_view: crops for the detector out of each view.
        crop_samples: paths per pixel of crops.
        patch_samples: paths per pixel of patches; powers of two are spread best.
        webcams: how many cameras develop the light of each patch.
    """

    tables: TableRecipe = field(default_factory=TableRecipe)
    crops_per_view: int = 4
    crop_samples: int = 8
    patch_samples: int = 6
    webcams: int = 1


def use_device(device: torch.device) -> None:
    """Have the tracer compiled for a device; call it before the first sample is traced."""
    os.environ[TARGET_VARIABLE] = "cuda" if device.type == "cuda" else "cpu"


def traced_detector_samples(
    recipe: TracedRecipe, seed: int, device: torch.device, *, workers: int
) -> Iterator[FrameSamples]:
    """Return all crops of one table after another, on the device, without end; processes start at once.

    Args:
        workers: processes that make tables; 0 makes them where they are needed.
    """
    plans = _planned(_PlannedTables(recipe, seed, plan_kind="crops"), workers)

    def crops() -> Iterator[FrameSamples]:
        for plan, images in _traced(plans, CROP_PX, recipe.crop_samples, seed, device):
            kinds, points, boxes, shown = _sent(plan, device)
            yield frame_samples((images[0], kinds.long(), points, boxes, shown))

    return crops()


def traced_refiner_samples(
    recipe: TracedRecipe, seed: int, device: torch.device, *, workers: int, first: int = 0
) -> Iterator[PatchSamples]:
    """Return all patches of one table after another, from table `first` on; see `traced_detector_samples`."""
    plans = _planned(_PlannedTables(recipe, seed, plan_kind="patches"), workers, first)

    def patches() -> Iterator[PatchSamples]:
        for plan, images in _traced(plans, PATCH_PX, recipe.patch_samples, seed, device):
            truth = [part.repeat(len(plan.sensors), *[1] * (part.ndim - 1)) for part in _sent(plan, device)]
            yield patch_samples((images.flatten(0, 1), *truth))

    return patches()


class _PlannedTables(Dataset[WindowPlan]):
    """An endless stream: item i is a table with its windows, a function of the seed and i alone."""

    def __init__(self, recipe: TracedRecipe, seed: int, *, plan_kind: str) -> None:
        self._recipe, self._seed, self._kind = recipe, seed, plan_kind

    def __getitem__(self, index: int) -> WindowPlan:
        table = draw_table(self._seed, index, self._recipe.tables)
        rng = np.random.default_rng([self._seed, index, 0xC7])
        if self._kind == "crops":
            return plan_crops(table, self._recipe.crops_per_view, rng)
        return plan_patches(table, rng, webcams=self._recipe.webcams)


def _planned(tables: _PlannedTables, workers: int, first: int = 0) -> Iterator[WindowPlan]:
    """Return plans in order; worker processes start before this one has used a device or threads."""
    loader: DataLoader[Any] = DataLoader(
        tables,
        batch_size=None,
        sampler=range(first, 1 << 40),
        num_workers=workers,
        collate_fn=_as_it_is,
        worker_init_fn=_settle_in,
        prefetch_factor=_AHEAD if workers else None,
    )
    return iter(loader)


def _traced(
    plans: Iterator[WindowPlan], side_px: int, samples: int, seed: int, device: torch.device
) -> Iterator[tuple[WindowPlan, Tensor]]:
    """Yield plans with their pictures, uint8 blue green red, (webcams, windows, side, side, 3), on the device."""
    from downfield.twin.tracing.tracer import Tracer, Windows

    noise = torch.Generator(device)
    noise.manual_seed(seed)
    for number, plan in enumerate(plans):
        if not len(plan.views):
            continue
        windows = Windows(plan.views, plan.inverses, plan.feet_px, (side_px, side_px))
        views = [(view.scene, view.camera) for view in plan.table.views]
        light = Tracer(plan.table.texture).windows(plan.table.scenes, views, windows, samples, seed + number)
        linear = torch.as_tensor(light, device=device)
        inverses = torch.from_numpy(plan.inverses.astype(np.float32)).to(device)
        yield (
            plan,
            torch.stack(
                [develop(linear, torch.from_numpy(rows).to(device), inverses, generator=noise) for rows in plan.sensors]
            ),
        )


def _sent(plan: WindowPlan, device: torch.device) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(part).to(device, non_blocking=True) for part in plan.truth)


def _as_it_is(plan: WindowPlan) -> WindowPlan:
    return plan


def _settle_in(_worker: int) -> None:
    cv2.setNumThreads(1)  # the processes share the cores among themselves
