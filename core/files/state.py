"""Whether a file is still the one that was read, though it may have grown since."""

from __future__ import annotations

import os
from pathlib import Path


def file_state(path: Path) -> os.stat_result | None:
    """Return the state of a file; None where there is none."""
    try:
        return path.stat()
    except OSError:
        return None


def is_same_file(was: os.stat_result, now: os.stat_result) -> bool:
    """Return whether a file is the one it was, and is as it was or has only grown."""
    if (was.st_dev, was.st_ino) != (now.st_dev, now.st_ino):
        return False
    return now.st_size > was.st_size or (now.st_size, now.st_mtime_ns) == (was.st_size, was.st_mtime_ns)
