"""Cameras of Windows and macOS, with what FFmpeg lists and opens there replaced."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import pytest

from downfield.capture.sources import camera_system as cameras_module
from downfield.capture.sources import v4l2
from downfield.capture.sources.camera_request import CameraRequest, PluggedCamera
from downfield.capture.sources.camera_system import (
    AvFoundation,
    CameraSystem,
    DirectShow,
    InputDevice,
    camera_system,
    find_camera,
    match_camera,
)
from downfield.core.errors import InputError

LOGI = r"@device_pnp_\\?\usb#vid_046d&pid_0825&mi_00#6&2f2ad5e6#{65e8773d-8f56-11d0-a3b9-00a0c9223196}\global"
WINDOWS_CAMERAS = [
    InputDevice(LOGI, "Logi Table Cam", ["video"]),
    InputDevice(r"@device_cm_{33d9a762}\wave_{4f}", "Microphone (Logi)", ["audio"]),
    InputDevice(r"@device_sw_{860bb310}\obs", "OBS Virtual Camera", ["video", "audio"]),
]
MAC_CAMERAS = [
    InputDevice("0", "FaceTime HD Camera", ["video"]),
    InputDevice("1", "Arena Cam", ["video"]),
    InputDevice("2", "Arena Cam", ["video"]),
    InputDevice("3", "Capture screen 0", ["video"]),
    InputDevice("0", "MacBook Microphone", ["audio"]),
]
REQUEST = CameraRequest((1920, 1080), 60)


@dataclass
class Inputs:
    """What is plugged in, and opens with some settings only."""

    devices: list[InputDevice]
    accepts: Callable[[dict[str, str]], bool] = lambda _: True
    opened: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def list(self, _: str) -> list[InputDevice]:
        return self.devices

    def open(self, name: str, *, format: str, options: dict[str, str]) -> Any:  # noqa: A002
        self.opened.append((name, format, options))
        if not self.accepts(options):
            raise av.FFmpegError(errno.EIO, "Input/output error")
        return "container"


def test_windows_names_a_camera_by_what_stays_the_same_in_every_port() -> None:
    cameras = DirectShow(Inputs(WINDOWS_CAMERAS).list).list()
    assert [camera.name for camera in cameras] == ["Logi Table Cam", "OBS Virtual Camera"]
    assert cameras[0].identity == LOGI


def test_windows_asks_for_mjpeg_at_the_full_size_and_rate_first() -> None:
    inputs = Inputs(WINDOWS_CAMERAS)
    system = DirectShow(inputs.list, inputs.open)
    opened = system.open(system.list()[0], REQUEST)
    ((name, form, options),) = inputs.opened
    assert (name, form) == (f"video={LOGI}", "dshow")
    assert options == {"vcodec": "mjpeg", "video_size": "1920x1080", "framerate": "60", "rtbufsize": str(64 << 20)}
    assert "can't be set on this system" in opened.notes[0]


@pytest.mark.parametrize(
    ("accepts", "last"),
    [
        (lambda options: options.get("framerate") == "30", {"vcodec": "mjpeg", "video_size": "1920x1080"}),
        (lambda options: "video_size" not in options, {"vcodec": "mjpeg", "framerate": "30"}),
        (lambda options: "vcodec" not in options, {"video_size": "1920x1080", "framerate": "60"}),
        (lambda options: not options.keys() - {"rtbufsize"}, {}),
    ],
)
def test_a_camera_that_refuses_settings_is_opened_with_the_nearest(
    accepts: Callable[[dict[str, str]], bool], last: dict[str, str]
) -> None:
    inputs = Inputs(WINDOWS_CAMERAS, accepts)
    system = DirectShow(inputs.list, inputs.open)
    system.open(system.list()[0], REQUEST)
    assert last.items() <= inputs.opened[-1][2].items()


def test_a_camera_that_opens_with_no_settings_says_why() -> None:
    inputs = Inputs(WINDOWS_CAMERAS, lambda _: False)
    system = DirectShow(inputs.list, inputs.open)
    with pytest.raises(av.FFmpegError, match="Input/output error"):
        system.open(system.list()[0], REQUEST)


def test_macos_tells_cameras_of_one_name_apart_and_lists_no_screens() -> None:
    cameras = AvFoundation(Inputs(MAC_CAMERAS).list).list()
    assert [camera.identity for camera in cameras] == ["FaceTime HD Camera", "Arena Cam", "Arena Cam #2"]


def test_macos_finds_a_camera_again_under_another_number() -> None:
    inputs = Inputs(MAC_CAMERAS)
    system = AvFoundation(inputs.list, inputs.open)
    camera = system.list()[1]
    inputs.devices = MAC_CAMERAS[1:2]
    inputs.devices = [InputDevice("5", "Arena Cam", ["video"])]
    system.open(camera, REQUEST)
    assert inputs.opened[0][:2] == ("5:none", "avfoundation")
    inputs.devices = []
    with pytest.raises(FileNotFoundError):
        system.open(camera, REQUEST)


@pytest.mark.parametrize(("system", "way"), [("windows", DirectShow), ("macos", AvFoundation), ("other", type(None))])
def test_each_system_has_its_way_to_cameras(system: Any, way: type[CameraSystem]) -> None:
    assert isinstance(camera_system(system), way)


def test_a_camera_is_found_by_number_identity_or_part_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    cameras = DirectShow(Inputs(WINDOWS_CAMERAS).list).list()
    assert match_camera(LOGI, cameras) == cameras[:1]
    assert match_camera("obs", cameras) == cameras[1:]
    assert match_camera("cam", cameras) == cameras
    assert match_camera("", cameras) == ()
    assert match_camera("0", cameras) == (), "on Linux a number is that of a device file"
    monkeypatch.setattr(cameras_module, "SYSTEM", "windows")
    assert match_camera("1", cameras) == cameras[1:]
    assert match_camera("2", cameras) == ()


def test_a_device_file_is_found_by_its_number() -> None:
    camera = PluggedCamera("/dev/v4l/by-id/usb-cam", "/dev/video2", "Table Cam")
    assert match_camera("2", [camera]) == (camera,)
    assert match_camera("/dev/video2", [camera]) == (camera,)
    assert match_camera("by-id", [camera]) == (), "only the last part of a path is a name"


def test_two_cameras_that_may_be_meant_are_both_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cameras_module, "list_cameras", DirectShow(Inputs(WINDOWS_CAMERAS).list).list)
    with pytest.raises(InputError, match=r"More than one camera matches 'cam'.*Logi Table Cam.*OBS Virtual Camera"):
        find_camera("cam")


class Ports:
    """Cameras in ports, as udev links them: those without a serial number share the link of the one found last."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.names = folder, dict[Path, str]()
        for name in ("by-id", "by-path", "dev"):
            (folder / name).mkdir()

        @contextmanager
        def opened(device: Path) -> Iterator[Any]:
            yield SimpleNamespace(name=lambda: self.names[device])

        monkeypatch.setattr(v4l2, "open_device", opened)
        monkeypatch.setattr(cameras_module, "BY_PATH", folder / "by-path")

    def plug(self, number: int, port: str, name: str, link: str) -> None:
        device = self.folder / "dev" / f"video{number}"
        device.touch()
        self.names[device] = name
        for place, target in (("by-path", port), ("by-id", link)):
            (self.folder / place / target).unlink(missing_ok=True)
            (self.folder / place / target).symlink_to(device)

    def cameras(self) -> tuple[PluggedCamera, ...]:
        return v4l2.list_devices(self.folder / "by-id", self.folder / "dev", self.folder / "by-path")


