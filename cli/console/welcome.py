"""What `downfield` alone says: what it is, and what to do next."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Final

from downfield.rig.configuration.loading import FILE_NAME

_FIRST_STEPS: Final = (
    ("downfield demo", "watch it referee a recorded play; nothing needs to be connected"),
    ("downfield run --source game.mp4", "referee a video of yours, filmed from above"),
    ("downfield doctor --source 0", "check your camera, its light and focus, the disk and this computer"),
    ("downfield run --source 0 --lan", "referee your table; the page it names helps to set it up and pairs your phone"),
    ("downfield --help", "every command"),
)


def version_text() -> str:
    """Return the program's name and version, such as ``downfield 1.2.3``."""
    return f"downfield {version('downfield')}"


def welcome() -> str:
    """Return what a newcomer is told, several lines."""
    width = max(len(command) for command, _ in _FIRST_STEPS)
    steps = "\n".join(f"  {command:<{width}}  {meaning}" for command, meaning in _FIRST_STEPS)
    settings = f"\n\nSettings of {FILE_NAME} in this folder are in effect." if Path(FILE_NAME).is_file() else ""
    return (
        f"Downfield {version('downfield')}, the automatic referee for tabletop electric football.\n"
        "One camera over the board sees where every base is, who touched whom and who fell, and makes the calls.\n\n"
        f"{steps}{settings}"
    )
