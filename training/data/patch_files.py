"""Patches in files, to train on many times: a processor traces and cuts them far more slowly than it trains.

A folder holds one file for each table or batch, `.npz` with the arrays of `PatchSamples`. Files appear whole, so a
folder may be trained on while it grows.
"""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch

from downfield.core.errors import InputError
from downfield.training.data.samples import PatchSamples

SUFFIX: Final = ".npz"

Progress = Callable[[int], None]


def write_blocks(
    samples: Iterator[PatchSamples], folder: Path, count: int, *, first: int = 0, progress: Progress = lambda _n: None
) -> None:
    """Write batches into files, each whole or not at all.

    Args:
        samples: batches on the processor.
        folder: made where there is none.
        count: number of files to take from `samples`.
        first: number of the first file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        batch = next(samples)
        part = folder / f"{number:06d}.part"
        with part.open("wb") as file:
            np.savez(file, **{name: values.numpy() for name, values in zip(batch._fields, batch, strict=True)})
        part.replace(part.with_suffix(SUFFIX))
        progress(len(batch.image))


def count_blocks(folder: Path) -> int:
    """Return the number of files that a folder holds."""
    return sum(1 for _ in folder.glob(f"*{SUFFIX}"))


def read_block(path: Path) -> PatchSamples:
    """Read one file.

    Raises:
        InputError: it holds no patches.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            return PatchSamples(*(torch.from_numpy(kept[name]) for name in PatchSamples._fields))
    except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: holds no patches to train on: {error}") from None


def read_blocks(folders: Sequence[Path], seed: int) -> Iterator[PatchSamples]:
    """Yield the files of several folders without end, from each folder in turn, in a random order every time.

    Args:
        folders: each gives as many batches, however many files it holds; files that appear meanwhile are read as well.

    Raises:
        InputError: a folder holds no patches.
    """
    drawn = random.Random(seed)  # noqa: S311 - not for secrets
    sources = [_shuffled(folder, drawn) for folder in folders]
    while True:
        for source in sources:
            yield read_block(next(source))


def _shuffled(folder: Path, drawn: random.Random) -> Iterator[Path]:
    """Yield a folder's files without end; those that are gone by their turn are left out."""
    while True:
        files = sorted(folder.glob(f"*{SUFFIX}"))
        if not files:
            raise InputError(f"{folder}: holds no patches. Make some with 'downfield train patches'.")
        drawn.shuffle(files)
        yield from (path for path in files if path.is_file())
