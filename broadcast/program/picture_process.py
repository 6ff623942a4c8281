"""Draws and encodes the program in a process of its own, so that frames never wait for the interpreter or for a core.

A thread of low priority that holds the interpreter while both cores are taken keeps the live loop waiting, whatever its
own priority. When the process takes too long, can't be started or has ended, pictures are drawn in this one. Works
where processes can share memory by file descriptor: Linux and macOS.

What is sent to it is a calibration, or the shape of the picture in the shared memory and what is wanted of it. It sends
back what is to be called here, by name, and with what. This module is what it runs, too, with the file descriptor of
its connection as argument; it ends when the connection closes, and therefore whenever its client ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

import cv2

from downfield.broadcast.program.live_stream import Part
from downfield.broadcast.program.program_painter import DrawRequest, ProgramPainter
from downfield.broadcast.program.stream_encoder import FilmSink, ProgramEncoder
from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.media.shared_picture import SharedPicture, shared_picture
from downfield.core.platform.processes import WORKER_FAULTS, WorkerProcess, serve_client, start_worker
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS
from downfield.core.threads import only_logged, supervised_thread


@dataclass(frozen=True, slots=True)
class PictureProcessLimits:
    """Timeouts of the process."""

    restart_s: float = 10.0  # A process that ended is started again after this time
    # Timeout of a picture, the first of a calibration takes seconds on a busy computer. The process is ended then.
    timeout_s: float = 20.0
    starts: int = 3  # Starts in a row without a picture, after which it is not tried again


PICTURE_PROCESS_LIMITS: Final = PictureProcessLimits()

_STEP_S: Final = 0.2
_JPEG_QUALITY: Final = 85  # it is encoded once more on the way to the audience


@dataclass(slots=True)
class _Worker:
    process: WorkerProcess
    calibration: Calibration | None = None


class PictureProcess:
    """Starts the process when the first picture is wanted, and sends it pictures; for one thread."""

    def __init__(
        self, film: FilmSink, picture: Callable[[bytes], None], failed: Callable[[str], None] = only_logged
    ) -> None:
        self._film = film
        self._calls: Mapping[str, Callable[..., Any]] = {
            "begin": film.begin,
            "add": film.add,
            "end": film.end,
            "picture": picture,
            "failed": failed,
        }
        self._memory = SharedPicture()
        self._worker: _Worker | None = None
        self._starting: threading.Thread | None = None
        self._free = threading.Event()  # the shared memory may be written to
        self._starts = 0
        self._closed = threading.Event()

    @property
    def unusable(self) -> bool:
        """Whether nothing is drawn by it any more."""
        return not CAN_PASS_DESCRIPTORS or self._starts >= PICTURE_PROCESS_LIMITS.starts

    def draw(self, image: Image, request: DrawRequest, calibration: Calibration | None) -> bool:
        """Draw a picture with a calibration; return whether it was: it is not while the process is being started."""
        worker = self._worker
        if worker is None:
            self._begin_start()
            return False
        try:
            if calibration is not None and calibration is not worker.calibration:
                worker.process.connection.send(calibration)
                worker.calibration = calibration
            self._free.clear()
            self._memory.put(image)
            worker.process.connection.send((image.shape, request))
        except WORKER_FAULTS:
            self._drop(worker)
            return False
        if not self._free.wait(PICTURE_PROCESS_LIMITS.timeout_s):
            self._drop(worker)
            return False
        self._starts = 0
        return True

    def end(self) -> None:
        """Have the process end soon, whether it draws or is being started, and no other start; for any thread."""
        self._closed.set()

    def close(self) -> None:
        """End the process, and give its memory back; when no picture is being drawn."""
        self.end()
        if self._starting is not None:
            self._starting.join()
        self._memory.close()

    def _begin_start(self) -> None:
        if self.unusable or self._closed.is_set() or (self._starting is not None and self._starting.is_alive()):
            return
        pause_s = PICTURE_PROCESS_LIMITS.restart_s if self._starts else 0.0
        self._starts += 1
        self._starting = supervised_thread(lambda: self._run(pause_s), "program pictures", only_logged)
        self._starting.start()

    def _run(self, pause_s: float) -> None:
        """Start a process and receive what it sends until it ends."""
        if self._closed.wait(pause_s):
            return
        memory = self._memory.descriptor
        worker = _Worker(start_worker("downfield.broadcast.program.picture_process", memory=memory))
        try:
            with worker.process.connection as ours:
                ours.send(memory)
                while not self._closed.is_set():
                    if ours.poll(_STEP_S):
                        name, content = ours.recv()
                        if name in self._calls:
                            self._calls[name](*content)
                        else:  # the shared picture is not needed any more
                            self._worker = worker  # from the first on it is ready
                            self._free.set()
        except WORKER_FAULTS:
            pass
        finally:
            self._drop(worker)
            self._film.end()

    def _drop(self, worker: _Worker) -> None:
        """End a process; another is started with the next picture."""
        if self._worker is worker:
            self._worker = None
        self._free.set()
        worker.process.end()


class _Answers:
    """Sends what the client is to call, and with what; callable from any thread. Receives the film from the encoder."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def send(self, name: str, *content: object) -> None:
        with self._lock, suppress(OSError):  # without a client this process ends
            self._connection.send((name, content))

    def begin(self, header: bytes) -> None:
        self.send("begin", header)

    def add(self, part: Part) -> None:
        self.send("add", part)

    def end(self) -> None:
        self.send("end")

    def failed(self, cause: str) -> None:
        self.send("failed", cause)


def program_jpeg(image: Image) -> bytes | None:
    """Return a picture of the program as JPEG; None if it can't be encoded."""
    encoded, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return jpeg.tobytes() if encoded else None


def _serve(connection: Connection) -> None:
    """Draw until the connection closes; the first message is the descriptor of the shared memory."""
    memory: int = connection.recv()
    answers, painter = _Answers(connection), ProgramPainter()
    shared: Image | None = None  # mapping it anew for every picture takes longer than copying it
    encoder = ProgramEncoder(answers, answers.failed, lambda: None)  # two low priorities would be none
    answers.send("drawn")
    while True:
        wanted: Calibration | tuple[tuple[int, ...], DrawRequest] = connection.recv()
        if isinstance(wanted, Calibration):
            painter.calibrate(wanted)
            continue
        shape, request = wanted
        try:
            if shared is None or shared.shape != shape:
                shared = shared_picture(memory, shape)
            image = painter.draw(shared, request.scene, request.camera, request.moment, request.options)
            if request.film:
                encoder.put(image.copy() if image is shared else image, request.t_ns)
            jpeg = program_jpeg(image) if request.picture else None
            if jpeg is not None:
                answers.send("picture", jpeg)
        except Exception as error:
            answers.failed(f"{type(error).__name__}: {error}")
        answers.send("drawn")


if __name__ == "__main__":
    serve_client(_serve, 0, "idle")  # even decoding frames, which is nice itself, comes first
