"""The recorded files: their indexes, what lies beside them, and finding the frames of a span of time.

A recording is a folder with a number and its start in its name, with files ``0001.mkv``, ``0002.mkv``, ..., each with
an index ``*.frames.jsonl`` beside it: a header line, then one line per frame, in the order of the video. The numbers
give the order of recordings and files. The computer's clock may have been anything when they were made.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from downfield.capture.footage import FootageFrame
from downfield.core.errors import FormatError, InputError
from downfield.core.files.input_files import read_lines
from downfield.core.files.private_files import OWNER_ONLY_FOLDER, make_private_folder
from downfield.core.json_lines import JsonLinesFile
from downfield.core.records import from_json, record

_FOLDER: Final = re.compile(r"(\d{6})-\d{8}-\d{6}")
"""A number that counts recordings, and when the recording began by a clock that may have been wrong."""

_FILE: Final = re.compile(r"\d{4}\.mkv")
_TAIL_BYTES: Final = 4096  # Room for many lines of an index
_TICK_NS: Final = 1_000_000  # Times in a Matroska file are rounded to this; the exact times are in the index


@record
class RecordingIndexHeader:
    """First line of an index."""

    source: str  # name of the source
    codec: str  # codec of the video file
    size_px: tuple[int, int]  # width and height of the frames
    fps: float | None = None  # nominal frame rate; None if the source reported none
    copied: bool = True  # whether the packets are the camera's own, not encoded again
    format: Literal["downfield.frames"] = "downfield.frames"
    version: Literal[1] = 1


@record
class RecordedFrame:
    """One recorded frame."""

    frame: int  # its index in the source; a gap means lost frames
    t_ns: int  # capture time


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A recorded file and the time it covers."""

    video: Path
    # first_ns, last_ns: capture times of its first and last frames
    first_ns: int
    last_ns: int


def index_path(video: Path) -> Path:
    """Return the path of a video file's index, which need not exist."""
    return video.with_name(video.stem + ".frames.jsonl")


def segment_name(video: Path) -> str:
    """Return the name of a recorded file among all: its folder's and its own."""
    return f"{video.parent.name}/{video.name}"


def calibration_path(video: Path) -> Path:
    """Return the path of a recorded file's calibration, which need not exist."""
    return video.with_suffix(".calibration.json")


def statement_path(video: Path) -> Path:
    """Return where the statement about a recorded file is, if it was encoded again."""
    return video.with_suffix(".again.json")


def files_of(video: Path) -> list[Path]:
    """Return a recorded file with what lies beside it: its index, its calibration, and what it was encoded from."""
    beside = (index_path(video), calibration_path(video), statement_path(video))
    return [path for path in (video, *beside) if path.is_file()]


def read_index(path: Path) -> JsonLinesFile[RecordingIndexHeader, RecordedFrame]:
    """Return an index, which is read when iterated over; a last line that a crash cut off is left out.

    Raises:
        InputError: it can't be read.
        FormatError: it is malformed; names the line and the field.
    """
    return JsonLinesFile(path, RecordingIndexHeader, RecordedFrame)


def recorded_span(video: Path) -> RecordedSpan | None:
    """Return the time that a recorded file covers; None where it has no frame yet, or was deleted."""
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
    except (OSError, FormatError, IndexError):
        return None
    return RecordedSpan(video, first_ns, last_ns)


def find_frames(folder: Path, from_ns: int, to_ns: int) -> tuple[FootageFrame, ...]:
    """Return every frame of a span of the capture clock, in order, from the latest run of the rig that recorded any."""
    found: list[FootageFrame] = []
    searched: Path | None = None
    for video in sorted(recorded_videos(folder), key=recording_order, reverse=True):
        if found and video.parent != found[0].video.parent:
            break
        span = None if video.parent == searched else recorded_span(video)
        if span is None:
            continue
        if span.first_ns <= to_ns:
            found[:0] = _frames_between(video, from_ns, to_ns)
        if span.first_ns <= from_ns:
            searched = video.parent  # a file ends before the next of its recording begins
    return tuple(found)


