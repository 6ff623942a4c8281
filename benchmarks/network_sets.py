"""Test pictures and clips of the network's benchmark, made where they are missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from twin_clips import render_clip, run_twin

SETS = {"compositor": 501, "mujoco": 502}
PICTURES, PER_TABLE = 60, 2
CLIPS = {"compositor": ((92001, 8801), (92002, 8802)), "mujoco": ((92003, 8803), (92004, 8804))}
"""Seeds of play and appearance."""


def picture_sets(data: Path, pictures: int = PICTURES, only: Collection[str] = ()) -> Mapping[str, Path]:
    """Return the folders of the test pictures by renderer; photoreal ones and strangers' only where they exist.

    Args:
        data: folder of the sets.
        pictures: least number of a set that is made here.
        only: names of the wanted sets; empty for all.
    """
    for name, seed in SETS.items():
        if (not only or name in only) and _count(data / name) < pictures:
            print(f"making {pictures} test pictures in {data / name}")
            size = ("--count", str(pictures), "--per-table", str(PER_TABLE))
            run_twin("dataset", str(data / name), "--split", "test", "--renderer", name, "--seed", str(seed), *size)
    found = {name: data / name for name in (*SETS, "photoreal", "strangers") if _count(data / name)}
    if only:
        return {name: folder for name, folder in found.items() if name in only}
    if "photoreal" not in found:
        print(f"{data / 'photoreal'}: no photoreal test pictures. See --help for how to make them.")
    return found


def test_clips(data: Path) -> Mapping[str, Sequence[Path]]:
    """Return the test clips by renderer."""
    out: dict[str, list[Path]] = {}
    for name, seeds in CLIPS.items():
        for seed, appearance in seeds:
            clip = data / "films" / f"{seed}.mp4"
            out.setdefault(name, []).append(clip)
            render_clip(clip, seed, appearance, name)
    return out


def _count(folder: Path) -> int:
    """Count the test pictures that have their truth."""
    return sum(len(file.read_text().splitlines()) for file in (folder / "truth" / "test").glob("*.jsonl"))
