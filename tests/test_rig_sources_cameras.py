"""What is asked of a camera's driver, and what is told when it refuses; the kernel is stood in for."""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass, field

import pytest

from downfield.core.errors import InputError
from downfield.rig.sources import v4l2
from downfield.rig.sources.camera_locks import CameraLocks, lock
from downfield.rig.sources.clocks import CaptureClock, IncreasingTimestamps, SourceClock
from downfield.rig.sources.usb_camera import find_camera
from downfield.rig.sources.v4l2 import DeviceControls

AUTOMATICS = {v4l2.EXPOSURE_AUTO: 3, v4l2.FOCUS_AUTO: 1, v4l2.WHITE_BALANCE_AUTO: 1, v4l2.EXPOSURE_SLOWS_RATE: 1}
VALUES = {v4l2.EXPOSURE: 156, v4l2.FOCUS: 30, v4l2.WHITE_BALANCE: 4600}


@dataclass
class Driver:
    """A camera's driver, by ``linux/videodev2.h``."""

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
        elif request == v4l2.ENUM_FRAMESIZES:
            self._listed(
                out, [struct.pack("IIIII24x", 0, 0, 1, 1920, 1080), struct.pack("IIIII24x", 1, 0, 1, 1280, 720)]
            )
        elif request == v4l2.ENUM_FRAMEINTERVALS:
            self._listed(out, [struct.pack("IIIIIII24x", 0, 0, 0, 0, 1, 1, 60)])

    def _known(self, control: int) -> None:
        if control not in self.values:
            raise OSError(errno.EINVAL, "Invalid argument")

    def _listed(self, out: bytearray, rows: list[bytes]) -> None:
        (index,) = struct.unpack_from("I", out)
        if index >= len(rows):
            raise OSError(errno.EINVAL, "Invalid argument")
        out[:] = rows[index]


def test_a_camera_tells_its_name_formats_sizes_and_rates() -> None:
    controls = DeviceControls(Driver())
    assert controls.name() == "Table Cam"
    mjpg = controls.formats()["MJPG"]
    assert mjpg == 0x47504A4D
    assert controls.sizes(mjpg) == [(1920, 1080), (1280, 720)]
    assert controls.rates(mjpg, (1920, 1080)) == [60.0]


def test_everything_is_held_where_it_stands() -> None:
    driver = Driver()
    assert lock(DeviceControls(driver), CameraLocks()) == []
    assert driver.values[v4l2.EXPOSURE_AUTO] == v4l2.EXPOSURE_MANUAL
    assert driver.values[v4l2.FOCUS_AUTO] == 0
    assert driver.values[v4l2.WHITE_BALANCE_AUTO] == 0
    assert driver.values[v4l2.EXPOSURE_SLOWS_RATE] == 0
    assert driver.values[v4l2.EXPOSURE] == 156


def test_numbers_are_set_and_the_automatic_is_left_on_when_asked() -> None:
    driver = Driver()
    assert lock(DeviceControls(driver), CameraLocks(exposure=40, focus="auto", white_balance=5000)) == []
    assert driver.values[v4l2.EXPOSURE] == 40
    assert driver.values[v4l2.FOCUS_AUTO] == 1
    assert driver.values[v4l2.WHITE_BALANCE] == 5000


def test_what_a_camera_refuses_is_said_by_name() -> None:
    driver = Driver(refuses={v4l2.EXPOSURE_AUTO}, ignores={v4l2.FOCUS})
    del driver.values[v4l2.WHITE_BALANCE]
    notes = lock(DeviceControls(driver), CameraLocks(exposure=20_000, focus=90, white_balance=5000))
    assert notes == [
        "exposure: its automatic could not be switched off: Device or resource busy",
        "exposure: asked for 20000, but it takes 0 to 10000",
        "focus: asked for 90, it says 30",
        "white balance: asked for 5000, but it has no such control",
    ]


def test_a_camera_with_a_fixed_focus_needs_nothing() -> None:
    driver = Driver()
    del driver.values[v4l2.FOCUS_AUTO], driver.values[v4l2.FOCUS]
    assert lock(DeviceControls(driver), CameraLocks()) == []


def test_a_camera_that_is_not_there_is_said_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"no camera is called 'Nonesuch 9000'; there are: "):
        find_camera("Nonesuch 9000")


def test_kernel_stamps_are_taken_as_they_are_and_foreign_ones_are_tied_to_the_quickest_packet() -> None:
    kernel, foreign = SourceClock(), SourceClock()
    assert kernel.monotonic_ns(1_000_000_000, 1_030_000_000) == 1_000_000_000
    delays_ms = [9, 3, 30, 5]
    out = [
        foreign.monotonic_ns(10**15 + i * 20_000_000, 5 * 10**12 + i * 20_000_000 + delay * 1_000_000)
        for i, delay in enumerate(delays_ms)
    ]
    assert [round((t - 5 * 10**12) / 1e6) - i * 20 for i, t in enumerate(out)] == [9, 3, 3, 3]


def test_stamps_rise_and_the_table_clock_never_goes_back_behind_the_game() -> None:
    rising = IncreasingTimestamps()
    assert [rising(t) for t in (5, 5, 4, 9)] == [5, 6, 7, 9]
    far = 4_000_000_000_000_000_000
    clock = CaptureClock()
    clock.not_before(1)
    assert clock.now_ns() < far
    clock.not_before(far)
    assert clock.now_ns() > far
