"""A video file as a source, with its exact time stamps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import av
import av.container
import numpy as np

from downfield.calibration.errors import InputError, SourceError
from downfield.rig.sources.clocks import Rising
from downfield.rig.sources.pace import Pace
from downfield.rig.sources.source import Shot, SourceFacts


class VideoFile:
    """Plays a file.

    Args:
        path: anything PyAV decodes.
        paced: at its own pace, as if it happened now; else every frame waits until it is taken.

    Raises:
        InputError: it is missing, or holds no video.

    """

    def __init__(self, path: Path, *, paced: bool = True) -> None:
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        try:
            self._container: av.container.InputContainer = av.open(str(path))
            stream = self._container.streams.video[0]
        except (av.FFmpegError, IndexError):
            raise InputError(f"{path}: not a video that can be read") from None
        stream.codec_context.thread_count = 1
        self._path = path
        self._stream = stream
        self._pace = Pace(paced=paced)
        fps = float(stream.average_rate) if stream.average_rate else None
        self._facts = SourceFacts("clip", path.name, (stream.width, stream.height), fps, paced)

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def shots(self) -> Iterator[Shot]:
        """Every picture, stamped with the file's own time.

        Raises:
            SourceError: it can't be decoded further.

        """
        rising = Rising()
        try:
            for index, frame in enumerate(self._container.decode(self._stream)):
                if frame.pts is None or frame.time_base is None:
                    raise SourceError(f"{self._path}: frame {index} has no time stamp")
                t_ns = rising(round(frame.pts * frame.time_base * 1_000_000_000))
                image = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
                if not self._pace.wait_for(t_ns):
                    return
                yield Shot(index, t_ns, time.monotonic_ns(), image=image)
        except av.FFmpegError as error:
            raise SourceError(f"{self._path}: can't be decoded: {error.strerror}") from None
        finally:
            self._container.close()

    def close(self) -> None:
        """End it."""
        self._pace.end()
