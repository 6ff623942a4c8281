"""Seals recordings: the digests of every finished file are in the journal of the game that was played then.

A file that was altered later, replaced by another, or deleted is found by `compare_recordings`. Files
are sealed by a thread of its own, since a minute of motion JPEG takes a second to read.
"""

from __future__ import annotations

import logging
import os
import queue
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from downfield.capture.recording.recording_library import index_path, recorded_videos
from downfield.core.files.facts import file_digest
from downfield.core.platform.processes import lower_priority
from downfield.core.supervision import only_logged, supervised_thread
from downfield.game.records.table_records import SegmentSealed

CALIBRATION_SUFFIX: Final = ".calibration.json"
_log = logging.getLogger(__name__)


class SegmentSealer:
    """Seals files of a recording as they are finished.

    Args:
        note: puts a seal into the journal of the game in play.
    """

    def __init__(self, note: Callable[[SegmentSealed], None]) -> None:
        self._note = note
        self._finished: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._thread = supervised_thread(self._run, "sealer", only_logged, restarts=True)
        self._thread.start()

    def seal(self, video: Path) -> None:
        """Seal a finished file with what lies beside it, soon; never waits."""
        self._finished.put(video)

    def close(self) -> None:
        """Seal what is finished, and end the thread."""
        self._finished.put(None)
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        while (video := self._finished.get()) is not None:
            try:
                self._note(seal_of(video))
            except OSError as error:
                _log.warning("%s: can't be read to be sealed: %s", video, error.strerror)
            except Exception:  # the next file is sealed all the same
                _log.exception("%s could not be sealed", video)


def seal_of(video: Path) -> SegmentSealed:
    """Return the seal of a recorded file.

    Raises:
        OSError: it can't be read.
    """
    files = {path.name: file_digest(path) for path in _sealed_with(video) if path.is_file()}
    return SegmentSealed(segment_name(video), files)


def _sealed_with(video: Path) -> tuple[Path, ...]:
    """Return a recorded file and what may lie beside it."""
    return video, index_path(video), video.with_suffix(CALIBRATION_SUFFIX)


def segment_name(video: Path) -> str:
    """Return the name of a recorded file among all: its folder's and its own."""
    return f"{video.parent.name}/{video.name}"


def compare_recordings(folder: Path, seals: Iterable[SegmentSealed]) -> Iterator[str]:
    """Yield how recorded files differ from their seals, one sentence for each difference.

    Args:
        seals: of the journals; of several for one file, each counts: a later one does not make an earlier one void.
    """
    seals, owners = list(seals), dict[str, str]()
    for seal in seals:
        owners |= {digest: f"{Path(seal.segment).parent}/{name}" for name, digest in seal.files.items()}
    for seal in seals:
        video = _path_of(folder, seal)
        for path in _sealed_with(video):
            if path.name not in seal.files and os.path.lexists(path):
                yield f"{Path(seal.segment).parent}/{path.name}: was added after the recording was sealed."
        for name, digest in seal.files.items():
            shown = f"{Path(seal.segment).parent}/{name}"
            try:
                found = file_digest(video.with_name(Path(name).name))
            except FileNotFoundError:
                yield f"{shown}: the file is missing. It was deleted, by the rig if the recordings had grown too large."
            except OSError as error:
                yield f"{shown}: can't be read: {error.strerror}"
            else:
                if found != digest:
                    other = owners.get(found)
                    yield f"{shown}: " + (f"{other} is in its place." if other else "the file was altered.")


def has_recordings(folder: Path, seals: Iterable[SegmentSealed]) -> bool:
    """Return whether any of the files that were sealed is in a folder of recordings."""
    return any(os.path.lexists(_path_of(folder, seal)) for seal in seals)


def _path_of(folder: Path, seal: SegmentSealed) -> Path:
    """Return where a sealed file belongs; nothing in a seal leads out of the folder."""
    name = Path(seal.segment)
    return folder / name.parent.name / name.name


def unsealed_recordings(folder: Path, seals: Iterable[SegmentSealed]) -> list[str]:
    """Return the names of recorded files without a seal: of a rig that was killed, or put there by somebody."""
    known = {seal.segment for seal in seals}
    return [name for name in map(segment_name, recorded_videos(folder)) if name not in known]
