"""The worker process that draws and encodes replays and highlights for a `ReplayProcess`.

Run with the file descriptor of its connection as argument, and with "awaited" or "later": whether somebody waits
for its films. It reads the recorded frames itself. It ends when the connection closes, so whenever its client ends.

A film is made quickly while somebody waits for its next picture, and otherwise in the time that frames leave. A thread
without rights may lower its priority, but never raise it again. So there are two threads, and each part of a film is
made by the one or the other.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from typing import Final

from downfield.broadcast.replay.replay_maker import FilmWork
from downfield.broadcast.replay.replay_process import FilmEnd
from downfield.capture.footage import FootageFrame
from downfield.capture.recording.recorded_footage import decoded_pictures
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.platform.processes import lower_thread_priority, serve_client
from downfield.review.pictures.clips import TimedImage, encode_fragments

LEAD_NS: Final = 600_000_000
"""A film is shown once so much of it is made, and nobody waits while it stays so far ahead of what is seen."""

LATER_NICENESS: Final = 14  # Added to the process's own niceness, that is, for the thread that is in no hurry


class PacedFilms:
    """Makes films, one at a time.

    Args:
        now_ns: a clock that never goes back.
    """

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


_log = logging.getLogger(__name__)

_NICENESS: Final = 19  # behind all that a frame passes, but before the program
_AWAITED_NICENESS: Final = 5
"""With 19 the first pictures of a replay, which are wanted within 3 s, took up to 10 s while both cores were busy."""


class _RecordedPictures:
    """Reads frames from their files: a `PictureSource`."""

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        return decoded_pictures(stills)


def _serve(connection: Connection, *, awaited: bool) -> None:
    """Make films until the connection closes; the first message says that it may be used."""
    film = PacedFilms().film if awaited else encode_fragments
    connection.send(FilmEnd())
    while True:
        work: FilmWork = connection.recv()
        end = FilmEnd()
        try:
            for part in film(work.images(_RecordedPictures())):
                connection.send(part)
        except NotRecordedError as error:
            end = FilmEnd(str(error))
        except Exception as error:  # also where the client has gone: then the next message ends it
            _log.exception("A replay could not be made")
            end = FilmEnd(f"The replay could not be made: {type(error).__name__}.")
        connection.send(end)


if __name__ == "__main__":
    is_awaited = sys.argv[2] == "awaited"
    serve_client(partial(_serve, awaited=is_awaited), _AWAITED_NICENESS if is_awaited else _NICENESS, "batch")
