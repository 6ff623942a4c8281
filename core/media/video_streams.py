"""Opening a video file, what is known of its pictures before the first one is decoded, and bounds of what is decoded.

A PNG of 100 KB can declare a picture of gigabytes, and a playlist that is named as a video can name any other file or
address. So pictures are bounded before they are decoded, and a file is opened as one of the kinds that cameras, phones,
recorders and editors write, which name nothing else.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

import av
import av.container
from av.stream import Disposition
from av.video.stream import VideoStream

MAX_PIXELS: Final = 64_000_000
"""Largest picture that is decoded, pixels: an 8K camera sends 33 million, the photo of a good phone has 50 million."""

DECODER_BOUNDS: Final = {"max_pixels": str(MAX_PIXELS)}
"""Options of FFmpeg's decoders that refuse a larger picture by its header."""

_FORMATS: Final = (
    "mov mp4 matroska webm avi mpeg mpegts mpegvideo m4v h264 hevc av1 obu ivf mjpeg mxf flv asf ogg wav nut y4m"
    " yuv4mpegpipe dv gif image2 png_pipe jpeg_pipe bmp_pipe tiff_pipe webp_pipe webp_anim"
)

FILE_OPTIONS: Final = {**DECODER_BOUNDS, "protocol_whitelist": "file", "format_whitelist": ",".join(_FORMATS.split())}
"""Options with which FFmpeg opens a file named by a user: that file alone, by the formats that hold pictures."""

STREAM_OPTIONS: Final = {
    **DECODER_BOUNDS,
    "protocol_whitelist": "rtp,srtp,udp,tcp,tls,rtmp,rtmps,srt",
    "format_whitelist": "rtsp,sdp,rtp,mpegts,flv,h264,hevc,mjpeg,mpeg,matroska,webm",
}
"""Options with which FFmpeg opens a stream of the network: no file, and no other address that the stream names."""

JPEG_DECODER: Final = MappingProxyType({"idct": "xvid", "err_detect": "explode"})
"""Options of FFmpeg's JPEG decoder: its fastest exact inverse transform, for cameras and their recordings alike; and a
truncated picture is an error, instead of half a picture with an invented rest."""


@dataclass(frozen=True, slots=True)
class VideoStreamLimits:
    """Limits of what a stream says of its pictures."""

    max_fps: float = 1000.0  # rates above are ticks of a clock, not of pictures
    min_pixel_aspect: float = 1.02  # pixels whose sides differ by less are square: such figures are encoders' rounding
    max_pixel_aspect: float = 4.0  # wider or higher pixels are not believed; those of recorders are up to 1.46
    max_boxes: int = 64  # number of boxes examined in a file that can't be read; files have about five


_LIMITS: Final = VideoStreamLimits()

_BOXES: Final = frozenset({b"ftyp", b"wide", b"mdat", b"free", b"skip"})
"""Boxes that an MP4 or QuickTime file begins with before its index."""

BARE_FORMATS: Final = frozenset({"h264", "hevc", "m4v", "mpegvideo", "mjpeg", "dirac", "obu", "av1"})
"""FFmpeg's names of the formats that are a bare stream: pictures have no times, and can't be sought."""

_STILL_CODECS: Final = frozenset({"mjpeg", "png", "bmp", "tiff", "webp", "gif"})
"""Codecs of pictures, whose shape of pixels is the density of a print, if it is anything."""

_NO_VIDEO: Final = Disposition.attached_pic | Disposition.still_image | Disposition.timed_thumbnails


def open_video(path: Path) -> av.container.InputContainer:
    """Open a file by formats that name no other file. Raises av.FFmpegError, ValueError: it is none of them."""
    container: av.container.InputContainer = av.open(str(path), options=FILE_OPTIONS)
    if not any(not _is_still(stream) for stream in container.streams.video):
        container.close()
        raise ValueError("no video")
    return container


def unreadable_hint(path: Path) -> str:
    """Return why a file that begins as a video can't be read, as the end of a sentence; empty if that is not known."""
    with suppress(OSError), path.open("rb") as file:
        if file.read(12)[4:8] in _BOXES and b"moov" not in _top_boxes(file):
            return ": its end, where its index is, is missing. It was cut off while it was recorded or copied"
    return ""


def _top_boxes(file: BinaryIO) -> set[bytes]:
    """Return the types of the boxes at the top of an MP4 or QuickTime file (ISO/IEC 14496-12, 4.2)."""
    found: set[bytes] = set()
    at, size = 0, file.seek(0, os.SEEK_END)
    while at + 8 <= size and len(found) < _LIMITS.max_boxes:
        file.seek(at)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        found.add(head[4:8])
        if length < 8:
            break
        at += length
    return found


def video_stream(container: av.container.InputContainer) -> VideoStream:
    """Return the stream that is the video: no cover, no thumbnails, and the largest of several."""
    streams = [stream for stream in container.streams.video if not _is_still(stream)]
    return max(
        streams, key=lambda one: (not _is_like_cover(one), bool(one.disposition & Disposition.default), one.width)
    )


def pixel_aspect(stream: VideoStream) -> float:
    """Return the width of a stream's pixels by their height: recorders store pictures narrower than they are shown."""
    stored = stream.sample_aspect_ratio
    if not stored or stream.codec_context.name in _STILL_CODECS:
        return 1.0
    aspect = float(stored)
    return aspect if _LIMITS.min_pixel_aspect <= max(aspect, 1 / aspect) <= _LIMITS.max_pixel_aspect else 1.0


def frame_rate(stream: VideoStream) -> float | None:
    """Return the nominal rate of a stream's pictures, per second; None if it has none."""
    rates = (stream.average_rate, stream.guessed_rate, stream.base_rate)
    return next((float(rate) for rate in rates if rate and 0 < rate <= _LIMITS.max_fps), None)


def bare_rate(stream: VideoStream) -> float | None:
    """Return the rate that the pictures of a stream without times carry themselves; FFmpeg assumes 25 otherwise."""
    rate = stream.codec_context.framerate
    return float(rate) if rate and 0 < rate <= _LIMITS.max_fps else None


def _is_like_cover(stream: VideoStream) -> bool:
    """Return whether a stream may be a cover that its file does not call one: a picture, as far as its file counts."""
    return stream.codec_context.name in _STILL_CODECS and stream.frames <= 1


def _is_still(stream: VideoStream) -> bool:
    """Return whether a stream is no video: a cover, or of a codec that is not known here."""
    return stream.codec_context is None or bool(stream.disposition & _NO_VIDEO)
