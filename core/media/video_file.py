"""Video files as phones, recorders and editors make them: every picture upright, with its time, past any damage.

FFmpeg decodes them all, but leaves to its callers what a player does: which of several streams is the video and not
its cover, how the picture is to be turned, mirrored or widened, when a bare stream's picture is, what follows damage.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

import av
import numpy as np
from av.packet import Packet
from av.sidedata.sidedata import SideDataContainer, Type
from av.video.reformatter import Interpolation, VideoReformatter
from av.video.stream import VideoStream

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.media.video_streams import (
    BARE_FORMATS,
    DECODER_BOUNDS,
    JPEG_DECODER,
    MAX_PIXELS,
    bare_rate,
    frame_rate,
    open_video,
    pixel_aspect,
    unreadable_hint,
    video_stream,
)

_FAILED_READS: Final = 50  # reads that fail one after the other, before the rest of a file is given up
_DAMAGED_AT_FIRST: Final = 250
"""Pictures without a decodable one before a file is no video: encoders put a key picture at least so often."""
_FPS: Final = 30.0  # of a file that has no rate and no times

Stored = tuple[int, int, int, int]
"""The linear part of a display matrix, rounded to -1, 0 and 1: x' = a x + c y, y' = b x + d y, as (a, b, c, d)."""

_AS_STORED: Final[Stored] = (1, 0, 0, 1)

_ROTATED: Final[Mapping[int, Stored]] = {
    -90: (0, 1, -1, 0),
    90: (0, -1, 1, 0),
    180: (-1, 0, 0, -1),
    -180: (-1, 0, 0, -1),
}
"""The same of a picture that is only turned, by the angle that PyAV gives, degrees."""

_SCALED_AS_STORED: Final = frozenset({"yuv420p", "yuvj420p", "yuv422p", "yuvj422p"})
"""Colors in which pictures are scaled as they are, and converted once they are small, in half of the time."""


class _Thread(threading.local):
    """Holds a scaler, which serves one thread at a time and keeps its tables from picture to picture."""

    def __init__(self) -> None:
        self.scaler = VideoReformatter()


_THREAD: Final = _Thread()


@dataclass(frozen=True, slots=True)
class VideoPicture:
    """One picture of a file."""

    position: int  # its number, from 0, in the order shown. Damaged ones are counted where they were met.
    # its time in the file. Where pictures are not stored as shown, a damaged one has that of the picture before.
    t_ns: int
    frame: av.VideoFrame | None  # the decoded picture; None if it is damaged
    pixel_aspect: float = 1.0  # width of a stored pixel by its height

    def to_bgr(self) -> Image | None:
        """Return its pixels as they are to be seen, uint8 BGR, shape (height, width, 3); None if it is damaged."""
        return None if self.frame is None else upright_bgr(self.frame, pixel_aspect=self.pixel_aspect)


@dataclass(frozen=True, slots=True)
class _Decoded:
    """What a packet holds: its picture, None if damaged, and its time in ticks of the stream, None if not known."""

    frame: av.VideoFrame | None
    pts: int | None


class VideoReader:
    """Reads the pictures of one video file, in order.

    Raises:
        InputError: it is missing, is no video, or holds no picture that can be decoded.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        self._path = path
        try:
            self._container = open_video(path)
        except (av.FFmpegError, ValueError):
            raise InputError(f"{path}: not a readable video file{unreadable_hint(path)}") from None
        self._failure: av.FFmpegError | None = None
        try:
            self.stream = video_stream(self._container)
            self.fps = frame_rate(self.stream)  # nominal; None if the file has none
            self.pixel_aspect = pixel_aspect(self.stream)  # width of a stored pixel by its height
            decoder = self.stream.codec_context
            decoder.thread_count = 1
            decoder.options = {**DECODER_BOUNDS, **(JPEG_DECODER if decoder.name == "mjpeg" else {})}
            self._decoding = self._decoded()
            self._first = self._first_pictures()
        except BaseException:
            self._container.close()
            raise
        shown = self._first[-1].frame
        if shown is None:
            self._container.close()
            raise InputError(f"{path}: none of its pictures can be decoded")
        self.size_px = upright_size_px(shown, self.pixel_aspect)  # as its pictures are to be seen, in square pixels
        self._stored_size_px = (shown.width, shown.height)
        # A bare stream's pictures carry no times: they are counted at its rate.
        self.has_times = self._container.format.name not in BARE_FORMATS and shown.pts is not None
        if not self.has_times:
            self.fps = bare_rate(self.stream) or self.fps

    @property
    def has_sound(self) -> bool:
        """Whether the file has sound."""
        return bool(self._container.streams.audio)

    @property
    def count(self) -> int | None:
        """Number of its pictures, as the file says; None if it does not."""
        return self.stream.frames or None

    def pictures(self) -> Iterator[VideoPicture]:
        """Yield every picture once, damaged ones as such; times rise. Raises InputError: the rest is unreadable."""
        fps = self.fps or _FPS
        time_base = self.stream.time_base or Fraction(1, 1000)
        t_ns, shift_ns = None, 0
        for position, decoded in enumerate(chain(self._first, self._decoding)):
            if not self.has_times:
                t_ns = round(position * 1e9 / fps)
            elif decoded.pts is not None:
                file_ns = round(decoded.pts * time_base * 1_000_000_000)
                if t_ns is not None and file_ns + shift_ns < t_ns:
                    shift_ns = t_ns + round(1e9 / fps) - file_ns  # two recordings, one after the other
                t_ns = file_ns + shift_ns
            elif t_ns is None or decoded.frame is not None:
                t_ns = 0 if t_ns is None else t_ns + round(1e9 / fps)
            frame = decoded.frame
            is_whole = frame is not None and self._is_whole(frame)
            yield VideoPicture(position, t_ns, frame if is_whole else None, self.pixel_aspect)

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def _is_whole(self, frame: av.VideoFrame) -> bool:
        """Return whether a picture is one of this video and was not patched up around damage."""
        size_px = (frame.width, frame.height)
        return not frame.is_corrupt and size_px in (self._stored_size_px, self._stored_size_px[::-1])

    def _first_pictures(self) -> list[_Decoded]:
        """Return the pictures up to the first that can be decoded; the last one is damaged if there is none."""
        first: list[_Decoded] = []
        with suppress(InputError):
            for decoded in self._decoding:
                first.append(decoded)
                if decoded.frame is not None or len(first) >= _DAMAGED_AT_FIRST:
                    break
        return first or [_Decoded(None, None)]

    def _decoded(self) -> Iterator[_Decoded]:
        """Yield every picture."""
        for packet in self._packets():
            if packet is None:
                yield _Decoded(None, None)
                continue
            try:
                frames = packet.decode()
            except av.FFmpegError:
                yield _Decoded(None, None if self.stream.codec_context.has_b_frames else packet.pts)
            else:
                yield from (_Decoded(frame, frame.pts) for frame in frames if isinstance(frame, av.VideoFrame))

    def _packets(self) -> Iterator[Packet[VideoStream] | None]:
        """Yield every packet, and None for what can't be read. Raises InputError: nothing more can be read."""
        failed = 0
        while True:
            try:
                for packet in self._container.demux(self.stream):
                    failed = 0
                    yield packet
            except av.FFmpegError as error:
                failed += 1
                if failed == 1:
                    yield None
                if failed >= _FAILED_READS:
                    raise InputError(f"{self._path}: the rest can't be read: {error.strerror}") from None
            else:
                return


