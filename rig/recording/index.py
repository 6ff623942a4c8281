"""The index of a recorded file, ``*.frames.jsonl``: a header line, then one line per picture with its capture time.

The n-th line is about the n-th picture of the video file beside it. What a crash cut off is left out on reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from downfield.core.errors import FormatError
from downfield.core.records import from_json, read_lines, record


@record
class RecordingIndexHeader:
    """First line of an index.

    Attributes:
        source: what the pictures are of.
        codec: of the video file.
        size_px: width and height of the pictures.
        fps: nominal frame rate; None where the source told none.
        copied: whether the packets are the camera's own, not packed anew.

    """

    source: str
    codec: str
    size_px: tuple[int, int]
    fps: float | None = None
    copied: bool = True
    format: Literal["downfield.frames"] = "downfield.frames"
    version: Literal[1] = 1


@record
class RecordedFrame:
    """One picture.

    Attributes:
        frame: its index in the source; a gap is pictures that were lost.
        t_ns: capture time.

    """

    frame: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class RecordingIndex:
    """An index that was read.

    Attributes:
        header: its first line.
        frames: the others.

    """

    header: RecordingIndexHeader
    frames: tuple[RecordedFrame, ...]


def index_of(video: Path) -> Path:
    """Where the index of a video file is, if it has one."""
    return video.with_name(video.stem + ".frames.jsonl")


def read_index(path: Path) -> RecordingIndex:
    """Read an index. A last line that was cut off is left out.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the line and the field.

    """
    lines = list(_whole_lines(path))
    if not lines:
        raise FormatError(str(path), "empty: the file begins with a header line")
    header = from_json(RecordingIndexHeader, lines[0][1], path=str(path), line=lines[0][0])
    return RecordingIndex(
        header, tuple(from_json(RecordedFrame, text, path=str(path), line=number) for number, text in lines[1:])
    )


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    return ((number, text) for number, text in read_lines(path) if text.endswith("\n"))
