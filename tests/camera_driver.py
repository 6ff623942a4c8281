"""A fake driver of a camera: it keeps values, and refuses or ignores what it is told to."""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass, field

from downfield.capture.sources import v4l2

AUTOMATICS = {v4l2.EXPOSURE_AUTO: 3, v4l2.FOCUS_AUTO: 1, v4l2.WHITE_BALANCE_AUTO: 1, v4l2.EXPOSURE_LOWERS_RATE: 1}
VALUES = {v4l2.EXPOSURE: 156, v4l2.FOCUS: 30, v4l2.WHITE_BALANCE: 4600}


@dataclass
class Driver:
    """A fake driver of a camera, by ``linux/videodev2.h``."""

    values: dict[int, int] = field(default_factory=lambda: AUTOMATICS | VALUES)
    refuses: set[int] = field(default_factory=set)
    ignores: set[int] = field(default_factory=set)

    def __call__(self, request: int, out: bytearray) -> None:
        if request == v4l2.QUERYCAP:
            out[:92] = struct.pack("16s32s32s3I", b"uvcvideo", b"Table Cam", b"usb-1", 0, 0x84A00001, 0x04200001)
        elif request == v4l2.QUERYCTRL:
            (control,) = struct.unpack_from("I", out)
            self._known(control)
            out[:] = struct.pack("II32siiiiI8x", control, 1, b"Control", 0, 10_000, 1, 0, 0)
        elif request == v4l2.G_CTRL:
            (control,) = struct.unpack_from("I", out)
            self._known(control)
            out[:] = struct.pack("Ii", control, self.values[control])
        elif request == v4l2.S_CTRL:
            control, value = struct.unpack("Ii", out)
            self._known(control)
            if control in self.refuses:
                raise OSError(errno.EBUSY, "Device or resource busy")
            if control not in self.ignores:
                self.values[control] = value
        elif request == v4l2.ENUM_FMT:
            self._listed(
                out,
                [struct.pack("III32s4s16x", 0, 1, 0, b"", b"YUYV"), struct.pack("III32s4s16x", 1, 1, 0, b"", b"MJPG")],
            )

    def _known(self, control: int) -> None:
        if control not in self.values:
            raise OSError(errno.EINVAL, "Invalid argument")

    def _listed(self, out: bytearray, rows: list[bytes]) -> None:
        (index,) = struct.unpack_from("I", out)
        if index >= len(rows):
            raise OSError(errno.EINVAL, "Invalid argument")
        out[:] = rows[index]