@pytest.mark.parametrize("order", [("left", "right"), ("right", "left")])
def test_two_cameras_of_one_make_without_serial_numbers_are_known_by_their_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    ports = Ports(tmp_path, monkeypatch)
    for number, port in enumerate(order):
        ports.plug(number, port, "Webcam", "usb-webcam")
    ports.plug(2, "middle", "Logi", "usb-logi-1234")
    cameras = ports.cameras()
    assert {camera.address[-1]: Path(camera.identity).name for camera in cameras} == {
        "0": order[0],
        "1": order[1],
        "2": "usb-logi-1234",
    }
    (left,) = match_camera(str(tmp_path / "by-path" / "left"), cameras)
    assert Path(left.identity).name == "left"
    assert match_camera(str(tmp_path / "by-id" / "usb-webcam"), cameras) == (), "it may name either: the user is asked"


def test_cameras_with_serial_numbers_are_known_by_them_and_a_port_may_be_named_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = Ports(tmp_path, monkeypatch)
    for number, port in enumerate(("left", "right")):
        ports.plug(number, port, "Logi", f"usb-logi-{number}")
    cameras = ports.cameras()
    assert [Path(camera.identity).name for camera in cameras] == ["usb-logi-0", "usb-logi-1"]
    (right,) = match_camera(str(tmp_path / "by-path" / "right"), cameras)
    assert right.address.endswith("video1")


@pytest.mark.parametrize("text", ["²", "٣", "1²", "/dev/v4l/by-path/nothing"])
def test_no_text_is_an_error_of_the_search(text: str) -> None:
    assert match_camera(text, [PluggedCamera("/dev/v4l/by-id/usb-cam", "/dev/video2", "Table Cam")]) == ()
