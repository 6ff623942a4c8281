"""The cameras plugged into this computer, by whatever its operating system finds and opens them with.

Linux has Video4Linux (`v4l2`), which alone tells settings and formats. Windows has DirectShow and macOS AVFoundation,
both through FFmpeg in PyAV: https://ffmpeg.org/ffmpeg-devices.html. There a camera's automatic exposure, focus and
white balance can't be switched off; the notes say so.

A camera that lost power forgets its focus, exposure and white balance, and all else that makes a picture what it was
calibrated and tracked with. So what it is held at is read when it is first opened, and set again when it or the rig
comes back. `apply_controls` alone, which switches its adjustments off, would hold whatever it woke up with.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import av
import av.container

from downfield.capture.sources.camera_request import (
    CameraControls,
    CameraRequest,
    ControlMode,
    HeldValuesFile,
    PluggedCamera,
)
from downfield.capture.sources.v4l2 import (
    BY_PATH,
    EXPOSURE,
    FOCUS,
    WHITE_BALANCE,
    DeviceControls,
    apply_controls,
    list_devices,
    open_device,
)
from downfield.core.errors import InputError
from downfield.core.platform.system import SYSTEM, System

_HELD: Final = {
    EXPOSURE: "exposure",
    FOCUS: "focus",
    WHITE_BALANCE: "white balance",
    0x009A090D: "zoom",
    0x009A0908: "pan",
    0x009A0909: "tilt",
    0x00980913: "gain",
    0x00980900: "brightness",
    0x00980901: "contrast",
    0x00980902: "saturation",
    0x00980903: "hue",
    0x00980910: "gamma",
    0x0098091B: "sharpness",
    0x0098091C: "backlight compensation",
    0x00980918: "power line frequency",
}
"""The controls whose values make the picture, by ``linux/v4l2-controls.h``."""


class HeldControls:
    """The values that one camera is held at, from its first opening on; a file keeps them for the rig's next start."""

    def __init__(self, identity: str = "", file: HeldValuesFile | None = None) -> None:
        self._identity, self._file = identity, file
        self._values: dict[int, int] = {}
        self._is_known = False

    def hold(self, device: DeviceControls, requested: CameraControls) -> list[str]:
        """Read the values at the first opening, unless an earlier start kept them; set them at every later one.

        Args:
            device: the camera, its automatic adjustments set as requested; a value that is left to it is not held.

        Returns:
            What the camera does not take again, and what is set as it was before this start, one line each.
        """
        modes: dict[int, ControlMode]
        modes = {EXPOSURE: requested.exposure, FOCUS: requested.focus, WHITE_BALANCE: requested.white_balance}
        notes: list[str] = []
        kept = {} if self._file is None or self._is_known else self._file.read(self._identity)
        for number, name in _HELD.items():
            control = None if modes.get(number) == "auto" else device.find(number)
            now = None if control is None else device.value(number)
            if control is None or now is None:
                continue
            start = now if isinstance(modes.get(number), int) else kept.get(name, now)
            is_possible = control.lowest <= start <= control.highest
            before = self._values.setdefault(number, start if is_possible else now)
            if abs(now - before) <= control.step:
                continue
            woken, now = now, _set_again(device, number, before, now)
            if abs(now - before) > control.step:
                notes.append(
                    f"{name}: it came back with {now} and can't be set to {before} as before. Set it by hand, or"
                    " calibrate again"
                )
            elif not self._is_known:
                notes.append(
                    f"{name}: it was {woken} and is {before} again, as when the rig last used this camera. To keep"
                    " another value, set the table up again"
                )
        self._is_known = True
        if self._file is not None:
            held = {name: self._values[number] for number, name in _HELD.items() if number in self._values}
            self._file.write(self._identity, held)
        return notes


def _set_again(device: DeviceControls, control: int, value: int, now: int) -> int:
    """Set a control to a value; return what it is at afterward, ``now`` where the camera refuses."""
    try:
        return device.set(control, value)
    except OSError:
        return now


_CONTROLS_NOTE: Final = "exposure, focus and white balance can't be set on this system"
_FALLBACK_FPS: Final = 30.0  # Tried where the requested rate is refused: hardly a camera is without it

_BUFFERED_BYTES: Final = 64 << 20  # DirectShow drops frames beyond this; its 3 MB are less than one raw 1080p picture


