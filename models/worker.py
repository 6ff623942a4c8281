"""The worker process that runs the detector on whole pictures for a `WorkerClient`.

Run with the file descriptor of its connection as argument. Pictures lie in memory that both processes share. It ends
when the connection closes, and therefore whenever its client ends.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError
from downfield.core.frame import Detection
from downfield.core.media.shared_picture import shared_picture
from downfield.core.platform.processes import end_with_client, lower_process_priority
from downfield.models.detector import OnDemandNetworks, TrackingDetector
from downfield.models.loading import open_detector
from downfield.models.worker_client import FindRequest, RefineRequest, WorkerStart

_WARM_UP_SHAPE: Final = (1080, 1920, 3)  # of an empty picture: a network's first run is slow


class RequestHandler:
    """Opens the detector and answers requests.

    Args:
        start: the client's first message.

    Raises:
        DownfieldError: the detector can't be opened.
    """

    def __init__(self, start: WorkerStart) -> None:
        # The client tracks, never this process.
        detector = open_detector(**start.options, tracking=OnDemandNetworks())
        if not isinstance(detector, TrackingDetector):
            raise InputError(f"{detector.name} runs on whole pictures only and needs no worker process.")
        self._detector, self._memory = detector, start.memory
        self._image: Image = np.zeros(_WARM_UP_SHAPE, np.uint8)
        detector.find_candidates(self._image)

    def answer(self, request: FindRequest | RefineRequest) -> tuple[Detection, ...]:
        """Return the detections that a request asks for."""
        if isinstance(request, RefineRequest):
            return self._detector.refine_candidates(self._image, request.found, request.seen)
        self._image = shared_picture(self._memory, request.shape)
        return self._detector.find_candidates(self._image, ball=request.ball)


def main() -> None:
    """Answer requests until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which ends this process
    connection = Connection(int(sys.argv[1]))
    end_with_client(connection.fileno())
    cv2.setNumThreads(1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keeps what libraries print out of the client's output
    answer: tuple[Detection, ...] | DownfieldError = ()
    with connection, suppress(EOFError, OSError):
        try:
            handler = RequestHandler(connection.recv())
        except DownfieldError as error:
            connection.send(error)
            return
        lower_process_priority(0, "idle")  # tracking frames comes first
        while True:
            connection.send(answer)
            request: FindRequest | RefineRequest = connection.recv()
            try:
                answer = handler.answer(request)
            except DownfieldError as error:
                answer = error


if __name__ == "__main__":
    main()
    os._exit(0)  # at idle priority, taking the networks apart takes minutes on a busy computer
