"""Recorded sources: a video with its exact time stamps, and a folder of pictures in the order of their names.

Beside a clip NAME.mp4 may be NAME.tracks.jsonl, NAME.calibration.json and NAME.events.jsonl (`open_clip`).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.pictures import read_picture
from downfield.capture.recording.recording_library import frames_of, index_path
from downfield.capture.source import CapturedFrame, PictureTimes, PlaybackPacer, SourceFacts
from downfield.capture.sources.sound import Soundtrack
from downfield.core.errors import InputError, SourceError
from downfield.core.media.video_file import VideoPicture, VideoReader
from downfield.core.platform.clock import monotonic_ns
from downfield.core.track_files import TrackFile
from downfield.officiating.events import Event, read_events


@dataclass(frozen=True, slots=True)
class RecordedClip:
    """A clip with its calibration, its scenes and its declarations.

    Attributes:
        path: the video file.
        events: the declarations, in order; empty if there are none.
    """

    path: Path
    calibration: Calibration
    tracks: TrackFile
    events: tuple[Event, ...]


def open_clip(path: Path | str) -> RecordedClip:
    """Open a clip with the files beside it.

    Raises:
        InputError: a file is missing or can't be read.
        FormatError: a file is malformed.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    calibration = read_calibration(path.with_name(path.stem + ".calibration.json"))
    return RecordedClip(path, calibration, TrackFile(tracks_path(path)), read_declarations(path))


def tracks_path(clip: Path) -> Path:
    """Return the path of a clip's tracks, which need not exist."""
    return clip.with_name(clip.stem + ".tracks.jsonl")


def read_declarations(clip: Path) -> tuple[Event, ...]:
    """Return the declarations of a clip; empty if there is no file of them beside it.

    Raises:
        FormatError: the file is malformed.
    """
    events = clip.with_name(clip.stem + ".events.jsonl")
    return read_events(events)[1] if events.is_file() else ()


def bundled_demo() -> Path:
    """Return the path of the clip that comes with Downfield."""
    return Path(str(files("downfield.capture") / "demo" / "demo.mp4"))


PICTURE_SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp"})

_DIGITS: Final = re.compile(r"(\d+)")


class VideoFile:
    """Plays a video file. Times and frame numbers come from its recording index, if it has one.

    Args:
        path: a file of one of the formats in `core.media.video_streams`.
        paced: whether to play at its own pace, or slower if processing is; otherwise as fast as frames are processed.

    Raises:
        InputError: the file is missing, holds no video, or its index is damaged.
    """

    def __init__(self, path: Path, *, paced: bool = True) -> None:
        self._path = path
        self._index = _RecordedTimes(path) if index_path(path).is_file() else None
        self._reader = VideoReader(path)
        self._sound = Soundtrack(path) if self._reader.has_sound else None
        self._pacer = PlaybackPacer(paced=paced)
        self.facts = SourceFacts("clip", path.name, self._reader.size_px, self._reader.fps)

    @property
    def count(self) -> int | None:
        """Number of its frames, as the file says; None if it does not."""
        return self._reader.count

    def frames(self) -> Generator[CapturedFrame]:
        """Yield every frame, with the file's own times and numbers; decoding a damaged one raises a `SourceError`.

        Raises:
            SourceError: the rest of the file can't be read.
        """
        times = PictureTimes()
        try:
            for picture in self._reader.pictures():
                index, t_ns = picture.position, picture.t_ns
                if self._index is not None:
                    index, t_ns = self._index.of(picture)
                t_ns, error_ns = times(t_ns)
                image = picture.to_bgr()
                if not self._pacer.wait_until(t_ns):
                    return
                hum = self._sound.hum_at(picture.t_ns) if self._sound else 0.0
                yield CapturedFrame(index, t_ns, monotonic_ns(), image=image, hum=hum, t_sigma_ns=error_ns)
        except InputError as error:
            raise SourceError(str(error)) from None
        finally:
            self._reader.close()
            if self._sound:
                self._sound.close()

    def close(self) -> None:
        """Stop."""
        self._pacer.stop()


class _RecordedTimes:
    """The numbers and times of a recording's frames, found by their times in the file: some can't be decoded."""

    def __init__(self, path: Path) -> None:
        frames = tuple(frames_of(path))
        self._began_ns = frames[0].t_ns if frames else 0
        self._by_time = {(frame.at_ns, frame.rank): frame for frame in frames}
        self._at_ns, self._rank = -1, 0
        self._index = -1

    def of(self, picture: VideoPicture) -> tuple[int, int]:
        """Return the number and time of a frame; those behind the end of the index, after a crash, are counted on."""
        self._rank = self._rank + 1 if picture.t_ns == self._at_ns else 0
        self._at_ns = picture.t_ns
        known = self._by_time.get((self._at_ns, self._rank))
        self._index = self._index + 1 if known is None else known.frame
        return self._index, self._began_ns + picture.t_ns if known is None else known.t_ns


class ImageFolder:
    """Plays the pictures of a folder; ``2.png`` comes before ``10.png``.

    Args:
        fps: frames per second; pictures carry no time of their own.
        paced: whether to play at that rate, or slower if processing is; otherwise as fast as frames are processed.

    Raises:
        InputError: there is no such folder, or no picture in it.
    """

    def __init__(self, folder: Path, *, fps: float = 60.0, paced: bool = True) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder")
        pictures = (path for path in folder.iterdir() if path.suffix.lower() in PICTURE_SUFFIXES)
        self._paths = sorted(pictures, key=_natural_order)
        if not self._paths:
            raise InputError(f"{folder}: holds no picture ({', '.join(sorted(PICTURE_SUFFIXES))})")
        first = read_picture(self._paths[0])
        self._fps = fps
        self._pacer = PlaybackPacer(paced=paced)
        self.facts = SourceFacts("images", folder.name, (first.shape[1], first.shape[0]), fps)

    @property
    def count(self) -> int:
        """Number of its pictures."""
        return len(self._paths)

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every picture; decoding one that can't be read, or has another size than the first, is an error."""
        for index, path in enumerate(self._paths):
            image = None
            with suppress(InputError):
                image = read_picture(path)
            if image is not None and (image.shape[1], image.shape[0]) != self.facts.size_px:
                image = None
            t_ns = round(index * 1e9 / self._fps)
            if not self._pacer.wait_until(t_ns):
                return
            yield CapturedFrame(index, t_ns, monotonic_ns(), image=image)

    def close(self) -> None:
        """Stop."""
        self._pacer.stop()


def _natural_order(path: Path) -> list[tuple[int, str]]:
    parts = _DIGITS.split(path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
