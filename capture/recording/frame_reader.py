"""Exact frames out of video files: found by their time and rank, decoded as the live loop decodes them.

A frame of a compressed video needs those before it back to a key frame. The reader keeps the last file open where it
stands and its latest frames decoded, so that a step forward costs one picture and a step back mostly none.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import av

from downfield.capture.footage import FootageFrame, ScaledPicture
from downfield.capture.jpeg import decode_jpeg, decode_jpeg_frame
from downfield.capture.recording.recording_library import segment_name
from downfield.core.arrays import Image
from downfield.core.errors import InputError, NotRecordedError
from downfield.core.files.facts import is_same_file
from downfield.core.media.video_file import VideoReader, upright_bgr, upright_size_px
from downfield.core.media.video_streams import BARE_FORMATS, DECODER_BOUNDS, open_video, pixel_aspect, video_stream

_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """Limits of reading single frames from video files."""

    # Most frames between a key frame and the requested frame; encoders put a key frame at least every 250 frames
    decoded_frames: int = 1200
    # Steps back in search of a key frame, tried in order, when the one found is later than the requested frame
    seek_back_ns: tuple[int, ...] = (0, 2_000_000_000, 10_000_000_000)
    # A frame at most this far ahead is reached by decoding on: a seek would decode as many from its key frame
    ahead_ns: int = 500_000_000
    # Decode the slices of one picture, where its encoder cut it into some. Threads for whole pictures would decode more
    # of them than are needed.
    decoding_threads: int = 2
    # Decoded frames that are kept: 31 at 1920x1080, two seconds of key frames half a second apart
    kept_bytes: int = 96 << 20


READER_LIMITS: Final = ReaderLimits()

Stored = av.VideoFrame | bytes  # A decoded picture, or a JPEG that can be decoded by itself

_Key = tuple[int, int]  # Time in the file, ns, and rank among the pictures with that time


class FrameReader:
    """Reads frames of video files. Used by one thread at a time."""

    def __init__(self) -> None:
        self._open: _OpenVideo | None = None

    def read(self, frame: FootageFrame) -> Image:
        """Return the picture of a frame, uint8 BGR, shape (height, width, 3).

        Raises:
            NotRecordedError: the file was deleted, or the frame is damaged or not in it (yet).
        """
        stored, aspect = self._stored(frame)
        image = decode_jpeg(stored) if isinstance(stored, bytes) else upright_bgr(stored, pixel_aspect=aspect)
        if image is None:
            self.close()  # the file may be one that is still being written
            raise _absent(frame)
        return image

    def read_scaled(self, frame: FootageFrame, width_px: int) -> ScaledPicture:
        """Return the picture of a frame, no wider than this. Raises NotRecordedError: as of `read`."""
        stored, aspect = self._stored(frame)
        decoded = decode_jpeg_frame(stored) if isinstance(stored, bytes) else stored
        if decoded is None:
            self.close()
            raise _absent(frame)
        image = upright_bgr(decoded, width_px, pixel_aspect=aspect)
        return ScaledPicture(image, upright_size_px(decoded, aspect))

    def close(self) -> None:
        """Close the file that is open."""
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def _stored(self, frame: FootageFrame) -> tuple[Stored, float]:
        """Return a frame as it is stored, and the width of its pixels by their height."""
        try:
            stored = self._find(frame)
        except (av.FFmpegError, OSError, ValueError, InputError):
            self.close()
            raise NotRecordedError(
                f"{segment_name(frame.video)} can no longer be read: it was deleted or damaged."
            ) from None
        if stored is None or self._open is None:
            raise _absent(frame)
        return stored, self._open.pixel_aspect

    def _find(self, frame: FootageFrame) -> Stored | None:
        state = frame.video.stat()
        if self._open is not None and self._open.is_still(frame, state):
            stored = self._open.find(frame)
            if stored is not None:
                return stored
        self.close()  # another file, or one that has grown since its end was met
        self._open = _OpenVideo(frame, state)
        return self._open.find(frame)


def _absent(frame: FootageFrame) -> NotRecordedError:
    name = segment_name(frame.video)
    return NotRecordedError(f"Frame {frame.frame} is not in {name}: it is damaged, or not on the disk yet.")


class _OpenVideo:
    """One video file, opened, at some place."""

    def __init__(self, frame: FootageFrame, state: os.stat_result) -> None:
        self._path, self._state = frame.video, state
        self._container = open_video(frame.video)
        self._stream = video_stream(self._container)
        self.pixel_aspect = pixel_aspect(self._stream)
        decoder = self._stream.codec_context
        decoder.thread_type, decoder.thread_count = "SLICE", READER_LIMITS.decoding_threads
        decoder.options = dict(DECODER_BOUNDS)
        self._is_mjpeg = decoder.name == "mjpeg"
        self._is_bare = self._container.format.name in BARE_FORMATS
        self._tick_ns = (self._stream.time_base or Fraction(1, 1000)) * _SECOND_NS
        self._kept: OrderedDict[_Key, Stored] = OrderedDict()
        self._kept_bytes = 0
        self._pictures: Iterator[tuple[int, int, Stored]] = iter(())
        self._at: _Key | None = None
        self._rank = 0

    def close(self) -> None:
        self._container.close()

    def is_still(self, frame: FootageFrame, now: os.stat_result) -> bool:
        """Return whether a frame's file is this one, and is as it was or has only grown."""
        return self._path == frame.video and is_same_file(self._state, now)

    def find(self, frame: FootageFrame) -> Stored | None:
        """Return a frame's picture; None if it is not there."""
        wanted = (frame.at_ns, frame.rank)
        if wanted in self._kept:
            self._kept.move_to_end(wanted)
            return self._kept[wanted]
        if self._at is not None and self._at < wanted and frame.at_ns - self._at[0] <= READER_LIMITS.ahead_ns:
            stored = self._advance(wanted)
            if stored is not None:
                return stored
        for back_ns in READER_LIMITS.seek_back_ns:
            self._seek(frame.at_ns - back_ns, is_exact=frame.is_alone and back_ns == 0)
            stored = self._advance(wanted)
            if stored is not None:
                return stored
        return None

    def _seek(self, from_ns: int, *, is_exact: bool) -> None:
        """Go to the last key frame before an instant, or, if exact, at it.

        A key frame at it may be the second of several pictures with that time, which only those before it show.
        """
        if self._is_bare:
            self._pictures, self._at = self._counted_pictures(), None
            return
        ticks = round(from_ns / self._tick_ns) if is_exact else int(from_ns / self._tick_ns) - 1
        self._container.seek(max(0, ticks), stream=self._stream)
        self._pictures = self._jpeg_pictures() if self._is_mjpeg else self._decoded_pictures()
        self._at = None

    def _advance(self, wanted: _Key) -> Stored | None:
        """Return a picture, searching forward; None if the place is later, or the picture is not there."""
        for number, (ticks, size, picture) in enumerate(self._pictures):
            at_ns = ticks if self._is_bare else round(ticks * self._tick_ns)
            self._rank = self._rank + 1 if self._at is not None and self._at[0] == at_ns else 0
            self._at = (at_ns, self._rank)
            self._keep(self._at, size, picture)
            if self._at == wanted:
                return picture
            if self._at > wanted or (number > READER_LIMITS.decoded_frames and not self._is_bare):
                return None
        return None

    def _keep(self, key: _Key, size: int, picture: Stored) -> None:
        if size == 0 or key in self._kept:
            return
        self._kept[key] = picture
        self._kept_bytes += size
        while self._kept_bytes > READER_LIMITS.kept_bytes:
            self._kept.popitem(last=False)
            self._kept_bytes -= size  # all pictures of a stream are of one size

    def _jpeg_pictures(self) -> Iterator[tuple[int, int, Stored]]:
        """Yield pictures that are still encoded: every JPEG can be decoded by itself, and none is kept."""
        for packet in self._container.demux(self._stream):
            if packet.pts is not None:
                yield packet.pts, 0, bytes(packet)

    def _counted_pictures(self) -> Iterator[tuple[int, int, Stored]]:
        """Yield the pictures of a stream without times from its beginning, at the times that playing it gives them."""
        with closing(VideoReader(self._path)) as reader:
            for picture in reader.pictures():
                if picture.frame is not None:
                    yield picture.t_ns, _size_bytes(picture.frame), picture.frame

    def _decoded_pictures(self) -> Iterator[tuple[int, int, Stored]]:
        """Yield decoded pictures, each of which needs those before it; what can't be decoded is left out."""
        for packet in self._container.demux(self._stream):
            try:
                frames = packet.decode()
            except av.FFmpegError:
                continue
            for frame in frames:
                # What was patched up around damage is no evidence.
                if isinstance(frame, av.VideoFrame) and frame.pts is not None and not frame.is_corrupt:
                    yield frame.pts, _size_bytes(frame), frame


def _size_bytes(frame: av.VideoFrame) -> int:
    return frame.width * frame.height * 3 // 2
