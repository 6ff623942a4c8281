"""Samples in files: read as they were written, while others write and delete them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from downfield.core.errors import InputError  # noqa: E402
from downfield.training.data.sample_files import read_endlessly, read_samples_file, write_samples  # noqa: E402
from downfield.training.data.samples import PatchSamples  # noqa: E402

POINTS = torch.tensor([[49.0, 22], [49, 42], [15, 42], [15, 22], [36, 30]])


def some_patches(shade: int, count: int = 32) -> PatchSamples:
    """Patches with a base whose brighter half is its front."""
    ones, flip = torch.ones(count), (torch.arange(count) % 2).float()
    image = torch.full((count, 64, 64, 3), shade, dtype=torch.uint8)
    for number in range(count):
        image[number, 22:43, 15:32] = 240 if flip[number] else 40
        image[number, 22:43, 32:50] = 40 if flip[number] else 240
    points = POINTS.repeat(count, 1, 1)
    return PatchSamples(image, points, torch.full((count, 5), 2.0), flip, 0 * ones, ones, torch.zeros(count, 3))


def written(folder: Path, *shades: int, first: int = 0) -> Path:
    for number, shade in enumerate(shades, first):
        write_samples(some_patches(shade), folder, number)
    return folder


def test_patches_come_back_from_files_as_they_were(tmp_path: Path) -> None:
    written(tmp_path, 70)
    for kept, was in zip(read_samples_file(tmp_path / "0000000.npz", PatchSamples), some_patches(70), strict=True):
        torch.testing.assert_close(kept, was)


def shades_of(folder: Path, count: int) -> list[int | None]:
    blocks = read_endlessly(folder, PatchSamples, 1)
    return [None if block is None else int(block.image[0, 0, 0, 0]) for block in (next(blocks) for _ in range(count))]


def test_all_files_are_read_every_time(tmp_path: Path) -> None:
    written(tmp_path, 10, 11, 12)
    assert sorted(shade or 0 for shade in shades_of(tmp_path, 6)) == [10, 10, 11, 11, 12, 12]


def test_files_that_appear_while_others_learn_are_read_as_well(tmp_path: Path) -> None:
    blocks = read_endlessly(tmp_path, PatchSamples, 1)
    assert next(blocks) is None, "nothing is there yet"
    written(tmp_path, 10)
    first = next(blocks)
    assert first is not None
    written(tmp_path, 30, first=1)
    assert {int(block.image[0, 0, 0, 0]) for block in (next(blocks), next(blocks)) if block is not None} == {10, 30}


def test_files_that_are_deleted_while_others_learn_are_left_out(tmp_path: Path) -> None:
    written(tmp_path, 10, 20, 30)
    blocks = read_endlessly(tmp_path, PatchSamples, 1)
    first = next(blocks)
    assert first is not None
    for path in tmp_path.iterdir():
        path.unlink()
    assert next(blocks) is None


def test_a_file_that_the_disk_has_spoiled_is_deleted_and_the_others_are_read(tmp_path: Path) -> None:
    written(tmp_path, 10, 20)
    (tmp_path / "0000001.npz").write_bytes((tmp_path / "0000000.npz").read_bytes()[:1000])
    assert shades_of(tmp_path, 3) == [10, 10, 10]
    assert not (tmp_path / "0000001.npz").exists()


def test_a_file_that_is_cut_off_or_holds_something_else_is_named(tmp_path: Path) -> None:
    whole = (written(tmp_path, 10) / "0000000.npz").read_bytes()
    for contents in (whole[: len(whole) // 2], b"", b"no patches"):
        (tmp_path / "0000000.npz").write_bytes(contents)
        with pytest.raises(InputError, match=r"0000000\.npz: holds no samples"):
            read_samples_file(tmp_path / "0000000.npz", PatchSamples)
    np.savez(tmp_path / "other.npz", image=np.zeros(3))
    with pytest.raises(InputError, match=r"other\.npz: holds no samples"):
        read_samples_file(tmp_path / "other.npz", PatchSamples)
