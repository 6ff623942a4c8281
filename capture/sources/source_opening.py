"""Opens the source that the user names."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock, FrameSource
from downfield.capture.sources.camera_system import camera_system, find_camera, list_cameras, match_camera
from downfield.capture.sources.cameras import UsbCamera
from downfield.capture.sources.file_sources import ImageFolder, VideoFile
from downfield.capture.sources.reconnecting import ReconnectingSource
from downfield.capture.sources.sound import Microphone, SourceWithMicrophone
from downfield.capture.sources.source_types import SourceChoice, is_recording, kind_on_disk, type_of, unknown_scheme
from downfield.core.errors import DownfieldError, InputError, SourceError
from downfield.core.files.input_files import special_kind

REOPENING_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0)  # Network cameras let go of a viewer within seconds


def open_source(choice: SourceChoice, clock: CaptureClock, problems: ActiveProblems) -> FrameSource:
    """Open a source; a live one reconnects by itself.

    Raises:
        InputError: no source has that name.
        SourceError: it can't be opened, or the microphone can't.
        MissingExtraError: it needs an extra that is not installed.
    """
    kind = kind_on_disk(choice.text)
    if kind == "file":
        return VideoFile(Path(choice.text), paced=choice.paced)
    if kind == "folder":
        return ImageFolder(Path(choice.text), fps=choice.camera.fps, paced=choice.paced)
    named = type_of(choice.text)
    if named is not None and not named.live:
        return named.open(choice, clock)
    if named is not None:
        source = ReconnectingSource(lambda: named.open(choice, clock), problems, named.limits)
    else:
        source = ReconnectingSource(_camera_opener(choice, clock), problems)
    if not choice.microphone:
        return source
    try:
        return SourceWithMicrophone(source, Microphone(choice.microphone, problems))
    except DownfieldError:
        source.close()
        raise


def reopen_source(
    choice: SourceChoice, clock: CaptureClock, problems: ActiveProblems, pauses_s: Sequence[float] = REOPENING_PAUSES_S
) -> FrameSource:
    """Open a source, see `open_source`, that was closed a moment ago; a live one is tried again after each pause.

    A camera that takes one viewer at a time needs a while to notice that the one before has left: it refuses till then.
    """
    for pause_s in () if is_recording(choice.text) else pauses_s:
        try:
            return open_source(choice, clock, problems)
        except SourceError:
            time.sleep(pause_s)
    return open_source(choice, clock, problems)


def _camera_opener(choice: SourceChoice, clock: CaptureClock) -> Callable[[], FrameSource]:
    """Return a function that opens a camera of this computer, each time it is called."""
    text, kind = choice.text, None
    unknown = unknown_scheme(text)
    if unknown is not None and not match_camera(text, list_cameras()):  # a camera's name may have a colon
        raise unknown
    with suppress(OSError, ValueError):  # most names are a camera's, and no file's
        kind = special_kind(Path(text))
    if kind in {"a pipe", "a socket"}:  # a device may be a camera, which the search for one says
        raise InputError(f"{text}: is {kind}. Give a video, a folder of pictures, a camera or a stream's address.")
    if Path(text).suffix.lower() in {".mp4", ".mkv", ".avi", ".mov", ".webm"}:
        raise InputError(f"{text}: no such file")
    system = camera_system()
    if system is None:
        raise InputError(f"'{text}': Downfield can't open cameras on this system. Give a network camera's address.")
    camera = find_camera(text)
    return lambda: UsbCamera(system, camera, choice.camera, clock)
