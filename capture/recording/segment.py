"""One file of a recording with its index; after a crash it is readable except for the last half second."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import av
import av.codec
import av.container
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType

from downfield.capture.recording.recording_library import RecordedFrame, RecordingIndexHeader, index_path
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.core.errors import OutputError, SourceError
from downfield.core.files.private_files import make_private_folder, private_opener
from downfield.core.records import to_json

_START_CODES: Final = (b"\0\0\1", b"\0\0\0\1")
_NS: Final = Fraction(1, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """Sizes and times of writing a recorded file."""

    default_fps: float = 30.0
    """Frame rate assumed of a source that reports none."""

    cluster_ms: int = 500
    """Longest stretch of video that Matroska buffers; MJPEG is written with every frame."""

    buffer_bytes: int = 1 << 20
    """Large enough to write a frame in one call: between several calls, other threads would hold up the writer."""

    key_s: float = 0.5
    """Time between two key frames: any frame is shown after decoding half as many as with one a second, for 19 % more
    video (measured on the bundled recording with sensor noise)."""

    slices: int = 4
    """Parts of a picture that can be decoded at once, for 1 % more video."""

    sync_ns: int = 1_000_000_000
    """Time between two flushes to the disk: the most that a power failure can lose."""


_LIMITS: Final = SegmentLimits()

OpenFile = Callable[[Path], BinaryIO]


def can_copy(packet: VideoPacket | None) -> bool:
    """Return whether a packet can be stored in a file unchanged.

    JPEG can, and so can H.264 as sent in streams. Packets from H.264 files have another form, with separate headers.
    """
    if packet is None:
        return False
    return packet.codec == "mjpeg" or (packet.codec == "h264" and packet.data.startswith(_START_CODES))


class H264Encoder:
    """Encodes frames as H.264.

    Args:
        size_px: size of the frames; an odd edge is cut off.
        fps: nominal frame rate; a key frame comes every half second.
    """

    def __init__(self, size_px: tuple[int, int], fps: float | None) -> None:
        context = av.codec.CodecContext.create("libx264", "w")
        if not isinstance(context, VideoCodecContext):
            raise TypeError("libx264 is a video codec")
        context.width, context.height = (edge - edge % 2 for edge in size_px)
        context.pix_fmt = "yuv420p"
        context.time_base = _NS
        context.framerate = Fraction(fps or _LIMITS.default_fps).limit_denominator(1001)
        context.gop_size = max(1, round((fps or _LIMITS.default_fps) * _LIMITS.key_s))
        context.thread_count = 1
        # Every packet is returned at once, so that a crash loses none.
        speed = {"preset": "veryfast", "tune": "zerolatency", "crf": "20"}
        context.options = {**speed, "slices": str(_LIMITS.slices)}
        self._context = context
        self._pts = 0

    def encode(self, frame: CapturedFrame, *, key: bool) -> VideoPacket | None:
        """Return a frame as a packet; None in the rare case that the encoder holds it back.

        Args:
            key: whether the frame must be decodable by itself.

        Raises:
            SourceError: the picture is damaged, or smaller than it was when the encoder was made.
        """
        image = frame.decode().image[: self._context.height, : self._context.width]
        if image.shape[:2] != (self._context.height, self._context.width):
            raise SourceError(f"frame {frame.index}: the picture has another size than those before")
        picture = av.VideoFrame.from_ndarray(image, format="bgr24")
        picture.pts, picture.time_base = self._pts, _NS
        self._pts += 1_000_000
        if key:
            picture.pict_type = PictureType.I
        packets = self._context.encode(picture)
        if not packets:
            return None
        return VideoPacket("h264", bytes(packets[0]), packets[0].is_keyframe)


def create_file(path: Path) -> BinaryIO:
    """Create a file that is written through without a buffer, for its owner only."""
    return open(path, "xb", buffering=0, opener=private_opener)


class RecordingSegment:
    """A Matroska file and its index being written.

    Args:
        path: path of the video, ``*.mkv``; the index lies beside it.
        first: the first packet, a key frame.

    Raises:
        OutputError: they can't be written, or the packet can't be put into a file.
    """

    def __init__(
        self, path: Path, first: VideoPacket, header: RecordingIndexHeader, open_file: OpenFile = create_file
    ) -> None:
        self.path = path
        self._began_ns: int | None = None
        self._last_ns = 0
        self._synced_ns = 0
        try:
            make_private_folder(path.parent)
            self._video, self._index = open_file(path), open_file(index_path(path))
            self._index.write(to_json(RecordingIndexHeader, header).encode() + b"\n")
            self._container: av.container.OutputContainer = av.open(
                self._video,
                "w",
                format="matroska",
                options={"cluster_time_limit": str(_LIMITS.cluster_ms), "flush_packets": "1"},
                buffer_size=_LIMITS.buffer_bytes,
            )
            with av.open(io.BytesIO(first.extradata + first.data), format=first.codec) as template:
                self._stream = self._container.add_stream_from_template(template.streams.video[0])
            self._stream.time_base = Fraction(1, 1000)
        except (OSError, av.FFmpegError) as error:
            raise OutputError(f"{path}: can't be written: {error.strerror}") from None

    @property
    def seconds(self) -> float:
        """The duration of the file, seconds."""
        return 0.0 if self._began_ns is None else (self._last_ns - self._began_ns) / 1e9

    def add(self, frame: CapturedFrame, packet: VideoPacket) -> None:
        """Append a frame, encoded as a packet.

        Raises:
            OutputError: the disk does not accept it.
        """
        if self._began_ns is None:
            self._began_ns = frame.t_ns
        muxed = av.Packet(packet.data)
        muxed.pts = muxed.dts = frame.t_ns - self._began_ns
        muxed.time_base = _NS
        muxed.is_keyframe = packet.is_keyframe
        muxed.stream = self._stream
        try:
            self._container.mux(muxed)
            self._index.write(to_json(RecordedFrame, RecordedFrame(frame.index, frame.t_ns)).encode() + b"\n")
            if frame.t_ns - self._synced_ns > _LIMITS.sync_ns:
                self._synced_ns = frame.t_ns
                os.fsync(self._video.fileno())
                os.fsync(self._index.fileno())
        except (OSError, av.FFmpegError) as error:
            raise OutputError(f"{self.path}: can't be written: {error.strerror}") from None
        self._last_ns = frame.t_ns

    def close(self) -> None:
        """Finish the file; on a full disk it is left as after a crash, which is readable."""
        try:
            self._container.close()
        except (OSError, av.FFmpegError):
            pass
        finally:
            self._video.close()
            self._index.close()
