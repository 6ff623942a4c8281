"""The worker process that draws and encodes the program for a `PictureProcess`.

Run with the file descriptor of its connection as argument. Pictures lie in memory that both processes share. It ends
when the connection closes, and therefore whenever its client ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

import cv2

from downfield.broadcast.program.live_stream import Part
from downfield.broadcast.program.picture_process import Failed, Header, Jpeg, Message, SharedRequest, Sign
from downfield.broadcast.program.program_painter import ProgramPainter
from downfield.broadcast.program.stream_encoder import ProgramEncoder
from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.media.shared_picture import shared_picture
from downfield.core.platform.process_tuning import tune_process
from downfield.core.platform.processes import end_with_client, lower_process_priority

_JPEG_QUALITY: Final = 85  # it is encoded once more on the way to the audience


class _Answers:
    """Sends messages; callable from any thread. Receives the film from the encoder."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def send(self, message: Message) -> None:
        with self._lock, suppress(OSError):  # without a client this process ends
            self._connection.send(message)

    def begin(self, header: bytes) -> None:
        self.send(Header(header))

    def add(self, part: Part) -> None:
        self.send(part)

    def end(self) -> None:
        self.send(Sign.END)

    def failed(self, cause: str) -> None:
        self.send(Failed(cause))


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
    answers.send(Sign.DRAWN)
    while True:
        wanted: Calibration | SharedRequest = connection.recv()
        if isinstance(wanted, Calibration):
            painter.calibrate(wanted)
            continue
        request = wanted.request
        try:
            if shared is None or shared.shape != wanted.shape:
                shared = shared_picture(memory, wanted.shape)
            image = painter.draw(shared, request.scene, request.camera, request.moment, request.options)
            if request.film:
                encoder.put(image.copy() if image is shared else image, request.t_ns)
            jpeg = program_jpeg(image) if request.picture else None
            if jpeg is not None:
                answers.send(Jpeg(jpeg))
        except Exception as error:
            answers.failed(f"{type(error).__name__}: {error}")
        answers.send(Sign.DRAWN)


def main() -> None:
    """Draw until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which ends this process
    connection = Connection(int(sys.argv[1]))
    end_with_client(connection.fileno())
    tune_process()
    lower_process_priority(0, "idle")  # even decoding frames, which is nice itself, comes first
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keeps what libraries print out of the client's output
    with connection, suppress(EOFError, OSError):
        _serve(connection)


if __name__ == "__main__":
    main()
    os._exit(0)
