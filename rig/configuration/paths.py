"""Where the rig keeps what it makes."""

from __future__ import annotations

import os
from pathlib import Path

from downfield.rig.configuration.settings import RigSettings


def data_folder(settings: RigSettings) -> Path:
    """The data folder."""
    if settings.data:
        return Path(settings.data).expanduser()
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path("~/.local/share").expanduser()) / "downfield"


def recordings_folder(settings: RigSettings) -> Path:
    """Where recordings go."""
    chosen = settings.recording.folder
    return Path(chosen).expanduser() if chosen else data_folder(settings) / "recordings"


def store_file(settings: RigSettings) -> Path:
    """The store of live games, where no database is named."""
    return data_folder(settings) / "downfield.db"
