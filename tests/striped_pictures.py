"""Pictures that show their number, whatever encodes them, and clips of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from downfield.core.arrays import Image


def striped(number: int) -> Image:
    """Return a picture that shows a number below 256 in eight stripes, white for 1."""
    image = np.zeros((90, 160, 3), np.uint8)
    for bit in range(8):
        image[:, 20 * bit : 20 * bit + 20] = 255 * (number >> bit & 1)
    return image


def number_in_stripes(image: Image) -> int:
    """Return the number that a picture shows."""
    return sum(1 << bit for bit in range(8) if np.mean(image[:, 20 * bit : 20 * bit + 20]) > 127)


def clip(path: Path, count: int = 40, *, fps: int = 30, every_key: int = 250) -> Path:
    """Write an H.264 file with B-frames, whose pictures show their number."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"bf": "3", "g": str(every_key), "crf": "10"})
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuv420p"
        stream.time_base = Fraction(1, fps)
        for number in range(count):
            frame = av.VideoFrame.from_ndarray(striped(number), format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path
