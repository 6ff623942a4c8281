"""Camera controls with a fake driver: what is set, and what is reported when the camera refuses; and the clocks."""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass, field

import pytest

from downfield.core.errors import InputError
from downfield.rig.sources import v4l2
from downfield.rig.sources.camera_request import CameraControls
from downfield.rig.sources.camera_system import find_camera
from downfield.rig.sources.v4l2 import DeviceControls, apply_controls

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


def test_a_camera_reports_its_name_and_formats() -> None:
    controls = DeviceControls(Driver())
    assert controls.name() == "Table Cam"
    assert controls.formats() == ["YUYV", "MJPG"]


def test_by_default_everything_is_held_at_its_present_value() -> None:
    driver = Driver()
    assert apply_controls(DeviceControls(driver), CameraControls()) == []
    assert driver.values[v4l2.EXPOSURE_AUTO] == v4l2.EXPOSURE_MANUAL
    assert driver.values[v4l2.FOCUS_AUTO] == 0
    assert driver.values[v4l2.WHITE_BALANCE_AUTO] == 0
    assert driver.values[v4l2.EXPOSURE_LOWERS_RATE] == 0
    assert driver.values[v4l2.EXPOSURE] == 156


def test_numbers_are_set_and_the_automatic_stays_on_when_requested() -> None:
    driver = Driver()
    controls = CameraControls(exposure=40, focus="auto", white_balance=5000)
    assert apply_controls(DeviceControls(driver), controls) == []
    assert driver.values[v4l2.EXPOSURE] == 40
    assert driver.values[v4l2.FOCUS_AUTO] == 1
    assert driver.values[v4l2.WHITE_BALANCE] == 5000


def test_what_a_camera_refuses_is_reported_by_name() -> None:
    driver = Driver(refuses={v4l2.EXPOSURE_AUTO}, ignores={v4l2.FOCUS})
    del driver.values[v4l2.WHITE_BALANCE]
    notes = apply_controls(DeviceControls(driver), CameraControls(exposure=20_000, focus=90, white_balance=5000))
    assert notes == [
        "exposure: automatic mode can't be switched off: Device or resource busy",
        "exposure: 20000 requested, but the camera accepts 0 to 10000",
        "focus: 90 requested, but the camera set 30",
        "white balance: 5000 requested, but the camera has no such control",
    ]


def test_a_camera_with_a_fixed_focus_needs_nothing() -> None:
    driver = Driver()
    del driver.values[v4l2.FOCUS_AUTO], driver.values[v4l2.FOCUS]
    assert apply_controls(DeviceControls(driver), CameraControls()) == []


def test_an_unknown_camera_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match=r"No camera matches 'Nonesuch 9000'"):
        find_camera("Nonesuch 9000")
