"""A detector in a process of its own: Python runs one thread at a time, and looking would take turns with all else.

Pictures go over in memory that both processes share, detections through a pipe.
"""

from __future__ import annotations

import ctypes
import gc
import math
import multiprocessing
import signal
from collections.abc import Callable, Sequence
from ctypes import Array as SharedBytes
from multiprocessing.connection import Connection
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.errors import DetectorError, DownfieldError, InputError
from downfield.models.detection import Detection
from downfield.models.detector import Detector, Follower, Image

_ROOM: Final = 1920 * 1080 * 3  # bytes of a picture, at first
_ENDING_S: Final = 2.0

_Question = tuple[tuple[int, int, int], tuple[Detection, ...] | None, bool]
"""A picture's shape, what was seen a moment ago (None to look at it by itself), and whether to look everywhere."""


class DetectorProcess:
    """A detector that looks in a process of its own. Serves one thread at a time, as every detector does.

    A process that dies, which costs one picture, is followed by another; one left behind by a process that died ends.

    Args:
        opener: opens the detector, there; has to be picklable.

    Attributes:
        name: of the detector.

    Raises:
        InputError: the detector can't be opened.

    """

    def __init__(self, opener: Callable[[], Detector]) -> None:
        self._opener = opener
        self.name = ""
        self._begin(_ROOM)

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Everything seen in one picture, best first.

        Raises:
            DetectorError: the process has died, or looking failed there.

        """
        return self._ask(image, None, whole=True)

    def look_again(self, image: Image, seen: Sequence[Detection], *, whole: bool) -> tuple[Detection, ...]:
        """What was seen a moment ago, as it is in the next picture; everything in it, where the detector can't.

        Raises:
            DetectorError: as of `detect`.

        """
        return self._ask(image, tuple(seen), whole=whole)

    @property
    def pid(self) -> int | None:
        """The process that looks."""
        return self._process.pid

    def close(self) -> None:
        """End the process; it ends with this one otherwise."""
        self._line.close()
        self._process.join(_ENDING_S)
        self._process.kill()

    def _begin(self, room: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        shared: SharedBytes[ctypes.c_uint8] = spawn.RawArray(ctypes.c_uint8, room)
        self._room: NDArray[np.uint8] = np.ctypeslib.as_array(shared)
        self._line, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(self._opener, shared, theirs), name="looking", daemon=True)
        self._process.start()
        theirs.close()
        name, failed = self._answer()
        if failed:
            raise InputError(failed)
        self.name = name

    def _ask(self, image: Image, seen: tuple[Detection, ...] | None, *, whole: bool) -> tuple[Detection, ...]:
        if self._line.closed or image.nbytes > len(self._room):
            self.close()
            self._begin(max(image.nbytes, len(self._room)))
        self._room[: image.nbytes].reshape(image.shape)[:] = image
        height, width, colours = image.shape
        question: _Question = ((height, width, colours), seen, whole)
        try:
            self._line.send(question)
        except OSError:
            raise self._died() from None
        detections, failed = self._answer()
        if failed:
            raise DetectorError(failed)
        out: tuple[Detection, ...] = detections
        return out

    def _answer(self) -> tuple[Any, str]:
        """What was asked for, and what went wrong instead."""
        try:
            answer: tuple[Any, str] = self._line.recv()
        except (EOFError, OSError):
            raise self._died() from None
        return answer

    def _died(self) -> DetectorError:
        self.close()
        return DetectorError(f"the process that looks at pictures has ended (exit code {self._process.exitcode})")


def _serve(opener: Callable[[], Detector], shared: SharedBytes[ctypes.c_uint8], line: Connection) -> None:
    """Look at pictures until nobody is left to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to both: who asks ends this in its turn
    cv2.setNumThreads(1)
    try:
        detector = opener()
    except Exception as error:
        line.send((None, _told(error)))
        return
    gc.collect()
    gc.freeze()  # what was loaded stays, and need not be walked through between two pictures
    line.send((detector.name, ""))
    room: NDArray[np.uint8] = np.ctypeslib.as_array(shared)
    while True:
        try:
            shape, seen, whole = line.recv()
        except (EOFError, OSError):
            return
        image = room[: math.prod(shape)].reshape(shape)
        try:
            if seen is None or not isinstance(detector, Follower):
                found = detector.detect(image)
            else:
                found = detector.look_again(image, seen, whole=whole)
        except Exception as error:
            line.send((None, _told(error)))
        else:
            line.send((found, ""))


def _told(error: Exception) -> str:
    """An error in words: not every one can be sent."""
    return str(error) if isinstance(error, DownfieldError) else f"{type(error).__name__}: {error}"
