"""Opens the source that the user names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

from downfield.capture.devices.camera_request import CameraRequest
from downfield.capture.devices.camera_system import camera_system, find_camera
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock, FrameSource
from downfield.capture.sources.cameras import OpenCvCamera, UsbCamera
from downfield.capture.sources.file_sources import ImageFolder, VideoFile
from downfield.capture.sources.http_mjpeg import HttpMjpeg
from downfield.capture.sources.network_video import SCHEMES, NetworkVideo
from downfield.capture.sources.reconnecting import NETWORK_LIMITS, ReconnectingSource
from downfield.capture.sources.sound import Microphone, SourceWithMicrophone
from downfield.capture.sources.source_names import TWIN_PREFIX, kind_on_disk, scheme_of
from downfield.core.errors import DownfieldError, InputError, MissingExtraError
from downfield.core.files.input_files import special_kind

_TWIN_OPENER: Final = "downfield.twin.film.live:open_play"
"""Function that opens a play of the twin, if that extra is installed; the rig does not depend on it."""


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """The source to open.

    Attributes:
        text: a camera's number, device file or a part of its name; an address; a video file; a folder of pictures; or
            ``twin:PLAY``.
        camera: the settings requested from a camera.
        paced: whether recordings play at their own pace; otherwise as fast as they are processed.
        microphone: name of a microphone beside a live source; empty for none.

    """

    text: str
    camera: CameraRequest = field(default_factory=CameraRequest)
    paced: bool = True
    microphone: str = ""


def open_source(choice: SourceChoice, clock: CaptureClock, problems: ActiveProblems) -> FrameSource:
    """Open a source; a live one reconnects by itself.

    Raises:
        InputError: no source has that name.
        SourceError: it can't be opened, or the microphone can't.
        MissingExtraError: the twin was named and is not installed.

    """
    kind = kind_on_disk(choice.text)
    if kind == "file":
        return VideoFile(Path(choice.text), paced=choice.paced)
    if kind == "folder":
        return ImageFolder(Path(choice.text), fps=choice.camera.fps, paced=choice.paced)
    if choice.text.startswith(TWIN_PREFIX):
        return _open_twin(choice)
    limits = NETWORK_LIMITS if scheme_of(choice.text) in SCHEMES else None
    source = ReconnectingSource(_live_opener(choice, clock), problems, limits)
    if not choice.microphone:
        return source
    try:
        return SourceWithMicrophone(source, Microphone(choice.microphone, problems))
    except DownfieldError:
        source.close()
        raise


def _live_opener(choice: SourceChoice, clock: CaptureClock) -> Callable[[], FrameSource]:
    """Return a function that opens a live source, each time it is called."""
    text, kind = choice.text, None
    scheme = scheme_of(text)
    if scheme is not None:
        if scheme in {"http", "https"}:
            return lambda: HttpMjpeg(text, clock)
        if scheme in SCHEMES:
            return lambda: NetworkVideo(text, clock)
        raise InputError(f"'{text}': {scheme}:// is not supported. Use one of http, https, {', '.join(SCHEMES)}.")
    with suppress(OSError, ValueError):  # most names are a camera's, and no file's
        kind = special_kind(Path(text))
    if kind in {"a pipe", "a socket"}:  # a device may be a camera, which the search for one says
        raise InputError(f"{text}: is {kind}. Give a video, a folder of pictures, a camera or a stream's address.")
    if Path(text).suffix.lower() in {".mp4", ".mkv", ".avi", ".mov", ".webm"}:
        raise InputError(f"{text}: no such file")
    system = camera_system()
    if system is not None:
        camera = find_camera(text)
        return lambda: UsbCamera(system, camera, choice.camera, clock)
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"'{text}': on this system a camera is named by its number. Use 0 for the first.")
    return lambda: OpenCvCamera(int(text), choice.camera, clock)


def _open_twin(choice: SourceChoice) -> FrameSource:
    module, _, name = _TWIN_OPENER.partition(":")
    play, request = choice.text.removeprefix(TWIN_PREFIX), choice.camera
    try:
        opener = getattr(import_module(module), name)
        source: FrameSource = opener(play, size_px=request.size_px, fps=request.fps, paced=choice.paced)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mujoco", "scipy", "downfield"}:
            raise
        raise MissingExtraError("twin", "the twin as a source") from None
    return source