@dataclass(frozen=True, slots=True)
class OpenedCamera:
    """A camera that sends."""

    container: av.container.InputContainer
    notes: tuple[str, ...] = ()  # settings it refused, for people


class CameraSystem(Protocol):
    """One operating system's way to its cameras."""

    def list(self) -> tuple[PluggedCamera, ...]:
        """Return every camera that is plugged in."""

    def open(self, camera: PluggedCamera, request: CameraRequest) -> OpenedCamera:
        """Open one. Raises av.FFmpegError, OSError: it was unplugged, another program has it, or it may not be used."""


@dataclass(frozen=True, slots=True)
class InputDevice:
    """What FFmpeg lists: the fields of PyAV's `DeviceInfo` that are used here."""

    name: str
    description: str
    media_types: Sequence[str]


ListInputs = Callable[[str], Iterable[InputDevice]]
OpenInput = Callable[..., av.container.InputContainer]
OpenControls = Callable[[Path], AbstractContextManager[DeviceControls]]


class Video4Linux:
    """Cameras of Linux. A camera that comes back is held at the values of its first opening (`HeldControls`)."""

    def __init__(self, open_controls: OpenControls = open_device, open_input: OpenInput | None = None) -> None:
        self._open_controls, self._open = open_controls, open_input or av.open
        self._held: dict[str, HeldControls] = {}

    def list(self) -> tuple[PluggedCamera, ...]:
        """See `CameraSystem.list`."""
        return list_devices()

    def open(self, camera: PluggedCamera, request: CameraRequest) -> OpenedCamera:
        """See `CameraSystem.open`."""
        device = Path(camera.identity)
        with self._open_controls(device) as controls:
            sends_mjpeg = "MJPG" in controls.formats()
            notes = apply_controls(controls, request.controls)
        options = _size_and_rate(request) | ({"input_format": "mjpeg"} if sends_mjpeg else {})
        container = self._open(camera.identity, format="v4l2", options=options)
        held = self._held.setdefault(camera.identity, HeldControls(camera.identity, request.held))
        with suppress(OSError), self._open_controls(device) as controls:  # some cameras begin anew when they send
            notes += held.hold(controls, request.controls)
        return OpenedCamera(container, tuple(notes))


class _ThroughFfmpeg:
    """Cameras that FFmpeg finds and opens.

    Args:
        list_inputs, open_input: `av.enumerate_input_devices` and `av.open`; tests put others in their place.
    """

    def __init__(self, list_inputs: ListInputs | None = None, open_input: OpenInput | None = None) -> None:
        self._list, self._open = list_inputs or _list_inputs, open_input or av.open

    def _cameras(self, form: str) -> Iterator[InputDevice]:
        return (device for device in self._list(form) if "video" in device.media_types)

    def _first_that_opens(self, name: str, form: str, attempts: Sequence[dict[str, str]]) -> OpenedCamera:
        """Open an input with the first settings that it accepts; raise what the last ones raised."""
        for options in attempts[:-1]:
            with suppress(av.FFmpegError, OSError):  # refused settings and a missing camera look the same here
                return OpenedCamera(self._open(name, format=form, options=options), (_CONTROLS_NOTE,))
        return OpenedCamera(self._open(name, format=form, options=attempts[-1]), (_CONTROLS_NOTE,))


class DirectShow(_ThroughFfmpeg):
    """Cameras of Windows."""

    def list(self) -> tuple[PluggedCamera, ...]:
        """See `CameraSystem.list`; the identity is the name that Windows gives to camera and port."""
        return tuple(PluggedCamera(found.name, found.name, found.description) for found in self._cameras("dshow"))

    def open(self, camera: PluggedCamera, request: CameraRequest) -> OpenedCamera:
        """See `CameraSystem.open`: as MJPEG if the camera sends that, at the requested size and rate if it has them."""
        buffered = {"rtbufsize": str(_BUFFERED_BYTES)}
        attempts = [options | coded for coded in ({"vcodec": "mjpeg"}, {}) for options in _from_best(request)]
        return self._first_that_opens(f"video={camera.address}", "dshow", [a | buffered for a in attempts])


