"""One picture in memory that another process shares by a file descriptor: Linux and macOS.

`SharedMemory` is unlinked, before Python 3.13, by the first process that ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from typing import IO

import numpy as np

from downfield.core.arrays import Image


class SharedPicture:
    """The picture, on the side that writes it; for one thread."""

    def __init__(self) -> None:
        self._memory = _memory()
        self._picture: mmap.mmap | None = None
        self.descriptor = self._memory.fileno()  # to be passed to the other process

    def put(self, image: Image) -> None:
        """Copy a picture there."""
        if self._picture is None or len(self._picture) != image.nbytes:
            self._memory.truncate(image.nbytes)
            self._picture = mmap.mmap(self.descriptor, image.nbytes)
        np.frombuffer(self._picture, np.uint8).reshape(image.shape)[:] = image

    def close(self) -> None:
        """Give the memory back."""
        self._picture = None
        self._memory.close()


def shared_picture(descriptor: int, shape: Sequence[int]) -> Image:
    """Return the picture on the side that reads it, as it is until the next is written. `shape`: height, width, 3."""
    size = int(np.prod(shape))
    return np.frombuffer(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ), np.uint8).reshape(shape)


def _memory() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("picture"), "r+b")
    return tempfile.TemporaryFile()
