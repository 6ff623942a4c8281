"""Video4Linux: finds the cameras of this computer, and sets their exposure, focus and white balance.

The structures are those of ``linux/videodev2.h``; `DeviceControls` receives the function that calls the kernel, so that
a test can stand in for a camera. linuxpy was tried instead of these five requests: it is 4 MB, needs 90 ms to import,
and queries every control and menu entry on opening, where some cameras answer with an error.

A camera's automatic adjustments react to a hand that enters the picture: brightness jumps, the focus hunts, colors
drift. So exposure, focus and white balance are held fixed unless the configuration says otherwise.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.capture.sources.camera_request import CameraControls, ControlMode, PluggedCamera

BY_ID: Final = Path("/dev/v4l/by-id")
BY_PATH: Final = Path("/dev/v4l/by-path")

QUERYCAP: Final = 0x80685600
QUERYCTRL: Final = 0xC0445624
G_CTRL: Final = 0xC008561B
S_CTRL: Final = 0xC008561C
ENUM_FMT: Final = 0xC0405602

EXPOSURE_AUTO: Final = 0x009A0901
EXPOSURE: Final = 0x009A0902
EXPOSURE_LOWERS_RATE: Final = 0x009A0903
FOCUS: Final = 0x009A090A
FOCUS_AUTO: Final = 0x009A090C
WHITE_BALANCE_AUTO: Final = 0x0098090C
WHITE_BALANCE: Final = 0x0098091A

EXPOSURE_MANUAL: Final = 1
EXPOSURE_APERTURE_PRIORITY: Final = 3  # the automatic mode of USB cameras

_CAPTURE: Final = 0x1
_DEVICE_CAPS: Final = 0x80000000
_UNUSABLE: Final = 0x1 | 0x4  # disabled, read only
_BUFFER_VIDEO_CAPTURE: Final = 1
_MAX_FORMATS: Final = 256

Ioctl = Callable[[int, bytearray], None]
"""Calls the kernel with a request's number and its structure, which is filled in; raises OSError."""


@dataclass(frozen=True, slots=True)
class DeviceControl:
    """The values that one control of a camera accepts."""

    lowest: int
    highest: int
    step: int


class DeviceControls:
    """The controls and formats of one camera, for which `ioctl` calls the kernel."""

    def __init__(self, ioctl: Ioctl) -> None:
        self._ioctl = ioctl

    def name(self) -> str | None:
        """Return the camera's name; None if the device captures no video."""
        out = bytearray(104)
        self._ioctl(QUERYCAP, out)
        _, card, _, _, capabilities, device = struct.unpack("16s32s32s3I", out[:92])
        available = device if capabilities & _DEVICE_CAPS else capabilities
        return card.partition(b"\0")[0].decode("utf-8", "replace") if available & _CAPTURE else None

    def find(self, control: int) -> DeviceControl | None:
        """Return a control; None if the camera does not have it."""
        out = bytearray(struct.pack("II32siiiiI8x", control, 0, b"", 0, 0, 0, 0, 0))
        try:
            self._ioctl(QUERYCTRL, out)
        except OSError:
            return None
        _, _, _, lowest, highest, step, _, flags = struct.unpack("II32siiiiI8x", out)
        return None if flags & _UNUSABLE else DeviceControl(lowest, highest, step)

    def set(self, control: int, value: int) -> int:
        """Set a control and return its value afterward. Raises OSError: the camera refused."""
        self._ioctl(S_CTRL, bytearray(struct.pack("Ii", control, value)))
        return self._read(control)

    def value(self, control: int) -> int | None:
        """Return the value of a control; None if the camera does not tell it."""
        try:
            return self._read(control)
        except OSError:
            return None

    def _read(self, control: int) -> int:
        out = bytearray(struct.pack("Ii", control, 0))
        self._ioctl(G_CTRL, out)
        now: int = struct.unpack("Ii", out)[1]
        return now

    def formats(self) -> list[str]:
        """Return the picture formats it offers, as their four letters, such as ``"MJPG"``."""
        found = []
        for index in range(_MAX_FORMATS):
            out = bytearray(struct.pack("II56x", index, _BUFFER_VIDEO_CAPTURE))
            try:
                self._ioctl(ENUM_FMT, out)
            except OSError:
                break
            found.append(struct.unpack("12x32x4s16x", out)[0].decode("latin-1").strip())
        return found


