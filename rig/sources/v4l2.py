"""Video4Linux: which cameras there are, what they can do, and their controls, asked of the kernel.

The structures are those of ``linux/videodev2.h``; `DeviceControls` takes the call that asks the kernel, so that a test
can stand in for a camera.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BY_ID = Path("/dev/v4l/by-id")

QUERYCAP: Final = 0x80685600
QUERYCTRL: Final = 0xC0445624
G_CTRL: Final = 0xC008561B
S_CTRL: Final = 0xC008561C
ENUM_FMT: Final = 0xC0405602
ENUM_FRAMESIZES: Final = 0xC02C564A
ENUM_FRAMEINTERVALS: Final = 0xC034564B

EXPOSURE_AUTO: Final = 0x009A0901
EXPOSURE: Final = 0x009A0902
EXPOSURE_SLOWS_RATE: Final = 0x009A0903
FOCUS: Final = 0x009A090A
FOCUS_AUTO: Final = 0x009A090C
WHITE_BALANCE_AUTO: Final = 0x0098090C
WHITE_BALANCE: Final = 0x0098091A
GAIN: Final = 0x00980913

EXPOSURE_MANUAL: Final = 1
EXPOSURE_APERTURE_PRIORITY: Final = 3  # what USB cameras call automatic

_CAPTURE: Final = 0x1
_DEVICE_CAPS: Final = 0x80000000
_UNUSABLE: Final = 0x1 | 0x4  # disabled, read only
_BUFFER_VIDEO_CAPTURE: Final = 1
_DISCRETE: Final = 1

Ask = Callable[[int, bytearray], None]
"""Asks the kernel: a request's number and its structure, which is filled in; raises OSError."""


@dataclass(frozen=True, slots=True)
class VideoDevice:
    """A camera that is plugged in.

    Attributes:
        path: stable from one plugging in to the next, where the camera has such a name; else its device file.
        device: its device file now.
        name: what it calls itself.

    """

    path: Path
    device: Path
    name: str


@dataclass(frozen=True, slots=True)
class DeviceControl:
    """One control of a camera.

    Attributes:
        id: its number.
        name: as the driver calls it.
        lowest, highest, step: values it takes.

    """

    id: int
    name: str
    lowest: int
    highest: int
    step: int


class DeviceControls:
    """The controls and formats of one camera.

    Args:
        ask: asks the kernel about it.

    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def name(self) -> str | None:
        """What the camera calls itself; None when it takes no pictures."""
        out = bytearray(104)
        self._ask(QUERYCAP, out)
        _, card, _, _, capabilities, device = struct.unpack("16s32s32s3I", out[:92])
        able = device if capabilities & _DEVICE_CAPS else capabilities
        return _text(card) if able & _CAPTURE else None

    def find(self, control: int) -> DeviceControl | None:
        """A control; None when the camera hasn't got it."""
        out = bytearray(struct.pack("II32siiiiI8x", control, 0, b"", 0, 0, 0, 0, 0))
        try:
            self._ask(QUERYCTRL, out)
        except OSError:
            return None
        _, _, name, lowest, highest, step, _, flags = struct.unpack("II32siiiiI8x", out)
        return None if flags & _UNUSABLE else DeviceControl(control, _text(name), lowest, highest, step)

    def get(self, control: int) -> int:
        """A control's value.

        Raises:
            OSError: the camera doesn't tell.

        """
        out = bytearray(struct.pack("Ii", control, 0))
        self._ask(G_CTRL, out)
        value: int = struct.unpack("Ii", out)[1]
        return value

    def set(self, control: int, value: int) -> int:
        """Set a control, and read back what it is then.

        Raises:
            OSError: the camera refuses.

        """
        self._ask(S_CTRL, bytearray(struct.pack("Ii", control, value)))
        return self.get(control)

    def formats(self) -> dict[str, int]:
        """The picture formats it offers, by their four letters, with the kernel's number."""
        return {
            struct.pack("I", number).decode("latin-1").strip(): number
            for out in self._listed(ENUM_FMT, lambda index: struct.pack("II56x", index, _BUFFER_VIDEO_CAPTURE))
            for number in struct.unpack("12x32xI16x", out)
        }

    def sizes(self, pixel_format: int) -> list[tuple[int, int]]:
        """The picture sizes it offers in a format; empty where it takes any."""
        found = []
        for out in self._listed(ENUM_FRAMESIZES, lambda index: struct.pack("II36x", index, pixel_format)):
            kind, width, height = struct.unpack("8xIII24x", out)
            if kind != _DISCRETE:
                return []
            found.append((width, height))
        return found

    def rates(self, pixel_format: int, size_px: tuple[int, int]) -> list[float]:
        """The frame rates it offers in a format and size; empty where it takes any."""
        found = []
        for out in self._listed(
            ENUM_FRAMEINTERVALS, lambda index: struct.pack("IIII36x", index, pixel_format, *size_px)
        ):
            kind, numerator, denominator = struct.unpack("16xIII24x", out)
            if kind != _DISCRETE or not numerator:
                return []
            found.append(denominator / numerator)
        return found

    def _listed(self, request: int, start: Callable[[int], bytes]) -> Iterator[bytearray]:
        for index in range(256):
            out = bytearray(start(index))
            try:
                self._ask(request, out)
            except OSError:
                return
            yield out


@contextmanager
def opened(device: Path) -> Iterator[DeviceControls]:
    """The controls of a device; it is not taken from whoever is taking pictures with it.

    Raises:
        OSError: it can't be opened.

    """
    handle = os.open(device, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield DeviceControls(lambda request, out: _ioctl(handle, request, out))
    finally:
        os.close(handle)


def cameras(by_id: Path = BY_ID, devices: Path = Path("/dev")) -> tuple[VideoDevice, ...]:
    """Every camera that is plugged in, in the order of its device files."""
    links = {link.resolve(): link for link in sorted(by_id.glob("*"), reverse=True)} if by_id.is_dir() else {}
    found = []
    for device in sorted(devices.glob("video*"), key=lambda path: (len(path.name), path.name)):
        try:
            with opened(device) as controls:
                name = controls.name()
        except OSError:
            continue
        if name is not None:
            found.append(VideoDevice(links.get(device.resolve(), device), device, name))
    return tuple(found)


def _ioctl(handle: int, request: int, out: bytearray) -> None:
    fcntl.ioctl(handle, request, out)


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace")
