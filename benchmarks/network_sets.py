"""Test pictures and clips of the network's benchmark, made where they are missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from twin_clips import render_clip, run_twin

TWIN, TWIN_SEED = "compositor", 501  # name and seed of the set that is made here
PICTURES, PER_TABLE = 60, 2
CLIPS = ((92001, 8801), (92002, 8802), (92003, 8803), (92004, 8804))
"""Seeds of play and appearance."""


def picture_sets(data: Path, pictures: int = PICTURES, only: Collection[str] = ()) -> Mapping[str, Path]:
    """Return the folders of the test pictures by name; photoreal ones and strangers' only where they exist.

    Args:
        data: folder of the sets.
        pictures: least number of the set that is made here.
        only: names of the wanted sets; empty for all.
    """
    if (not only or TWIN in only) and _count(data / TWIN) < pictures:
        print(f"making {pictures} test pictures in {data / TWIN}")
        size = ("--count", str(pictures), "--per-table", str(PER_TABLE))
        run_twin("dataset", str(data / TWIN), "--split", "test", "--seed", str(TWIN_SEED), *size)
    found = {name: data / name for name in (TWIN, "photoreal", "strangers") if _count(data / name)}
    if only:
        return {name: folder for name, folder in found.items() if name in only}
    if "photoreal" not in found:
        print(f"{data / 'photoreal'}: no photoreal test pictures. See --help for how to make them.")
    return found


def test_clips(data: Path) -> Sequence[Path]:
    """Return the test clips."""
    clips = [data / "films" / f"{seed}.mp4" for seed, _ in CLIPS]
    for clip, (seed, appearance) in zip(clips, CLIPS, strict=True):
        render_clip(clip, seed, appearance)
    return clips


def _count(folder: Path) -> int:
    """Count the test pictures that have their truth."""
    return sum(len(file.read_text().splitlines()) for file in (folder / "truth" / "test").glob("*.jsonl"))
