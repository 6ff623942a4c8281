"""Opening a video file, and what is known of its pictures before the first one is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
import av.container
from av.stream import Disposition
from av.video.stream import VideoStream

from downfield.core.media_limits import FILE_OPTIONS


@dataclass(frozen=True, slots=True)
class VideoStreamLimits:
    """Limits of what a stream says of its pictures."""

    highest_fps: float = 1000.0
    """Rates above are ticks of a clock, not of pictures."""

    least_pixel_aspect: float = 1.02
    """Pixels that are less wide than this, or less high, are square: such figures are rounding of encoders."""

    most_pixel_aspect: float = 4.0
    """Wider or higher pixels are not believed; those of recorders are up to 1.46."""


LIMITS: Final = VideoStreamLimits()

BARE_FORMATS: Final = frozenset({"h264", "hevc", "m4v", "mpegvideo", "mjpeg", "dirac", "obu", "av1"})
"""FFmpeg's names of the formats that are a bare stream: pictures have no times, and can't be sought."""

_STILL_CODECS: Final = frozenset({"mjpeg", "png", "bmp", "tiff", "webp", "gif"})
"""Codecs of pictures, whose shape of pixels is the density of a print, if it is anything."""

_NO_VIDEO: Final = Disposition.attached_pic | Disposition.still_image | Disposition.timed_thumbnails


def open_video(path: Path) -> av.container.InputContainer:
    """Open a file by the formats that hold videos and name no other file.

    Raises:
        av.FFmpegError, ValueError: it is none of them.

    """
    container: av.container.InputContainer = av.open(str(path), options=FILE_OPTIONS)
    if not any(not _is_still(stream) for stream in container.streams.video):
        container.close()
        raise ValueError("no video")
    return container


def video_stream(container: av.container.InputContainer) -> VideoStream:
    """Return the stream that is the video: no cover, no thumbnails, and the largest of several."""
    streams = [stream for stream in container.streams.video if not _is_still(stream)]
    return max(streams, key=lambda stream: (bool(stream.disposition & Disposition.default), stream.width))


def pixel_aspect(stream: VideoStream) -> float:
    """Return the width of a stream's pixels by their height: recorders store pictures narrower than they are shown."""
    stored = stream.sample_aspect_ratio
    if not stored or stream.codec_context.name in _STILL_CODECS:
        return 1.0
    aspect = float(stored)
    return aspect if LIMITS.least_pixel_aspect <= max(aspect, 1 / aspect) <= LIMITS.most_pixel_aspect else 1.0


def frame_rate(stream: VideoStream) -> float | None:
    """Return the nominal rate of a stream's pictures, per second; None if it has none."""
    rates = (stream.average_rate, stream.guessed_rate, stream.base_rate)
    return next((float(rate) for rate in rates if rate and 0 < rate <= LIMITS.highest_fps), None)


def bare_rate(stream: VideoStream) -> float | None:
    """Return the rate that the pictures of a stream without times carry themselves; FFmpeg assumes 25 otherwise."""
    rate = stream.codec_context.framerate
    return float(rate) if rate and 0 < rate <= LIMITS.highest_fps else None


def _is_still(stream: VideoStream) -> bool:
    """Return whether a stream is no video: a cover, or of a codec that is not known here."""
    return stream.codec_context is None or bool(stream.disposition & _NO_VIDEO)
