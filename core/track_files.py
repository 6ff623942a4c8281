"""Track files, ``*.tracks.jsonl``, a header line, then one line per frame; and roster files, ``*.roster.json``.

A roster names the players on the board, and where each stands at the line-up. A track file serves as one too, with the
places of its first scene.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.json_lines import JsonLinesFile, check_time_rises, write_json_lines
from downfield.core.records import check, read_record, record
from downfield.core.scene import Player, Scene


@record
class TracksHeader:
    """First line of a track file."""

    field: FieldModel  # the printed field
    players: tuple[Player, ...]  # the roster
    fps: float  # nominal frame rate; the frames carry their own times
    source: str = ""  # what the tracks were made from
    format: Literal["downfield.tracks"] = "downfield.tracks"
    version: Literal[1] = 1


class TrackFile(JsonLinesFile[TracksHeader, Scene]):
    """A track file being read: its header at once, its scenes when iterated over; their times rise strictly.

    Raises:
        InputError: the file can't be read.
        FormatError: its content breaks the format; names the line and the field.
    """

    def __init__(self, path: Path | str) -> None:
        super().__init__(path, TracksHeader, Scene, lambda _, before, scene: check_time_rises(before, scene))


def write_tracks(path: Path, header: TracksHeader, scenes: Iterable[Scene]) -> None:
    """Write a track file, whole or not at all, without default values. Raises OutputError: it can't be written."""
    write_json_lines(path, (TracksHeader, header), Scene, scenes, defaults=False)


@record
class RosterSpot:
    """Where a player stands at the line-up.

    Attributes:
        id: roster id.
        x_yd, y_yd: center of the player's base, field yards.
    """

    id: str
    x_yd: float
    y_yd: float


@record
class Roster:
    """The players of a line-up."""

    players: tuple[Player, ...]  # all of them
    spots: tuple[RosterSpot, ...] = ()  # where they stand; may be empty or name only some of them
    format: Literal["downfield.roster"] = "downfield.roster"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        ids = [player.id for player in self.players]
        check(len(set(ids)) == len(ids), InputError, "players: two players have the same id")
        for spot in self.spots:
            check(spot.id in ids, InputError, f"spots: '{spot.id}' is not one of the players")


def read_roster(path: Path) -> Roster:
    """Read a roster, also of a track file. Raises InputError: unreadable; FormatError: names what is wrong."""
    if path.name.endswith(".jsonl"):
        tracks = TrackFile(path)
        first = next(iter(tracks), None)
        field = tracks.header.field
        figures = () if first is None else first.figures
        spots = tuple(
            RosterSpot(figure.id, figure.x_mm / field.mm_per_yd_x, figure.y_mm / field.mm_per_yd_y)
            for figure in figures
        )
        return Roster(tracks.header.players, spots)
    return read_record(Roster, path)