@contextmanager
def open_device(device: Path) -> Iterator[DeviceControls]:
    """Open a device for its controls; another program may go on capturing from it. Raises OSError: it can't be."""
    handle = os.open(device, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield DeviceControls(lambda request, out: _ioctl(handle, request, out))
    finally:
        os.close(handle)


def list_devices(
    by_id: Path = BY_ID, devices: Path = Path("/dev"), by_path: Path = BY_PATH
) -> tuple[PluggedCamera, ...]:
    """Return every camera that is plugged in, in the order of its device files.

    One is known by its maker and serial number. Of several of one make without serial numbers, to which Linux gives one
    link together, whichever was found last, each is known by the port that it is in.
    """
    links, ports = _links(by_id), _links(by_path)
    found: list[tuple[Path, str]] = []
    for device in sorted(devices.glob("video*"), key=lambda path: (len(path.name), path.name)):
        try:
            with open_device(device) as controls:
                name = controls.name()
        except OSError:
            continue
        if name is not None:
            found.append((device, name))
    unnamed = Counter(name for device, name in found if device.resolve() not in links)
    alike = Counter(name for _, name in found)
    cameras = []
    for device, name in found:
        is_by_port = alike[name] > 1 and unnamed[name] > 0
        place = device.resolve()
        known = ports.get(place) if is_by_port else links.get(place) or ports.get(place)
        cameras.append(PluggedCamera(str(known or device), str(device), name))
    return tuple(cameras)


def _links(folder: Path) -> dict[Path, Path]:
    """Return the links to devices in a folder, the first of each, by the device."""
    return {link.resolve(): link for link in sorted(folder.glob("*"), reverse=True)} if folder.is_dir() else {}


@dataclass(frozen=True, slots=True)
class _Adjustment:
    """The controls of one adjustment: the one that switches automatic mode on and off, and the one of its value."""

    name: str
    automatic: int
    off: int
    on: int
    value: int


_ADJUSTMENTS: Final = (
    _Adjustment("exposure", EXPOSURE_AUTO, EXPOSURE_MANUAL, EXPOSURE_APERTURE_PRIORITY, EXPOSURE),
    _Adjustment("focus", FOCUS_AUTO, 0, 1, FOCUS),
    _Adjustment("white balance", WHITE_BALANCE_AUTO, 0, 1, WHITE_BALANCE),
)
_RATE_NOTE: Final = "exposure: the camera lowers its frame rate in dim light, and this can't be switched off"


def apply_controls(device: DeviceControls, controls: CameraControls) -> list[str]:
    """Set a camera's exposure, focus and white balance; return the refused settings, one line each."""
    notes = []
    modes = (controls.exposure, controls.focus, controls.white_balance)
    for adjustment, mode in zip(_ADJUSTMENTS, modes, strict=True):
        notes += [f"{adjustment.name}: {problem}" for problem in _adjust(device, adjustment, mode)]
    if device.find(EXPOSURE_LOWERS_RATE) is not None:
        try:
            if device.set(EXPOSURE_LOWERS_RATE, 0) != 0:
                notes.append(_RATE_NOTE)
        except OSError:
            notes.append(_RATE_NOTE)
    return notes


def _adjust(device: DeviceControls, adjustment: _Adjustment, mode: ControlMode) -> Iterator[str]:
    """Make one adjustment; yield what was refused."""
    control = device.find(adjustment.value)
    yield from _switch_automatic(device, adjustment, mode, has_value=control is not None)
    if not isinstance(mode, int):
        return
    if control is None:
        yield f"{mode} requested, but the camera has no such control"
        return
    if not control.lowest <= mode <= control.highest:
        yield f"{mode} requested, but the camera accepts {control.lowest} to {control.highest}"
        return
    try:
        now = device.set(adjustment.value, mode)
    except OSError as error:
        yield f"{mode} requested, but the camera refused: {error.strerror}"
        return
    if abs(now - mode) > control.step:
        yield f"{mode} requested, but the camera set {now}"


def _switch_automatic(
    device: DeviceControls, adjustment: _Adjustment, mode: ControlMode, *, has_value: bool
) -> Iterator[str]:
    """Switch automatic mode on or off; a camera without it has a fixed value, and nothing needs to be done."""
    wanted = adjustment.on if mode == "auto" else adjustment.off
    if device.find(adjustment.automatic) is None:
        if mode == "auto" and has_value:
            yield "the camera has no automatic mode"
        return
    state = "on" if mode == "auto" else "off"
    try:
        now = device.set(adjustment.automatic, wanted)
    except OSError as error:
        yield f"automatic mode can't be switched {state}: {error.strerror}"
        return
    if now != wanted:
        yield f"automatic mode can't be switched {state}"


def _ioctl(handle: int, request: int, out: bytearray) -> None:
    import fcntl  # Windows has none, and imports this module all the same

    fcntl.ioctl(handle, request, out)
