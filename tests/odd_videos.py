"""Small videos as phones, recorders, editors and failing disks make them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
from av.stream import Disposition
from av.video.stream import VideoStream
from loopback_streams import jpeg, picture

SIZE_PX = (160, 96)
FPS = 30


def with_exif(encoded: bytes, orientation: int) -> bytes:
    """Return a picture with the note that phones and cameras put into it: how it is to be turned."""
    entry = struct.pack("<HHHII", 1, 0x112, 3, 1, orientation) + bytes(4)
    note = b"Exif\0\0II*\0" + struct.pack("<I", 8) + entry
    return encoded[:2] + b"\xff\xe1" + struct.pack(">H", len(note) + 2) + note + encoded[2:]


def write_video(
    path: Path,
    *,
    codec: str = "libx264",
    format_name: str | None = None,
    pixels: str = "yuv420p",
    times: Sequence[int] = tuple(range(12)),
    rotation: tuple[int, bool, bool] = (0, False, False),
    options: dict[str, str] | None = None,
    size_px: tuple[int, int] = SIZE_PX,
    cover: bool = False,
    is_cover_named: bool = True,
    pixel_aspect: Fraction | None = None,
) -> Path:
    """Write a video whose picture of number i has the brightness of `picture(20 * i)`.

    Args:
        path: the file.
        codec, format_name, pixels: as FFmpeg names them.
        times: of its pictures, in thirtieths of a second.
        rotation: degrees counterclockwise, then whether mirrored left and right, and top and bottom.
        options: of the encoder.
        size_px: width and height.
        cover: whether a larger cover picture is the first stream.
        is_cover_named: whether the file says that it is one.
        pixel_aspect: width of a pixel by its height; None for none written.
    """
    quiet = {"x265-params": "log-level=none"} if codec == "libx265" else {}
    with av.open(str(path), "w", format=format_name) as out:
        if cover:
            still = out.add_stream("mjpeg", rate=1)
            assert isinstance(still, VideoStream)
            still.width, still.height, still.pix_fmt = 640, 480, "yuvj420p"
            if is_cover_named:
                still.disposition = Disposition.attached_pic
        stream = out.add_stream(codec, rate=FPS, options={**quiet, **(options or {})})
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = size_px
        stream.pix_fmt = pixels
        if pixel_aspect is not None:
            stream.sample_aspect_ratio = pixel_aspect
        if rotation != (0, False, False):
            stream.set_display_rotation(*rotation)
        if cover:
            packet = av.Packet(jpeg(1, (640, 480)))
            packet.stream, packet.pts, packet.dts, packet.is_keyframe = still, 0, 0, True
            out.mux(packet)
        for number, time in enumerate(times):
            frame = av.VideoFrame.from_ndarray(picture(20 * number, size_px), format="bgr24")
            frame.pts, frame.time_base = time, Fraction(1, FPS)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return path
