"""What the name of a source says by itself, before anything is opened."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

TWIN_PREFIX: Final = "twin:"
"""What begins the name of a play of the twin."""

_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


def is_recording(text: str) -> bool:
    """Return whether a source shows what was recorded or simulated: it has an end, and its game is not kept."""
    return not text or text.startswith(TWIN_PREFIX) or kind_on_disk(text) is not None


def is_address(text: str) -> bool:
    """Return whether a source is named by an address, such as ``rtsp://...``."""
    return scheme_of(text) is not None


def scheme_of(text: str) -> str | None:
    """Return the scheme of an address in small letters, such as ``rtsp``; None if a source is not named by one."""
    address = _ADDRESS.match(text)
    return None if address is None else address.group(1).lower()


def kind_on_disk(text: str) -> Literal["file", "folder"] | None:
    """Return what a name is on the disk; None if it is neither, and for one that no file can have."""
    with suppress(OSError, ValueError):
        path = Path(text)
        return "file" if path.is_file() else "folder" if path.is_dir() else None
    return None
