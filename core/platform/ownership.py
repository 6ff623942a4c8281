"""Whose a file or folder is, and who may write to it.

On Windows folders of a user are that user's by access lists, which Python does not show: nothing is checked there.
"""

from __future__ import annotations

import os
import stat
from typing import Final

from downfield.core.platform.system import SYSTEM

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags of `os.open`: no symbolic link is followed, and programs that are started do not have the file."""


def is_own(found: os.stat_result) -> bool:
    """Return whether something belongs to this user."""
    return SYSTEM == "windows" or found.st_uid == os.geteuid()


def others_may_write(found: os.stat_result) -> bool:
    """Return whether other users may write to something."""
    return SYSTEM != "windows" and bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
