"""The process that looks at whole pictures; run by `downfield.models.worker_client.WorkerClient`, which asks it.

What it is asked comes over standard input, pickled, and what it finds goes out over standard output; pictures lie in
memory that both share. It ends with its input, and so with whoever asks, however that ends.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError
from downfield.core.frame import Detection
from downfield.models.detector import TrackingDetector
from downfield.models.opening import open_detector
from downfield.models.worker_client import FindRequest, RefineRequest, WorkerStart

_SIZE: Final = (1080, 1920, 3)  # of what is looked at before anything is asked: a network's first look takes long


class Looks:
    """Does what it is asked.

    Args:
        start: what it was told first.

    Raises:
        DownfieldError: the detector can't be opened.

    """

    def __init__(self, start: WorkerStart) -> None:
        detector = open_detector(**start.how)
        if not isinstance(detector, TrackingDetector):
            raise InputError(f"{detector.name}: whole pictures are all it looks at")
        self._detector, self._memory = detector, start.memory
        self._image: Image = np.zeros(_SIZE, np.uint8)
        detector.find_candidates(self._image)

    def answer(self, asked: FindRequest | RefineRequest) -> tuple[Detection, ...]:
        """What is asked for."""
        if isinstance(asked, RefineRequest):
            return self._detector.refine_candidates(self._image, asked.found, asked.seen)
        picture = mmap.mmap(self._memory, int(np.prod(asked.shape)), access=mmap.ACCESS_READ)
        self._image = np.frombuffer(picture, np.uint8).reshape(asked.shape)
        return self._detector.find_candidates(self._image, ball=asked.ball)


def main() -> None:
    """Run until nothing more is asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the rig, which ends this
    cv2.setNumThreads(1)
    source, said = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    start: WorkerStart = pickle.load(source)  # noqa: S301 - from whoever started this
    answer: tuple[Detection, ...] | DownfieldError = ()
    with suppress(EOFError, BrokenPipeError):
        try:
            looks = Looks(start)
        except DownfieldError as error:
            pickle.dump(error, said)
            return
        if sys.platform == "linux":
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # no frame stops for it
        while True:
            pickle.dump(answer, said)
            said.flush()
            asked: FindRequest | RefineRequest = pickle.load(source)  # noqa: S301 - from whoever started this
            try:
                answer = looks.answer(asked)
            except DownfieldError as error:
                answer = error


if __name__ == "__main__":
    main()
