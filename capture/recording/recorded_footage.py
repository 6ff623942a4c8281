"""The exact frames that calls were made from, for reviewers, from recordings or the clip being played."""

from __future__ import annotations

import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, TypeVar

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.footage import FootageCalibration, FootageFrame, ScaledPicture
from downfield.capture.recording.frame_reader import FrameReader
from downfield.capture.recording.recording_library import calibration_path, find_frames, frames_of, index_path, located
from downfield.capture.source import CapturedFrame, LoopObserver
from downfield.core.arrays import Image
from downfield.core.errors import InputError, NotRecordedError

Read = TypeVar("Read")

_FIRST_YEAR: Final = 2020  # no camera of a rig recorded before
_UNCALIBRATED: Final = "There was no calibration yet when this was captured: nothing is drawn."


def decoded_pictures(stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
    """Yield pictures in order, uint8 BGR, None for one that can't be read; no recording need be open."""
    return _each(stills, FrameReader.read)


class _DecodedFootage:
    """Decodes frames, one at a time."""

    def __init__(self) -> None:
        self._reader = FrameReader()
        self._reading = threading.Lock()

    def picture(self, still: FootageFrame) -> Image:
        """See `Footage.picture`; it is decoded as the live loop decodes it."""
        with self._reading:
            return self._reader.read(still)

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        """See `Footage.pictures`."""
        return decoded_pictures(stills)

    def scaled_pictures(self, stills: Iterable[FootageFrame], width_px: int) -> Iterator[ScaledPicture | None]:
        """See `Footage.scaled_pictures`."""
        return _each(stills, lambda reader, still: reader.read_scaled(still, width_px))


class RecordedFootage(_DecodedFootage):
    """Frames from the recordings of a live source."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._latest = (Path(), 0, FootageCalibration(None, _UNCALIBRATED))

    def between(self, from_ns: int, to_ns: int, _began_ns: int, /) -> tuple[FootageFrame, ...]:
        """See `Footage.between`; the clock of live sources is the time of day in every game."""
        found = find_frames(self._folder, from_ns, to_ns)
        if not found:
            at = time.localtime(from_ns / 1e9)
            # Times of a game that was played from a video file count from its beginning: they are no time of day.
            if at.tm_year < _FIRST_YEAR:
                raise NotRecordedError(
                    "No recording holds this moment: the game was played from a video. Name it: downfield export GAME"
                    " --video VIDEO."
                )
            when = time.strftime("%Y-%m-%d %H:%M:%S", at)
            raise NotRecordedError(
                f"No recording holds {when}: recording was off, or the file was deleted to make room. Switch recording"
                " on, and keep more with recording.keep_gb and recording.keep_days."
            )
        return found

    def calibration(self, still: FootageFrame) -> FootageCalibration:
        """Return the calibration in use when a frame's file was begun; a new calibration begins a new file."""
        path = calibration_path(still.video)
        try:
            written_ns = path.stat().st_mtime_ns
        except OSError:
            return FootageCalibration(None, _UNCALIBRATED)
        known = self._latest
        if known[:2] != (path, written_ns):
            known = self._latest = (path, written_ns, _read(path))
        return known[2]


class ClipFootage(_DecodedFootage, LoopObserver):
    """Frames from the video file being played; observes the loop to learn their times.

    Args:
        calibration: the calibration in use; None for none.
        earlier: when the games began that were there before it was opened, and were not played from it. No comparison
            of times would tell: the computer's clock may have been put back since.
    """

    def __init__(
        self, clip: Path, calibration: Callable[[], Calibration | None], earlier: Collection[int] = ()
    ) -> None:
        super().__init__()
        self._clip, self._in_use = clip, calibration
        self._earlier = frozenset(earlier)
        self._has_index = index_path(clip).is_file()
        self._times_ns = array("q")
        self._newest = -1
        self._calibrations: list[tuple[int, Calibration | None]] = []

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Note the time of a frame that is played for the first time, and the calibration it is played with."""
        if frame.index == len(self._times_ns):
            self._times_ns.append(frame.t_ns)
        if frame.index > self._newest:
            self._newest = frame.index
            calibration = self._in_use()
            if not self._calibrations or self._calibrations[-1][1] is not calibration:
                self._calibrations = [*self._calibrations, (frame.index, calibration)]

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:
        """See `Footage.between`; a game that was played from another source has none."""
        if began_ns in self._earlier:
            raise NotRecordedError("This game was played before this file was opened. Play the game's own file again.")
        if self._has_index:
            found = tuple(frame for frame in frames_of(self._clip) if from_ns <= frame.t_ns <= to_ns)
        else:
            times_ns = self._times_ns[:]
            span = range(bisect_left(times_ns, from_ns), bisect_right(times_ns, to_ns))
            found = tuple(located(self._clip, [(index, times_ns[index], times_ns[index]) for index in span]))
        if not found:
            raise NotRecordedError(f"{self._clip.name} has no frame of that time.")
        return found

    def calibration(self, still: FootageFrame) -> FootageCalibration:
        """Return the calibration that was in use when a frame was first played."""
        before = [made for index, made in self._calibrations if index <= still.frame]
        if not before or before[-1] is None:
            return FootageCalibration(None, _UNCALIBRATED)
        return FootageCalibration(before[-1], f"{_name(before[-1])}, in use when this frame was played.")


def _each(stills: Iterable[FootageFrame], read: Callable[[FrameReader, FootageFrame], Read]) -> Iterator[Read | None]:
    with closing(FrameReader()) as reader:
        for still in stills:
            found = None
            with suppress(NotRecordedError):
                found = read(reader, still)
            yield found


def _read(path: Path) -> FootageCalibration:
    try:
        calibration = read_calibration(path)
    except InputError:
        return FootageCalibration(None, f"The recording's {path.name} is damaged: nothing is drawn.")
    return FootageCalibration(calibration, f"{_name(calibration)}, as stored with the recording.")


def _name(calibration: Calibration) -> str:
    if calibration.method == "truth":
        return "Exact calibration of the simulated table"
    made_at = calibration.made_at
    return f"Calibration of {made_at[:16].replace('T', ' ')} UTC" if made_at else "Calibration without a date"
