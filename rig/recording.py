"""A recording with its tracks: NAME.mp4 and beside it NAME.tracks.jsonl, NAME.calibration.json, NAME.events.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.errors import InputError
from downfield.officiating.events import Event, read_events
from downfield.vision.scene import Scene
from downfield.vision.tracks import Tracks

Image = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Recording:
    """A clip, where its camera was, what was on the board and what was declared.

    Attributes:
        clip: the video file.
        calibration: of its camera.
        tracks: its scenes, one a frame.
        events: its declarations, in order; empty where there are none.

    """

    clip: Path
    calibration: Calibration
    tracks: Tracks
    events: tuple[Event, ...]

    def frames(self) -> Iterator[tuple[Image, Scene]]:
        """Every picture with its scene; pictures are blue green red, shape (height, width, 3).

        Raises:
            InputError: the clip can't be decoded, or has another number of frames than its tracks.

        """
        try:
            with av.open(str(self.clip)) as container:
                pictures = (frame.to_ndarray(format="bgr24") for frame in container.decode(video=0))
                for image, scene in zip(pictures, self.tracks, strict=True):
                    yield np.asarray(image, dtype=np.uint8), scene
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{self.clip}: its frames and its tracks are not the same number") from None
        except av.FFmpegError as error:
            raise InputError(f"{self.clip}: can't be decoded: {error.strerror}") from None


def open_recording(clip: Path) -> Recording:
    """Open a clip with what lies beside it.

    Raises:
        InputError: a part is missing or can't be read.
        FormatError: a part breaks its format.

    """
    if not clip.is_file():
        raise InputError(f"{clip}: no such file")
    base = clip.with_suffix("")
    events = base.with_name(base.name + ".events.jsonl")
    return Recording(
        clip,
        read_calibration(base.with_name(base.name + ".calibration.json")),
        Tracks(base.with_name(base.name + ".tracks.jsonl")),
        read_events(events)[1] if events.exists() else (),
    )


def bundled_demo() -> Path:
    """The clip that comes with Downfield."""
    return Path(str(files("downfield.rig") / "demo" / "demo.mp4"))
