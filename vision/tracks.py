"""Track files, ``*.tracks.jsonl``: a header line, then one line per frame."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from downfield.calibration.errors import FormatError
from downfield.calibration.field import FieldModel
from downfield.calibration.records import from_json, read_lines, record, to_json, write_text
from downfield.vision.scene import Player, Scene


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


class Tracks:
    """A track file being read: its header at once, its scenes as they are iterated over.

    Raises:
        InputError: the file can't be read.
        FormatError: its content breaks the format; names the line and the field.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        first = next(read_lines(path), None)
        if first is None:
            raise FormatError(str(path), "empty: a track file begins with a header line")
        self.header = from_json(TracksHeader, first[1], path=str(path), line=first[0])

    def __iter__(self) -> Iterator[Scene]:
        """The scenes in order; their times rise strictly."""
        before_ns: int | None = None
        for number, line in itertools.islice(read_lines(self._path), 1, None):
            scene = from_json(Scene, line, path=str(self._path), line=number)
            if before_ns is not None and scene.t_ns <= before_ns:
                problem = f"time does not rise: {scene.t_ns} after {before_ns}"
                raise FormatError(str(self._path), problem, line=number, field="t_ns")
            before_ns = scene.t_ns
            yield scene


def write_tracks(path: Path, header: TracksHeader, scenes: Iterable[Scene]) -> None:
    """Write a track file, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    first = to_json(TracksHeader, header)
    write_text(path, (line + "\n" for line in itertools.chain([first], (to_json(Scene, scene) for scene in scenes))))