class AvFoundation(_ThroughFfmpeg):
    """Cameras of macOS, which come and go by a number, and are known by their name."""

    def list(self) -> tuple[PluggedCamera, ...]:
        """See `CameraSystem.list`; of cameras with one name, the second's identity ends with ``#2``. No screens."""
        found, seen = [], Counter[str]()
        for device in self._cameras("avfoundation"):
            if device.description.startswith("Capture screen"):
                continue
            seen[device.description] += 1
            count = seen[device.description]
            identity = device.description if count == 1 else f"{device.description} #{count}"
            found.append(PluggedCamera(identity, device.name, identity))
        return tuple(found)

    def open(self, camera: PluggedCamera, request: CameraRequest) -> OpenedCamera:
        """See `CameraSystem.open`; a camera that was plugged in again has another number."""
        numbers = {now.identity: now.address for now in self.list()}
        if camera.identity not in numbers:
            raise FileNotFoundError(2, "it is not plugged in")
        attempts = [options | {"pixel_format": "nv12"} for options in _from_best(request)]
        return self._first_that_opens(f"{numbers[camera.identity]}:none", "avfoundation", attempts)


def camera_system(system: System = SYSTEM) -> CameraSystem | None:
    """Return the way to the cameras of an operating system; None where there is none."""
    if system == "linux" and any("v4l2" in name for name in av.formats_available):
        return Video4Linux()
    if system == "windows":
        return DirectShow()
    return AvFoundation() if system == "macos" else None


def list_cameras() -> tuple[PluggedCamera, ...]:
    """Return every camera that is plugged in; none where they can't be opened."""
    cameras = camera_system()
    return () if cameras is None else cameras.list()


def match_camera(text: str, cameras: Sequence[PluggedCamera]) -> tuple[PluggedCamera, ...]:
    """Return the cameras that a number, a device file, an identity or a part of a name may mean."""
    names = {text, f"/dev/video{text}"} if text.isdecimal() else {text}
    if text.startswith(str(BY_PATH)):  # names a port, whatever camera is in it
        names.add(os.path.realpath(text))
    exact = tuple(camera for camera in cameras if names & {camera.identity, camera.address})
    if exact:
        return exact
    if text.isdecimal():  # where cameras have no number of their own, it counts them
        by_place = SYSTEM != "linux" and int(text) < len(cameras)
        return (cameras[int(text)],) if by_place else ()
    if not text:
        return ()
    return tuple(camera for camera in cameras if text.lower() in f"{camera.name} {Path(camera.identity).name}".lower())


def find_camera(text: str) -> PluggedCamera:
    """Return the camera with a number, a device file or a part of a name.

    Raises:
        InputError: no camera matches, or more than one; lists the available cameras.
    """
    cameras = list_cameras()
    matches = match_camera(text, cameras)
    if len(matches) == 1:
        return matches[0]
    count = "More than one camera matches" if matches else "No camera matches"
    if not cameras:
        raise InputError(f"{count} '{text}': no camera was found. Plug it in, and check that {_PERMISSION[SYSTEM]}.")
    named = "; ".join(f"{camera.name} ({camera.identity})" for camera in cameras)
    raise InputError(f"{count} '{text}'. Choose one of these: {named}")


_PERMISSION: Final[dict[System, str]] = {
    "linux": "you may read /dev/video*",
    "windows": "Settings > Privacy & security > Camera lets desktop apps use it",
    "macos": "System Settings > Privacy & Security > Camera lets your terminal use it",
    "other": "you may use it",
}


def _list_inputs(name: str) -> list[InputDevice]:
    try:
        return [InputDevice(each.name, each.description, each.media_types) for each in av.enumerate_input_devices(name)]
    except (av.FFmpegError, OSError, ValueError):
        return []  # FFmpeg says so where there is no camera


def _size_and_rate(request: CameraRequest) -> dict[str, str]:
    return {"video_size": f"{request.size_px[0]}x{request.size_px[1]}", "framerate": f"{request.fps:g}"}


def _from_best(request: CameraRequest) -> list[dict[str, str]]:
    """Return the settings to ask for, from what was requested to whatever the camera sends by itself."""
    requested = _size_and_rate(request)
    slower = [requested | {"framerate": f"{_FALLBACK_FPS:g}"}] if request.fps > _FALLBACK_FPS else []
    return [requested, *slower, {"framerate": f"{_FALLBACK_FPS:g}"}, {}]
