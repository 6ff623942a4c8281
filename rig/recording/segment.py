"""One file of a recording, with its index: readable up to the last half second whatever happens to the process."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import av
import av.container

from downfield.core.errors import OutputError
from downfield.core.records import to_json
from downfield.rig.recording.index import RecordedFrame, RecordingIndexHeader, index_of
from downfield.rig.sources.source import CapturedFrame, VideoPacket

_NS: Final = Fraction(1, 1_000_000_000)
_CLUSTER_MS: Final = 500
"""What Matroska holds back before it writes; MJPEG leaves with every picture."""

_BUFFER: Final = 1 << 20
"""Bytes: a picture is written in one go, not in ten between which other threads are waited for."""

_SYNC_NS: Final = 1_000_000_000
"""How much a power failure may cost."""

OpenFile = Callable[[Path], BinaryIO]


def open_new(path: Path) -> BinaryIO:
    """A new file, written through without a buffer."""
    return path.open("xb", buffering=0)


class RecordingSegment:
    """A Matroska file and its index being written.

    Args:
        path: of the video, ``*.mkv``; the index lies beside it.
        first: the first packet, a key frame.
        header: of the index.
        open_file: opens both.

    Raises:
        OutputError: they can't be written, or the packet can't be put into a file.

    """

    def __init__(
        self, path: Path, first: VideoPacket, header: RecordingIndexHeader, open_file: OpenFile = open_new
    ) -> None:
        self.path = path
        self.began_ns: int | None = None
        self.last_ns = 0
        self._synced_ns = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._video, self._index = open_file(path), open_file(index_of(path))
            self._index.write(to_json(RecordingIndexHeader, header).encode() + b"\n")
            self._container: av.container.OutputContainer = av.open(
                self._video,
                "w",
                format="matroska",
                options={"cluster_time_limit": str(_CLUSTER_MS), "flush_packets": "1"},
                buffer_size=_BUFFER,
            )
            with av.open(io.BytesIO(first.header + first.data), format=first.codec) as like:
                self._stream = self._container.add_stream_from_template(like.streams.video[0])
            self._stream.time_base = Fraction(1, 1000)
        except (OSError, av.FFmpegError) as error:
            raise OutputError(f"{path}: can't be written: {error.strerror}") from None

    def add(self, shot: CapturedFrame, packed: VideoPacket) -> None:
        """Append a picture.

        Raises:
            OutputError: the disk does not take it.

        """
        if self.began_ns is None:
            self.began_ns = shot.t_ns
        packet = av.Packet(packed.data)
        packet.pts = packet.dts = shot.t_ns - self.began_ns
        packet.time_base = _NS
        packet.is_keyframe = packed.key
        packet.stream = self._stream
        try:
            self._container.mux(packet)
            self._index.write(to_json(RecordedFrame, RecordedFrame(shot.index, shot.t_ns)).encode() + b"\n")
            if shot.t_ns - self._synced_ns > _SYNC_NS:
                self._synced_ns = shot.t_ns
                os.fsync(self._video.fileno())
                os.fsync(self._index.fileno())
        except (OSError, av.FFmpegError) as error:
            raise OutputError(f"{self.path}: can't be written: {error.strerror}") from None
        self.last_ns = shot.t_ns

    @property
    def seconds(self) -> float:
        """How long it is."""
        return 0.0 if self.began_ns is None else (self.last_ns - self.began_ns) / 1e9

    def close(self) -> None:
        """End it; on a full disk it stays as a crash would leave it, which can be read."""
        try:
            self._container.close()
        except (OSError, av.FFmpegError):
            pass
        finally:
            self._video.close()
            self._index.close()
