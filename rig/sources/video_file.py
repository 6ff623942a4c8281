"""A video file as a source, with its exact time stamps: those of its index, where it is a recording of ours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import av
import av.container
import numpy as np

from downfield.core.errors import InputError, SourceError
from downfield.rig.recording.index import index_of, read_index
from downfield.rig.sources.clocks import IncreasingTimestamps
from downfield.rig.sources.jpeg import DECODING
from downfield.rig.sources.playback import PlaybackPacer
from downfield.rig.sources.sound import Soundtrack
from downfield.rig.sources.source import CapturedFrame, SourceFacts


class VideoFile:
    """Plays a file.

    Args:
        path: anything PyAV decodes.
        paced: at its own pace, or slower where frames are not taken so fast; else as fast as they are taken.

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
        if stream.codec_context.name == "mjpeg":
            stream.codec_context.options = dict(DECODING)
        self._path = path
        self._index = read_index(index_of(path)).frames if index_of(path).is_file() else None
        self._stream = stream
        self._sound = Soundtrack(path) if self._container.streams.audio else None
        self._pace = PlaybackPacer(paced=paced)
        fps = float(stream.average_rate) if stream.average_rate else None
        self._facts = SourceFacts("clip", path.name, (stream.width, stream.height), fps, live=False)

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture, with the file's own times and numbers.

        Raises:
            SourceError: it can't be decoded further.

        """
        rising = IncreasingTimestamps()
        try:
            for index, frame in enumerate(self._container.decode(self._stream)):
                if frame.pts is None or frame.time_base is None:
                    raise SourceError(f"{self._path}: frame {index} has no time stamp")
                file_ns = round(frame.pts * frame.time_base * 1_000_000_000)
                number, t_ns = index, file_ns
                if self._index is not None:
                    number, t_ns = self._indexed(index)
                t_ns = rising(t_ns)
                image = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
                if not self._pace.wait_for(t_ns):
                    return
                hum = self._sound.hum_at(file_ns) if self._sound else 0.0
                yield CapturedFrame(number, t_ns, time.monotonic_ns(), image=image, hum=hum)
        except av.FFmpegError as error:
            raise SourceError(f"{self._path}: can't be decoded: {error.strerror}") from None
        finally:
            self._container.close()
            if self._sound:
                self._sound.close()

    def _indexed(self, place: int) -> tuple[int, int]:
        """Number and time of a picture by the index."""
        if self._index is None or place >= len(self._index):
            raise SourceError(f"{index_of(self._path)}: it lists fewer pictures than the video has")
        return self._index[place].frame, self._index[place].t_ns

    def close(self) -> None:
        """End it."""
        self._pace.end()
