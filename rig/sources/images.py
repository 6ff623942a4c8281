"""A folder of pictures as a source, in the order of their names."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from downfield.core.errors import InputError, SourceError
from downfield.rig.sources.playback import PlaybackPacer
from downfield.rig.sources.source import CapturedFrame, SourceFacts

STILLS = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp"})

_DIGITS = re.compile(r"(\d+)")


class ImageFolder:
    """Plays the pictures of a folder; ``2.png`` comes before ``10.png``.

    Args:
        folder: where they are.
        fps: how many a second; they carry no time of their own.
        paced: at that pace, or slower where pictures are not taken so fast; else as fast as they are taken.

    Raises:
        InputError: no such folder, or no picture in it.

    """

    def __init__(self, folder: Path, *, fps: float = 30.0, paced: bool = True) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
        self._paths = sorted((path for path in folder.iterdir() if path.suffix.lower() in STILLS), key=_by_number)
        if not self._paths:
            raise InputError(f"{folder}: holds no picture ({', '.join(sorted(STILLS))})")
        first = cv2.imread(str(self._paths[0]), cv2.IMREAD_COLOR)
        if first is None:
            raise InputError(f"{self._paths[0]}: not a picture that can be read")
        self._fps = fps
        self._pace = PlaybackPacer(paced=paced)
        self._facts = SourceFacts("images", folder.name, (first.shape[1], first.shape[0]), fps, live=False)

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture.

        Raises:
            SourceError: one can't be read, or has another size than the first.

        """
        for index, path in enumerate(self._paths):
            image = cv2.imread(str(path), cv2.IMREAD_COLOR)
            if image is None:
                raise SourceError(f"{path}: not a picture that can be read")
            if (image.shape[1], image.shape[0]) != self._facts.size_px:
                raise SourceError(f"{path}: {image.shape[1]}x{image.shape[0]}, unlike the first picture of its folder")
            t_ns = round(index * 1e9 / self._fps)
            if not self._pace.wait_for(t_ns):
                return
            yield CapturedFrame(index, t_ns, time.monotonic_ns(), image=np.asarray(image, dtype=np.uint8))

    def close(self) -> None:
        """End it."""
        self._pace.end()


def _by_number(path: Path) -> list[tuple[int, str]]:
    parts = _DIGITS.split(path.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
