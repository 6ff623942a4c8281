"""Clips of the twin, read back frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from downfield.core.arrays import Image


def read_clip(path: Path) -> Iterator[tuple[int, Image]]:
    """Yield the frames of a clip with their capture times, ns, in order."""
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            assert frame.time_base is not None
            t_ns = int(Fraction(frame.pts or 0) * frame.time_base * 1_000_000_000)
            yield t_ns, np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8)
