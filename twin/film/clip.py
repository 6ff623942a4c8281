"""A clip: H.264 in MP4, every frame stamped with its capture time to the nanosecond.

The track's time base is one nanosecond, so ``pts * time_base`` is exactly the capture time. No
frame is reordered, key frames come every half second, and the index lies at the front.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
import av.error
import numpy as np
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

from downfield.core.arrays import Image
from downfield.core.errors import InputError, OutputError

TIME_BASE = Fraction(1, 1_000_000_000)
_KEY_FRAMES_PER_S = 2


class ClipWriter:
    """Writes one MP4, completely or not at all: the file gets its name when the writer is closed without an error.

    It is a context manager.

    Args:
        size_px: picture width and height, both even.
        fps: nominal frame rate.
        crf: x264's quality, lower is better; about 18 is hard to tell from the source.

    Raises:
        InputError: an odd size.
        OutputError: the file can't be written.
    """

    def __init__(self, path: Path, size_px: tuple[int, int], fps: float, crf: int = 20) -> None:
        if size_px[0] % 2 or size_px[1] % 2:
            raise InputError(f"a clip's width and height must be even, not {size_px[0]}x{size_px[1]}")
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._size_px = size_px
        rate = Fraction(fps).limit_denominator(1001)
        options = {"movflags": "faststart", "video_track_timescale": str(TIME_BASE.denominator)}
        # Capture times need not start at 0: the edit list gives the offset in the movie's clock, which must be as fine.
        options["movie_timescale"] = str(TIME_BASE.denominator)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._container = av.open(str(self._part), "w", format="mp4", options=options)
        except (OSError, av.error.FFmpegError) as error:
            raise OutputError(f"{path}: can't be written: {_reason(error)}") from None
        self._stream = self._container.add_stream("libx264", rate=rate)
        self._stream.width, self._stream.height = size_px
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": str(crf), "preset": "medium", "bf": "0"}
        context = self._stream.codec_context
        context.time_base = TIME_BASE
        context.gop_size = max(1, round(fps / _KEY_FRAMES_PER_S))
        context.colorspace, context.color_range = Colorspace.ITU709, ColorRange.MPEG
        context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709

    def __enter__(self) -> ClipWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._container.close()
            self._part.unlink(missing_ok=True)

    def add(self, image: Image, t_ns: int) -> None:
        """Append a picture, uint8 blue green red, shape (height, width, 3), captured later than the last one.

        Raises:
            OutputError: the place can't be written any more.
        """
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="bgr24")
        frame = frame.reformat(
            format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG, threads=1
        )
        frame.pts, frame.time_base = t_ns, TIME_BASE
        self._mux(frame)

    def close(self) -> None:
        """Finish the file and give it its name.

        Raises:
            OutputError: the place can't be written any more.
        """
        self._mux(None)
        try:
            self._container.close()
            self._part.replace(self._path)
        except (OSError, av.error.FFmpegError) as error:
            raise OutputError(f"{self._path}: can't be written: {_reason(error)}") from None

    def _mux(self, frame: av.VideoFrame | None) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except (OSError, av.error.FFmpegError) as error:
            raise OutputError(f"{self._path}: can't be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
