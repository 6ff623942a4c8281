"""From frames to packets for the recording: the camera's own where they can be copied, else H.264."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import av
import av.codec
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType

from downfield.core.arrays import Image
from downfield.rig.sources.source import CapturedFrame, VideoPacket

_START_CODES: Final = (b"\0\0\1", b"\0\0\0\1")
_USUAL_FPS: Final = 30.0
_NS: Final = Fraction(1, 1_000_000_000)


def can_copy(packed: VideoPacket | None) -> bool:
    """Whether packets of this kind can be put into a file as they are.

    JPEGs can, and H.264 as streams send it. In files its packets have another form, with what belongs to the beginning
    kept apart.
    """
    if packed is None:
        return False
    return packed.codec == "mjpeg" or (packed.codec == "h264" and packed.data.startswith(_START_CODES))


class H264Encoder:
    """Packs frames as H.264.

    Args:
        size_px: of the pictures; an odd edge is cut off.
        fps: nominal rate; a key frame comes every second.

    """

    def __init__(self, size_px: tuple[int, int], fps: float | None) -> None:
        context = av.codec.CodecContext.create("libx264", "w")
        if not isinstance(context, VideoCodecContext):
            raise TypeError("libx264 packs video")
        context.width, context.height = (edge - edge % 2 for edge in size_px)
        context.pix_fmt = "yuv420p"
        context.time_base = _NS
        context.framerate = Fraction(fps or _USUAL_FPS).limit_denominator(1001)
        context.gop_size = max(1, round(fps or _USUAL_FPS))
        context.thread_count = 1
        # Every packet leaves at once, so that a crash costs none that is under way.
        context.options = {"preset": "veryfast", "tune": "zerolatency", "crf": "20"}
        self._context = context
        self._packs = 0

    def pack(self, shot: CapturedFrame, *, key: bool) -> VideoPacket | None:
        """A shot as a packet; None in the rare case that the packer keeps it for later.

        Args:
            shot: it.
            key: whether it must be unpackable by itself.

        Raises:
            SourceError: the picture is broken.

        """
        frame = av.VideoFrame.from_ndarray(self._even(shot.frame().image), format="bgr24")
        frame.pts, frame.time_base = self._packs, _NS
        self._packs += 1_000_000
        if key:
            frame.pict_type = PictureType.I
        packets = self._context.encode(frame)
        if not packets:
            return None
        return VideoPacket("h264", bytes(packets[0]), packets[0].is_keyframe)

    def _even(self, image: Image) -> Image:
        return image[: self._context.height, : self._context.width]
