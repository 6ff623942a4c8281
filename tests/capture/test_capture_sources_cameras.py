"""Camera controls with a fake driver: what is set, and what is reported when the camera refuses; and the clocks."""

from __future__ import annotations

import pytest
from camera_driver import Driver

from downfield.capture.sources import v4l2
from downfield.capture.sources.camera_request import CameraControls
from downfield.capture.sources.camera_system import find_camera
from downfield.capture.sources.v4l2 import DeviceControls, apply_controls
from downfield.core.errors import InputError


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
