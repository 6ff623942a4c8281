"""Track files, ``*.tracks.jsonl``: a header line, then one line per frame."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from downfield.core.field.model import FieldModel
from downfield.core.json_lines import JsonLinesFile, check_time_rises, write_json_lines
from downfield.core.records import record
from downfield.core.scene import Player, Scene


@record
class TracksHeader:
    """First line of a track file.

    Attributes:
        field: the printed field.
        players: the roster.
        fps: nominal frame rate; the frames carry their own times.
        source: what the tracks were made from.
    """

    field: FieldModel
    players: tuple[Player, ...]
    fps: float
    source: str = ""
    format: Literal["downfield.tracks"] = "downfield.tracks"
    version: Literal[1] = 1


class TrackFile(JsonLinesFile[TracksHeader, Scene]):
    """A track file being read: its header at once, its scenes when iterated over; their times rise strictly.

    Raises:
        InputError: the file can't be read.
        FormatError: its content breaks the format; names the line and the field.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, TracksHeader, Scene, lambda _, before, scene: check_time_rises(before, scene))


def write_tracks(path: Path, header: TracksHeader, scenes: Iterable[Scene]) -> None:
    """Write a track file, whole or not at all. Fields of scenes that have their default value are left out.

    Raises:
        OutputError: the file can't be written.
    """
    write_json_lines(path, (TracksHeader, header), Scene, scenes, defaults=False)
