"""Films of a game's highlights: one at a time, made by a thread that runs only when the live loop leaves a core."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from downfield.broadcast.replay.replay_maker import OwnThreadRenderer, ReplayRenderer
from downfield.core.errors import BusyError, OutputError
from downfield.core.supervision import supervised_thread
from downfield.vision.thread_priority import lower_priority

_AHEAD: Final = 16  # parts made ahead of the client
_STEP_S: Final = 0.2
_CLOSE_TIMEOUT_S: Final = 5.0


class FilmMaker:
    """Makes films. Callable from any thread.

    Args:
        renderer: closed with this; None where films are drawn by the thread that makes them.

    Attributes:
        renderer: draws and encodes them.
    """

    def __init__(self, renderer: ReplayRenderer | None = None) -> None:
        self.renderer = renderer or OwnThreadRenderer()
        self._making = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def parts(self, film: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the parts of a film as a background thread makes them; it stops when nobody takes them any more.

        Raises:
            BusyError: another film is being made.
            DownfieldError: the film itself failed, such as for a game of which nothing is recorded.
        """
        if not self._making.acquire(blocking=False):
            raise BusyError("Another film is being made already. Try again in a minute.")
        try:
            made = self._in_background(film)
            first = next(made, b"")
        except BaseException:
            self._making.release()
            raise
        return self._released(first, made)

    def close(self) -> None:
        """Make no more films, and wait for the thread: one that draws while the program ends would abort it."""
        self._closed.set()
        self.renderer.close()
        if self._thread is not None:
            self._thread.join(_CLOSE_TIMEOUT_S)

    def _released(self, first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield first
            yield from others
        finally:
            self._making.release()

    def _in_background(self, film: Iterator[bytes]) -> Iterator[bytes]:
        ready: queue.Queue[bytes | Exception | None] = queue.Queue(_AHEAD)
        stopped = threading.Event()

        def put(item: bytes | Exception | None) -> None:
            placed = False
            while not placed and not stopped.is_set() and not self._closed.is_set():
                with suppress(queue.Full):
                    ready.put(item, timeout=_STEP_S)
                    placed = True

        def work() -> None:
            lower_priority()
            end: Exception | None = None
            try:
                for part in film:
                    if stopped.is_set() or self._closed.is_set():
                        return
                    put(part)
            except Exception as error:
                end = error
            put(end)

        self._thread = supervised_thread(
            work, "highlights", lambda cause: put(OutputError(f"The film could not be made: {cause}"))
        )
        self._thread.start()
        try:
            while not self._closed.is_set():
                try:
                    item = ready.get(timeout=_STEP_S)
                except queue.Empty:
                    continue
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            stopped.set()
