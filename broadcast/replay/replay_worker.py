"""The worker process that draws and encodes replays and highlights for a `ReplayProcess`.

Run with the file descriptor of its connection as argument, and with "awaited" or "later": whether somebody waits
for its films. It reads the recorded frames itself. It ends when the connection closes, and therefore whenever its
client ends.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

from downfield.broadcast.replay.fragments import encode_fragments
from downfield.broadcast.replay.paced_film import PacedFilms
from downfield.broadcast.replay.replay_maker import FilmWork
from downfield.broadcast.replay.replay_process import FilmEnd
from downfield.capture.footage import FootageFrame
from downfield.capture.recording.recorded_footage import decoded_pictures
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.platform.child_process import end_with_client
from downfield.core.platform.priorities import lower_process_priority
from downfield.core.platform.process_tuning import tune_process

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


def main() -> None:
    """Make films until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which ends this process
    connection = Connection(int(sys.argv[1]))
    end_with_client(connection.fileno())
    tune_process()
    awaited = sys.argv[2] == "awaited"
    lower_process_priority(_AWAITED_NICENESS if awaited else _NICENESS, "batch")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keeps what libraries print out of the client's output
    with connection, suppress(EOFError, OSError):
        _serve(connection, awaited=awaited)


if __name__ == "__main__":
    main()
    os._exit(0)
