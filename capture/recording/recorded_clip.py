"""A clip with the files beside it: NAME.mp4, NAME.tracks.jsonl, NAME.calibration.json and NAME.events.jsonl."""

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
    """A clip with its calibration, its scenes and its declarations.

    Attributes:
        path: the video file.
        calibration: calibration of its camera.
        tracks: its scenes, one per frame.
        events: the declarations, in order; empty if there are none.

    """

    path: Path
    calibration: Calibration
    tracks: TrackFile
    events: tuple[Event, ...]


def open_clip(path: Path) -> RecordedClip:
    """Open a clip with the files beside it.

    Raises:
        InputError: a file is missing or can't be read.
        FormatError: a file is malformed.

    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    calibration = read_calibration(path.with_name(path.stem + ".calibration.json"))
    return RecordedClip(path, calibration, TrackFile(tracks_path(path)), read_declarations(path))


def tracks_path(clip: Path) -> Path:
    """Return the path of a clip's tracks, which need not exist."""
    return clip.with_name(clip.stem + ".tracks.jsonl")


def read_declarations(clip: Path) -> tuple[Event, ...]:
    """Return the declarations of a clip; empty if there is no file of them beside it.

    Raises:
        FormatError: the file is malformed.

    """
    events = clip.with_name(clip.stem + ".events.jsonl")
    return read_events(events)[1] if events.is_file() else ()


def bundled_demo() -> Path:
    """Return the path of the clip that comes with Downfield."""
    return Path(str(files("downfield.capture") / "demo" / "demo.mp4"))
