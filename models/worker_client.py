"""Runs the detector on whole pictures in a worker process, so that it does not hold the interpreter of the live loop.

A low-priority thread that holds the interpreter keeps every other thread waiting. When the worker takes too long, can't
be started or has ended, the detector runs in this process. Works where processes can share memory by file descriptor:
Linux and macOS.

`ProcessPoolExecutor` would be shorter, but its workers outlive a killed parent, can't be killed when they hang, and
import the caller's main module again.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError
from downfield.core.frame import Detection
from downfield.core.media.shared_picture import SharedPicture
from downfield.core.platform.processes import WORKER_FAULTS, WorkerProcess, start_worker
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.core.threads import only_logged, supervised_thread
from downfield.models.detector import Detector, OnDemandNetworks, TrackingDetector


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Timeouts of the worker's client."""

    restart_s: float = 10.0  # a worker that ended is restarted after this time
    timeout_s: float = 1.0  # timeout of a request: the worker gets only the processor time that frames leave
    start_timeout_s: float = 10.0  # timeout of a worker's start, since frames that arrive meanwhile are dropped
    # after so many answers, some seconds, the worker is relied on again, and this process closes its own networks for
    # whole pictures: a quarter of its memory
    steady_answers: int = 50


WORKER_LIMITS: Final = WorkerLimits()

OpenHere = Callable[[OnDemandNetworks | None], Detector]
"""Opens a detector; networks for whole pictures are added to the argument, or open if that is None."""


@dataclass(frozen=True, slots=True)
class FindRequest:
    """Requests `TrackingDetector.find_candidates` in the picture that lies in shared memory."""

    shape: tuple[int, ...]
    ball: bool  # as in `TrackingDetector.find_candidates`


@dataclass(frozen=True, slots=True)
class RefineRequest:
    """Requests `TrackingDetector.refine_candidates` in the same picture."""

    found: tuple[Detection, ...]  # found, seen: as in `TrackingDetector.refine_candidates`
    seen: tuple[Detection, ...]


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """The first message to the worker."""

    options: dict[str, Any]
    memory: int  # file descriptor of the shared memory


def open_with_worker(open_here: OpenHere, options: dict[str, Any]) -> Detector:
    """Open a detector in this process and, at the same time, a second one in a worker process.

    Args:
        open_here: opens the detector of this process, with the networks for whole pictures open or at their first run.
        options: arguments of `open_detector` for the worker's detector, of the same networks.

    Returns:
        An `OffloadedDetector`; the plain detector if it can't track, and where memory can't be shared (Windows).
    """
    if not CAN_PASS_DESCRIPTORS:
        return open_here(None)
    client, whole_pictures = WorkerClient(options), OnDemandNetworks()
    try:
        here = open_here(whole_pictures)
        client.wait_until_ready()
        if client.refused:  # what is wrong with a network should be known now, not at the first frame
            here = open_here(None)
    except DownfieldError:
        client.close()
        raise
    if not isinstance(here, TrackingDetector):
        client.close()
        return open_here(None)
    return OffloadedDetector(here, client, whole_pictures)


class OffloadedDetector:
    """A detector that leaves whole pictures to a worker; for one thread that detects and one that tracks.

    Args:
        whole_pictures: networks of this process that run while there is no worker, and are closed once it is back.
    """

    def __init__(self, here: TrackingDetector, client: WorkerClient, whole_pictures: OnDemandNetworks) -> None:
        self.name = here.name
        self._here, self._client, self._whole_pictures = here, client, whole_pictures
        self._answers = 0  # of the worker, one after another
        self._image: Image | None = None  # the worker's

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """See `Detector.detect`."""
        return self._here.detect(image)

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """See `TrackingDetector.detect_raw`."""
        return self._here.detect_raw(image)

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """See `TrackingDetector.find_candidates`."""
        answer = self._client.request(FindRequest(image.shape, ball), image)
        if answer is None:
            self._image, self._answers = None, 0
            return self._here.find_candidates(image, ball=ball)
        self._image, self._answers = image, self._answers + 1
        if self._answers == WORKER_LIMITS.steady_answers:
            self._whole_pictures.close()
        return answer

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """See `TrackingDetector.refine_candidates`; uses the picture of the last `find_candidates`."""
        answer = self._client.request(RefineRequest(tuple(found), tuple(seen))) if image is self._image else None
        return self._here.refine_candidates(image, found, seen) if answer is None else answer

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """See `TrackingDetector.track`."""
        return self._here.track(image, seen, found)


class WorkerClient:
    """Starts the worker process, restarts it when it ends, and sends it requests; for one thread.

    Args:
        options: arguments of the worker's `open_detector`.

    Attributes:
        refused: whether the worker could not open the detector, so that there is none.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._worker: WorkerProcess | None = None  # from its start
        self._ready = False
        self.refused = False
        self._answer_due = False  # to a request that timed out
        self._picture = SharedPicture()
        self._closed = threading.Event()
        self._starting = self._start()
        atexit.register(self.close)

    @property
    def pid(self) -> int | None:
        """The worker's process id; None while none is ready."""
        return self._worker.process.pid if self._worker is not None and self._ready else None

    def wait_until_ready(self) -> None:
        """Wait until the worker is ready or can't be started, for some seconds at most."""
        self._starting.join(WORKER_LIMITS.start_timeout_s)

    def request(self, request: FindRequest | RefineRequest, image: Image | None = None) -> tuple[Detection, ...] | None:
        """Return the worker's answer; None on a timeout or without a worker.

        Args:
            image: the picture to find candidates in.

        Raises:
            DownfieldError: as the detector does.
        """
        worker = self._worker
        if worker is None or not self._ready:
            return None
        try:
            if self._answer_due and not worker.connection.poll(0):
                return None
            if self._answer_due:
                _receive(worker.connection)  # a late answer to a request that was served in this process meanwhile
            self._answer_due = True
            if image is not None:
                self._picture.put(image)
            worker.connection.send(request)
            if not worker.connection.poll(WORKER_LIMITS.timeout_s):
                return None
            self._answer_due = False
            return _receive(worker.connection)
        except WORKER_FAULTS:
            self._answer_due = self._ready = False
            worker.end()
            if not self._closed.is_set():
                self._starting = self._start(WORKER_LIMITS.restart_s)
            return None

    def close(self) -> None:
        """End the worker for good."""
        self._closed.set()
        if self._worker is not None:
            self._worker.end()
        self._starting.join()

    def _start(self, after_s: float = 0.0) -> threading.Thread:
        thread = supervised_thread(lambda: self._run_start(after_s), "detection-worker", only_logged)
        thread.start()
        return thread

    def _run_start(self, after_s: float) -> None:
        if self._closed.wait(after_s):
            return
        memory = self._picture.descriptor
        try:
            worker = self._worker = start_worker("downfield.models.worker", memory=memory)
        except OSError:
            return
        if self._closed.is_set():  # since the process was started
            worker.end()
            return
        try:
            worker.connection.send(WorkerStart(self._options, memory))
            _receive(worker.connection)
        except (*WORKER_FAULTS, DownfieldError) as error:
            self.refused = isinstance(error, DownfieldError)
            worker.end()
            return
        self._ready = not self._closed.is_set()
        if not self._ready:
            worker.end()


def _receive(connection: Connection) -> tuple[Detection, ...]:
    answer: tuple[Detection, ...] | DownfieldError = connection.recv()
    if isinstance(answer, DownfieldError):
        raise answer
    return answer
