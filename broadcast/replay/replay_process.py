"""Draws and encodes replays and highlights in a process of its own: no frame waits for the interpreter meanwhile.

A replay takes seconds of drawing. In a thread of the live loop's process it holds the interpreter between two calls of
OpenCV, and frames come late, whatever its priority. The process is started with the first replay, if not before; until
it is ready, replays are made in this one; highlights, for which nobody is in a hurry, wait for theirs. Works where
processes can share file descriptors: Linux and macOS.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Final

from downfield.broadcast.replay.replay_maker import FilmWork, PictureSource, ReplayRenderer
from downfield.core.errors import BusyError, NotRecordedError
from downfield.core.platform.processes import WORKER_FAULTS, WorkerProcess, start_worker
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.core.threads import only_logged, supervised_thread


@dataclass(frozen=True, slots=True)
class ReplayProcessLimits:
    """Timeouts of the process."""

    # Timeout of the next part; the process is ended then. Viewers give a replay up a little later.
    timeout_s: float = 15.0
    # The same where the film may take as long as it wants: on a busy computer the process gets little of a core
    unhurried_s: float = 120.0
    starts: int = 3  # Starts in a row without a replay, after which it is not tried again


REPLAY_PROCESS_LIMITS: Final = ReplayProcessLimits()

_STEP_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class FilmEnd:
    """The end of a replay."""

    cause: str = ""  # why it could not be made, a sentence; empty when it is complete


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

    @property
    def pid(self) -> int | None:
        """The process's id; None while none is ready."""
        return None if self._worker is None else self._worker.process.pid

    def film(self, work: FilmWork, source: PictureSource) -> Iterator[bytes]:
        """Yield a film in parts as it is made.

        Args:
            source: reads its frames where no process makes it.

        Raises:
            NotRecordedError: none of its pictures can be read, or it can't be drawn.
            BusyError: the process ended, or took too long, in the middle.
        """
        if not self._making.acquire(blocking=False):
            yield from super().film(work, source)
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
        yield from super().film(work, source)

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
        try:
            worker.connection.send(work)
            while True:
                if not worker.connection.poll(
                    REPLAY_PROCESS_LIMITS.timeout_s if self._kept else REPLAY_PROCESS_LIMITS.unhurried_s
                ):
                    break
                message: bytes | FilmEnd = worker.connection.recv()
                if isinstance(message, FilmEnd):
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
        if end.cause:
            raise NotRecordedError(end.cause)
        return True

    def _start(self) -> None:
        """Start a process, and take it into use once it answers."""
        awaited = "awaited" if self._kept else "later"
        worker = start_worker("downfield.broadcast.replay.replay_worker", awaited)
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
