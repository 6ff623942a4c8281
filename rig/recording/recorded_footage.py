"""The exact frames that calls were made from, for reviewers, from recordings or the clip being played."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

import av
import av.container
import cv2
import numpy as np
from av.video.stream import VideoStream

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.core.arrays import Image
from downfield.core.errors import InputError, NotRecordedError
from downfield.game.footage import CallMarks, FootageFrame
from downfield.rig.live.annotation import Annotator
from downfield.rig.live.call_annotation import draw_call
from downfield.rig.live.connections import LoopObserver
from downfield.rig.recording.recording_library import find_frames, frames_of, index_path
from downfield.rig.sources.jpeg import decode_jpeg
from downfield.rig.sources.source import CapturedFrame

_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class FootageLimits:
    """Limits of reading single frames from video files."""

    jpeg_quality: int = 92
    """JPEG quality of the served pictures, which are examined closely."""

    decoded_frames: int = 1200
    """Most frames between a key frame and the requested frame; encoders put a key frame at least every 250 frames."""

    seek_back_ns: tuple[int, ...] = (0, 2_000_000_000, 10_000_000_000)
    """Steps back in search of a key frame, tried in order, when the one found is later than the requested frame."""


LIMITS: Final = FootageLimits()

TimedPicture = tuple[int, Callable[[], Image | None]]
"""A picture's time in ticks of its stream, and a function that decodes it, which returns None if it is damaged."""


class RecordedFootage:
    """Frames from the recordings of a live source.

    Args:
        folder: folder of all recordings.

    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def between(
        self,
        from_ns: int,
        to_ns: int,
        began_ns: int,  # noqa: ARG002 - the interface's
    ) -> tuple[FootageFrame, ...]:
        """Return every frame recorded in a span of time; the clock of live sources is the time of day in every game.

        Raises:
            NotRecordedError: no frame of that time was recorded.

        """
        found = find_frames(self._folder, from_ns, to_ns)
        if not found:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(from_ns / 1e9))
            raise NotRecordedError(
                f"No recording holds {when}: recording was off, or the file was deleted to make room. Switch recording"
                " on, and keep more with recording.keep_gb and recording.keep_days."
            )
        return found

    def jpeg(self, frame: FootageFrame, marks: CallMarks | None) -> bytes:
        """Return a frame as JPEG, annotated with the calibration in use when its file was begun.

        Raises:
            NotRecordedError: it was deleted, is damaged, or is not on the disk yet.

        """
        calibration = None
        with suppress(InputError):  # recorded before the camera was calibrated
            calibration = read_calibration(frame.video.with_suffix(".calibration.json"))
        return _encode(frame, marks, calibration)


class ClipFootage(LoopObserver):
    """Frames from the video file being played; observes the loop to learn their times.

    Args:
        clip: the file.
        calibration: the calibration in use; None for none.

    """

    def __init__(self, clip: Path, calibration: Callable[[], Calibration | None]) -> None:
        self._clip, self._calibration = clip, calibration
        self._opened_ns = time.time_ns()
        self._has_index = index_path(clip).is_file()
        self._times_ns = array("q")

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Note the time of a frame that is played for the first time."""
        if frame.index == len(self._times_ns):
            self._times_ns.append(frame.t_ns)

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:
        """Return every frame of a span of time that was played.

        Raises:
            NotRecordedError: no frame of that time was played, or the game was played from another source.

        """
        if began_ns < self._opened_ns:
            raise NotRecordedError("This game was played before this file was opened. Play the game's own file again.")
        if self._has_index:
            found = tuple(frame for frame in frames_of(self._clip) if from_ns <= frame.t_ns <= to_ns)
        else:
            times_ns = self._times_ns[:]
            span = range(bisect_left(times_ns, from_ns), bisect_right(times_ns, to_ns))
            found = tuple(FootageFrame(index, times_ns[index], self._clip, times_ns[index]) for index in span)
        if not found:
            raise NotRecordedError(f"{self._clip.name} has no frame of that time.")
        return found

    def jpeg(self, frame: FootageFrame, marks: CallMarks | None) -> bytes:
        """Return a frame as JPEG, annotated with the calibration in use.

        Raises:
            NotRecordedError: the file was deleted, or the frame is damaged.

        """
        return _encode(frame, marks, self._calibration())


def decode_frame(frame: FootageFrame) -> Image:
    """Return the picture of a frame, uint8 BGR, shape (height, width, 3), decoded as the live loop decodes it.

    Raises:
        NotRecordedError: the file was deleted, or the frame is damaged or not in it (yet).

    """
    try:
        with av.open(str(frame.video)) as container:
            stream = container.streams.video[0]
            stream.codec_context.thread_count = 1
            for back_ns in LIMITS.seek_back_ns:
                for image in _seek(container, stream, frame, frame.at_ns - back_ns):
                    return image
    except (av.FFmpegError, OSError, IndexError):
        raise NotRecordedError(f"{_name(frame)} can no longer be read: it was deleted or damaged.") from None
    raise NotRecordedError(f"Frame {frame.frame} is not in {_name(frame)}: it is damaged, or not on the disk yet.")


def _encode(frame: FootageFrame, marks: CallMarks | None, calibration: Calibration | None) -> bytes:
    image = decode_frame(frame)
    if marks is not None:
        annotator = None
        if calibration is not None and calibration.camera.lens.size_px == (image.shape[1], image.shape[0]):
            annotator = Annotator(calibration.camera, calibration.field, marks.players)
        image = draw_call(image, annotator, marks, frame)
    _, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, LIMITS.jpeg_quality])
    return jpeg.tobytes()


def _seek(
    container: av.container.InputContainer, stream: VideoStream, frame: FootageFrame, from_ns: int
) -> Iterator[Image]:
    """Yield the picture of a frame, searching forward from a place in the file; nothing if the place is later."""
    tick_ns = (stream.time_base or Fraction(1, 1000)) * _SECOND_NS
    container.seek(max(0, int(from_ns / tick_ns) - 1), stream=stream)
    is_mjpeg = stream.codec_context.name == "mjpeg"
    pictures = _jpeg_pictures(container, stream) if is_mjpeg else _decoded_pictures(container, stream)
    same_time_before = frame.rank
    for number, (ticks, decode) in enumerate(pictures):
        at_ns = round(ticks * tick_ns)
        if number > LIMITS.decoded_frames or at_ns > frame.at_ns:
            return
        if at_ns == frame.at_ns and same_time_before == 0:
            image = decode()
            if image is not None:
                yield image
            return
        same_time_before -= at_ns == frame.at_ns


def _jpeg_pictures(container: av.container.InputContainer, stream: VideoStream) -> Iterator[TimedPicture]:
    """Yield pictures that are still encoded: every JPEG can be decoded by itself."""
    for packet in container.demux(stream):
        if packet.pts is not None:
            yield packet.pts, partial(decode_jpeg, bytes(packet))


def _decoded_pictures(container: av.container.InputContainer, stream: VideoStream) -> Iterator[TimedPicture]:
    """Yield decoded pictures, each of which needs those before it; packets that can't be decoded are left out."""
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except av.InvalidDataError:
            continue
        for frame in frames:
            if isinstance(frame, av.VideoFrame) and frame.pts is not None:
                yield frame.pts, partial(_bgr, frame)


def _bgr(frame: av.VideoFrame) -> Image:
    return np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)


def _name(frame: FootageFrame) -> str:
    return f"{frame.video.parent.name}/{frame.video.name}"
