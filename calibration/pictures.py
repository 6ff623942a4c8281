"""Pictures from files: a photograph, or a few frames spread over a video."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import InputError, OutputError

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
