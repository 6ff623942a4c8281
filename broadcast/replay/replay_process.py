"""Draws and encodes replays and highlights in a process of its own: no frame waits for the interpreter meanwhile.

A replay takes seconds of drawing. In a thread of the live loop's process it holds the interpreter between two calls of
OpenCV, and frames come late, whatever its priority. The process is started with the first replay, if not before; until
it is ready, replays are made in this one; highlights, for which nobody is in a hurry, wait for theirs. Works where
processes can share file descriptors: Linux and macOS.

This module is what it runs, too, with the file descriptor of its connection as argument, and with "awaited" or "later":
whether somebody waits for its films. It reads the recorded frames itself, and ends when the connection closes, so
whenever its client ends. A film is made quickly while somebody waits for its next picture, and otherwise in the time
that frames leave. A thread without rights may lower its priority, but never raise it again. So there are two threads,
and each part of a film is made by the one or the other.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Final

from downfield.broadcast.replay.replay_maker import FilmWork, PictureReader, ReplayRenderer
from downfield.capture.recording.recorded_footage import decoded_pictures
from downfield.core.errors import BusyError, NotRecordedError
from downfield.core.platform.processes import (
    WORKER_FAULTS,
    WorkerProcess,
    lower_thread_priority,
    serve_client,
    start_worker,
)
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.core.threads import only_logged, supervised_thread
from downfield.review.pictures.clips import TimedImage, encode_fragments


@dataclass(frozen=True, slots=True)
class ReplayProcessLimits:
    """Timeouts of the process."""

    # Timeout of the next part; the process is ended then. Viewers give a replay up a little later.
    timeout_s: float = 15.0
    # The same where the film may take as long as it wants: on a busy computer the process gets little of a core
    unhurried_s: float = 120.0
    starts: int = 3  # Starts in a row without a replay, after which it is not tried again


REPLAY_PROCESS_LIMITS: Final = ReplayProcessLimits()

_log = logging.getLogger(__name__)

_STEP_S: Final = 0.2


class ReplayProcess(ReplayRenderer):
    """Makes films in a process, one at a time. Callable from any thread.

    Args:
        kept: whether the process stays for the next film, and a film is made in this one meanwhile where there is
            none; otherwise a film waits for the process to start, which ends after it.
    """

    def __init__(self, *, kept: bool = True) -> None:
        self._kept = kept
        self._making = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._starting: threading.Thread | None = None
        self._starts = 0
        self._closed = threading.Event()

    def film(self, work: FilmWork, read: PictureReader) -> Iterator[bytes]:
        """Yield a film in parts as it is made; its frames are read by `read` where no process makes it.

        Raises NotRecordedError: none of its pictures can be read, or it can't be drawn; BusyError: the process ended,
        or took too long, in the middle.
        """
        if not self._making.acquire(blocking=False):
            yield from super().film(work, read)
            return
        try:
            if self._worker is None:
                self.prepare()
                if not self._kept and self._starting is not None:
                    self._starting.join()
            worker = self._worker
            if worker is not None and (yield from self._film(worker, work)):
                return
        finally:
            if not self._kept and self._worker is not None:
                self._drop(self._worker)
            self._making.release()
        yield from super().film(work, read)

    def prepare(self) -> None:
        """Start the process, unless one runs; return at once."""
        running = self._worker is not None or (self._starting is not None and self._starting.is_alive())
        if running or not CAN_PASS_DESCRIPTORS or self._starts >= REPLAY_PROCESS_LIMITS.starts or self._closed.is_set():
            return
        self._starts += 1
        self._starting = supervised_thread(self._start, "replay process", only_logged)
        self._starting.start()

    def close(self) -> None:
        """End the process."""
        self._closed.set()
        if self._starting is not None:
            self._starting.join()  # first: it may just have made the worker ready
        if self._worker is not None:
            self._drop(self._worker)

    def _film(self, worker: WorkerProcess, work: FilmWork) -> Generator[bytes, None, bool]:
        """Yield the parts that the process makes; return whether it made any, as another may then make all."""
        began, end = False, None
        timeout_s = REPLAY_PROCESS_LIMITS.timeout_s if self._kept else REPLAY_PROCESS_LIMITS.unhurried_s
        try:
            worker.connection.send(work)
            while worker.connection.poll(timeout_s):
                message: bytes | str = worker.connection.recv()
                if isinstance(message, str):
                    end = message
                    break
                began = True
                yield message
        except WORKER_FAULTS:
            pass
        finally:  # also where nobody takes the rest
            if end is None:
                self._drop(worker)
        if end is None:
            if began:
                raise BusyError("The replay broke off: its process ended. Ask for it again.")
            return False
        self._starts = 0
        if end:
            raise NotRecordedError(end)
        return True

    def _start(self) -> None:
        """Start a process, and take it into use once it answers."""
        awaited = "awaited" if self._kept else "later"
        worker = start_worker("downfield.broadcast.replay.replay_process", awaited)
        try:
            while not worker.connection.poll(_STEP_S) and not self._closed.is_set():
                pass
            if self._closed.is_set():
                raise EOFError
            worker.connection.recv()
        except WORKER_FAULTS:
            worker.end()
            return
        self._worker = worker

    def _drop(self, worker: WorkerProcess) -> None:
        if self._worker is worker:
            self._worker = None
        worker.end()


LEAD_NS: Final = 600_000_000
"""A film is shown once so much of it is made, and nobody waits while it stays so far ahead of what is seen."""

LATER_NICENESS: Final = 14  # Added to the process's own niceness, that is, for the thread that is in no hurry


class PacedFilms:
    """Makes films, one at a time, by a clock that never goes back."""

    def __init__(self, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._now_ns = now_ns
        self._soon = ThreadPoolExecutor(1, "awaited film")
        self._later = ThreadPoolExecutor(1, "film", lower_thread_priority, (LATER_NICENESS,))
        self._made_ns = 0
        self._shown_from_ns: int | None = None

    def film(self, images: Iterator[TimedImage]) -> Iterator[bytes]:
        """Yield a film in parts as its pictures come; see `encode_fragments`."""
        self._made_ns, self._shown_from_ns = 0, None
        parts = encode_fragments(self._noted(images))
        while True:
            thread = self._soon if self.is_awaited() else self._later
            part = thread.submit(partial(next, parts, None)).result()
            if part is None:
                return
            yield part

    def is_awaited(self) -> bool:
        """Return whether somebody waits for the next picture, or soon will."""
        if self._shown_from_ns is None and self._made_ns >= LEAD_NS:
            self._shown_from_ns = self._now_ns()
        shown_ns = 0 if self._shown_from_ns is None else self._now_ns() - self._shown_from_ns
        return self._made_ns - shown_ns < LEAD_NS

    def _noted(self, images: Iterable[TimedImage]) -> Iterator[TimedImage]:
        for image in images:
            self._made_ns = image[0]
            yield image


_NICENESS: Final = 19  # behind all that a frame passes, but before the program
_AWAITED_NICENESS: Final = 5
"""With 19 the first pictures of a replay, which are wanted within 3 s, took up to 10 s while both cores were busy."""


def _serve(connection: Connection, *, awaited: bool) -> None:
    """Make films until the connection closes; the first message says that it may be used."""
    film = PacedFilms().film if awaited else encode_fragments
    connection.send("")
    while True:
        work: FilmWork = connection.recv()
        end = ""  # why the film could not be made, a sentence; empty when it is complete
        try:
            for part in film(work.images(decoded_pictures)):
                connection.send(part)
        except NotRecordedError as error:
            end = str(error)
        except Exception as error:  # also where the client has gone: then the next message ends it
            _log.exception("A replay could not be made")
            end = f"The replay could not be made: {type(error).__name__}."
        connection.send(end)


if __name__ == "__main__":
    is_awaited = sys.argv[2] == "awaited"
    serve_client(partial(_serve, awaited=is_awaited), _AWAITED_NICENESS if is_awaited else _NICENESS, "batch")
