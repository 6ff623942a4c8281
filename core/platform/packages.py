"""What installed packages add to Downfield: the entry points of a group, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Final

_OURS: Final = "downfield"  # the distribution whose entries no other one replaces


@cache
def registered(group: str) -> Mapping[str, EntryPoint]:
    """Return what is registered in a group; two distributions may claim one name, and ours comes first."""
    found = sorted(entry_points(group=group), key=lambda entry: (distribution(entry) != _OURS, distribution(entry)))
    # Reversed, so that of one name the first in order is the one that stays.
    return {entry.name: entry for entry in reversed(found)}


def distribution(entry: EntryPoint) -> str:
    """Return the name of the package that registers an entry."""
    return entry.dist.name if entry.dist is not None else "?"


def broken_text(entry: EntryPoint, kind: str, reason: str) -> str:
    """Return what to say of an entry that can't be loaded, such as a "rulebook"."""
    return (
        f"The {kind} {entry.name!r} of the package {distribution(entry)} can't be loaded: {reason}. "
        "Update or uninstall that package."
    )