def count_packets(path: Path) -> int:
    """Return how many pictures a file holds up to where it can't be read. Raises InputError: it is no video."""
    try:
        container = open_video(path)
    except (av.FFmpegError, ValueError):
        raise InputError(f"{path}: not a readable video file") from None
    count = 0
    with container, suppress(av.FFmpegError):
        for packet in container.demux(video_stream(container)):
            count += bool(packet.size) and not packet.is_discard
    return count


def upright_bgr(frame: av.VideoFrame, width_px: int | None = None, *, pixel_aspect: float = 1.0) -> Image:
    """Return a picture turned, mirrored and widened as its file says, uint8 BGR, shape (height, width, 3).

    Args:
        width_px: how wide it is at most, see `even_size_px`; None for its own size. Scaling in the step that converts
            the colors, or before it, takes half of the time that scaling afterwards does.
        pixel_aspect: width of a stored pixel by its height.
    """
    # One thread, here and everywhere: otherwise each frame starts and ends threads of its own for the conversion, and a
    # process that is forked meanwhile, which has none of them, waits for them for ever once it frees the frame.
    a, b, c, d = _display_matrix(frame)
    own = square_size_px((frame.width, frame.height), pixel_aspect)
    own = own if a else own[::-1]
    size = own if width_px is None else even_size_px(own, width_px)
    width, height = size if a else size[::-1]
    if (width, height) == (frame.width, frame.height):
        image = np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8)
    else:
        image = np.asarray(_scaled(frame, width, height).to_ndarray(format="bgr24", threads=1), dtype=np.uint8)
    if a == 0:
        image = image.transpose(1, 0, 2)
        a, d = c, b
    if a < 0:
        image = image[:, ::-1]
    if d < 0:
        image = image[::-1]
    return np.ascontiguousarray(image)


