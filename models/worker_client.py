"""Looks at whole pictures are taken by another process: frames then share no interpreter with them.

A thread that gives way and holds the interpreter keeps everybody waiting, those too it gives way to. Where the other
process takes too long, can't be had or has ended, it is looked here. On systems whose processes share memory and are
waited for by file descriptors: Linux, macOS.
"""

from __future__ import annotations

import atexit
import mmap
import os
import pickle
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Final

import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError
from downfield.core.frame import Detection
from downfield.models.detector import Detector, TrackingDetector

_AGAIN_S: Final = 10.0  # after one that ended
_LONGEST_S: Final = 1.0  # that an answer may take: it works on what everybody else leaves
_OPENING_S: Final = 10.0  # waited for: frames that came meanwhile would be lost
_BROKEN: Final = (OSError, EOFError, pickle.UnpicklingError)


@dataclass(frozen=True, slots=True)
class FindRequest:
    """Asks for `TrackingDetector.find_candidates` in the picture that lies in the memory both processes share.

    Attributes:
        shape: of the picture.
        ball: as of `TrackingDetector.find_candidates`.

    """

    shape: tuple[int, ...]
    ball: bool


@dataclass(frozen=True, slots=True)
class RefineRequest:
    """Asks for `TrackingDetector.refine_candidates` of the same picture.

    Attributes:
        found, seen: as of `TrackingDetector.refine_candidates`.

    """

    found: tuple[Detection, ...]
    seen: tuple[Detection, ...]


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """What the other process is told first.

    Attributes:
        how: to open the detector: arguments of `open_detector`.
        memory: file descriptor of the memory both share.

    """

    how: dict[str, Any]
    memory: int


def open_with_worker(open_here: Callable[[], Detector], how: dict[str, Any]) -> Detector:
    """Open a detector, and another one in another process at the same time, for its looks at whole pictures.

    Args:
        open_here: opens it.
        how: arguments of `open_detector`, for the other one of the same networks.

    Returns:
        A `OffloadedDetector`; the detector itself where it does not look at whole pictures apart.

    """
    finder = WorkerClient(how)
    try:
        here = open_here()
    except DownfieldError:
        finder.close()
        raise
    if not isinstance(here, TrackingDetector):
        finder.close()
        return here
    finder.wait()
    return OffloadedDetector(here, finder)


class OffloadedDetector:
    """A detector whose looks at whole pictures another process takes; for one thread that finds, and one that follows.

    Args:
        here: the detector.
        finder: the other process.

    """

    def __init__(self, here: TrackingDetector, finder: WorkerClient) -> None:
        self.name = here.name
        self._here, self._finder = here, finder
        self._image: Image | None = None  # that the other process has

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """As of `Detector`."""
        return self._here.detect(image)

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """As of `TrackingDetector`."""
        return self._here.detect_raw(image)

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """As of `TrackingDetector`."""
        answer = self._finder.ask(FindRequest(image.shape, ball), image)
        self._image = None if answer is None else image
        return self._here.find_candidates(image, ball=ball) if answer is None else answer

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """As of `TrackingDetector`; of the picture in which it was found."""
        answer = self._finder.ask(RefineRequest(tuple(found), tuple(seen))) if image is self._image else None
        return self._here.refine_candidates(image, found, seen) if answer is None else answer

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """As of `TrackingDetector`."""
        return self._here.track(image, seen, found)


class WorkerClient:
    """The other process, started anew where it ends; for one thread that asks.

    Args:
        how: arguments of `open_detector` there.

    """

    def __init__(self, how: dict[str, Any]) -> None:
        self._how = how
        self._process: subprocess.Popen[bytes] | None = None  # from its start
        self._ready = False
        self._owes = False  # an answer that came too late to be waited for
        self._memory = _memory()
        self._picture: mmap.mmap | None = None  # in it
        self._closed = threading.Event()
        self._starting = self._start()
        atexit.register(self.close)

    @property
    def process(self) -> int | None:
        """Its number; None while there is none that is ready."""
        return self._process.pid if self._process is not None and self._ready else None

    def wait(self) -> None:
        """Wait until it is ready or can't be had; for some seconds at most."""
        self._starting.join(_OPENING_S)

    def ask(self, asked: FindRequest | RefineRequest, image: Image | None = None) -> tuple[Detection, ...] | None:
        """Its answer; None where it gives none in time.

        Args:
            asked: for what.
            image: to find in.

        Raises:
            DownfieldError: as the detector does.

        """
        process = self._process
        if process is None or not self._ready:
            return None
        try:
            if self._owes and not _answers(process, 0):
                return None
            if self._owes:
                _answer(process)  # to what was looked at elsewhere since
            self._owes = True
            if image is not None:
                self._share(image)
            _tell(process, asked)
            if not _answers(process, _LONGEST_S):
                return None
            self._owes = False
            return _answer(process)
        except _BROKEN:
            self._owes = self._ready = False
            _end(process)
            if not self._closed.is_set():
                self._starting = self._start(_AGAIN_S)
            return None

    def close(self) -> None:
        """End it for good."""
        self._closed.set()
        if self._process is not None:
            self._process.kill()
        self._starting.join()

    def _share(self, image: Image) -> None:
        """Put a picture where it finds it."""
        if self._picture is None or len(self._picture) != image.nbytes:
            self._memory.truncate(image.nbytes)
            self._picture = mmap.mmap(self._memory.fileno(), image.nbytes)
        np.frombuffer(self._picture, np.uint8).reshape(image.shape)[:] = image

    def _start(self, after_s: float = 0.0) -> threading.Thread:
        thread = threading.Thread(target=self._started, args=(after_s,), name="finder", daemon=True)
        thread.start()
        return thread

    def _started(self, after_s: float) -> None:
        if self._closed.wait(after_s):
            return
        command, memory = [sys.executable, "-m", "downfield.models.worker"], self._memory.fileno()
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[memory])  # noqa: S603
        except OSError:
            return
        self._process = process
        try:
            _tell(process, WorkerStart(self._how, memory))
            _answer(process)
        except (*_BROKEN, DownfieldError):
            _end(process)
            return
        self._ready = not self._closed.is_set()
        if not self._ready:
            _end(process)


def _memory() -> IO[bytes]:
    """Memory that can be shared with another process by its file descriptor."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("picture"), "r+b")
    return tempfile.TemporaryFile()


def _tell(process: subprocess.Popen[bytes], what: WorkerStart | FindRequest | RefineRequest) -> None:
    assert process.stdin is not None
    pickle.dump(what, process.stdin)
    process.stdin.flush()


def _answers(process: subprocess.Popen[bytes], within_s: float) -> bool:
    """Whether it does so soon."""
    assert process.stdout is not None
    waiting = select.poll()  # not `select`, which takes no number over a thousand: a rig may have many clients
    waiting.register(process.stdout, select.POLLIN)
    return bool(waiting.poll(1000 * within_s))


def _answer(process: subprocess.Popen[bytes]) -> tuple[Detection, ...]:
    assert process.stdout is not None
    answer: tuple[Detection, ...] | DownfieldError = pickle.load(process.stdout)  # noqa: S301 - what was started here
    if isinstance(answer, DownfieldError):
        raise answer
    return answer


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it; it has nothing to lose."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):  # of what could not be written any more
            pipe.close()
