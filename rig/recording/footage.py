"""The pictures calls were made from, for reviewers: of the recordings, or of the file being played."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import cv2

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.core.errors import InputError, NotRecordedError
from downfield.game.footage import CallMarks, FootageFrame
from downfield.rig.live.annotation import Annotator
from downfield.rig.live.call_annotation import draw_call
from downfield.rig.live.observer import LoopObserver
from downfield.rig.recording.frame_access import unpack
from downfield.rig.recording.index import index_of
from downfield.rig.recording.lookup import lines_of, recorded
from downfield.rig.sources.source import CapturedFrame

QUALITY: Final = 92
"""Of the JPEGs: they are looked at closely."""


class RecordedFootage:
    """Pictures out of the recordings of a live source.

    Args:
        folder: of all recordings.

    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:  # noqa: ARG002 - the seam's
        """Every picture recorded in a span of time; the clock of live sources is the time of day, in every game.

        Raises:
            NotRecordedError: there is none.

        """
        found = recorded(self._folder, from_ns, to_ns)
        if not found:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(from_ns / 1e9))
            raise NotRecordedError(
                f"no recording holds {when}: nothing was recorded then, or it was deleted to make room; "
                "switch recording on, and keep more with recording.keep_gb and keep_days"
            )
        return found

    def jpeg(self, still: FootageFrame, marks: CallMarks | None) -> bytes:
        """One picture, drawn on with the calibration that was in use when its file was begun.

        Raises:
            NotRecordedError: it is gone, broken, or not on the disk yet.

        """
        calibration = None
        with suppress(InputError):  # recorded before there was one
            calibration = read_calibration(still.video.with_suffix(".calibration.json"))
        return _jpeg(still, marks, calibration)


class ClipFootage(LoopObserver):
    """Pictures out of the video file that is being played; an onlooker of the loop, to know when each was.

    Args:
        clip: the file.
        calibration: in use; None for none.

    """

    def __init__(self, clip: Path, calibration: Callable[[], Calibration | None]) -> None:
        self._clip, self._calibration = clip, calibration
        self._opened_ns = time.time_ns()
        self._has_index = index_of(clip).is_file()
        self._times_ns = array("q")

    def shot(self, shot: CapturedFrame) -> None:
        """Note when a picture was; one played again is known already."""
        if shot.index == len(self._times_ns):
            self._times_ns.append(shot.t_ns)

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:
        """Every picture of a span of time that was played.

        Raises:
            NotRecordedError: there is none, or the game was played from another source.

        """
        if began_ns < self._opened_ns:
            raise NotRecordedError("this game was played before the file that is open now: play its own file again")
        if self._has_index:
            found = tuple(still for still in lines_of(self._clip) if from_ns <= still.t_ns <= to_ns)
        else:
            times_ns = self._times_ns[:]
            span = range(bisect_left(times_ns, from_ns), bisect_right(times_ns, to_ns))
            found = tuple(FootageFrame(index, times_ns[index], self._clip, times_ns[index]) for index in span)
        if not found:
            raise NotRecordedError(f"{self._clip.name} has no picture of that instant")
        return found

    def jpeg(self, still: FootageFrame, marks: CallMarks | None) -> bytes:
        """One picture, drawn on with the calibration in use.

        Raises:
            NotRecordedError: the file is gone, or the picture broken.

        """
        return _jpeg(still, marks, self._calibration())


def _jpeg(still: FootageFrame, marks: CallMarks | None, calibration: Calibration | None) -> bytes:
    image = unpack(still)
    if marks is not None:
        annotator = None
        if calibration is not None and calibration.camera.lens.size_px == (image.shape[1], image.shape[0]):
            annotator = Annotator(calibration.camera, calibration.field, marks.players)
        image = draw_call(image, annotator, marks, still)
    _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return packed.tobytes()
