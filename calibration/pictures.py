"""Pictures from files: a photograph, or a few frames spread over a video."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError, OutputError

_STILLS = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp"}
_FRAMES = 5


def read_pictures(path: Path, count: int = _FRAMES) -> list[Image]:
    """The picture in a file, or frames spread evenly over a video's length.

    Args:
        path: a still, or anything PyAV decodes.
        count: how many frames of a video.

    Raises:
        InputError: it is missing, or no picture can be read from it.

    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix.lower() in _STILLS:
        image = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if image is None:
            raise InputError(f"{path}: not a picture that can be read")
        return [np.asarray(image, dtype=np.uint8)]
    try:
        with av.open(str(path)) as video:
            total = sum(1 for packet in video.demux(video=0) if packet.size)
        wanted = {round(i) for i in np.linspace(0, max(total - 1, 0), min(count, max(total, 1)))}
        with av.open(str(path)) as video:
            frames = [f.to_ndarray(format="bgr24") for i, f in enumerate(video.decode(video=0)) if i in wanted]
    except (av.FFmpegError, IndexError):
        raise InputError(f"{path}: neither a picture nor a video that can be read") from None
    if not frames:
        raise InputError(f"{path}: the video has no frames")
    return [np.asarray(frame, dtype=np.uint8) for frame in frames]


def write_picture(path: Path, image: Image) -> None:
    """Write a picture, in the format its name says.

    Raises:
        OutputError: the place can't be written, or the name says no format.

    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        done, packed = cv2.imencode(path.suffix or ".png", image)
        if not done:
            raise OutputError(f"{path}: not a picture format")
        path.write_bytes(packed.tobytes())
    except (OSError, cv2.error) as error:
        raise OutputError(f"{path}: can't be written: {error}") from None


_DARK = 28.0  # gray level that 90% of a picture without light stays below
_BRIGHT = 250.0  # and that 60% of a burned-out one is above
_SMALLEST_PX = 480
_EMPTY = 20.0  # range of grays of a picture with nothing in it
_SHARP = 0.055  # steepest slopes over the picture's range of grays: out of focus below


def check_picture(image: Image) -> None:
    """Refuse a picture that is too small, dark or burned out.

    Raises:
        CalibrationError: saying which, and what to change.

    """
    height, width = image.shape[:2]
    if width < _SMALLEST_PX:
        raise CalibrationError(f"the picture is only {width} x {height} px: set the camera to 1920 x 1080")
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image
    if float(np.percentile(gray, 90)) < _DARK:
        raise CalibrationError("the picture is too dark: add light over the table or lengthen the exposure")
    if float(np.percentile(gray, 40)) > _BRIGHT:
        raise CalibrationError("the picture is burned out: shorten the exposure")


def is_blurred(image: Image) -> bool:
    """Whether even the sharpest edges of a picture are soft."""
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image, dtype=np.float32)
    smooth = cv2.GaussianBlur(gray, (0, 0), 1.0)
    slope = np.hypot(*(cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3) / 8 for order in ((1, 0), (0, 1))))
    span = float(np.percentile(smooth, 99.5) - np.percentile(smooth, 0.5))
    return span > _EMPTY and float(np.percentile(slope, 99.5)) < _SHARP * span
