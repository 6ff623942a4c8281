"""How long recordings are kept: the oldest files go first, when there are too many or they are too old."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from downfield.rig.recording.index import index_of

_SITTING: Final = re.compile(r"\d{8}-\d{6}")
_FILE: Final = re.compile(r"\d{4}\.mkv")
_DAY_S: Final = 86_400


def prune(folder: Path, keep_bytes: int, keep_days: float, now_s: float, spare: Collection[Path] = ()) -> list[Path]:
    """Delete what need not be kept. Only files that a recorder named are touched.

    Args:
        folder: of all recordings.
        keep_bytes: at most so much is kept.
        keep_days: nothing older.
        now_s: the time, seconds since 1970.
        spare: files being written.

    Returns:
        The video files deleted.

    """
    oldest_first = sorted(videos(folder), key=lambda path: (path.stat().st_mtime, path))
    total = sum(_bytes_of(path) for path in oldest_first)
    gone = []
    for path in oldest_first:
        too_old = now_s - path.stat().st_mtime > keep_days * _DAY_S
        if path in spare or not (too_old or total > keep_bytes):
            continue
        total -= _bytes_of(path)
        for part in _parts(path):
            part.unlink(missing_ok=True)
        gone.append(path)
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return gone


def videos(folder: Path) -> list[Path]:
    """The video files that a recorder has named in a folder of recordings; none where there is no such folder."""
    if not folder.is_dir():
        return []
    sittings = [path for path in folder.iterdir() if _SITTING.fullmatch(path.name) and path.is_dir()]
    return [path for sitting in sittings for path in sitting.iterdir() if _FILE.fullmatch(path.name)]


def _parts(video: Path) -> list[Path]:
    return [video, index_of(video), video.with_suffix(".calibration.json")]


def _bytes_of(video: Path) -> int:
    return sum(part.stat().st_size for part in _parts(video) if part.exists())
