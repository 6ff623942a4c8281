"""What a camera is held at: read when it is first opened, and set again when it comes back with other values.

A camera that lost power forgets its focus, exposure and white balance, and all else that makes a picture what it was
calibrated and tracked with. Its automatic adjustments are switched off again by `apply_controls`; that alone would hold
whatever it woke up with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.rig.sources.camera_request import CameraControls, ControlMode
from downfield.rig.sources.v4l2 import EXPOSURE, FOCUS, WHITE_BALANCE, DeviceControls


@dataclass(frozen=True, slots=True)
class _HeldControl:
    """A control whose value makes the picture, by ``linux/v4l2-controls.h``."""

    control: int
    name: str


_HELD: Final = (
    _HeldControl(EXPOSURE, "exposure"),
    _HeldControl(FOCUS, "focus"),
    _HeldControl(WHITE_BALANCE, "white balance"),
    _HeldControl(0x009A090D, "zoom"),
    _HeldControl(0x009A0908, "pan"),
    _HeldControl(0x009A0909, "tilt"),
    _HeldControl(0x00980913, "gain"),
    _HeldControl(0x00980900, "brightness"),
    _HeldControl(0x00980901, "contrast"),
    _HeldControl(0x00980902, "saturation"),
    _HeldControl(0x00980903, "hue"),
    _HeldControl(0x00980910, "gamma"),
    _HeldControl(0x0098091B, "sharpness"),
    _HeldControl(0x0098091C, "backlight compensation"),
    _HeldControl(0x00980918, "power line frequency"),
)


class HeldControls:
    """The values that one camera is held at, from its first opening on."""

    def __init__(self) -> None:
        self._values: dict[int, int] = {}

    def hold(self, device: DeviceControls, requested: CameraControls) -> list[str]:
        """Read the values at the first opening, and set them again at every later one.

        Args:
            device: the camera, its automatic adjustments set as requested.
            requested: the modes; a value that is left to the camera is not held.

        Returns:
            What the camera does not take again, one line each.

        """
        free = _left_to_camera(requested)
        notes = []
        for held in _HELD:
            control = None if held.control in free else device.find(held.control)
            now = None if control is None else device.value(held.control)
            if control is None or now is None:
                continue
            before = self._values.setdefault(held.control, now)
            if abs(now - before) <= control.step:
                continue
            now = _set_again(device, held.control, before, now)
            if abs(now - before) > control.step:
                notes.append(
                    f"{held.name}: it came back with {now} and can't be set to {before} as before. Set it by hand, or"
                    " calibrate again"
                )
        return notes


def _left_to_camera(requested: CameraControls) -> set[int]:
    modes: tuple[tuple[int, ControlMode], ...] = (
        (EXPOSURE, requested.exposure),
        (FOCUS, requested.focus),
        (WHITE_BALANCE, requested.white_balance),
    )
    return {control for control, mode in modes if mode == "auto"}


def _set_again(device: DeviceControls, control: int, value: int, now: int) -> int:
    """Set a control to a value; return what it is at afterward, ``now`` where the camera refuses."""
    try:
        return device.set(control, value)
    except OSError:
        return now
