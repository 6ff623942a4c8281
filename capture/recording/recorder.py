"""The recorder: runs beside the loop without delaying it, makes room on the disk, and stops when there is none."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.capture.jpeg import decode_jpeg
from downfield.capture.problems import ActiveProblems, sentences
from downfield.capture.recording.keeping import Needed, RecordingKeeper
from downfield.capture.recording.recording_library import (
    RecordingIndexHeader,
    calibration_path,
    create_recording,
    segment_name,
)
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import (
    H264Encoder,
    NoRoomError,
    OpenFile,
    RecordingSegment,
    can_copy,
    create_file,
)
from downfield.capture.source import CapturedFrame, LoopObserver, SourceFacts, VideoPacket
from downfield.core.errors import DownfieldError, OutputError, RefusedError, SourceError
from downfield.core.platform.processes import lower_priority
from downfield.core.platform.system import free_bytes
from downfield.core.threads import BoundedQueue, supervised_thread
from downfield.game.published.board_topics import HealthReason, RecordingStatus

DISK_LOW, DISK_FULL = "disk_low", "disk_full"
RECORDING_FAILED, RECORDING_BEHIND = "recording_failed", "recording_behind"

_FOLDER_NAME: Final = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class RecorderLimits:
    """Sizes and times of the recorder."""

    # Packets that wait to be written: four seconds, about 60 MB, the time a disk may take to wake up
    waiting_packets: int = 240
    waiting_images: int = 24  # Raw pictures that wait to be encoded; they are twenty times as large
    disk_check_s: float = 1.0  # Time between two checks of the free disk space
    # After a full disk, recording goes on with this much of the space at which it stopped, not at the first byte
    resume_room: float = 1.25
    # Pause after the disk has refused to write: where a quota is the limit, free space tells nothing
    refused_s: float = 10.0
    # A rig that runs for days begins another recording daily, so that old ones can be deleted
    recording_s: float = 86_400.0


RECORDER_LIMITS: Final = RecorderLimits()


_WaitingFrame = tuple[CapturedFrame, SourceFacts]
"""A frame to be written, with the facts of the source that sent it: a camera may come back with another size."""


class Recorder(LoopObserver):
    """Records captured frames.

    Args:
        calibration: the calibration in use, kept beside every file; None for none.
        finished: called with every file once it is finished.
    """

    def __init__(
        self,
        folder: Path,
        settings: RecordingSettings,
        facts: Callable[[], SourceFacts],
        problems: ActiveProblems,
        *,
        calibration: Callable[[], Calibration | None] = lambda: None,
        finished: Callable[[Path], None] = lambda _: None,
        open_file: OpenFile = create_file,
        free_bytes: Callable[[Path], int] = free_bytes,
        needed: Needed = lambda _: False,
    ) -> None:
        self._folder, self._settings, self._facts, self._problems = folder, settings, facts, problems
        self._calibration, self._open_file = calibration, open_file
        self._keeper = RecordingKeeper(folder, settings, needed=needed, free=free_bytes)
        self._finished = finished
        self._on = False
        self._is_full, self._refused_s = False, -math.inf
        self._recording_folder: Path | None = None
        self._segment: RecordingSegment | None = None
        self._segment_calibration: Calibration | None = None
        self._recording_since_s = 0.0
        self._files = 0
        self._finished_s = 0.0
        self._segment_format = _format_of(facts())
        self._encoder: H264Encoder | None = None
        self._encoder_size_px = facts().size_px
        self._disk_checked_at = 0.0
        self._free_gb: float | None = None
        capacity = RECORDER_LIMITS.waiting_packets if facts().codec else RECORDER_LIMITS.waiting_images
        self._waiting: BoundedQueue[_WaitingFrame] = BoundedQueue(capacity)
        failed = partial(self._give_up, RECORDING_FAILED)  # a thread that ended would leave "recording" in the status
        self._thread = supervised_thread(self._run, "recorder", failed, restarts=True)
        self._thread.start()

    def record(self, on: bool) -> str:
        """Start or stop recording; return what was done as a phrase. Raises RefusedError: the disk is full."""
        if on and not self._on:
            if self._update_free_gb() < self._settings.stop_below_gb:
                raise RefusedError(f"{self._left_text()}; make room first")
            for code in (DISK_FULL, RECORDING_FAILED, RECORDING_BEHIND):
                self._problems.resolve(code)
        self._on, self._is_full = on, False
        return "recording" if on else "recording ended"

    def record_when_possible(self) -> None:
        """Start recording; on a full disk, as soon as there is room."""
        try:
            self.record(True)
        except RefusedError:
            self._give_up(DISK_FULL, self._left_text())

    def status(self) -> RecordingStatus:
        """Return the state of the recording."""
        segment = self._segment
        seconds = self._finished_s + (segment.seconds if segment is not None else 0.0)
        name = segment_name(segment.path) if segment is not None else ""
        free_gb = None if self._free_gb is None else round(self._free_gb, 1)
        is_on = self._on and self._thread.is_alive()
        return RecordingStatus(on=is_on, file=name, seconds=round(seconds, 1), free_gb=free_gb)

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Keep a frame for writing; when too many wait, the oldest is dropped, and that is reported."""
        if not self._on:
            return
        if can_copy(frame.packet):
            frame = dataclasses.replace(frame, image=None)
        if not self._waiting.put_or_drop((frame, self._facts())):
            text = f"The recording has dropped {self._waiting.dropped} frames: the disk or the encoder is too slow"
            remedy = "Record to a faster disk, or use a camera that sends MJPEG"
            self._problems.report(HealthReason(code=RECORDING_BEHIND, level="warning", text=text, remedy=remedy))

    def close(self) -> None:
        """Write the waiting frames, and finish."""
        self._waiting.close()
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        while not self._waiting.finished:
            self._step(self._waiting.get(RECORDER_LIMITS.disk_check_s))
        self._finish_segment()

    def _step(self, waiting: _WaitingFrame | None) -> None:
        try:
            if waiting is not None and self._on:
                self._write(*waiting)
            self._check_disk()
        except NoRoomError as error:  # a quota leaves free space that is for others
            self._refused_s = time.monotonic()
            self._give_up(DISK_FULL, str(error))
        except (OutputError, OSError) as error:
            has_room = self._update_free_gb() >= self._settings.stop_below_gb
            self._give_up(RECORDING_FAILED if has_room else DISK_FULL, str(error))
        except DownfieldError as error:  # one damaged picture: the next may be intact
            self._problems.notify("warning", sentences(f"Not recorded: {error}"))
        if not self._on:
            self._finish_segment()

    def _write(self, frame: CapturedFrame, facts: SourceFacts) -> None:
        segment = self._segment
        due = segment is None or segment.seconds >= self._settings.segment_s or self._is_changed(facts)
        packet = frame.packet if can_copy(frame.packet) else self._encode(frame, facts, key=due)
        if packet is None:
            return
        if due and packet.is_keyframe:
            if packet.codec == "mjpeg" and decode_jpeg(packet.data) is None:  # a file's beginning describes it
                raise SourceError(f"frame {frame.index}: the picture is damaged")
            self._finish_segment()
            self._segment = self._create_segment(packet, facts, copied=packet is frame.packet)
        if self._segment is not None:
            self._segment.add(frame, packet)

    def _is_changed(self, facts: SourceFacts) -> bool:
        """Return whether the file being written has another calibration beside it, or pictures of another kind."""
        return self._calibration() is not self._segment_calibration or _format_of(facts) != self._segment_format

    def _encode(self, frame: CapturedFrame, facts: SourceFacts, *, key: bool) -> VideoPacket | None:
        size_px = facts.size_px
        if self._encoder is None or self._encoder_size_px != size_px:
            self._encoder, self._encoder_size_px = H264Encoder(size_px, facts.fps), size_px
        return self._encoder.encode(frame, key=key)

    def _create_segment(self, first: VideoPacket, facts: SourceFacts, *, copied: bool) -> RecordingSegment:
        now_s = time.monotonic()
        if self._recording_folder is None or now_s - self._recording_since_s > RECORDER_LIMITS.recording_s:
            self._recording_folder = create_recording(self._folder, time.strftime(_FOLDER_NAME))
            self._recording_since_s = now_s
            self._files = 0
        self._files += 1
        path = self._recording_folder / f"{self._files:04d}.mkv"
        calibration = self._calibration()
        self._segment_calibration, self._segment_format = calibration, _format_of(facts)
        header = RecordingIndexHeader(facts.name, first.codec, facts.size_px, facts.fps, copied)
        segment = RecordingSegment(path, first, header, self._open_file)
        if calibration is not None:
            write_calibration(calibration_path(path), calibration)
        return segment

    def _finish_segment(self) -> None:
        segment, self._segment = self._segment, None
        if segment is not None:
            self._finished_s += segment.seconds
            try:
                segment.close()
            except (OutputError, OSError) as error:
                self._problems.notify("warning", sentences(f"{segment.path} may lack its end: {error}"))
            if segment.path.exists():
                self._finished(segment.path)
            else:
                text = f"{segment.path} was deleted while it was written. The recording goes on in the next file."
                self._problems.notify("warning", text)

    def _check_disk(self) -> None:
        if time.monotonic() - self._disk_checked_at < RECORDER_LIMITS.disk_check_s:
            return
        self._disk_checked_at = time.monotonic()
        if self._segment is not None and not self._segment.path.exists():
            self._finish_segment()
        was_refused = time.monotonic() - self._refused_s < RECORDER_LIMITS.refused_s
        if self._on or self._is_full:
            for deleted in self._keeper.make_room(self._recording_folder, is_full=self._is_full and was_refused):
                self._problems.notify("info", f"Deleted the oldest recording, {segment_name(deleted)}.")
        free_gb = self._update_free_gb()
        if free_gb < self._settings.stop_below_gb:
            if self._on:
                self._give_up(DISK_FULL, self._left_text())
        elif free_gb < self._settings.warn_below_gb:
            text = f"Only {free_gb:.0f} GB are left on the disk"
            remedy = f"Free some disk space. Recording stops at {self._settings.stop_below_gb:g} GB"
            self._problems.report(HealthReason(code=DISK_LOW, level="warning", text=text, remedy=remedy))
        else:
            self._problems.resolve(DISK_LOW)
        has_room = free_gb >= self._settings.stop_below_gb * RECORDER_LIMITS.resume_room
        if self._is_full and has_room and not was_refused:
            self.record(True)
            self._problems.notify("info", "There is room on the disk again: the recording goes on.")

    def _give_up(self, code: str, cause: str) -> None:
        self._on, self._is_full = False, code == DISK_FULL
        self._finish_segment()
        remedy = "Calls continue. Start the recording again"
        if code == DISK_FULL:
            remedy = (
                "Calls continue. Free some disk space: what is left of the recordings may be needed for calls of games."
                " The recording then goes on by itself"
            )
        self._problems.report(HealthReason(code=code, level="alarm", text=f"Recording stopped: {cause}", remedy=remedy))

    def _left_text(self) -> str:
        if not self._free_gb:
            return "the disk has no space left, or no inodes for another file"
        return f"only {self._free_gb:.1f} GB are left on the disk"

    def _update_free_gb(self) -> float:
        """Return the free space on the disk of the recordings, GB."""
        self._free_gb = free_gb = self._keeper.free_gb()
        return free_gb


def _format_of(facts: SourceFacts) -> tuple[tuple[int, int], str]:
    return facts.size_px, facts.codec
