"""A camera that is plugged in, what is requested from it, and the file that keeps what it was held at."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from downfield.core.errors import DownfieldError
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import read_record, record, to_json

MAX_CAMERAS: Final = 50  # Cameras that are remembered; the one that was not opened for longest is forgotten first

_log = logging.getLogger(__name__)


@record
class HeldValues:
    """What cameras were held at."""

    # values of the driver by the name of the control, by the camera's identity; the last opened comes last
    cameras: dict[str, dict[str, int]]
    format: Literal["downfield.cameras"] = "downfield.cameras"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class HeldValuesFile:
    """A file of held values."""

    path: Path  # it need not exist
    # whether what was kept of a camera is passed over and replaced by what it is at now: it is being set up
    begins_anew: bool = False

    def read(self, identity: str) -> dict[str, int]:
        """Return what a camera was held at, by the control's name; empty where nothing is kept or to begin anew."""
        return {} if self.begins_anew else self._cameras().get(identity, {})

    def write(self, identity: str, values: Mapping[str, int]) -> None:
        """Keep what a camera is held at; a disk that fails is logged."""
        cameras = self._cameras()
        if cameras.get(identity) == values:
            return
        cameras.pop(identity, None)
        kept = dict([*cameras.items(), (identity, dict(values))][-MAX_CAMERAS:])
        try:
            replace_private_file(self.path, to_json(HeldValues, HeldValues(kept)).encode())
        except OSError as error:
            _log.warning("%s: what the camera is held at can't be kept there: %s", self.path, error.strerror)

    def _cameras(self) -> dict[str, dict[str, int]]:
        try:
            return read_record(HeldValues, self.path).cameras if self.path.exists() else {}
        except (DownfieldError, OSError) as error:
            _log.warning("%s. What cameras were held at is not known, and kept anew", error)
            return {}


ControlMode = Literal["hold", "auto"] | int
"""``"hold"``: manual, at its present value; ``"auto"``: left to the camera; a number: manual, at that value."""


@dataclass(frozen=True, slots=True)
class PluggedCamera:
    """A camera that is plugged in."""

    identity: str  # names it for good, whatever is plugged in besides: on Linux its permanent path, if it has one
    address: str  # what opens it at present, such as its device file
    name: str


@dataclass(frozen=True, slots=True)
class CameraControls:
    """The requested modes of a camera's controls."""

    exposure: ControlMode = "hold"  # in units of 0.1 ms
    focus: ControlMode = "hold"  # in the camera's own units
    white_balance: ControlMode = "hold"  # in kelvin


@dataclass(frozen=True, slots=True)
class CameraRequest:
    """The settings requested from a camera."""

    size_px: tuple[int, int] = (1920, 1080)
    fps: float = 60.0
    controls: CameraControls = field(default_factory=CameraControls)
    held: HeldValuesFile | None = None  # keeps what the camera is held at over a restart; None to keep nothing
