"""The order in which files were written, kept in their dates though the computer's clock may be put back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_STEP_NS: Final = 1_000_000
"""Between two files that the clock does not order."""


def date_last(path: Path, others: Iterable[Path]) -> None:
    """Date a file that was just written after others, if its date says that it is older than any.

    Args:
        path: the file.
        others: written before; it may be among them, and some may be gone.

    Raises:
        OSError: it is gone, or can't be dated.

    """
    latest_ns = max((_dated_ns(other) for other in others if other != path), default=0)
    if path.stat().st_mtime_ns <= latest_ns:
        os.utime(path, ns=(latest_ns + _STEP_NS, latest_ns + _STEP_NS))


def by_date(files: Iterable[Path]) -> list[Path]:
    """Return files, the one written last at the end."""
    return sorted(files, key=_dated_ns)


def _dated_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
