"""A USB camera by Video4Linux through PyAV: the camera's own JPEG packets with the kernel's time stamps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import av
import av.container
import av.packet
import numpy as np
from av.video.stream import VideoStream

from downfield.core.errors import InputError, SourceError
from downfield.rig.sources.camera_locks import CameraLocks, lock
from downfield.rig.sources.clocks import CaptureClock, IncreasingTimestamps, SourceClock
from downfield.rig.sources.http_mjpeg import reason
from downfield.rig.sources.source import CapturedFrame, SourceFacts, VideoPacket
from downfield.rig.sources.v4l2 import VideoDevice, cameras, opened

_RATE_SHORT: Final = 0.95
"""A rate below this share of what was asked is told: 59.94 for 60 is not."""


@dataclass(frozen=True, slots=True)
class CameraRequest:
    """What is asked of a camera.

    Attributes:
        size_px: width and height.
        fps: frames a second.
        locks: exposure, focus and white balance.

    """

    size_px: tuple[int, int] = (1920, 1080)
    fps: float = 60.0
    locks: CameraLocks = field(default_factory=CameraLocks)


class UsbCamera:
    """Takes pictures with a camera. They are left packed when it sends MJPEG.

    Args:
        camera: which.
        wanted: what is asked of it; what it refuses stands in the notes.
        clock: of the table.

    Raises:
        SourceError: it is gone, or somebody else has it.

    """

    def __init__(self, camera: VideoDevice, wanted: CameraRequest, clock: CaptureClock) -> None:
        self._camera = camera
        self._clock = clock
        self._closed = False
        notes: list[str] = []
        try:
            with opened(camera.path) as controls:
                packs = "MJPG" in controls.formats()
                notes += lock(controls, wanted.locks)
            self._container = _open(camera.path, wanted, packs=packs)
        except (av.FFmpegError, OSError) as error:
            raise SourceError(f"{camera.name} ({camera.path}): {_why(error)}") from None
        if not packs:
            notes.append("it does not send MJPEG; raw pictures of this size come slowly over USB, and must be packed")
        self._stream = self._container.streams.video[0]
        codec = self._stream.codec_context
        size_px = (codec.width, codec.height)
        rate = self._stream.average_rate
        fps = float(rate) if rate else None
        notes += _refused(wanted, size_px, fps)
        self._packed = codec.name == "mjpeg"
        name = "mjpeg" if self._packed else ""
        self._facts = SourceFacts("camera", camera.name, size_px, fps, live=True, codec=name, notes=tuple(notes))

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture, stamped by the kernel.

        Raises:
            SourceError: the camera was unplugged, or failed.

        """
        source_clock, rising = SourceClock(), IncreasingTimestamps()
        index = 0
        try:
            for packet in self._container.demux(self._stream):
                if self._closed:
                    return
                if not packet.size:
                    continue
                arrived_ns = time.monotonic_ns()
                captured_ns = arrived_ns
                if packet.pts is not None:
                    captured_ns = source_clock.monotonic_ns(round(packet.pts * packet.time_base * 10**9), arrived_ns)
                yield self._shot(index, rising(self._clock.of(captured_ns)), captured_ns, packet)
                index += 1
        except (av.FFmpegError, OSError) as error:
            if not self._closed:
                raise SourceError(f"{self._camera.name}: {_why(error)}") from None
        finally:
            self._container.close()
        if not self._closed:
            raise SourceError(f"{self._camera.name}: it stopped sending")

    def close(self) -> None:
        """End it, with the next picture."""
        self._closed = True

    def _shot(self, index: int, t_ns: int, captured_ns: int, packet: av.packet.Packet[VideoStream]) -> CapturedFrame:
        if self._packed:
            return CapturedFrame(index, t_ns, captured_ns, VideoPacket("mjpeg", bytes(packet)))
        (frame,) = self._stream.decode(packet)
        return CapturedFrame(
            index, t_ns, captured_ns, image=np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
        )


def find_camera(text: str) -> VideoDevice:
    """The camera somebody means: its number, device file, or a part of its name.

    Raises:
        InputError: there is none such, or more than one; lists those there are.

    """
    found = cameras()
    wanted = Path(f"/dev/video{text}") if text.isdigit() else Path(text)
    exact = [one for one in found if wanted in (one.path, one.device)]
    named = [one for one in found if text.lower() in f"{one.name} {one.path.name}".lower() and not text.isdigit()]
    for options in (exact, named):
        if len(options) == 1:
            return options[0]
    there = "; ".join(f"{one.name} ({one.path})" for one in found) or "none: is it plugged in, and may you read it?"
    many = "more than one camera is" if named else "no camera is"
    raise InputError(f"{many} called '{text}'; there are: {there}")


def _open(path: Path, wanted: CameraRequest, *, packs: bool) -> av.container.InputContainer:
    options = {
        "video_size": f"{wanted.size_px[0]}x{wanted.size_px[1]}",
        "framerate": f"{wanted.fps:g}",
    }
    if packs:
        options["input_format"] = "mjpeg"
    return av.open(str(path), format="v4l2", options=options)


def _refused(wanted: CameraRequest, size_px: tuple[int, int], fps: float | None) -> Iterator[str]:
    if size_px != wanted.size_px:
        yield f"size: asked for {wanted.size_px[0]}x{wanted.size_px[1]}, it sends {size_px[0]}x{size_px[1]}"
    if fps is not None and fps < _RATE_SHORT * wanted.fps:
        yield f"rate: asked for {wanted.fps:g} pictures a second, it sends {fps:g}"


def _why(error: Exception) -> str:
    by_number = {
        2: "it is not plugged in",
        13: "you may not read it: add yourself to the group 'video' and sign in again",
        16: "another program has it: close that, or let it take Downfield's picture instead (/camera.mjpeg)",
        19: "it was unplugged",
    }
    return by_number.get(getattr(error, "errno", None) or 0, reason(error))
