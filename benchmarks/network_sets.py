"""Test pictures and films of the network's benchmark, made where they are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from making import render, twin

SETS = {"compositor": 501, "mujoco": 502}
PICTURES, PER_TABLE = 60, 2
FILMS = {"compositor": ((92001, 8801), (92002, 8802)), "mujoco": ((92003, 8803), (92004, 8804))}
"""Seeds of play and look."""


def picture_sets(data: Path) -> Mapping[str, Path]:
    """Folders of the test pictures, by who drew them; photoreal ones only where they are."""
    for name, seed in SETS.items():
        if _count(data / name) < PICTURES:
            print(f"making {PICTURES} test pictures in {data / name}")
            size = ("--count", str(PICTURES), "--per-table", str(PER_TABLE))
            twin("dataset", str(data / name), "--split", "test", "--renderer", name, "--seed", str(seed), *size)
    found = {name: data / name for name in (*SETS, "photoreal", "strangers") if _count(data / name)}
    if "photoreal" not in found:
        print(f"{data / 'photoreal'}: no photoreal test pictures; how to make them is said with --help")
    return found


def films(data: Path) -> Mapping[str, Sequence[Path]]:
    """The test films, by who drew them."""
    out: dict[str, list[Path]] = {}
    for name, seeds in FILMS.items():
        for seed, look in seeds:
            film = data / "films" / f"{seed}.mp4"
            out.setdefault(name, []).append(film)
            render(film, seed, look, name)
    return out


def _count(folder: Path) -> int:
    """How many test pictures with their truth there are."""
    return sum(len(file.read_text().splitlines()) for file in (folder / "truth" / "test").glob("*.jsonl"))
