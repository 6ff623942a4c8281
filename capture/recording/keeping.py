"""What is kept of recordings: the oldest goes when room runs short, but never what a dispute may need.

A recording's age is not told by dates: the computer's clock may have been anything when it was made, and be anything
now. It is counted from when a clock that had been right for a day first saw the recording.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Literal

from downfield.capture.recording.recording_library import files_of, recorded_videos, recording_order
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.core.errors import InputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.system import free_bytes
from downfield.core.records import read_record, record, to_json

GB: Final = 1_000_000_000
_DAY_NS: Final = 86_400 * 1_000_000_000
_AGED_AT_ONCE: Final = 2  # Files deleted for their age at once, while one is written

_AGES: Final = "ages.json"

Needed = Callable[[Path], bool]  # Returns whether a dispute may need a recorded file


def free_gb(folder: Path, free: Callable[[Path], int] = free_bytes) -> float:
    """Return the free space for a folder that need not exist yet; 0 where the disk was pulled out."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        return free(folder) / GB
    except OSError:
        return 0.0


@record
class RecordingAgesFile:
    """What is known of the time, beside the recordings."""

    claimed_ns: int = 0  # what the computer's clock showed at first; it has not gone back behind that since
    held_ns: int = 0  # how long the rig has run since
    confirmed_ns: int = 0  # what it had shown for a day of running; 0 for nothing yet
    # when each recording was first there while the clock was confirmed, by name
    seen: dict[str, int] = field(default_factory=dict)
    format: Literal["downfield.recording-ages"] = "downfield.recording-ages"
    version: Literal[1] = 1


class RecordingAges:
    """Knows which recordings of a folder are old, by what a clock has shown for a day of running, in one run or more.

    Args:
        wall_ns: the computer's clock, ns since 1970; the other can't be set.
    """

    def __init__(
        self,
        folder: Path,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._path, self._wall_ns, self._monotonic_ns = folder / _AGES, wall_ns, monotonic_ns
        self._last_ns = monotonic_ns()
        self._known = RecordingAgesFile()
        with suppress(InputError):  # none yet, or damaged: all are young
            self._known = read_record(RecordingAgesFile, self._path)

    def older_than(self, days: float) -> frozenset[str]:
        """Return the names of the recordings that are older; counts on the time since the last call."""
        wall_ns, now_ns = self._wall_ns(), self._monotonic_ns()
        held_ns, self._last_ns = self._known.held_ns + now_ns - self._last_ns, now_ns
        known = replace(self._known, held_ns=held_ns)
        if wall_ns < known.claimed_ns or known.claimed_ns == 0:
            known = replace(known, claimed_ns=wall_ns, held_ns=0)
        elif held_ns >= _DAY_NS:
            names = {video.parent.name for video in recorded_videos(self._path.parent)}
            seen = {name: known.seen.get(name, wall_ns) for name in sorted(names)}
            known = RecordingAgesFile(wall_ns, 0, known.claimed_ns, seen)
        self._known = known
        with suppress(OSError):  # it is counted from the last time that it could be written
            replace_private_file(self._path, to_json(RecordingAgesFile, known).encode())
        return frozenset(name for name, at_ns in known.seen.items() if at_ns + days * _DAY_NS < known.confirmed_ns)


def prune(
    folder: Path,
    keep_bytes: float,
    *,
    aged: Collection[str] = (),
    short_bytes: float = 0,
    needed: Needed = lambda _: False,
    current: Path | None = None,
) -> list[Path]:
    """Delete recorded files: a few of those that are too old, and the oldest until there is room.

    The oldest are those made first, not those dated first. Only files that a recorder named are touched, never the one
    made last, none that a dispute may need, and for its age none of the recording in progress. What can't be read or
    deleted is passed over.

    Args:
        keep_bytes: what all may have together.
        aged: names of the recordings that are too old.
        short_bytes: how much more room is wanted on the disk.
        current: folder of the recording in progress; None for none.

    Returns:
        The video files deleted.
    """
    oldest_first = sorted(recorded_videos(folder), key=recording_order)
    excess = max(sum(_size_bytes(path) for path in oldest_first) - keep_bytes, short_bytes)
    deleted: list[Path] = []
    aged_left = _AGED_AT_ONCE
    for path in oldest_first[:-1]:
        is_aged = aged_left > 0 and path.parent != current and path.parent.name in aged
        if (not is_aged and excess <= 0) or needed(path):
            continue
        size = _size_bytes(path)
        try:
            for file in files_of(path):
                file.unlink(missing_ok=True)
        except OSError:
            continue
        aged_left -= is_aged
        excess -= size
        deleted.append(path)
        with suppress(OSError):
            if path.parent != current and not any(path.parent.iterdir()):
                path.parent.rmdir()
    return deleted


class RecordingKeeper:
    """Makes room for a recording in the folder of all. Used by one thread at a time."""

    PAUSE_S: Final = 60.0  # After nothing could be deleted, it is tried again

    def __init__(
        self,
        folder: Path,
        settings: RecordingSettings,
        *,
        needed: Needed = lambda _: False,
        free: Callable[[Path], int] = free_bytes,
        ages: RecordingAges | None = None,
    ) -> None:
        self._folder, self._settings, self._needed, self._free = folder, settings, needed, free
        self._ages = ages or RecordingAges(folder)
        self._tried_s, self._in_vain = -math.inf, False

    @property
    def wanted_gb(self) -> float:
        """Free space below which the oldest recordings are deleted: there is still some for minutes then."""
        return max(self._settings.warn_below_gb, self._settings.stop_below_gb * 1.25)

    def free_gb(self) -> float:
        """Return the free space on the disk of the recordings."""
        return free_gb(self._folder, self._free)

    def make_room(self, current: Path | None, *, is_full: bool = False) -> list[Path]:
        """Delete what is too old, and the oldest while room is short; return the video files deleted.

        It is done once a minute, and while room is short until nothing more can be deleted.

        Args:
            current: folder of the recording in progress; None for none.
            is_full: whether the disk has refused to write, whatever it has free: this user may have no more of it.
        """
        short = max(self.wanted_gb - self.free_gb(), float(is_full))
        if time.monotonic() - self._tried_s < self.PAUSE_S and (short <= 0 or self._in_vain):
            return []
        self._tried_s = time.monotonic()
        aged = self._ages.older_than(self._settings.keep_days)
        keep_bytes, short_bytes = self._settings.keep_gb * GB, max(0.0, short) * GB
        deleted = prune(
            self._folder, keep_bytes, aged=aged, short_bytes=short_bytes, needed=self._needed, current=current
        )
        self._in_vain = short > 0 and not deleted
        return deleted


def _size_bytes(video: Path) -> int:
    size = 0
    for file in files_of(video):
        with suppress(OSError):
            size += file.stat().st_size
    return size
