"""The worker process that draws and encodes the program for a `PictureProcess`.

Run with the file descriptor of its connection as argument. Pictures lie in memory that both processes share. It ends
when the connection closes, and therefore whenever its client ends.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

import cv2

from downfield.broadcast.program.live_stream import Part
from downfield.broadcast.program.picture_process import DrawRequest
from downfield.broadcast.program.program_painter import ProgramPainter
from downfield.broadcast.program.stream_encoder import ProgramEncoder
from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.media.shared_picture import shared_picture
from downfield.core.platform.processes import serve_client

_JPEG_QUALITY: Final = 85  # it is encoded once more on the way to the audience


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
