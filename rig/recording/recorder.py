"""The recorder: beside the loop, never in its way, and the first to give up when the disk is full."""

from __future__ import annotations

import dataclasses
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.core.errors import DownfieldError, OutputError, RefusedError
from downfield.game.published.board_topics import HealthReason, RecordingStatus
from downfield.rig.configuration.settings import RecordingSettings
from downfield.rig.live.handoff import BoundedQueue
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.recording.index import RecordingIndexHeader
from downfield.rig.recording.packets import H264Encoder, can_copy
from downfield.rig.recording.retention import prune
from downfield.rig.recording.segment import OpenFile, RecordingSegment, open_new
from downfield.rig.sources.source import CapturedFrame, SourceFacts, VideoPacket
from downfield.vision.thread_priority import lower_priority

GB: Final = 1_000_000_000
DISK_LOW, DISK_FULL, FAILED, BEHIND = "disk_low", "disk_full", "recording_failed", "recording_behind"

_PACKED_WAITING: Final = 240
"""Four seconds of packets, about 60 MB: what a disk may take to wake up."""

_RAW_WAITING: Final = 24
"""Pictures that are still to be packed are twenty times as large."""

_LOOK_S: Final = 1.0  # between two looks at the room on the disk
_FOLDER_NAME: Final = "%Y%m%d-%H%M%S"


class Recorder(LoopObserver):
    """Records what is captured.

    Args:
        folder: where recordings go.
        table: how they are cut and kept.
        facts: of the source.
        troubles: told when it can't go on.
        calibration: in use, kept beside every file; None for none.
        open_file: opens files.
        free_bytes: the room there is on a folder's disk.

    """

    def __init__(
        self,
        folder: Path,
        table: RecordingSettings,
        facts: Callable[[], SourceFacts],
        troubles: ActiveProblems,
        *,
        calibration: Callable[[], Calibration | None] = lambda: None,
        open_file: OpenFile = open_new,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._folder, self._table, self._facts, self._troubles = folder, table, facts, troubles
        self._calibration, self._open_file, self._free_bytes = calibration, open_file, free_bytes
        self._on = False
        self._sitting: Path | None = None
        self._segment: RecordingSegment | None = None
        self._files = 0
        self._recorded_s = 0.0
        self._packer: H264Encoder | None = None
        self._looked_at = 0.0
        self._free_gb: float | None = None
        self._waiting: BoundedQueue[CapturedFrame] = BoundedQueue(_PACKED_WAITING if facts().codec else _RAW_WAITING)
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def record(self, on: bool) -> str:
        """Begin or end recording.

        Raises:
            RefusedError: there is no room.

        """
        if on and not self._on:
            if self._room() < self._table.stop_below_gb:
                raise RefusedError(f"only {self._free_gb:.1f} GB are left on the disk: make room first")
            for code in (DISK_FULL, FAILED, BEHIND):
                self._troubles.clear(code)
        self._on = on
        return "recording" if on else "recording ended"

    def now(self) -> RecordingStatus:
        """How the recording is."""
        segment = self._segment
        seconds = self._recorded_s + (segment.seconds if segment is not None else 0.0)
        name = f"{segment.path.parent.name}/{segment.path.name}" if segment is not None else ""
        free_gb = None if self._free_gb is None else round(self._free_gb, 1)
        return RecordingStatus(on=self._on, file=name, seconds=round(seconds, 1), free_gb=free_gb)

    def shot(self, shot: CapturedFrame) -> None:
        """Keep a picture for writing; with too many waiting the oldest is lost, and told."""
        if not self._on:
            return
        if can_copy(shot.packed):
            shot = dataclasses.replace(shot, image=None)
        if not self._waiting.offer(shot):
            text = f"The recording has lost {self._waiting.dropped} pictures: the disk or the packing is too slow"
            remedy = "Record to a faster disk, or use a camera that sends MJPEG"
            self._troubles.add(HealthReason(code=BEHIND, level="warning", text=text, remedy=remedy))

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.close()
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        while not self._waiting.ended:
            shot = self._waiting.take(_LOOK_S)
            try:
                if shot is not None and self._on:
                    self._write(shot)
                self._look_at_the_disk()
            except OutputError as error:
                self._give_up(FAILED if self._room() >= self._table.stop_below_gb else DISK_FULL, str(error))
            except DownfieldError as error:  # one broken picture: the next may be well
                self._troubles.note("warning", f"Not recorded: {error}.")
            if not self._on:
                self._end_segment()
        self._end_segment()

    def _write(self, shot: CapturedFrame) -> None:
        due = self._segment is None or self._segment.seconds >= self._table.segment_s
        packed = shot.packed if can_copy(shot.packed) else self._packed(shot, key=due)
        if packed is None:
            return
        if due and packed.key:
            self._end_segment()
            self._segment = self._new_segment(packed, copied=packed is shot.packed)
        if self._segment is not None:
            self._segment.add(shot, packed)

    def _packed(self, shot: CapturedFrame, *, key: bool) -> VideoPacket | None:
        if self._packer is None:
            self._packer = H264Encoder(self._facts().size_px, self._facts().fps)
        return self._packer.pack(shot, key=key)

    def _new_segment(self, first: VideoPacket, *, copied: bool) -> RecordingSegment:
        if self._sitting is None:
            self._sitting = self._folder / time.strftime(_FOLDER_NAME)
            self._files = 0
        keep = (round(self._table.keep_gb * GB), self._table.keep_days)
        for gone in prune(self._folder, *keep, time.time()):
            self._troubles.note("info", f"Deleted the oldest recording, {gone.parent.name}/{gone.name}.")
        self._files += 1
        path = self._sitting / f"{self._files:04d}.mkv"
        facts, calibration = self._facts(), self._calibration()
        header = RecordingIndexHeader(facts.name, first.codec, facts.size_px, facts.fps, copied)
        segment = RecordingSegment(path, first, header, self._open_file)
        if calibration is not None:
            write_calibration(path.with_suffix(".calibration.json"), calibration)
        return segment

    def _end_segment(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            self._recorded_s += segment.seconds
            segment.close()

    def _look_at_the_disk(self) -> None:
        if time.monotonic() - self._looked_at < _LOOK_S:
            return
        self._looked_at = time.monotonic()
        free_gb = self._room()
        if free_gb < self._table.stop_below_gb:
            if self._on:
                self._give_up(DISK_FULL, f"only {free_gb:.1f} GB are left")
        elif free_gb < self._table.warn_below_gb:
            text = f"Only {free_gb:.0f} GB are left on the disk"
            remedy = f"Make room: recording stops at {self._table.stop_below_gb:g} GB"
            self._troubles.add(HealthReason(code=DISK_LOW, level="warning", text=text, remedy=remedy))
        else:
            self._troubles.clear(DISK_LOW)

    def _give_up(self, code: str, why: str) -> None:
        self._on = False
        self._end_segment()
        remedy = "Calls go on. Make room on the disk, then start the recording again"
        self._troubles.add(HealthReason(code=code, level="alarm", text=f"Recording has stopped: {why}", remedy=remedy))

    def _room(self) -> float:
        """GB left where recordings go."""
        folder = self._folder
        while not folder.is_dir() and folder != folder.parent:
            folder = folder.parent
        self._free_gb = self._free_bytes(folder) / GB
        return self._free_gb
