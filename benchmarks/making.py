"""Films of the twin, rendered where they are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def render(film: Path, seed: int, look: int, renderer: str, *more: str) -> None:
    """Render a random play in 1080p, with its truth beside it, unless there is such a film."""
    if film.is_file():
        return
    film.parent.mkdir(parents=True, exist_ok=True)
    of = ("--seed", str(seed), "--appearance-seed", str(look), "--renderer", renderer, *more)
    twin("render", "random", *of, "--size", "1920x1080", "-o", str(film.with_suffix("")))


def twin(*words: str) -> None:
    """Run a command of the twin."""
    subprocess.run((sys.executable, "-m", "downfield.rig", "twin", *words), check=True)
