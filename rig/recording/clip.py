"""A recording with its tracks: NAME.mp4 and beside it NAME.tracks.jsonl, NAME.calibration.json, NAME.events.jsonl."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.core.errors import InputError
from downfield.core.track_files import TrackFile
from downfield.officiating.events import Event, read_events


@dataclass(frozen=True, slots=True)
class RecordedClip:
    """A clip, where its camera was, what was on the board and what was declared.

    Attributes:
        clip: the video file.
        calibration: of its camera.
        tracks: its scenes, one a frame.
        events: its declarations, in order; empty where there are none.

    """

    clip: Path
    calibration: Calibration
    tracks: TrackFile
    events: tuple[Event, ...]


def open_clip(clip: Path) -> RecordedClip:
    """Open a clip with what lies beside it.

    Raises:
        InputError: a part is missing or can't be read.
        FormatError: a part breaks its format.

    """
    if not clip.is_file():
        raise InputError(f"{clip}: no such file")
    base = clip.with_suffix("")
    return RecordedClip(
        clip,
        read_calibration(base.with_name(base.name + ".calibration.json")),
        TrackFile(tracks_of(clip)),
        declared(clip),
    )


def tracks_of(clip: Path) -> Path:
    """Where the tracks of a clip are, if it has any."""
    return clip.with_name(clip.stem + ".tracks.jsonl")


def declared(clip: Path) -> tuple[Event, ...]:
    """What was declared while a clip was taken; nothing where no file beside it says so.

    Raises:
        FormatError: the file breaks its format.

    """
    events = clip.with_name(clip.stem + ".events.jsonl")
    return read_events(events)[1] if events.is_file() else ()


def bundled_demo() -> Path:
    """The clip that comes with Downfield."""
    return Path(str(files("downfield.rig") / "demo" / "demo.mp4"))
