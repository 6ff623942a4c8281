"""How a folder is kept in training: what is traced, how the networks are trained, and by how many processes.

Nothing here needs torch, since the process that only watches over the others should take little memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

CHECKPOINTS: Final = Path(__file__).parents[1] / "checkpoints"
"""Folder of the checkpoints that a new folder begins from."""


@dataclass(frozen=True, slots=True)
class TracingPlan:
    """What is traced. Few windows of many tables, each through two webcams: tracing takes nearly all of the time."""

    most_bytes: float  # of the whole folder; the oldest tables are deleted
    seed: int = 62
    validation: int = 50  # number of pictures of each kind to measure on
    scenes: int = 3  # arrangements of a table, each seen by one camera
    crops: int = 2  # for the detector, of each scene
    crop_paths: int = 8  # crop_paths, patch_paths: traced for a pixel of a crop and of a patch; best a power of two
    patch_paths: int = 4
    webcams: int = 2  # that develop the same light
    # one table in so many is drawn by the compositor, so that its pictures are not forgotten; 0 for none. With every
    # second file of them, wrong fronts on strangers' pictures rose by a third
    drawn_every: int = 6
    # varied pictures that the compositor draws beside each traced table, in a tenth of the time; for the detector
    drawn_beside: int = 6
    # data sets of real tables, as `downfield train contributed` writes them, for the refiner
    pictures: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """How both networks are trained."""

    # detector, refiner: checkpoints to begin from where the folder has none
    detector: Path = CHECKPOINTS / "detector.pt"
    refiner: Path = CHECKPOINTS / "refiner.pt"
    crops: int = 32
    patches: int = 256
    pool_crops: int = 2_000  # pool_crops, pool_patches: most kept in memory, about 0.3 MB and 13 kB each
    pool_patches: int = 40_000
    mixed: int = 16  # number of tables from which a batch is drawn
    turn_s: float = 20.0  # processor seconds of a network's turn
    detector_share: float = 0.75  # of the time; the detector learns 36 windows a second, the refiner 500 patches
    files_per_turn: int = 12  # tables that are read in a turn
    rate: float = 2e-4  # highest learning rate; three times as much made corners worse before anything was better
    cycle_s: float = 5400.0  # processor seconds of a cycle, at whose end the rate is nothing and both are measured
    warm_up: float = 0.02  # share of a cycle until the rate is reached
    save_s: float = 300.0  # most seconds between saves
    pictures: int = 50  # validation pictures of each kind; a cycle whose end comes before them is not measured
    seed: int = 1

    def rate_at(self, done: float) -> float:
        """Return the learning rate when a share of a cycle, 0..1, is done."""
        return self.rate * max(min(done / self.warm_up, (1 - done) / (1 - self.warm_up)), 0.01)


@dataclass(frozen=True, slots=True)
class KeepPlan:
    """How a folder is kept in training."""

    tracing: TracingPlan
    learning: LearningPlan = field(default_factory=LearningPlan)
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)  # to use; half of them trace, the others learn
    is_idle: bool = True  # whether workers run only when no other program wants the processor
