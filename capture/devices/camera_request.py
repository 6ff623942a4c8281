"""A camera that is plugged in, and what is requested from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from downfield.capture.devices.held_values import HeldValuesFile

ControlMode = Literal["hold", "auto"] | int
"""``"hold"``: manual, at its present value; ``"auto"``: left to the camera; a number: manual, at that value."""


@dataclass(frozen=True, slots=True)
class PluggedCamera:
    """A camera that is plugged in.

    Attributes:
        identity: names it for good, whatever is plugged in besides: on Linux its permanent path, if it has one.
        address: what opens it at present, such as its device file.
        name: its own name.

    """

    identity: str
    address: str
    name: str


@dataclass(frozen=True, slots=True)
class CameraControls:
    """The requested modes of a camera's controls.

    Attributes:
        exposure: in units of 0.1 ms.
        focus: in the camera's own units.
        white_balance: in kelvin.

    """

    exposure: ControlMode = "hold"
    focus: ControlMode = "hold"
    white_balance: ControlMode = "hold"


@dataclass(frozen=True, slots=True)
class CameraRequest:
    """The settings requested from a camera.

    Attributes:
        size_px: width and height.
        fps: frames per second.
        controls: exposure, focus and white balance.
        held: keeps what the camera is held at over a restart; None to keep nothing.

    """

    size_px: tuple[int, int] = (1920, 1080)
    fps: float = 60.0
    controls: CameraControls = field(default_factory=CameraControls)
    held: HeldValuesFile | None = None