def is_turned(frame: av.VideoFrame) -> bool:
    """Return whether a picture is to be turned or mirrored before it is shown."""
    return _display_matrix(frame) != _AS_STORED


def upright_size_px(frame: av.VideoFrame, pixel_aspect: float = 1.0) -> tuple[int, int]:
    """Return width and height of a picture turned and widened as its file says."""
    size = square_size_px((frame.width, frame.height), pixel_aspect)
    return size if _display_matrix(frame)[0] else size[::-1]


def even_size_px(size_px: tuple[int, int], width_px: int) -> tuple[int, int]:
    """Return the size of a picture that is no wider than this; its edges are even, as video needs."""
    width, height = size_px
    wanted = min(width, width_px)
    return wanted // 2 * 2, round(height * wanted / width / 2) * 2


def square_size_px(size_px: tuple[int, int], pixel_aspect: float) -> tuple[int, int]:
    """Return the size of a picture in square pixels: larger than it is stored, never smaller."""
    width, height = size_px
    wide = (round(width * pixel_aspect), height) if pixel_aspect > 1 else (width, round(height / pixel_aspect))
    return wide if wide[0] * wide[1] <= MAX_PIXELS else size_px


def _scaled(frame: av.VideoFrame, width: int, height: int) -> av.VideoFrame:
    """Return a picture of another size, in the colors in which that is cheapest."""
    colors = frame.format.name if frame.format.name in _SCALED_AS_STORED else "bgr24"
    smaller = width <= frame.width and height <= frame.height
    method = Interpolation.AREA if smaller else Interpolation.BICUBIC
    return _THREAD.scaler.reformat(frame, width, height, colors, interpolation=method, threads=1)


def _display_matrix(frame: av.VideoFrame) -> Stored:
    """Return how a picture is to be turned: by quarters, as cameras do; any other angle is left."""
    # A frame whose side data were read keeps them, and they keep the frame: such a pair stays in memory, with its
    # picture, until garbage is collected, which a live rig does not do for half a day.
    side_data = cast("Any", SideDataContainer).__new__(SideDataContainer)
    with suppress(ValueError):  # of a kind that PyAV does not know, such as the EXIF data of a photo
        side_data.__init__(frame)
    every = (side_data[number] for number in range(len(side_data)))  # PyAV 19 iterates over their kinds, 18 over them
    found = next((data for data in every if _is_matrix(data)), None)
    if found is None:  # or one that comes after such
        return _ROTATED.get(frame.rotation, _AS_STORED)
    values = np.frombuffer(bytes(found), dtype=np.int32)[:5].astype(np.float64)
    largest = np.abs(values[[0, 1, 3, 4]]).max(initial=0.0)
    if largest == 0:
        return _AS_STORED
    a, b, c, d = (round(value / largest) for value in values[[0, 1, 3, 4]])
    return (a, b, c, d) if abs(a * d - b * c) == 1 and abs(a) == abs(d) != abs(b) == abs(c) else _AS_STORED


def _is_matrix(data: Any) -> bool:
    try:
        return bool(data.type is Type.DISPLAYMATRIX)
    except ValueError:
        return False
