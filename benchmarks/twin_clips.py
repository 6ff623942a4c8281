"""Renders clips of the digital twin where they are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def render_clip(clip: Path, seed: int, appearance: int, *more: str) -> None:
    """Render a random play in 1080p, with its truth beside it, unless the clip exists."""
    if clip.is_file():
        return
    clip.parent.mkdir(parents=True, exist_ok=True)
    options = ("--seed", str(seed), "--appearance-seed", str(appearance), *more)
    run_twin("render", "random", *options, "--size", "1920x1080", "-o", str(clip.with_suffix("")))


def run_twin(*arguments: str) -> None:
    """Run a `downfield twin` command."""
    subprocess.run((sys.executable, "-m", "downfield", "twin", *arguments), check=True)
