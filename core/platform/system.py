"""The operating system this program runs on."""

from __future__ import annotations

import sys
from typing import Final, Literal

System = Literal["linux", "macos", "windows", "other"]


def system_of(platform: str) -> System:
    """Return the operating system that Python calls `platform` (`sys.platform`)."""
    names: dict[str, System] = {"linux": "linux", "darwin": "macos", "win32": "windows"}
    return names.get(platform, "other")


SYSTEM: Final[System] = system_of(sys.platform)
"""Of this computer. Other BSDs and the like are "other": cameras by number, nothing that only Linux has."""

CAN_PASS_DESCRIPTORS: Final = SYSTEM != "windows"
"""Whether a process that is started can be given open files and sockets."""
