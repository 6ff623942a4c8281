"""Frames of a small camera, in the camera's own packets or raw, and recordings of them."""

from __future__ import annotations

import time
from pathlib import Path

from loopback_streams import jpeg, picture
from waiting import wait_until

from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.source import CapturedFrame, SourceFacts, VideoPacket

MJPEG = SourceFacts("camera", "Table Cam", (160, 90), 50.0, live=True, codec="mjpeg")
RAW = SourceFacts("camera", "Table Cam", (160, 90), 50.0, live=True)
BEGAN_NS = 1_795_000_000_123_456_789


def captured_frame(index: int, *, raw: bool = False) -> CapturedFrame:
    """Return a frame, with uneven times to the nanosecond and a gap in the indices at 10."""
    t_ns = BEGAN_NS + index * 20_000_000 + index * index % 977
    index += 5 if index >= 10 else 0
    if raw:
        return CapturedFrame(index, t_ns, time.monotonic_ns(), image=picture(index))
    return CapturedFrame(index, t_ns, time.monotonic_ns(), VideoPacket("mjpeg", jpeg(index)))


def record(
    folder: Path, frames: list[CapturedFrame], facts: SourceFacts = MJPEG, segment_s: float = 60.0
) -> list[Path]:
    """Record frames to the last one; return the videos in order."""
    recorder = Recorder(folder, RecordingSettings(segment_s=segment_s), lambda: facts, ActiveProblems())
    recorder.record(True)
    for frame in frames:
        recorder.frame_captured(frame)
        wait_until(lambda: len(recorder._waiting) <= 10, "frames are written")
    recorder.close()
    return sorted(folder.rglob("*.mkv"))
