"""Bounds of what is decoded: files and cameras say how large a picture is, and a decoder would allocate all of it.

A PNG of 100 KB can declare a picture of gigabytes, and a playlist that is named as a video can name any other file or
address. So pictures are bounded before they are decoded, and a file is opened as one of the kinds that cameras, phones,
recorders and editors write, which name nothing else.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

MAX_PIXELS: Final = 64_000_000
"""Largest picture that is decoded, pixels: an 8K camera sends 33 million, the photo of a good phone has 50 million."""

DECODER_BOUNDS: Final = {"max_pixels": str(MAX_PIXELS)}
"""Options of FFmpeg's decoders that refuse a larger picture by its header."""

_FORMATS: Final = (
    "mov mp4 matroska webm avi mpeg mpegts mpegvideo m4v h264 hevc av1 obu ivf mjpeg mxf flv asf ogg wav nut y4m"
    " yuv4mpegpipe dv gif image2 png_pipe jpeg_pipe bmp_pipe tiff_pipe webp_pipe webp_anim"
)

FILE_OPTIONS: Final = {
    **DECODER_BOUNDS,
    "protocol_whitelist": "file",
    "format_whitelist": ",".join(_FORMATS.split()),
}
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
