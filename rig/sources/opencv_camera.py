"""A camera through OpenCV, for where PyAV has no way to it: pictures come unpacked, with fewer promises about time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import cv2
import numpy as np

from downfield.core.errors import SourceError
from downfield.rig.sources.clocks import CaptureClock, IncreasingTimestamps, SourceClock
from downfield.rig.sources.source import CapturedFrame, SourceFacts
from downfield.rig.sources.usb_camera import CameraRequest


class OpenCvCamera:
    """Takes pictures with a camera.

    Args:
        number: 0 for the first.
        wanted: what is asked of it; what it refuses stands in the notes.
        clock: of the table.

    Raises:
        SourceError: it can't be opened.

    """

    def __init__(self, number: int, wanted: CameraRequest, clock: CaptureClock) -> None:
        self._clock = clock
        self._closed = False
        self._capture = cv2.VideoCapture(number)
        if not self._capture.isOpened():
            raise SourceError(f"camera {number} can't be opened: is it plugged in, and does no other program have it?")
        # The order matters: a size is looked for among those of the format, a rate among those of the size.
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, wanted.size_px[0])
        self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, wanted.size_px[1])
        self._capture.set(cv2.CAP_PROP_FPS, wanted.fps)
        size_px = (
            int(self._capture.get(cv2.CAP_PROP_FRAME_WIDTH)),
            int(self._capture.get(cv2.CAP_PROP_FRAME_HEIGHT)),
        )
        fps = self._capture.get(cv2.CAP_PROP_FPS) or None
        notes = ["exposure, focus and white balance are left to the camera on this system"]
        if size_px != wanted.size_px:
            notes.append(f"size: asked for {wanted.size_px[0]}x{wanted.size_px[1]}, it sends {size_px[0]}x{size_px[1]}")
        self._facts = SourceFacts("camera", f"camera {number}", size_px, fps, live=True, notes=tuple(notes))

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture.

        Raises:
            SourceError: none came.

        """
        source_clock, rising = SourceClock(), IncreasingTimestamps()
        index = 0
        try:
            while not self._closed:
                read, image = self._capture.read()
                arrived_ns = time.monotonic_ns()
                if not read:
                    raise SourceError(f"{self._facts.name}: it stopped sending")
                stamp_ms = self._capture.get(cv2.CAP_PROP_POS_MSEC)
                captured_ns = (
                    source_clock.monotonic_ns(round(stamp_ms * 1e6), arrived_ns) if stamp_ms > 0 else arrived_ns
                )
                t_ns = rising(self._clock.of(captured_ns))
                yield CapturedFrame(index, t_ns, captured_ns, image=np.asarray(image, dtype=np.uint8))
                index += 1
        finally:
            self._capture.release()

    def close(self) -> None:
        """End it, with the next picture."""
        self._closed = True
