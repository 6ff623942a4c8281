"""Small data sets of the twin, each drawn once for all processes of a run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from once_a_run import once_a_run

from downfield.core.arrays import Image
from downfield.training.evaluation.scoring import pictures_of
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.dataset import make_dataset
from downfield.twin.sets.labels import Sample
from downfield.twin.sets.table_frames import Recipe


def make_pair(out: Path, split: Split, seed: int) -> None:
    """Put two whole pictures of one table into a folder, with their labels, as `make_dataset` does."""
    for name, content in once_a_run(f"set-{split}-{seed}", lambda: _files_of_pair(split, seed)).items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def pair(folder: Path) -> list[tuple[Sample, Image]]:
    """Return two pictures of a table nobody trained on, with their truth; they go through a folder."""
    make_pair(folder, "val", 4)
    return list(pictures_of(folder, "val"))


def _files_of_pair(split: Split, seed: int) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_dataset(folder, Recipe(split=split, seed=seed, per_table=2), 2)
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
