"""Samples in files, to train on many times: a processor traces and cuts them far more slowly than it trains.

A folder holds one file for each table or batch, `.npz` with the arrays of `PatchSamples` or `FrameSamples`. Files
appear whole, so a folder may be trained on while it grows and while old files are deleted.
"""

from __future__ import annotations

import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from downfield.core.errors import InputError

if TYPE_CHECKING:
    from downfield.training.data.samples import FrameSamples, PatchSamples, Samples

SUFFIX: Final = ".npz"
PART: Final = ".part"  # suffix of a file that is being written; one whose program was killed stays behind


def write_samples(batch: FrameSamples | PatchSamples, folder: Path, number: int) -> Path:
    """Write a batch that is on the processor into a file, whole or not at all; return its path.

    Args:
        folder: made where there is none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{number:07d}-{os.getpid()}{PART}"
    arrays: dict[str, Any] = {name: values.numpy() for name, values in zip(batch._fields, batch, strict=True)}
    with part.open("wb") as file:
        np.savez(file, **arrays)
    path = folder / f"{number:07d}{SUFFIX}"
    part.replace(path)
    return path


def sample_files(folder: Path) -> list[Path]:
    """Return a folder's files, the oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def read_samples_file(path: Path, kind: type[Samples]) -> Samples:
    """Read one file of `PatchSamples` or `FrameSamples`. Raises InputError: it holds none."""
    import torch

    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            return kind(*(torch.from_numpy(kept[name]) for name in kind._fields))
    except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: holds no samples to train on: {error}") from None


def read_endlessly(folder: Path, kind: type[Samples], seed: int) -> Iterator[Samples | None]:
    """Yield a folder's files without end, in a random order every time; None whenever it holds none.

    Files that appear meanwhile are read as well; those that are gone by their turn are left out. A file that holds
    something else, as a failing disk leaves it, is deleted.
    """
    drawn = random.Random(seed)  # noqa: S311 - not for secrets
    while True:
        files = sample_files(folder)
        drawn.shuffle(files)
        if not files:
            yield None
        for path in files:
            try:
                samples = read_samples_file(path, kind)
            except InputError:
                path.unlink(missing_ok=True)
                continue
            yield samples
