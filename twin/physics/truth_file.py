"""Truth files, ``*.truth.jsonl``: the exact content of a rendered clip; a header line, then one line per frame.

Scenes are in the track file beside it, frame by frame the same. This file adds what scenes lack: the camera of every
frame, where base tops are in the picture and how much of them is visible, and the exact instants of contacts and falls.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from downfield.calibration.camera import Camera
from downfield.core.field.model import FieldModel
from downfield.core.frame import Pixel
from downfield.core.json_lines import JsonLinesFile, check_time_rises, write_json_lines
from downfield.core.records import record
from downfield.core.scene import Player

Condition = Literal["touched", "parted", "fell", "rose", "touched_ball"]


@record
class TruthEvent:
    """An event of the simulation."""

    # `"touched"` and `"parted"` of two bases, `"fell"` and `"rose"` of a figure, `"touched_ball"` of a figure and the
    # ball on the board
    type: Condition
    t_ns: int  # the instant, interpolated between two steps of the physics
    player: str  # roster id
    other: str | None = None  # the other of two that touched or parted, in order of their ids


@record
class FigureTruth:
    """One figure in a picture."""

    id: str  # roster id
    tilt_deg: float  # 0 upright, 90 lying
    corners_visible: tuple[bool, bool, bool, bool]  # whether each corner of the base's top is in the picture and seen
    visible: float  # share of the base's top that is seen, 0..1
    # sharp corners of the base's top: front-left, front-right, rear-right, rear-left; pixels. None where they can't be
    # projected.
    top_px: tuple[Pixel, Pixel, Pixel, Pixel] | None = None


@record
class TruthFrame:
    """The exact content of one frame."""

    frame: int  # index in the clip
    t_ns: int  # mid exposure
    camera: Camera  # lens and pose at that instant, shake included
    figures: tuple[FigureTruth, ...]  # all that are on the table, in roster order
    events: tuple[TruthEvent, ...] = ()  # after the frame before and up to this one, in order of time


@record
class TruthHeader:
    """First line of a truth file."""

    field: FieldModel  # the printed field
    players: tuple[Player, ...]  # the roster
    fps: float  # nominal frame rate; the frames carry their own times
    seed: int  # of the clip's noise, shake and flicker
    format: Literal["downfield.truth"] = "downfield.truth"
    version: Literal[2] = 2


class TruthFile(JsonLinesFile[TruthHeader, TruthFrame]):
    """A truth file being read: its header at once, its frames as they are iterated over.

    Their times rise strictly, and every figure is on the roster.

    Raises:
        InputError: the file can't be read.
        FormatError: its content breaks the format; names the line and the field.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, TruthHeader, TruthFrame, _fits)


def _fits(header: TruthHeader, before: TruthFrame | None, frame: TruthFrame) -> None:
    check_time_rises(before, frame)
    roster = {player.id for player in header.players}
    for index, figure in enumerate(frame.figures):
        if figure.id not in roster:
            raise ValueError(f"figures.{index}.id: '{figure.id}' is not on the roster of the header")


def write_truth(path: Path, header: TruthHeader, frames: Iterable[TruthFrame]) -> None:
    """Write a truth file, completely or not at all. Raises OutputError: the place can't be written."""
    write_json_lines(path, (TruthHeader, header), TruthFrame, frames)
