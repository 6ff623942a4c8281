"""RTSP, and any other network video PyAV opens: unpacked here, with the packets passed on for the recorder to copy."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Final

import av
import av.container
import numpy as np
from av.video.frame import VideoFrame

from downfield.core.errors import SourceError
from downfield.rig.sources.clocks import CaptureClock, IncreasingTimestamps, SourceClock
from downfield.rig.sources.http_mjpeg import reason, without_password
from downfield.rig.sources.source import CapturedFrame, SourceFacts, VideoPacket

SCHEMES: Final = ("rtsp", "rtsps", "rtmp", "srt", "udp", "tcp", "rtp")

_UNDER_WAY = 64
"""Packets remembered until their picture comes out of the decoder; live streams hold back a few at most."""

_OPTIONS: Final = {"fflags": "nobuffer", "flags": "low_delay", "rtsp_transport": "tcp"}
"""TCP, since a picture with holes is worse than one that comes 20 ms later."""


class NetworkVideo:
    """Reads a network stream.

    Args:
        url: where it is.
        clock: of the table.
        timeout_s: for connecting, and for silence.
        options: further ones of libavformat.

    Raises:
        SourceError: nobody answers there, or without video.

    """

    def __init__(
        self, url: str, clock: CaptureClock, *, timeout_s: float = 5.0, options: dict[str, str] | None = None
    ) -> None:
        self._name = without_password(url)
        self._clock = clock
        self._closed = False
        chosen = _OPTIONS | (options or {})
        if not url.startswith("rtsp"):
            chosen = {key: value for key, value in chosen.items() if not key.startswith("rtsp")}
        try:
            self._container: av.container.InputContainer = av.open(url, timeout=timeout_s, options=chosen)
        except (av.FFmpegError, OSError) as error:
            raise SourceError(f"{self._name}: can't be opened: {reason(error)}") from None
        if not self._container.streams.video:
            self._container.close()
            raise SourceError(f"{self._name}: carries no video")
        self._stream = self._container.streams.video[0]
        self._stream.codec_context.thread_count = 1
        fps = self._stream.average_rate or self._stream.guessed_rate
        self._facts = SourceFacts(
            "stream",
            self._name,
            (self._stream.width, self._stream.height),
            float(fps) if fps else None,
            live=True,
            codec=self._stream.codec_context.name,
        )

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture, with the stream's own time brought to this computer's clock.

        Raises:
            SourceError: the stream broke off, ended or fell silent.

        """
        source_clock, rising = SourceClock(), IncreasingTimestamps()
        index = 0
        try:
            for packed, frame, arrived_ns in self._decoded():
                captured_ns = arrived_ns
                if frame.pts is not None and frame.time_base is not None:
                    captured_ns = source_clock.monotonic_ns(round(frame.pts * frame.time_base * 10**9), arrived_ns)
                image = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
                yield CapturedFrame(index, rising(self._clock.of(captured_ns)), captured_ns, packed, image)
                index += 1
                if self._closed:
                    return
        except (av.FFmpegError, OSError) as error:
            if not self._closed:
                raise SourceError(f"{self._name}: the stream broke off: {reason(error)}") from None
        finally:
            self._container.close()
        if not self._closed:
            raise SourceError(f"{self._name}: the stream ended")

    def close(self) -> None:
        """End it, at the latest with the next picture or time-out."""
        self._closed = True

    def _decoded(self) -> Iterator[tuple[VideoPacket | None, VideoFrame, int]]:
        """Pictures with the packets they came in; no packet where pictures are sent in another order than shown."""
        header = bytes(self._stream.codec_context.extradata or b"")
        codec = self._stream.codec_context.name
        under_way: deque[tuple[int | None, VideoPacket]] = deque(maxlen=_UNDER_WAY)
        in_order, last_pts = True, None
        for packet in self._container.demux(self._stream):
            if self._closed:
                return
            arrived_ns = time.monotonic_ns()
            if packet.size:
                in_order = in_order and (last_pts is None or (packet.pts is not None and packet.pts > last_pts))
                last_pts = packet.pts
                under_way.append((packet.pts, VideoPacket(codec, bytes(packet), packet.is_keyframe, header)))
            for frame in packet.decode():
                packed = next((one for pts, one in under_way if pts == frame.pts), None)
                yield packed if in_order else None, frame, arrived_ns
