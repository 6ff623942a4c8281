"""The recorded files of a span of time, found by the first and last lines of their indexes alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.capture.recording.recording_library import RecordedFrame, index_path, recorded_videos, recording_order
from downfield.core.errors import FormatError
from downfield.core.records import from_json

_TAIL_BYTES: Final = 4096
"""Room for many lines of an index."""


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A recorded file and the time it covers.

    Attributes:
        video: the file.
        first_ns, last_ns: capture times of its first and last frames.

    """

    video: Path
    first_ns: int
    last_ns: int


def recorded_between(folder: Path, from_ns: int, to_ns: int) -> list[RecordedSpan]:
    """Return the files with frames of a span of time, in order.

    Args:
        folder: folder of all recordings.
        from_ns: the first instant, on the capture clock.
        to_ns: the last.

    """
    found = [span for span in _spans(folder) if span.first_ns <= to_ns and span.last_ns >= from_ns]
    return sorted(found, key=lambda span: recording_order(span.video))


def files_of(video: Path) -> list[Path]:
    """Return a recorded file with those beside it that exist: its index, and the calibration it was begun with."""
    beside = (video, index_path(video), video.with_suffix(".calibration.json"))
    return [path for path in beside if path.is_file()]


def _spans(folder: Path) -> Iterator[RecordedSpan]:
    for video in recorded_videos(folder):
        index = index_path(video)
        try:
            with index.open("rb") as file:
                file.readline()
                first = file.readline()
                size = file.seek(0, 2)
                file.seek(max(0, size - _TAIL_BYTES))
                lines = [line for line in file.read().splitlines(keepends=True) if line.endswith(b"\n")]
            first_ns = from_json(RecordedFrame, first, path=str(index), line=2).t_ns
            last_ns = from_json(RecordedFrame, lines[-1], path=str(index)).t_ns
        except (OSError, FormatError, IndexError):  # no frame yet, or deleted since it was listed
            continue
        yield RecordedSpan(video, first_ns, last_ns)
