"""Where an operating system wants programs to keep what they keep for a user.

The package `platformdirs` knows the same two folders, from this process's own system and environment: it would be one
more package of every rig for these few lines, and the folders of the other systems could not be tested on one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from downfield.core.platform.system import SYSTEM, System


def user_data_folder(name: str, system: System = SYSTEM, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for a program's data of this user; it need not exist."""
    home = Path.home()
    if system == "windows":
        local = environment.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / name
    if system == "macos":
        return home / "Library" / "Application Support" / name
    xdg = environment.get("XDG_DATA_HOME")  # the XDG Base Directory Specification
    return (Path(xdg) if xdg else home / ".local" / "share") / name


def user_cache_folder(name: str, system: System = SYSTEM, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for what a program of this user can make again; it need not exist.

    Args:
        name: of the program; an environment variable ``NAME_CACHE`` with its name names another folder.
    """
    chosen = environment.get(f"{name.upper()}_CACHE")
    if chosen:
        return Path(chosen)
    home = Path.home()
    if system == "windows":
        return user_data_folder(name, system, environment) / "cache"
    if system == "macos":
        return home / "Library" / "Caches" / name
    xdg = environment.get("XDG_CACHE_HOME")  # the XDG Base Directory Specification
    return (Path(xdg) if xdg else home / ".cache") / name


def lasting_temporary_folder(name: str, system: System = SYSTEM) -> Path | None:
    """Return a folder of this user's, likely on another disk, that outlives a restart; it need not exist.

    None on Windows, where temporary folders lie beside the user's data.
    """
    if system == "windows":
        return None
    return Path("/var/tmp") / f"{name}-{os.geteuid()}"  # noqa: S108 - only a folder of this user's own in it is used
