"""Named plays, each recorded once for all tests of a run."""

from __future__ import annotations

from functools import cache

from downfield.twin.plays.library import named
from downfield.twin.plays.recording import PlayRecording


@cache
def recorded(name: str) -> PlayRecording:
    """A named play, played."""
    return named(name).record()
