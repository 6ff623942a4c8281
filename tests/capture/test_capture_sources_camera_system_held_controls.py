"""A camera that comes back is held at what it was held at, or the operator is told what it does not take again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from camera_driver import AUTOMATICS, VALUES, Driver
from hypothesis import given
from hypothesis import strategies as st
from rig_fakes import FakeSource

from downfield.capture.problems import ActiveProblems
from downfield.capture.sources import v4l2
from downfield.capture.sources.camera_request import (
    MAX_CAMERAS,
    CameraControls,
    CameraRequest,
    ControlMode,
    HeldValues,
    HeldValuesFile,
    PluggedCamera,
)
from downfield.capture.sources.camera_system import HeldControls, Video4Linux
from downfield.capture.sources.reconnecting import ReconnectingSource, ReconnectLimits
from downfield.capture.sources.v4l2 import DeviceControls, apply_controls
from downfield.core.errors import SourceError
from downfield.core.records import to_json

GAIN, ZOOM = 0x00980913, 0x009A090D
OTHERS = {GAIN: 20, ZOOM: 100}
CAMERA = PluggedCamera("/dev/v4l/by-id/table", "/dev/video0", "Table Cam")
HELD = [v4l2.EXPOSURE, v4l2.FOCUS, v4l2.WHITE_BALANCE, GAIN, ZOOM]


class Bench:
    """A camera at a computer; each opening finds it with the values it woke up with."""

    def __init__(self, controls: CameraControls | None = None, held: HeldValuesFile | None = None) -> None:
        self.driver = Driver(AUTOMATICS | VALUES | OTHERS)
        self.request = CameraRequest((160, 90), 30, controls or CameraControls(), held)
        self.start_rig()
        self.begins_at: dict[int, int] = {}

    @contextmanager
    def controls(self, _: Path) -> Iterator[DeviceControls]:
        yield DeviceControls(self.driver)

    def begin(self) -> Any:
        self.driver.values |= self.begins_at
        return "container"

    def start_rig(self) -> None:
        """Start the rig again, which has forgotten all but its files."""
        self.system = Video4Linux(self.controls, lambda *_, **__: self.begin())

    def open(self) -> tuple[str, ...]:
        return self.system.open(CAMERA, self.request).notes


def test_what_was_held_at_the_first_opening_is_held_again() -> None:
    bench = Bench()
    assert bench.open() == ()
    bench.driver.values |= AUTOMATICS | dict.fromkeys(HELD, 7)
    assert bench.open() == ()
    assert {control: bench.driver.values[control] for control in HELD} == VALUES | OTHERS
    assert bench.driver.values[v4l2.FOCUS_AUTO] == 0


def test_a_camera_that_begins_anew_when_it_sends_is_set_after_that() -> None:
    bench = Bench()
    bench.open()
    bench.begins_at = {v4l2.FOCUS: 3, GAIN: 90}
    assert bench.open() == ()
    assert (bench.driver.values[v4l2.FOCUS], bench.driver.values[GAIN]) == (30, 20)


@pytest.mark.parametrize("how", ["refuses", "ignores"])
def test_what_it_does_not_take_again_is_told_by_name_with_both_values(how: str) -> None:
    bench = Bench()
    bench.open()
    bench.driver.values |= {v4l2.FOCUS: 7, v4l2.EXPOSURE: 7}
    getattr(bench.driver, how).add(v4l2.FOCUS)
    (note,) = bench.open()
    assert note.startswith("focus: it came back with 7 and can't be set to 30 as before")
    assert bench.driver.values[v4l2.EXPOSURE] == VALUES[v4l2.EXPOSURE]


def test_what_is_left_to_the_camera_is_not_held() -> None:
    bench = Bench(CameraControls(exposure="auto", white_balance=5000))
    bench.open()
    bench.driver.values |= {v4l2.EXPOSURE: 999, v4l2.WHITE_BALANCE: 2800, v4l2.FOCUS: 7}
    assert bench.open() == ()
    assert bench.driver.values[v4l2.EXPOSURE] == 999
    assert (bench.driver.values[v4l2.WHITE_BALANCE], bench.driver.values[v4l2.FOCUS]) == (5000, 30)


def test_two_cameras_are_held_each_at_its_own_values() -> None:
    bench = Bench()
    bench.open()
    other = PluggedCamera("/dev/v4l/by-id/other", "/dev/video2", "Other Cam")
    bench.driver.values[v4l2.FOCUS] = 99
    bench.system.open(other, bench.request)
    assert bench.driver.values[v4l2.FOCUS] == 99
    bench.open()
    assert bench.driver.values[v4l2.FOCUS] == 30


def test_a_restarted_rig_holds_a_camera_that_lost_its_values_as_before_and_says_so(tmp_path: Path) -> None:
    bench = Bench(held=HeldValuesFile(tmp_path / "data" / "cameras.json"))
    assert bench.open() == ()
    bench.driver.values |= AUTOMATICS | dict.fromkeys(HELD, 7)
    bench.start_rig()
    notes = bench.open()
    assert {control: bench.driver.values[control] for control in HELD} == VALUES | OTHERS
    assert len(notes) == len(HELD)
    assert any(note.startswith("focus: it was 7 and is 30 again") for note in notes)
    bench.driver.values |= {v4l2.FOCUS: 7}
    bench.driver.refuses.add(v4l2.FOCUS)
    for _ in range(2):  # what it refuses is told at every start
        bench.start_rig()
        (note,) = bench.open()
        assert note.startswith("focus: it came back with 7 and can't be set to 30 as before")


def test_a_camera_that_is_set_up_anew_is_held_at_what_it_is_then(tmp_path: Path) -> None:
    kept = HeldValuesFile(tmp_path / "cameras.json")
    bench = Bench(held=kept)
    bench.open()
    bench.driver.values |= {v4l2.FOCUS: 55}
    bench.request = replace(bench.request, held=replace(kept, begins_anew=True))
    bench.start_rig()
    assert bench.open() == ()
    bench.request = replace(bench.request, held=kept)
    bench.driver.values |= {v4l2.FOCUS: 7}
    bench.start_rig()
    bench.open()
    assert bench.driver.values[v4l2.FOCUS] == 55


def test_the_configuration_comes_before_what_was_kept(tmp_path: Path) -> None:
    kept = HeldValuesFile(tmp_path / "cameras.json")
    Bench(held=kept).open()
    bench = Bench(CameraControls(exposure="auto", focus=50), kept)
    bench.driver.values |= {v4l2.EXPOSURE: 999}
    assert bench.open() == ()
    assert (bench.driver.values[v4l2.FOCUS], bench.driver.values[v4l2.EXPOSURE]) == (50, 999)


BROKEN = (
    "",
    "{",
    "\x00",
    "[1]",
    '{"format":"downfield.cameras","version":1,"cameras":{"a":{"focus":"x"}}}',
    "[" * 9999,
)


@pytest.mark.parametrize("content", [*BROKEN, "folder", "out of range"])
def test_a_broken_file_is_passed_over_and_kept_anew(content: str, tmp_path: Path) -> None:
    path = tmp_path / "cameras.json"
    if content == "folder":
        path.mkdir()
    elif content == "out of range":
        path.write_text(to_json(HeldValues, HeldValues({CAMERA.identity: {"focus": 10**30, "gain": -5}})))
    else:
        path.write_text(content)
    bench = Bench(held=HeldValuesFile(path))
    assert bench.open() == ()
    assert (bench.driver.values[v4l2.FOCUS], bench.driver.values[GAIN]) == (30, 20)
    assert content == "folder" or HeldValuesFile(path).read(CAMERA.identity)["focus"] == 30


def test_many_cameras_are_kept_the_last_used_ones(tmp_path: Path) -> None:
    kept = HeldValuesFile(tmp_path / "cameras.json")
    for number in range(MAX_CAMERAS + 2):
        kept.write(f"camera {number}", {"focus": number})
        kept.write("camera 0", {"focus": number})
    assert kept.read("camera 0") == {"focus": MAX_CAMERAS + 1}
    assert kept.read("camera 1") == {}


NAMED: list[ControlMode] = ["hold", "auto"]
MODES = st.sampled_from(NAMED) | st.integers(0, 10_000)
WOKEN = st.dictionaries(st.sampled_from(HELD), st.integers(0, 10_000))


@given(
    has=st.sets(st.sampled_from(HELD)),
    modes=st.tuples(MODES, MODES, MODES),
    woken=st.lists(WOKEN, max_size=4),
    refuses=st.sets(st.sampled_from(HELD)),
)
def test_whatever_a_camera_wakes_up_with_it_is_held_or_told(
    has: set[int], modes: tuple[ControlMode, ...], woken: list[dict[int, int]], refuses: set[int]
) -> None:
    """For every set of controls, modes, wakings and refusals."""
    driver = Driver({control: value for control, value in (VALUES | OTHERS).items() if control in has} | AUTOMATICS)
    requested, held, device = CameraControls(*modes), HeldControls(), DeviceControls(driver)
    automatic = {
        control
        for control, mode in zip((v4l2.EXPOSURE, v4l2.FOCUS, v4l2.WHITE_BALANCE), modes, strict=True)
        if mode == "auto"
    }
    apply_controls(device, requested)
    assert held.hold(device, requested) == []
    first = dict(driver.values)
    driver.refuses = refuses
    for values in woken:
        driver.values |= {control: value for control, value in values.items() if control in has}
        apply_controls(device, requested)
        told = held.hold(device, requested)
        differ = [control for control in has - automatic if abs(driver.values[control] - first[control]) > 1]
        assert len(told) == len(differ)
        assert set(differ) <= refuses


def test_the_operator_hears_once_what_a_camera_refuses_that_it_took_before() -> None:
    limits = ReconnectLimits(stalled_s=30.0, first_frame_s=30.0, open_timeout_s=30.0, first_wait_s=0.01)
    told, opened = list[str](), list[FakeSource]()

    class Camera(FakeSource):
        def __init__(self) -> None:
            super().__init__(3)
            opened.append(self)
            notes = ("size", *(("focus: can't be set",) if len(opened) > 1 else ()))
            self.facts = type(self.facts)("camera", "Table Cam", (32, 18), 30.0, live=True, notes=notes)

        def frames(self) -> Any:
            yield from super().frames()
            if len(opened) < 4:
                raise SourceError("it was unplugged")

    source = ReconnectingSource(Camera, ActiveProblems(notify=lambda _, text: told.append(text)), limits)
    assert list(source.frames())
    assert len(opened) == 4
    assert [text for text in told if text.startswith("Table Cam")] == ["Table Cam: focus: can't be set."]
