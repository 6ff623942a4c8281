"""Recorded sources: a video file with its exact time stamps, and a folder of pictures in the order of their names."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import av
import av.container
import numpy as np

from downfield.calibration.pictures import read_picture
from downfield.core.errors import InputError, SourceError
from downfield.core.media_limits import DECODER_BOUNDS, FILE_OPTIONS
from downfield.rig.recording.recording_library import index_path, read_index
from downfield.rig.sources.jpeg import DECODER_OPTIONS
from downfield.rig.sources.sound import Soundtrack
from downfield.rig.sources.source import CapturedFrame, IncreasingTimestamps, PlaybackPacer, SourceFacts

PICTURE_SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp"})

_DIGITS: Final = re.compile(r"(\d+)")


class VideoFile:
    """Plays a video file. Times and frame numbers come from its recording index, if it has one.

    Args:
        path: any file that PyAV decodes.
        paced: whether to play at its own pace, or slower if processing is; otherwise as fast as frames are processed.

    Raises:
        InputError: the file is missing, or holds no video.

    """

    def __init__(self, path: Path, *, paced: bool = True) -> None:
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        try:
            self._container: av.container.InputContainer = av.open(str(path), options=FILE_OPTIONS)
            stream = self._container.streams.video[0]
        except (av.FFmpegError, IndexError, ValueError):
            raise InputError(f"{path}: not a readable video file") from None
        stream.codec_context.thread_count = 1
        faster = DECODER_OPTIONS if stream.codec_context.name == "mjpeg" else {}
        stream.codec_context.options = {**DECODER_BOUNDS, **faster}
        self._path = path
        self._index = read_index(index_path(path)).frames if index_path(path).is_file() else None
        self._stream = stream
        self._sound = Soundtrack(path) if self._container.streams.audio else None
        self._pacer = PlaybackPacer(paced=paced)
        fps = float(stream.average_rate) if stream.average_rate else None
        self._facts = SourceFacts("clip", path.name, (stream.width, stream.height), fps, live=False)

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame, with the file's own times and numbers.

        Raises:
            SourceError: the file can't be decoded any further.

        """
        increasing = IncreasingTimestamps()
        try:
            for position, frame in enumerate(self._container.decode(self._stream)):
                if frame.pts is None or frame.time_base is None:
                    raise SourceError(f"{self._path}: frame {position} has no time stamp")
                file_ns = round(frame.pts * frame.time_base * 1_000_000_000)
                index, t_ns = position, file_ns
                if self._index is not None:
                    index, t_ns = self._from_index(position)
                t_ns = increasing(t_ns)
                image = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
                if not self._pacer.wait_until(t_ns):
                    return
                hum = self._sound.hum_at(file_ns) if self._sound else 0.0
                yield CapturedFrame(index, t_ns, time.monotonic_ns(), image=image, hum=hum)
        except av.FFmpegError as error:
            raise SourceError(f"{self._path}: can't be decoded: {error.strerror}") from None
        finally:
            self._container.close()
            if self._sound:
                self._sound.close()

    def close(self) -> None:
        """Stop."""
        self._pacer.stop()

    def _from_index(self, position: int) -> tuple[int, int]:
        """Return the number and time of a frame from the recording index."""
        if self._index is None or position >= len(self._index):
            raise SourceError(f"{index_path(self._path)}: lists fewer frames than the video has")
        return self._index[position].frame, self._index[position].t_ns


class ImageFolder:
    """Plays the pictures of a folder; ``2.png`` comes before ``10.png``.

    Args:
        folder: the folder.
        fps: frames per second; pictures carry no time of their own.
        paced: whether to play at that rate, or slower if processing is; otherwise as fast as frames are processed.

    Raises:
        InputError: there is no such folder, or no picture in it.

    """

    def __init__(self, folder: Path, *, fps: float = 30.0, paced: bool = True) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
        pictures = (path for path in folder.iterdir() if path.suffix.lower() in PICTURE_SUFFIXES)
        self._paths = sorted(pictures, key=_natural_order)
        if not self._paths:
            raise InputError(f"{folder}: holds no picture ({', '.join(sorted(PICTURE_SUFFIXES))})")
        first = read_picture(self._paths[0])
        self._fps = fps
        self._pacer = PlaybackPacer(paced=paced)
        self._facts = SourceFacts("images", folder.name, (first.shape[1], first.shape[0]), fps, live=False)

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source."""
        return self._facts

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every picture.

        Raises:
            SourceError: a picture can't be read, or has another size than the first.

        """
        for index, path in enumerate(self._paths):
            try:
                image = read_picture(path)
            except InputError as error:
                raise SourceError(str(error)) from None
            if (image.shape[1], image.shape[0]) != self._facts.size_px:
                size_px = self._facts.size_px
                raise SourceError(
                    f"{path}: is {image.shape[1]}x{image.shape[0]}, the first picture is {size_px[0]}x{size_px[1]}"
                )
            t_ns = round(index * 1e9 / self._fps)
            if not self._pacer.wait_until(t_ns):
                return
            yield CapturedFrame(index, t_ns, time.monotonic_ns(), image=image)

    def close(self) -> None:
        """Stop."""
        self._pacer.stop()


def _natural_order(path: Path) -> list[tuple[int, str]]:
    parts = _DIGITS.split(path.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