def last_recorded_ns(folder: Path) -> int:
    """Return the latest capture time in a folder of recordings, as far as the indexes tell; 0 without one."""
    last_of_each = {video.parent: video for video in sorted(recorded_videos(folder), key=recording_order)}
    return max((span.last_ns for video in last_of_each.values() if (span := recorded_span(video))), default=0)


def frames_of(video: Path) -> Iterator[FootageFrame]:
    """Yield every frame of a recorded file, in order. Raises InputError: its index can't be read."""
    frames = tuple(read_index(index_path(video)))
    ticks = (_rounded_ticks(frame.t_ns - frames[0].t_ns) * _TICK_NS for frame in frames)
    yield from located(video, [(frame.frame, frame.t_ns, at_ns) for frame, at_ns in zip(frames, ticks, strict=True)])


def located(video: Path, frames: Sequence[tuple[int, int, int]]) -> Iterator[FootageFrame]:
    """Yield where frames of a video file are in it, in order.

    Args:
        frames: index, capture time and time in the file, ns; all that have one time in the file must be among them.
    """
    together = Counter(at_ns for _, _, at_ns in frames)
    before: Counter[int] = Counter()
    for index, t_ns, at_ns in frames:
        yield FootageFrame(index, t_ns, video, at_ns, before[at_ns], together[at_ns] == 1)
        before[at_ns] += 1


def create_recording(folder: Path, label: str) -> Path:
    """Make and return the folder of a new recording, for its owner only, with a number after all others.

    The label is its start, ``YYYYMMDD-HHMMSS``. Raises OSError: it can't be made.
    """
    make_private_folder(folder)
    numbers = [int(number) for path in folder.iterdir() for number in _numbers(path)]
    while True:
        numbers.append(max(numbers, default=0) + 1)
        made = folder / f"{numbers[-1]:06d}-{label}"
        with suppress(FileExistsError):
            made.mkdir(mode=OWNER_ONLY_FOLDER)
            return made


def recording_order(video: Path) -> tuple[int, str, str]:
    """Return a key that sorts recorded files in the order they were made."""
    number = next(iter(_numbers(video.parent)), "0")
    return int(number), video.parent.name, video.name


def recorded_videos(folder: Path) -> list[Path]:
    """Return the video files that a recorder has named in a folder of recordings; empty if there is no such folder."""
    videos: list[Path] = []
    with suppress(OSError):
        for recording in folder.iterdir():
            if _FOLDER.fullmatch(recording.name) and recording.is_dir():
                with suppress(OSError):
                    videos += [path for path in recording.iterdir() if _FILE.fullmatch(path.name)]
    return videos


def _numbers(recording: Path) -> list[str]:
    """Return the number in a recording's name; none where it is not a recording's."""
    named = _FOLDER.fullmatch(recording.name)
    return [] if named is None else [named.group(1)]


def _frames_between(video: Path, from_ns: int, to_ns: int) -> list[FootageFrame]:
    """Return the frames of a span; of an index, whose times rise, no other lines are parsed."""
    path = index_path(video)
    try:
        texts = [(number, text) for number, text in read_lines(path) if text.endswith("\n")][1:]

        def parsed(place: int) -> RecordedFrame:
            return from_json(RecordedFrame, texts[place][1], path=str(path), line=texts[place][0])

        places = range(len(texts))
        low = bisect_left(places, from_ns - _TICK_NS, key=lambda place: parsed(place).t_ns)
        high = bisect_right(places, to_ns + _TICK_NS, key=lambda place: parsed(place).t_ns)
        # With a tick on either side: all that have one time in the file are among them.
        near = [parsed(place) for place in places[low:high]]
        began_ns = parsed(0).t_ns if near else 0
    except InputError:  # deleted since it was listed
        return []
    placed = [(frame.frame, frame.t_ns, _rounded_ticks(frame.t_ns - began_ns) * _TICK_NS) for frame in near]
    return [frame for frame in located(video, placed) if from_ns <= frame.t_ns <= to_ns]


def _rounded_ticks(duration_ns: int) -> int:
    """Return a duration in ticks, rounded as the muxer rounds: half a tick up."""
    return (2 * duration_ns + _TICK_NS) // (2 * _TICK_NS)
