"""What comes with Downfield of all that is installed: the reference pages and the tests are about this alone."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from downfield.broadcast.overlays.installed import SUFFIX, Overlay, installed_overlays

_ROOT: Final = Path(__file__).parents[1]


def bundled_overlays() -> dict[str, Overlay]:
    """Return the overlays of this repository by name, sorted by title."""
    folder = _ROOT / "broadcast" / "overlays"
    found = installed_overlays().overlays.items()
    return {name: overlay for name, overlay in found if (folder / f"{name}{SUFFIX}").is_file()}


def bundled_rulebooks() -> tuple[str, ...]:
    """Return the names of the rulebooks that this repository registers, sorted."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(sorted(project["entry-points"]["downfield.rulebooks"]))
