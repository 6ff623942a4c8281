"""From what somebody names as the source to the source."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

import av

from downfield.core.errors import DownfieldError, InputError, MissingExtraError
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.sources.http_mjpeg import HttpMjpeg
from downfield.rig.sources.images import ImageFolder
from downfield.rig.sources.network_video import SCHEMES, NetworkVideo
from downfield.rig.sources.opencv_camera import OpenCvCamera
from downfield.rig.sources.reconnecting import ReconnectingSource
from downfield.rig.sources.sound import Microphone, SourceWithMicrophone
from downfield.rig.sources.source import FrameSource
from downfield.rig.sources.usb_camera import CameraRequest, UsbCamera, find_camera
from downfield.rig.sources.video_file import VideoFile

TWIN: Final = "twin:"

_OPENER: Final = "downfield.twin.film.live:open_play"
"""Opens a play of the twin, when the extra is installed; nothing of the rig needs it."""

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """What a source is opened with.

    Attributes:
        text: a camera's number, device file or a part of its name; an address; a video file; a folder of pictures; or
            ``twin:PLAY``.
        wanted: what is asked of a camera.
        paced: files at their own pace; else as fast as they go.
        microphone: that listens beside a live source; empty for none.

    """

    text: str
    wanted: CameraRequest = field(default_factory=CameraRequest)
    paced: bool = True
    microphone: str = ""


def open_source(choice: SourceChoice, clock: CaptureClock, troubles: ActiveProblems) -> FrameSource:
    """Open a source; live ones with the watch over them.

    Raises:
        InputError: there is nothing of that name.
        SourceError: it can't be opened, or the microphone can't.
        MissingExtraError: the twin is asked for and not installed.

    """
    path = Path(choice.text)
    if path.is_file():
        return VideoFile(path, paced=choice.paced)
    if path.is_dir():
        return ImageFolder(path, fps=choice.wanted.fps, paced=choice.paced)
    if choice.text.startswith(TWIN):
        return _twin(choice)
    source = ReconnectingSource(_live(choice, clock), troubles)
    if not choice.microphone:
        return source
    try:
        return SourceWithMicrophone(source, Microphone(choice.microphone, troubles))
    except DownfieldError:
        source.close()
        raise


def _live(choice: SourceChoice, clock: CaptureClock) -> Callable[[], FrameSource]:
    """What opens a live source, again and again."""
    text = choice.text
    address = _ADDRESS.match(text)
    if address is not None:
        scheme = address.group(1).lower()
        if scheme in {"http", "https"}:
            return lambda: HttpMjpeg(text, clock)
        if scheme in SCHEMES:
            return lambda: NetworkVideo(text, clock)
        raise InputError(f"'{text}': {scheme}:// is not known; there are: http, https, {', '.join(SCHEMES)}")
    if Path(text).suffix.lower() in {".mp4", ".mkv", ".avi", ".mov", ".webm"}:
        raise InputError(f"{text}: no such file")
    if sys.platform == "linux" and any("v4l2" in name for name in av.formats_available):
        camera = find_camera(text)
        return lambda: UsbCamera(camera, choice.wanted, clock)
    if not text.isdigit():
        raise InputError(f"'{text}': on this system a camera goes by its number: 0 for the first")
    return lambda: OpenCvCamera(int(text), choice.wanted, clock)


def _twin(choice: SourceChoice) -> FrameSource:
    module, _, name = _OPENER.partition(":")
    play, wanted = choice.text.removeprefix(TWIN), choice.wanted
    try:
        opener = getattr(import_module(module), name)
        source: FrameSource = opener(play, size_px=wanted.size_px, fps=wanted.fps, paced=choice.paced)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mujoco", "downfield"}:
            raise
        raise MissingExtraError("twin", "the twin as a source") from None
    return source
