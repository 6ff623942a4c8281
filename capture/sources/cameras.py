"""Cameras plugged into this computer as sources, through PyAV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import av
import av.packet
import numpy as np
from av.video.stream import VideoStream

from downfield.capture.source import CaptureClock, CapturedFrame, PictureTime, PictureTimes, SourceFacts, VideoPacket
from downfield.capture.sources.camera_request import CameraRequest, PluggedCamera
from downfield.capture.sources.camera_system import CameraSystem
from downfield.capture.sources.http_mjpeg import error_text
from downfield.capture.sources.source_clock import SourceClock
from downfield.core.errors import SourceError
from downfield.core.platform.clock import monotonic_ns

FULL_RATE_SHARE: Final = 0.95  # Frame rates below this share of the requested one are reported; 59.94 for 60 is not


class UsbCamera:
    """Captures from a camera: its JPEG packets, if it sends MJPEG, with the operating system's time stamps.

    What it refuses of the request is in the notes. Raises SourceError: it is unplugged, or another program uses it.
    """

    def __init__(
        self, system: CameraSystem, camera: PluggedCamera, request: CameraRequest, clock: CaptureClock
    ) -> None:
        self._camera = camera
        self._clock = clock
        self._closed = False
        try:
            opened = system.open(camera, request)
        except (av.FFmpegError, OSError) as error:
            raise SourceError(f"{camera.name} ({camera.identity}): {_error_text(error)}") from None
        self._container = opened.container
        self._stream = self._container.streams.video[0]
        codec = self._stream.codec_context
        size_px = (codec.width, codec.height)
        rate = self._stream.average_rate
        fps = float(rate) if rate else None
        self._is_mjpeg = codec.name == "mjpeg"
        notes = [*opened.notes, *_refused(request, size_px, fps)]
        if not self._is_mjpeg:
            notes.append("the camera does not send MJPEG; raw pictures are slow over USB and must be encoded to record")
        codec_name = "mjpeg" if self._is_mjpeg else ""
        self.facts = SourceFacts("camera", camera.name, size_px, fps, codec=codec_name, notes=tuple(notes))

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, stamped by the operating system.

        Raises:
            SourceError: the camera was unplugged, or failed.
        """
        source_clock, times = SourceClock(), PictureTimes()
        index = 0
        try:
            for packet in self._container.demux(self._stream):
                if self._closed:
                    return
                if not packet.size:
                    continue
                arrived_ns = monotonic_ns()
                captured_ns = arrived_ns
                if packet.pts is not None:
                    captured_ns = source_clock.to_monotonic(round(packet.pts * packet.time_base * 10**9), arrived_ns)
                yield self._frame(index, times(self._clock.from_monotonic(captured_ns)), captured_ns, packet)
                index += 1
        except (av.FFmpegError, OSError) as error:
            if not self._closed:
                raise SourceError(f"{self._camera.name}: {_error_text(error)}") from None
        finally:
            self._container.close()
        if not self._closed:
            raise SourceError(f"{self._camera.name}: the camera stopped sending")

    def close(self) -> None:
        """Stop at the next picture."""
        self._closed = True

    def _frame(
        self, index: int, taken: PictureTime, captured_ns: int, packet: av.packet.Packet[VideoStream]
    ) -> CapturedFrame:
        t_ns, error_ns = taken
        if self._is_mjpeg:
            return CapturedFrame(index, t_ns, captured_ns, VideoPacket("mjpeg", bytes(packet)), t_sigma_ns=error_ns)
        (decoded,) = self._stream.decode(packet)
        image = np.asarray(decoded.to_ndarray(format="bgr24", threads=1), dtype=np.uint8)
        return CapturedFrame(index, t_ns, captured_ns, image=image, t_sigma_ns=error_ns)


def _refused(request: CameraRequest, size_px: tuple[int, int], fps: float | None) -> Iterator[str]:
    if size_px != request.size_px:
        requested = f"{request.size_px[0]}x{request.size_px[1]}"
        yield f"size: {requested} requested, but the camera sends {size_px[0]}x{size_px[1]}"
    if fps is not None and fps < FULL_RATE_SHARE * request.fps:
        yield f"frame rate: {request.fps:g} frames/s requested, but the camera sends {fps:g}"


def _error_text(error: Exception) -> str:
    by_number = {
        2: "it is not plugged in",
        13: "you are not allowed to read it. Add yourself to the group 'video' and sign in again",
        16: "another program is using it. Close that program, or let it use Downfield's picture (/camera.mjpeg)",
        19: "it was unplugged",
    }
    return by_number.get(getattr(error, "errno", None) or 0, error_text(error))
