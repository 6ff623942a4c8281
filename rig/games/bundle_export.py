"""Bundles of a rig's games: what the store has, with the recording, the calibration and the settings, signed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from downfield.broadcast.integrations.documents import WALL_CLOCK_NS
from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.recording.recording_library import (
    files_of,
    index_path,
    recorded_span,
    recorded_videos,
    recording_order,
)
from downfield.core.errors import BusyError, InputError
from downfield.game.records.keeping import GameRow
from downfield.review.bundles.format import BundleFile, BundleSource, bundle_chunks
from downfield.rig.configuration.display import Scrubber, scrubber_of, shown_values
from downfield.rig.configuration.settings import RigSettings, recordings_folder
from downfield.store.database.reader import StoreReader
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey

_MARGIN_NS: Final = 5_000_000_000  # Video is taken this long before the first event and after the last

_NO_VIDEO: Final = "no video: it was left out"


@dataclass(frozen=True, slots=True)
class PlayedClip:
    """A video file that is played in place of a camera."""

    path: Path
    earlier: frozenset[int]  # when the games began that were there before it was opened, and were not played from it


class BundleExporter:
    """Makes bundles of a rig's games. Callable from any thread.

    Args:
        calibration: returns the calibration in use; None where none is known.
        clip: the video that is played; None for a camera's recordings.
    """

    def __init__(
        self,
        store: StoreReader,
        settings: RigSettings,
        key: RigKey,
        calibration: Callable[[], Calibration | None],
        clip: PlayedClip | None = None,
    ) -> None:
        self._store, self._settings, self._key = store, settings, key
        self._calibration, self._clip = calibration, clip
        self._making = threading.Lock()

    def chunks(self, row: GameRow, *, video: bool) -> Generator[bytes, None, None]:
        """Yield the bytes of a game's bundle; one is made at a time, so that the referee keeps a core.

        Raises:
            BusyError: another is being made.
            FormatError: the game's journal can't be read.
        """
        if not self._making.acquire(blocking=False):
            raise BusyError("Another bundle is being made. Try again when it is finished.")
        try:
            yield from bundle_chunks(self.source(row, video=video))
        finally:
            self._making.release()

    def source(self, row: GameRow, *, video: bool) -> BundleSource:
        """Return what a game's bundle is made of."""
        files, notes = self._video(row)
        calibration = _recorded_calibration(files) or self._calibration()
        if not video:
            files, notes = [], [_NO_VIDEO]
        if calibration is None:
            notes.append("no calibration: none was kept with the recording, and none is configured")
        scrubber = scrubber_of(self._settings)
        configuration = _scrubbed(shown_values(self._settings), scrubber)
        return BundleSource(self._store, row, self._key, calibration, configuration, tuple(files), tuple(notes))

    def _video(self, row: GameRow) -> tuple[list[BundleFile], list[str]]:
        if self._clip is not None:
            if row.began_ns in self._clip.earlier:
                return [], ["no video: the game was played before this video was opened"]
            return _clip_files(self._clip.path), []
        history = History(self._store, row)
        times_ns = [event.t_ns for event in history.events]
        times_ns += [t_ns for batch in history.batches for t_ns in (batch.first_ns, batch.last_ns)]
        if not times_ns:
            return [], ["no video: the game has no scenes and no events"]
        from_ns, to_ns = min(times_ns) - _MARGIN_NS, max(times_ns) + _MARGIN_NS
        known = filter(None, map(recorded_span, recorded_videos(recordings_folder(self._settings))))
        spans = [span for span in known if span.first_ns <= to_ns and span.last_ns >= from_ns]
        if not spans and max(times_ns) < WALL_CLOCK_NS:
            return [], ["no video: the game was played from one. Name it with --video"]
        if not spans:
            return [], ["no video: recording was off, or the files were deleted to make room"]
        in_order = sorted((span.video for span in spans), key=recording_order)
        files = [path for video in in_order for path in files_of(video)]
        return [BundleFile(f"recording/{path.parent.name}/{path.name}", path) for path in files], []


def _clip_files(clip: Path) -> list[BundleFile]:
    suffix = clip.suffix.lower() if clip.suffix[1:].isalnum() and clip.suffix.isascii() else ".mp4"
    files = [BundleFile(f"recording/clip{suffix[:6]}", clip)]
    index = index_path(clip)
    return [*files, BundleFile("recording/clip.frames.jsonl", index)] if index.is_file() else files


def _recorded_calibration(files: list[BundleFile]) -> Calibration | None:
    for file in files:
        if file.name.endswith(".calibration.json"):
            try:
                return read_calibration(file.path)
            except InputError:
                continue
    return None


def _scrubbed(value: Any, scrubber: Scrubber) -> Any:
    if isinstance(value, dict):
        return {key: _scrubbed(one, scrubber) for key, one in value.items()}
    if isinstance(value, list):
        return [_scrubbed(one, scrubber) for one in value]
    return scrubber.scrub(value) if isinstance(value, str) else value
