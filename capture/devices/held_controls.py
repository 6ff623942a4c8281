"""What a camera is held at: read when it is first opened, and set again when it or the rig comes back.

A camera that lost power forgets its focus, exposure and white balance, and all else that makes a picture what it was
calibrated and tracked with. Its automatic adjustments are switched off again by `apply_controls`; that alone would hold
whatever it woke up with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from downfield.capture.devices.camera_request import CameraControls, ControlMode
from downfield.capture.devices.held_values import HeldValuesFile
from downfield.capture.devices.v4l2 import EXPOSURE, FOCUS, WHITE_BALANCE, DeviceControls


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
    """The values that one camera is held at, from its first opening on.

    Args:
        identity: of the camera.
        file: keeps them for the next start of the rig; None where nothing is kept.

    """

    def __init__(self, identity: str = "", file: HeldValuesFile | None = None) -> None:
        self._identity, self._file = identity, file
        self._values: dict[int, int] = {}
        self._is_known = False

    def hold(self, device: DeviceControls, requested: CameraControls) -> list[str]:
        """Read the values at the first opening, unless an earlier start kept them; set them at every later one.

        Args:
            device: the camera, its automatic adjustments set as requested.
            requested: the modes; a value that is left to the camera is not held.

        Returns:
            What the camera does not take again, and what is set as it was before this start, one line each.

        """
        free, notes = _left_to_camera(requested), list[str]()
        kept = {} if self._file is None or self._is_known else self._file.read(self._identity)
        for held in _HELD:
            control = None if held.control in free else device.find(held.control)
            now = None if control is None else device.value(held.control)
            if control is None or now is None:
                continue
            start = now if held.control in _given(requested) else kept.get(held.name, now)
            is_possible = control.lowest <= start <= control.highest
            before = self._values.setdefault(held.control, start if is_possible else now)
            if abs(now - before) <= control.step:
                continue
            woken, now = now, _set_again(device, held.control, before, now)
            if abs(now - before) > control.step:
                notes.append(
                    f"{held.name}: it came back with {now} and can't be set to {before} as before. Set it by hand, or"
                    " calibrate again"
                )
            elif not self._is_known:
                notes.append(
                    f"{held.name}: it was {woken} and is {before} again, as when the rig last used this camera. To keep"
                    " another value, set the table up again"
                )
        self._is_known = True
        if self._file is not None:
            self._file.write(self._identity, self._by_name())
        return notes

    def _by_name(self) -> dict[str, int]:
        return {held.name: self._values[held.control] for held in _HELD if held.control in self._values}


def _left_to_camera(requested: CameraControls) -> set[int]:
    modes: tuple[tuple[int, ControlMode], ...] = (
        (EXPOSURE, requested.exposure),
        (FOCUS, requested.focus),
        (WHITE_BALANCE, requested.white_balance),
    )
    return {control for control, mode in modes if mode == "auto"}


def _given(requested: CameraControls) -> set[int]:
    """Return the controls for which the configuration has a number."""
    modes = ((EXPOSURE, requested.exposure), (FOCUS, requested.focus), (WHITE_BALANCE, requested.white_balance))
    return {control for control, mode in modes if isinstance(mode, int)}


def _set_again(device: DeviceControls, control: int, value: int, now: int) -> int:
    """Set a control to a value; return what it is at afterward, ``now`` where the camera refuses."""
    try:
        return device.set(control, value)
    except OSError:
        return now
