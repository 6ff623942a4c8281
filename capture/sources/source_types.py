"""What the name of a source says, and the types of source that a name's scheme opens: one list, which packages extend.

A type is registered by an entry point of the group ``downfield.sources``: its name is the scheme (``rtsp`` in
``rtsp://table/1``, ``twin`` in ``twin:clean-tackle``), its value a `SourceType`. Those of Downfield are registered in
its own ``pyproject.toml`` the same way. Names without a registered scheme are files, folders and cameras.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Final, Literal

from downfield.capture.source import CaptureClock, FrameSource
from downfield.capture.sources.camera_request import CameraRequest
from downfield.capture.sources.reconnecting import ReconnectLimits
from downfield.core.addresses import without_password
from downfield.core.errors import InputError, MissingExtraError
from downfield.core.platform.packages import broken_text, registered

GROUP: Final = "downfield.sources"

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+):(//)?", re.IGNORECASE)
"""Two letters or more, as one is a drive of Windows."""


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """The source to open."""

    # a camera's number, device file or a part of its name; an address; a video file; a folder of pictures; or
    # ``SCHEME:PLACE``, such as ``twin:PLAY``
    text: str
    camera: CameraRequest = field(default_factory=CameraRequest)
    paced: bool = True  # whether recordings play at their own pace; otherwise as fast as they are processed
    microphone: str = ""  # name of a microphone beside a live source; empty for none

    @property
    def place(self) -> str:
        """What follows the scheme and its colon."""
        return self.text.partition(":")[2]


@dataclass(frozen=True, slots=True)
class SourceType:
    """A type of source that a scheme names."""

    # opens one. For a live source it is called again whenever the source has to be reopened, each time in a thread of
    # its own; it may block, and raises `SourceError` for what may pass, `InputError` for what won't.
    open: Callable[[SourceChoice, CaptureClock], FrameSource]
    # whether its frames arrive whether they are processed or not. A live source is reopened when it stalls; a recorded
    # one has an end, and its game is not kept.
    live: bool = True
    # whether its sources are `SourceWithTruth`: their pictures need no calibration and no tracking
    knows_truth: bool = False
    # whether another program sends what it has seen, so that there is nothing to calibrate and to track
    sends_scenes: bool = False
    limits: ReconnectLimits | None = None  # when a live source is reopened; None for the limits of a camera


def type_of(text: str) -> SourceType | None:
    """Return the type of source that a name's scheme opens; None for files, folders and cameras.

    Raises:
        InputError: its package is broken; the message says which and why.
        MissingExtraError: it needs an extra that is not installed.
    """
    if kind_on_disk(text) is not None:
        return None
    named = _SCHEME.match(text)
    entry = None if named is None else registered(GROUP).get(named[1].lower())
    return None if entry is None else _load(entry)


@cache
def _load(entry: EntryPoint) -> SourceType:
    try:
        loaded = entry.load()
    except ModuleNotFoundError as error:
        if entry.extras:
            raise MissingExtraError(entry.extras[0], f"the {entry.name} as a source") from None
        raise _broken(entry, str(error)) from error
    except Exception as error:  # another author's package may fail in any way, and only its own source with it
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(loaded, SourceType):
        raise _broken(entry, f"{entry.value} is not a SourceType")
    return loaded


def unknown_scheme(text: str) -> InputError | None:
    """Return the error of a name with a scheme that is not registered; None for other names."""
    named, schemes = _SCHEME.match(text), registered(GROUP)
    if named is None or kind_on_disk(text) is not None or named[1].lower() in schemes:
        return None
    return InputError(
        f"'{without_password(text)[:80]}': no source is registered as {named[1]}. Is its package installed?"
        f" Or use one of {', '.join(sorted(schemes))}."
    )


def is_recording(text: str) -> bool:
    """Return whether a source shows what was recorded or simulated: it has an end, and its game is not kept."""
    if not text or kind_on_disk(text) is not None:
        return True
    named = type_of(text)
    return named is not None and not named.live


def is_address(text: str) -> bool:
    """Return whether a source is named by an address, such as ``rtsp://...``."""
    named = _SCHEME.match(text)
    return named is not None and named[2] is not None


def kind_on_disk(text: str) -> Literal["file", "folder"] | None:
    """Return what a name is on the disk; None if it is neither, and for one that no file can have."""
    with suppress(OSError, ValueError):
        path = Path(text)
        return "file" if path.is_file() else "folder" if path.is_dir() else None
    return None


def _broken(entry: EntryPoint, reason: str) -> InputError:
    return InputError(broken_text(entry, "source", reason))
